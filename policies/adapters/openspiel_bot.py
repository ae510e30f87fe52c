"""Our players in OpenSpiel's loops: a Policy as a `pyspiel.Bot`; and its IS-MCTS, made for a seat at our tables.

OpenSpiel hands its bots the whole state. The Policy is shown only what its own seat's View holds, as at our tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator
from parlour.envs.adapters.turn import read_words
from parlour.envs.core import ParlourError
from parlour.policies.adapters.openspiel import OpenSpielPolicy
from parlour.policies.base import Policy


class PolicyBot(pyspiel.Bot):
    """A Policy in one seat.

    Args:
        policy: The policy that plays; each bot needs its own.
        player: Its seat.
        seed: Seed of the first game; each `restart` begins the next game with the next seed.

    A policy may answer in words. They are read as at our tables; words that cannot be used count in `unusable` and the
    default move of the game's rules is made. OpenSpiel's actions are numbers, so what was said beyond the claim is lost.
    """

    def __init__(self, policy: Policy, player: int, seed: int = 0) -> None:
        super().__init__()
        self.policy, self.player, self.unusable = policy, player, 0
        self._seed = seed - 1
        self.restart()

    def restart(self) -> None:
        """A new game begins."""
        self._seed += 1
        self.policy.reset(self.player, self._seed)

    def restart_at(self, state: Any) -> None:
        """A new game begins; with anything but its beginning a policy that remembers would have missed something."""
        self.restart()

    def step(self, state: Any) -> int:
        """The action. Raises `ParlourError` for a state of another game, or at another's turn."""
        at = getattr(state, "moment", None)
        if at is None:
            raise ParlourError(f"a state of {state.get_game()}; accepted: a game of parlour.wrappers.openspiel.game")
        if at.player != self.player:
            raise ParlourError(f"player {at.player} is to move; accepted: {self.player}, whose bot this is")
        observation, info = at.offered(self.player, self.policy.wants)
        answer = self.policy.act(observation, info)
        if not isinstance(answer, str):
            return int(answer)
        move, usable = read_words(at.table.text, answer, info["view"], self.policy.rng)
        self.unusable += not usable
        return int(at.table.wording.numbers[move._replace(words="")])


def is_mcts(game: Any, simulations: int, exploration: float = 1.4) -> Callable[[], OpenSpielPolicy]:
    """Makes players who search with OpenSpiel's IS-MCTS, with random play to the end as evaluation.

    Args:
        game: The table, as `parlour.wrappers.openspiel.game.openspiel_game` makes it; with explicit chance.
        simulations: For each move.
        exploration: The constant of UCT; returns lie in [-1, 1].
    """

    def bot(_: int, seed: int) -> Any:
        rng = np.random.RandomState(seed)
        made = ISMCTSBot(game, RandomRolloutEvaluator(1, rng), exploration, simulations, random_state=rng)
        made.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random_sample))
        return made  # its own sampler of worlds has no seed

    return lambda: OpenSpielPolicy(bot, game)
