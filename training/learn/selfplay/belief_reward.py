"""A small reward for being believed: how far what a seat says moves an onlooker's belief to the good of its side.

After Sarkar et al., "Training language models for social deduction with multi-agent reinforcement learning" (arXiv
2502.06060), who reward a speaker of the crew for what the others then believe of the impostor. Here the onlooker is the
belief among the features (`features="belief"`): the change, from one turn to the next, of the mean chance that it gives the
seats of the second side (evil, the werewolves), counted for the first side and against the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.core import ParlourError
from parlour.envs.speech import ACTS

_Floats = NDArray[np.float32]


class BeliefReward:
    """Reads an onlooker's belief from the observations of tables.

    Raises:
        ParlourError: The tables show no such belief.
    """

    def __init__(self, tables: BatchTables, weight: float) -> None:
        of = [k for k, name in enumerate(tables.names) if "onlooker" in name and ("evil" in name or "werewolf" in name)]
        if len(of) != tables.seats:
            raise ParlourError(
                f"features {tables.features!r} show no onlooker's belief; accepted: belief, record+belief"
            )
        self._tables, self._weight, self._columns = tables, weight, np.array(of)
        self._speech = np.array([move.kind in ACTS for move in tables.game.catalogue])
        self._before = np.zeros((tables.num_envs, tables.seats), np.float32)

    def begin(self, observation: _Floats, actor: NDArray[np.int32]) -> None:
        """A turn begins: remember what the onlooker believes."""
        self._before = self._by_seat(observation, actor)

    def add(
        self, turns: Turns, actor: NDArray[Any], actions: NDArray[Any], sides: NDArray[np.int8], rewards: _Floats
    ) -> None:
        """A turn is over: add to the speaker's reward.

        Args:
            turns: The next turn.
            actor: Who moved, shape (B,).
            actions: In the frame of the actor, shape (B,).
            sides: Of the seats, in the game that was played, shape (B, n).
            rewards: Of the turn, by seat, shape (B, n); added to.
        """
        after = self._by_seat(turns.observation, turns.actor)
        rows = np.arange(len(actor))
        spoke = self._speech[self._tables.frame.order[actor, actions]] & (turns.terminated == 0)
        of_second = sides == 1
        moved = ((after - self._before) * of_second).sum(axis=1) / np.maximum(1, of_second.sum(axis=1))
        gain = np.where(of_second[rows, actor], -moved, moved) * spoke * self._weight
        rewards[rows, actor] += gain.astype(np.float32)
        self._before = after

    def _by_seat(self, observation: _Floats, actor: NDArray[np.int32]) -> _Floats:
        """The onlooker's belief, by seat of the table, shape (B, n)."""
        n = self._tables.seats
        places = (np.arange(n) - np.maximum(actor, 0)[:, None]) % n
        found: _Floats = np.take_along_axis(observation[:, self._columns], places, axis=1)
        return found
