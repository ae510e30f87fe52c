"""A logistic model of the same evidence, as a baseline for the trust graph: each player judged alone, from actions by and towards
him.

It counts acts of each kind by and towards a player, by the observer's knowledge about the other end, and never asks whether
all its suspects can be werewolves at once. Fitted to the same episodes as the reliabilities; a yardstick, no method of a paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import log
from typing import ClassVar, Final

import numpy as np
from parlour.policies import GratrAgent
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import KINDS, LearnedEvidence, Reliabilities
from parlour.policies.llm.model import Model
from parlour.training.learn.reliability.episodes import NOTHING, PlayedEpisode
from parlour.training.measure.werewolf.trust_scores import Array

_ENDS: Final = 3
"""The other end is one of the village, a werewolf, or unknown."""
TERMS: Final = 2 * _ENDS * len(KINDS) + 4
"""Acts by and towards the player; a claim; the graph's trust; the odds among the unknown; a constant."""
_RIDGE: Final = 1.0
_STEPS: Final = 30


def terms(
    target: int, me: int, wolves: int, known: Mapping[int, bool], graph: Sequence[float], evidence: LearnedEvidence
) -> Array:
    """Inputs of the model for one player, shape (TERMS,)."""
    counts = np.zeros(TERMS)
    for kind, source, other in evidence.acts:
        if target in (source, other) and source != me:
            end = other if target == source else source
            side = 0 if end == me else int(known[end]) if end in known else 2
            counts[((target != source) * _ENDS + side) * len(KINDS) + KINDS.index(kind)] += 1.0
    counts = np.log1p(counts)
    left = len(graph) - 1 - len(known)
    bad = min(max(wolves - sum(known.values()), 0.1), left - 0.1)
    counts[-4:] = float(target in evidence.claims), graph[target], log(bad / (left - bad)), 1.0
    return counts


def fitted_terms(episodes: Sequence[PlayedEpisode]) -> tuple[float, ...]:
    """Weights for the odds of being a werewolf, by Newton's method with a ridge."""
    rows, bad = [], []
    for moment in chain.from_iterable(episode.moments for episode in episodes):
        messages, known = moment.heard(), dict(moment.known)
        for target in moment.targets:
            rows.append(terms(target, moment.me, len(moment.wolves), known, moment.graph, messages))
            bad.append(float(target in moment.wolves))
    x, y, weights = np.array(rows), np.array(bad), np.zeros(TERMS)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (y - chance) - _RIDGE * weights
        step = np.linalg.solve((x * (chance * (1 - chance))[:, None]).T @ x + _RIDGE * np.eye(TERMS), slope)
        weights = weights + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-8:
            break
    return tuple(round(float(weight), 6) for weight in weights)


class LogisticReader(GratrAgent):
    """A reader of GRATR's evidence whose trust is the logistic model's.

    Args:
        model: Who answers.
        weights: Weights of the terms, shape (TERMS,).
    """

    name: ClassVar[str] = "logistic"

    def __init__(self, model: Model | None, weights: Sequence[float]) -> None:
        self._of_terms = tuple(weights)
        super().__init__(model, parameters=Parameters(), reliabilities=NOTHING)

    def _gathered(self, reliabilities: Reliabilities) -> LearnedEvidence:
        return _LogisticEvidence(self._of_terms)


class _LogisticEvidence(LearnedEvidence):
    """Trust of each player by its own terms."""

    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__(NOTHING, 1.0)
        self._of_terms = np.array(weights)

    def trust(self, me: int, wolves: int, known: Mapping[int, bool], graph: Sequence[float]) -> list[float]:
        return [self._of(seat, me, wolves, known, graph) for seat in range(len(graph))]

    def _of(self, seat: int, me: int, wolves: int, known: Mapping[int, bool], graph: Sequence[float]) -> float:
        if seat == me or seat in known:
            return -1.0 if known.get(seat, False) else 1.0
        odds = float(terms(seat, me, wolves, known, graph, self) @ self._of_terms)
        return round(1 - 2 / (1 + float(np.exp(-odds))), 6)
