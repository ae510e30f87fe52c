"""Mediated question answering in numbers. Every feature is in [-1, 1].

| features | what |
|---|---|
| 4 | own seat, one-hot |
| 10 | state of the question, one-hot in the order of `vocabulary.STATES` |
| 9 | a module: its recommended action; the mediator: the joint action it recommended; one-hot per module |
| 4 | outcome of the last question, one-hot |
| 2 | share of the questions done; share earned of the most that could be |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.mediated_qa.rules import MediatedQA
from parlour.envs.mediated_qa.vocabulary import AGENTS, MEDIATOR, MODULE_ACTIONS, STATES, MediatedView

_STARTS = (0, 0, 3, 7)  # where each seat's actions stand among the nine


class MediatedEncoder:
    """Satisfies `parlour.envs.core.Encoder`."""

    size = len(AGENTS) + len(STATES) + sum(map(len, MODULE_ACTIONS)) + 4 + 2

    def __init__(self, game: MediatedQA) -> None:
        payment = game.payment
        most = max(map(abs, payment.utilities)) + sum(map(abs, payment.costs))
        self._most = game.questions * max(most, 1.0)

    def __call__(self, view: MediatedView) -> np.ndarray[Any, np.dtype[np.float32]]:
        features = np.zeros(self.size, dtype=np.float32)
        features[view.seat] = 1
        if view.signal >= 0:
            features[4 + view.signal] = 1
        seats = range(1, 4) if view.seat == MEDIATOR else (view.seat,)
        for seat, action in zip(seats, view.advice, strict=False):
            features[14 + _STARTS[seat] + action] = 1
        if view.outcome >= 0:
            features[23 + view.outcome] = 1
        features[27] = view.done / view.questions
        features[28] = view.earned / self._most
        return features
