"""How well models tell what recorded players did: top-1 and log likelihood by kind of decision and role, paired by game.

What a clone is compared with on games that none of them was learned from; all learn from the same training games:

* clone: the network; *clone, unheard*: the same network as if nothing had been said
* logistic: the same features without hidden units, with weights of each group drawn to common ones (a hierarchical logit)
* heuristic: how often the heuristic of parlour chose each move at the same View (`DRAWS`), mixed with even chances; the share
  of even chances is the one by which the training games are likeliest, so no recorded move is impossible
* heuristic, aided: mixed with the frequencies below instead
* habits: `AvalonHabits` with what the seat itself knows of the team; votes and cards only
* frequency: how often seats of the role chose a move of the sort in the training games, one more of each sort; even within it
* chance: all legal moves alike
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from parlour.policies.cloned.record import Array
from parlour.training.learn.clone.choices import ImitatedChoice
from parlour.training.measure.statistics import SHARE, UNBOUNDED, MeanEstimate, weighted_mean

MODELS: Final = (
    "clone",
    "clone, unheard",
    "logistic",
    "heuristic",
    "heuristic, aided",
    "habits",
    "frequency",
    "chance",
)
CLONE, UNHEARD, LOGISTIC, HEURISTIC, AIDED, HABITS, FREQUENCY, CHANCE = MODELS

Model = Callable[[ImitatedChoice], Array]
"""The chances of the legal moves, shape (moves,); an empty array where it says nothing."""


ALL: Final = "all"
_LEAST: Final = 1e-12
"""A chance below this counts as this."""


class Foretold(NamedTuple):
    """What one model said of one held-out choice."""

    top: float
    """1 if its most probable move was taken; a share where several are as probable, or several were taken in one."""
    log: float
    """Log of its chance of what was taken, in nats; the mean by their shares where several were."""
    chance: float
    """Its chance of the first legal move, such as to approve."""


@dataclass(frozen=True, eq=False)
class PredictedChoice:
    """A choice with what the models said of it, which had not learned from its game."""

    choice: ImitatedChoice
    told: dict[str, Foretold]
    """By model; those that say something of this kind."""


@dataclass(frozen=True)
class ChoiceScore:
    """One row of the table."""

    what: str
    """Kind of decision."""
    role: str
    """`ALL` or one."""
    model: str
    decisions: int
    games: int
    top: MeanEstimate
    log: MeanEstimate
    """Mean log likelihood of a decision, in nats."""
    top_less: MeanEstimate | None
    """Top-1 of the clone less that of this model, on the same decisions; None for the clone itself."""
    log_less: MeanEstimate | None
    """The same of the log likelihood."""


def told_of(choice: ImitatedChoice, models: dict[str, Model]) -> PredictedChoice:
    """What models say of a choice."""
    said = {name: model(choice) for name, model in models.items()}
    return PredictedChoice(
        choice, {name: _told(choice.taken, chances) for name, chances in said.items() if len(chances)}
    )


def _told(taken: Array, chances: Array) -> Foretold:
    best = chances >= chances.max() - 1e-12
    log = float(taken @ np.log(np.maximum(chances, _LEAST)))
    return Foretold(float((taken[best] > 0).mean()), log, float(chances[0]))


def table(held_out: Sequence[PredictedChoice]) -> list[ChoiceScore]:
    """All rows: by kind, over all roles and then by role, by model."""
    rows = []
    for what in dict.fromkeys(case.choice.what for case in held_out):
        of_kind = [case for case in held_out if case.choice.what == what]
        for role in (ALL, *sorted({case.choice.role for case in of_kind})):
            some = [case for case in of_kind if role in (ALL, case.choice.role)]
            rows += [_score(what, role, name, some) for name in MODELS if name in some[0].told]
    return rows


def _score(what: str, role: str, model: str, some: Sequence[PredictedChoice]) -> ChoiceScore:
    def mean(of: Callable[[PredictedChoice], float], bounds: tuple[float, float] = UNBOUNDED) -> MeanEstimate:
        return by_game(((case.choice.game, of(case)) for case in some), bounds)

    other = None if model == CLONE else model
    return ChoiceScore(
        what,
        role,
        model,
        len(some),
        len({case.choice.game for case in some}),
        mean(lambda one: one.told[model].top, SHARE),
        mean(lambda one: one.told[model].log),
        None if other is None else mean(lambda one: one.told[CLONE].top - one.told[model].top),
        None if other is None else mean(lambda one: one.told[CLONE].log - one.told[model].log),
    )


def by_game(values: Iterable[tuple[int, float]], bounds: tuple[float, float] = UNBOUNDED) -> MeanEstimate:
    """The mean of values of decisions, (game, value), with an interval for games as what is drawn."""
    sums: dict[int, list[float]] = {}
    for number, value in values:
        sums.setdefault(number, []).append(value)
    return weighted_mean([np.mean(of) for of in sums.values()], [len(of) for of in sums.values()], bounds)


class CalibrationBin(NamedTuple):
    """Held-out chances of a range, and how often it came true."""

    chance: float
    rate: float
    decisions: int


def calibration(held_out: Sequence[PredictedChoice], what: str, model: str, bins: int = 10) -> list[CalibrationBin]:
    """Of decisions between two moves: the chance of the first one against how often it was taken, in equal parts."""
    of_kind = [case for case in held_out if case.choice.what == what]
    found = [(case.told[model].chance, float(case.choice.taken[0])) for case in of_kind]
    found.sort(key=lambda pair: pair[0])  # equal chances stay in the order of the games
    parts = [part for part in np.array_split(np.array(found).reshape(-1, 2), bins) if len(part)]
    return [CalibrationBin(float(part[:, 0].mean()), float(part[:, 1].mean()), len(part)) for part in parts]
