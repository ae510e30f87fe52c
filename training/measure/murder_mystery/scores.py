"""The papers' scores as functions of marks (Questum, section 4 and appendix C.2; PLAYER*, appendix B.2; decisions 4.8).

* Accuracy of a sort or kind of question: right answers among all. Overall: points won among points, 10 for an objective,
  5 for reasoning, 2 for relations.
* Over repetitions: mean and standard deviation, with n under the root (Questum's tables) or n - 1 (PLAYER*'s).
* Over cases: mean weighted by numbers of questions, overall by points; deviation sqrt(sum w (x - mean)^2 / sum w), which
  both appendices give. What PLAYER* prints behind its totals is that over all runs (each repetition of each script is an x);
  what Questum prints is the deviation of the total over repetitions, some ten times smaller.
* For our own comparisons a case is the unit: `parlour.training.statistics.Estimate.weighted_mean`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final, Literal, NamedTuple

import numpy as np
from parlour.training.measure.murder_mystery.quiz import Mark
from parlour.training.statistics import SHARE_DIFFERENCE, Estimate

OVERALL: Final = "overall"
Formula = Literal["population", "sample"]
"""n under the root (Questum), or n - 1 (PLAYER*)."""


class QuizScore(NamedTuple):
    """A share of right answers, or of points."""

    shares: tuple[float, ...]
    """In each repetition."""
    weight: int
    """Questions, or points, of one repetition."""

    @property
    def mean(self) -> float:
        """Over repetitions."""
        return sum(self.shares) / len(self.shares)


def score(marks: Sequence[Mark], of: str = OVERALL) -> QuizScore | None:
    """What a case's marks come to; None if there is no such question.

    >>> marks = [Mark(0, "a", "individual", 10, (True,)), Mark(0, "b", "who", 5, (False,)), Mark(0, "c", "one_relation", 2, (True,))]
    >>> score(marks).shares[0] == 12 / 17, score(marks, "reasoning"), score(marks, "why")
    (True, QuizScore(shares=(0.0,), weight=1), None)

    Args:
        marks: Marks of one case and method.
        of: `"overall"`, a sort (`"objective"`, ...), or a kind (`"who"`, ...).
    """
    chosen = [mark for mark in marks if of in (OVERALL, mark.sort, mark.kind)]
    if not chosen:
        return None
    weights = [mark.points if of == OVERALL else 1 for mark in chosen]
    total = sum(weights)
    repetitions = len(chosen[0].right)
    shares = tuple(
        sum(w * mark.right[k] for w, mark in zip(weights, chosen, strict=True)) / total for k in range(repetitions)
    )
    return QuizScore(shares, total)


def over_repetitions(score: QuizScore, formula: Formula = "population") -> float | None:
    """Standard deviation over repetitions of the quiz; None for the sample's of one repetition.

    >>> over_repetitions(QuizScore((0.0, 1.0), 4)), over_repetitions(QuizScore((0.0, 1.0, 0.5), 4), "sample")
    (0.5, 0.5)
    """
    divisor = len(score.shares) - (formula == "sample")
    return sqrt(sum((x - score.mean) ** 2 for x in score.shares) / divisor) if divisor else None


def over_cases(values: Sequence[float], weights: Sequence[float]) -> float:
    """Weighted deviation from the weighted mean.

    >>> over_cases([0.0, 1.0], [3, 1])
    0.4330127018922193
    """
    x, w = np.asarray(values, float), np.asarray(weights, float)
    mean = float((w * x).sum() / w.sum())
    return sqrt(float((w * (x - mean) ** 2).sum() / w.sum()))


def over_runs(scores: Sequence[QuizScore]) -> float:
    """Weighted deviation over all repetitions of all cases, as behind PLAYER*'s totals.

    >>> over_runs([QuizScore((0.0, 1.0), 3), QuizScore((0.5, 0.5), 1)])
    0.4330127018922193
    """
    weights = [case_score.weight for case_score in scores for _ in case_score.shares]
    return over_cases([share for case_score in scores for share in case_score.shares], weights)


def over_totals(scores: Sequence[QuizScore], formula: Formula = "population") -> float | None:
    """Deviation over repetitions of the weighted mean of the cases, as behind Questum's totals.

    >>> over_totals([QuizScore((0.0, 1.0), 3), QuizScore((0.5, 0.5), 1)])
    0.375
    """
    weight = sum(case_score.weight for case_score in scores)
    repetitions = range(len(scores[0].shares))
    totals = tuple(sum(case_score.shares[k] * case_score.weight for case_score in scores) / weight for k in repetitions)
    return over_repetitions(QuizScore(totals, weight), formula)


def scored(games: Sequence[Sequence[Mark]], of: str = OVERALL) -> tuple[list[float], list[int]]:
    """Mean and weight of each case that has such questions."""
    scored = [game_score for game_score in (score(marks, of) for marks in games) if game_score is not None]
    return [case_score.mean for case_score in scored], [case_score.weight for case_score in scored]


def compared(a: Sequence[Sequence[Mark]], b: Sequence[Sequence[Mark]], of: str = OVERALL) -> Estimate | None:
    """How much more A scores than B on the same cases; None if they have no such questions.

    Raises:
        ValueError: They were not asked the same.
    """
    asked = [[[(m.seat, m.question) for m in marks] for marks in games] for games in (a, b)]
    if asked[0] != asked[1]:
        raise ValueError("two methods are compared on the same questions of the same cases")
    (x, weights), (y, _) = scored(a, of), scored(b, of)
    return Estimate.weighted_mean([p - q for p, q in zip(x, y, strict=True)], weights, SHARE_DIFFERENCE) if x else None
