"""The figures of abilities by name, as plain numbers: the value, its interval and its standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import nan
from typing import Final

from parlour.policies.llm.decisions import mostly_foreign
from parlour.training.measure.abilities.consistency import CONTRADICTIONS
from parlour.training.measure.abilities.run import Abilities
from parlour.training.measure.statistics import Estimate

DEDUCTION: Final = "deduction"
DECEPTION: Final = "deception"
PERSUASION: Final = "persuasion"
CONSISTENCY: Final = "consistency"
MERLIN: Final = "merlin"
Named = Iterator[tuple[str, Estimate | None]]
"""Names with their estimates."""
_WIDTH: Final = 2 * 1.959963984540054  # of a normal interval at 95 %, in standard errors


def numbers_of(measured: Abilities, ability: str) -> dict[str, float]:
    """The estimates of one ability of the player alone as numbers: `NAME`, `NAME_low`, `NAME_high` and `NAME_stderr`; NaN where there is none.

    The standard error is that of a normal distribution with the same interval.
    """
    numbers: dict[str, float] = {}
    for name, estimate in _ESTIMATES[ability](measured):
        low, high = (
            (nan, nan)
            if estimate is None or estimate.low is None or estimate.high is None
            else (estimate.low, estimate.high)
        )
        value = nan if estimate is None else estimate.value
        numbers |= {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_stderr": (high - low) / _WIDTH}
    return numbers


def _deduction(measured: Abilities) -> Named:
    """Without a figure if fewer than half of the beliefs are the player's own."""
    asked = measured.asked.asked
    hidden = mostly_foreign(asked.first + asked.again, asked.asked)
    for before, scores in (
        ("", measured.deduction[measured.player]),
        ("werewolf_", measured.village.all.get(measured.player)),
    ):
        if scores is not None:
            estimates = {"skill": scores.skill, "loss": scores.loss, "calibration_error": Estimate(scores.calibration)}
            yield from ((f"{before}{name}", None if hidden else estimate) for name, estimate in estimates.items())


def _deception(measured: Abilities) -> Named:
    yield from ((f"doubt_{who}", estimate) for who, estimate in measured.deception.items())
    yield "by_words", measured.by_words


def _persuasion(measured: Abilities) -> Named:
    yield from ((f"claims_{side}", estimate) for side, estimate in measured.persuasion._asdict().items())
    yield from ((f"votes_{side}", estimate) for side, estimate in vars(measured.votes).items())


def _merlin(measured: Abilities) -> Named:
    yield "names", measured.names_merlin
    yield "hides", measured.hides_merlin


def _consistency(measured: Abilities) -> Named:
    for game, of in measured.consistency.items():
        if measured.player in of:
            for kind in CONTRADICTIONS:
                yield f"{game.partition('_')[0]}_{kind}", getattr(of[measured.player], kind)


_ESTIMATES: Final[Mapping[str, Callable[[Abilities], Named]]] = {
    DEDUCTION: _deduction,
    DECEPTION: _deception,
    PERSUASION: _persuasion,
    CONSISTENCY: _consistency,
    MERLIN: _merlin,
}
