"""Re-deals: whatever reaches a seat is the same in two games that it cannot tell apart (`parlour.envs.testing.redeal`).

A try is a re-deal as that module counts them. Games of few moves are played until there are enough of them in an attempt.
Beside the forms of that module there are players who are asked at once, as those of language models are
(`parlour.training.play.moments`): what a player is asked, and how often, must not tell it more either.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from hardening.attack import Finding, Tried
from hardening.games import table_of, tables
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import Move
from parlour.envs.language.entries import TextAction
from parlour.envs.spec import GameSpec
from parlour.envs.testing.forms import TURNS, Trace, frozen, planned
from parlour.envs.testing.redeal import Leak, redeals
from parlour.envs.testing.table import by_nature
from parlour.envs.testing.twins import Played
from parlour.training.play.moments import Moments

ENOUGH = 120
"""Re-deals after which an attempt ends."""
GAMES = 240
"""Games of an attempt, at most."""


class AskedAtOnce:
    """A player of each seat who waits for a language model, so that those who decide at the same moment are asked together."""

    name = "players asked at once"

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        """What the player of the seat is asked, in order."""
        env = GameEnv(spec, played.game, observation="both", info="full")
        env.reset(seed=0, options={"nature": by_nature(*played)[0]})
        players = [_Waiting(moves) for moves in planned(played)]
        moments = Moments(env, players)
        while env.outcome is None and len(env.moves) < len(played.moves):
            env.step(moments.action())
        return {TURNS: players[seat].asked}


class _Waiting:
    """Plays what was played, and keeps what it was asked."""

    wants, waits = "both", True

    def __init__(self, moves: list[tuple[int, Move]]) -> None:
        self._left, self.asked = moves, list[Any]()

    def reset(self, seat: int, seed: int) -> None:
        """Nothing of it matters."""

    def act(self, observation: Any, info: dict[str, Any]) -> TextAction:
        self.asked.append(frozen([observation, info]))
        move = self._left.pop()[1] if self._left else info["view"].legal[0]
        return TextAction(move, None)


class SameKnowledge:
    """A seat gets the same, in every form and cycle by cycle, as long as it knows the same."""

    name = "redeals"
    share = 3.0

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return tables(outside)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        table, counts, tries = table_of(subject), Counter[str](), 0
        leaks: dict[str, Leak] = {}
        for _ in range(GAMES):
            result = redeals(table, rng, seats=1, twins=3, more=(AskedAtOnce(),))
            tries += result.moments
            counts.update({"twins": result.twins, "cycles": result.cycles, "turns": result.turns})
            for leak in result.leaks:
                leaks.setdefault(leak.form, leak)
            if tries >= ENOUGH:
                break
        return Tried(tries, tuple(_finding(leak) for leak in leaks.values()), dict(counts))


def _finding(leak: Leak) -> Finding:
    shown = {"seat": leak.seat, "moves": _plain(leak.played), "twin": _plain(leak.twin)}
    return Finding(f"{leak.form} tells a seat more than it knows", json.dumps(shown, ensure_ascii=False))


def _plain(moves: Sequence[Move]) -> list[list[object]]:
    """Moves as JSON, with words only where there are some."""
    return [[move.kind, list(move.args), *([move.words] if move.words else [])] for move in moves]


ATTACKS = (SameKnowledge(),)
