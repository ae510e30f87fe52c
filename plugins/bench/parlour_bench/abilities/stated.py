"""How good stated beliefs are: log loss against the truth, skill against the exact posterior, calibration.

    loss(p)   =  mean over the other seats of  -log p  if the seat is evil, else  -log(1 - p)
    skill(p)  =  (loss(prior) - loss(p)) / (loss(prior) - loss(exact))

in sums over all moments. The prior is what the seat knew after the night, the exact posterior what it could conclude from all it saw.
So 0 is who learned nothing, 1 who concluded everything, and below 0 is who would have done better to stay with the night.
Intervals are of the bootstrap over games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.measure.avalon.stated import loss
from parlour.training.measure.calibration import Calibration
from parlour.training.statistics import Estimate

RESAMPLES: Final = 2000
Floats = NDArray[np.float64]
Chances = Sequence[float]
"""One for each of the other seats, in their order."""
_TAIL: Final = 0.025


@dataclass(frozen=True)
class BeliefMoment:
    """A seat that is asked."""

    game: str
    """Name of the transcript."""
    table: tuple[str, Mapping[str, Any]]
    """The game's id and its configuration."""
    by_player: bool
    """Whether the seat is the measured player's; else an opponent's."""
    opponent: str
    """Who sat on the other side of the measured player."""
    seat: int
    seed: int
    text: str
    """What the seat reads."""
    info: Mapping[str, Any]
    """As `Policy.state_belief` takes it."""
    truth: tuple[bool, ...]
    """Whether each of the other seats is evil."""
    prior: tuple[float, ...]
    """How likely each of the others is to be evil, according to what the night showed the seat."""
    exact: tuple[float, ...]
    """By the exact posterior of what the seat saw (`Deduction`); empty until it is computed."""

    def others(self, chances: Iterable[float]) -> tuple[float, ...]:
        """Chances of all seats without the own one."""
        return tuple(chance for seat, chance in enumerate(chances) if seat != self.seat)


@dataclass(frozen=True)
class StatedScores:
    """What a player's stated beliefs were worth."""

    skill: Estimate | None
    """None where the exact posterior is no better than the prior."""
    loss: Estimate
    """In nats a seat."""
    calibration: float
    """Expected calibration error."""
    moments: int


def stated_scores(moments: Sequence[BeliefMoment], stated: Sequence[Chances], rng: np.random.Generator) -> StatedScores:
    """Score stated beliefs.

    Args:
        moments: At least one.
        stated: The chances that were stated at each.
        rng: Draws games for the intervals.
    """
    names = list(dict.fromkeys(moment.game for moment in moments))
    sums = np.zeros((len(names), 4))  # losses of the prior, of what was stated, of the exact posterior; moments
    for moment, chances in zip(moments, stated, strict=True):
        losses = [loss(probabilities, moment.truth) for probabilities in (moment.prior, chances, moment.exact)]
        sums[names.index(moment.game)] += (*losses, 1)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=RESAMPLES) @ sums
    flat = [chance for chances in stated for chance in chances]
    true = [evil for moment in moments for evil in moment.truth]
    mean_loss = estimate(_mean, sums, drawn)
    assert mean_loss is not None  # there is a moment
    calibration = Calibration.by_range(flat, true).error
    return StatedScores(estimate(_skill, sums, drawn), mean_loss, calibration, len(moments))


def _skill(sums: Floats) -> Floats:
    prior, stated, exact = sums[..., 0], sums[..., 1], sums[..., 2]
    share: Floats = (prior - stated) / np.where(prior > exact, prior - exact, np.nan)
    return share


def _mean(sums: Floats) -> Floats:
    mean: Floats = sums[..., 1] / sums[..., 3]
    return mean


def estimate(figure: Callable[[Floats], Floats], sums: Floats, drawn: Floats) -> Estimate | None:
    """A figure of sums over games, with the bootstrap over games; None where it is no number.

    Args:
        figure: Of sums, in the last dimension.
        sums: A row for each game.
        drawn: The sums of each draw of games.
    """
    value = float(figure(sums.sum(axis=0)))
    if np.isnan(value):
        return None
    if len(sums) < 2:
        return Estimate(value, n=len(sums))
    low, high = np.nanquantile(figure(drawn), [_TAIL, 1 - _TAIL])
    return Estimate(value, float(low), float(high), len(sums))
