"""Whatever reaches a seat is the same in two games that it cannot tell apart (`parlour.envs.testing.redeal`), at every table.

Beside the forms of that module there are players who are asked at once, as those of language models are
(`parlour.training.play.moments`): what a player is asked, and how often, must not reveal more either. `test_redeal.py` plants a leak.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import Move
from parlour.envs.language.entries import TextAction
from parlour.envs.spec import GameSpec
from parlour.envs.testing.forms import TURNS, Trace, frozen, planned
from parlour.envs.testing.redeal import redeals
from parlour.envs.testing.table import by_nature
from parlour.envs.testing.twins import Played
from parlour.training.play.moments import Moments

pytestmark = pytest.mark.nightly

ENOUGH = 40
"""Re-deals after which no further game is played."""
GAMES = 60
"""Games that are played at most: some tables have few re-deals in a game."""


class AskedAtOnce:
    """A player of each seat who waits for a language model, so that those who decide at the same moment are asked together."""

    name = "players asked at once"

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        """What the player of the seat is asked, in order."""
        env = GameEnv(spec, played.game, observation="both", info="full")
        env.reset(seed=0, options={"nature": by_nature(*played)[0]})
        players = [Waiting(moves) for moves in planned(played)]
        moments = Moments(env, players)
        while env.outcome is None and len(env.moves) < len(played.moves):
            env.step(moments.action())
        return {TURNS: players[seat].asked}


class Waiting:
    """Plays what was played, and keeps what it was asked."""

    wants, waits = "both", True

    def __init__(self, moves: list[tuple[int, Move]]) -> None:
        self._left, self.asked = moves, list[Any]()

    def reset(self, seat: int, seed: int) -> None:
        """Nothing depends on it."""

    def act(self, observation: Any, info: dict[str, Any]) -> TextAction:
        self.asked.append(frozen([observation, info]))
        move = self._left.pop()[1] if self._left else info["view"].legal[0]
        return TextAction(move, None)


@settings(max_examples=3)
@given(seed=st.integers(0, 2**31 - 1))
def test_a_seat_gets_the_same_as_long_as_it_knows_the_same(any_table, seed):
    rng, compared = np.random.default_rng(seed), 0
    for _ in range(GAMES):
        result = redeals(any_table, rng, seats=1, twins=3, more=(AskedAtOnce(),))
        assert result.leaks == []
        compared += result.moments
        if compared >= ENOUGH:
            break
    assert compared > 0 or any_table.game.seats == 1  # from a lone seat no other seat keeps anything
