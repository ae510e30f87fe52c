"""How well a network knows the roles of the others, beside the belief by fixed habits: log loss on its games against itself.

The network's head predicts the role of each other seat from the same hidden layers as the policy (`SelfplayConfig.infer`);
the belief by habits is that of the features (`envs/<game>/belief.py`). Both give three probabilities for each other seat at every
decision: the second side, the role that this side looks for (Merlin, the seer), anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import ParlourError
from parlour.training.learn.batch.networks import use_one_thread
from parlour.training.learn.batch.players import NetworkPlayer
from parlour.training.learn.selfplay.learner import SelfplayLearner
from parlour.training.measure.statistics import COUNT, Estimate, mean_estimate

_LEAST: Final = 1e-4
"""A chance below it counts as this one, for both."""
_SOUGHT: Final = ("Merlin", "Seer")
Chances = NDArray[np.float32]


@dataclass(frozen=True)
class RoleLoss:
    """Mean log loss in nats for each other seat and decision; the mean and its interval are over games."""

    head: Estimate
    habits: Estimate
    difference: Estimate
    """Head less habits, paired by game."""


def measure(learner: SelfplayLearner, tables: BatchTables, deals: Sequence[int]) -> RoleLoss:
    """Play the policy against itself and ask both at every decision.

    Args:
        learner: With a head that has learned.
        tables: Made with `autoreset=False` and a belief among the features, one for each deal.
        deals: Held-out seeds.

    Raises:
        ParlourError: The features hold no belief by habits.
    """
    turns = tables.reset(list(deals))
    reader = _Reader(learner, tables)
    player = NetworkPlayer("learner", learner.playing(), tables.names)
    use_one_thread()
    player.reset(tables, list(deals), 0)
    actions = np.zeros(tables.num_envs, np.int32)
    sums, counts = np.zeros((2, tables.num_envs)), np.zeros(tables.num_envs)
    while (turns.actor >= 0).any():
        rows = np.flatnonzero(turns.actor >= 0).astype(np.int32)
        truth = reader.truth()[rows]
        for number, chances in enumerate(
            (reader.by_head(turns.observation[rows]), reader.by_habits(turns.observation[rows]))
        ):
            given = np.maximum((chances * truth).sum(axis=2), _LEAST)
            sums[number, rows] -= np.log(given).mean(axis=1)
        counts[rows] += 1
        player.choose(turns, rows, actions)
        turns = tables.step(actions)
    head, habits = sums / counts
    return RoleLoss(mean_estimate(head, COUNT), mean_estimate(habits, COUNT), mean_estimate(head - habits))


class _Reader:
    """Three chances for each other seat, in the frame of the seat to move: arrays of shape (rows, n - 1, 3)."""

    def __init__(self, learner: SelfplayLearner, tables: BatchTables) -> None:  # of tables that have been dealt
        self._learner, self._tables = learner, tables
        names = [name for name in tables.names if "onlooker" not in name]
        second = [k for k, name in enumerate(names) if _believed(name) and ("evil" in name or "werewolf" in name)]
        sought = [
            k for k, name in enumerate(names) if _believed(name) and any(role in name for role in ("Merlin", "seer"))
        ]
        if len(second) != tables.seats or len(sought) != tables.seats:
            raise ParlourError(f"features {tables.features!r} hold no belief; accepted: belief, record+belief")
        at = {name: k for k, name in enumerate(tables.names)}
        self._columns = [[at[names[k]] for k in columns[1:]] for columns in (second, sought)]
        roles, seconds = tables.game.role_names, tables.side == 1  # type: ignore[attr-defined]
        self._class = np.zeros((len(roles), 3), np.float32)
        for k, role in enumerate(roles):
            of_second = bool(seconds[tables.roles == k].any())
            self._class[k, 0 if of_second else 1 if role in _SOUGHT else 2] = 1

    def truth(self) -> Chances:
        hidden = self._tables.hidden().reshape(self._tables.num_envs, self._tables.seats, -1)[:, 1:]
        chances: Chances = hidden @ self._class
        return chances

    def by_head(self, observation: Chances) -> Chances:
        with torch.inference_mode():
            inside = self._learner.policy[:-1](torch.from_numpy(observation))
            logits = self._learner.head(inside).reshape(len(observation), self._tables.seats, -1)[:, 1:]
            chances: Chances = torch.softmax(logits, dim=2).numpy() @ self._class
        return chances

    def by_habits(self, observation: Chances) -> Chances:
        second, sought = (observation[:, columns] for columns in self._columns)
        return np.stack([second, sought, np.maximum(0, 1 - second - sought)], axis=2)


def _believed(name: str) -> bool:
    return name.startswith(("mine:", "I think:"))
