"""Mediated question answering in numbers. Every feature is in [-1, 1].

| features | what |
|---|---|
| 4 | own seat, one-hot |
| 10 | state of the question, one-hot in the order of `vocabulary.STATES` |
| 9 | a module: its recommended action; the mediator: the joint action it recommended; one-hot per module |
| 4 | outcome of the last question, one-hot |
| 2 | share of the questions done; share earned of the most that could be |

A mediator that sees more than the state has a feature more for each of `vocabulary.FEATURES` that it sees, x / (1 + |x|).
A table with other actions has as many features instead of the 9 as it has actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.mediated_qa.rules import MediatedQA
from parlour.envs.mediated_qa.vocabulary import AGENTS, SEEN, STATES, MediatedView, Module
from parlour.envs.spec import Encoders

_ADVICE = len(AGENTS) + len(STATES)  # where the features of actions begin


class MediatedEncoders(Encoders):
    """The features of a table."""

    def at_table(self) -> MediatedEncoder:
        return MediatedEncoder(self.game)


class MediatedEncoder:
    """Satisfies `parlour.envs.core.Encoder`."""

    def __init__(self, game: MediatedQA) -> None:
        payment = game.payment
        self._starts = (0, *game.actions.starts)  # where each seat's actions stand among all
        self._outcome = _ADVICE + len(game.actions.costs)
        self._done = self._outcome + 4
        self.size = self._done + 2 + len(SEEN[game.sees])
        most = max(map(abs, payment.utilities)) + sum(map(abs, payment.costs))
        self._most = game.questions * max(most, 1.0)

    def __call__(self, view: MediatedView) -> np.ndarray[Any, np.dtype[np.float32]]:
        features = np.zeros(self.size, dtype=np.float32)
        features[view.seat] = 1
        if view.signal >= 0:
            features[len(AGENTS) + view.signal] = 1
        seats = range(1, 4) if view.seat == Module.MEDIATOR else (view.seat,)
        for seat, action in zip(seats, view.advice, strict=False):
            features[_ADVICE + self._starts[seat] + action] = 1
        if view.outcome >= 0:
            features[self._outcome + view.outcome] = 1
        features[self._done] = view.done / view.questions
        features[self._done + 1] = view.earned / self._most
        if view.context:
            seen = np.array(view.context)
            features[self._done + 2 :] = seen / (1 + np.abs(seen))
        return features
