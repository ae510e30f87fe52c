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


def estimates_of(found: Abilities, ability: str) -> dict[str, Estimate | None]:
    """The estimates of one ability by name, of the player alone."""
    return dict(_ESTIMATES[ability](found))


def numbers_of(found: Abilities, ability: str) -> dict[str, float]:
    """The same as numbers: `NAME`, `NAME_low`, `NAME_high` and `NAME_stderr`; NaN where there is none.

    The standard error is that of a normal distribution with the same interval.
    """
    numbers: dict[str, float] = {}
    for name, one in estimates_of(found, ability).items():
        low, high = (nan, nan) if one is None or one.low is None or one.high is None else (one.low, one.high)
        value = nan if one is None else one.value
        numbers |= {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_stderr": (high - low) / _WIDTH}
    return numbers


def _deduction(found: Abilities) -> Named:
    """Without a figure if fewer than half of the beliefs are the player's own."""
    asked = found.asked.asked
    hidden = mostly_foreign(asked.first + asked.again, asked.asked)
    for before, scores in (("", found.deduction[found.player]), ("werewolf_", found.village.all.get(found.player))):
        if scores is not None:
            estimates = {"skill": scores.skill, "loss": scores.loss, "calibration_error": Estimate(scores.calibration)}
            yield from ((f"{before}{name}", None if hidden else one) for name, one in estimates.items())


def _deception(found: Abilities) -> Named:
    yield from ((f"doubt_{who}", one) for who, one in found.deception.items())
    yield "by_words", found.by_words


def _persuasion(found: Abilities) -> Named:
    yield from ((f"claims_{side}", one) for side, one in found.persuasion._asdict().items())
    yield from ((f"votes_{side}", one) for side, one in vars(found.votes).items())


def _merlin(found: Abilities) -> Named:
    yield "names", found.names_merlin
    yield "hides", found.hides_merlin


def _consistency(found: Abilities) -> Named:
    for game, of in found.consistency.items():
        if found.player in of:
            for kind in CONTRADICTIONS:
                yield f"{game.partition('_')[0]}_{kind}", getattr(of[found.player], kind)


_ESTIMATES: Final[Mapping[str, Callable[[Abilities], Named]]] = {
    DEDUCTION: _deduction,
    DECEPTION: _deception,
    PERSUASION: _persuasion,
    CONSISTENCY: _consistency,
    MERLIN: _merlin,
}
