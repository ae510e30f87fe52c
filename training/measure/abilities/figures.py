"""The figures of abilities by name, as plain numbers: the value, its interval and its standard error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
_WIDTH: Final = 2 * 1.959963984540054  # of a normal interval at 95 %, in standard errors


def estimates_of(found: Abilities, ability: str) -> dict[str, Estimate | None]:
    """The estimates of one ability by name, of the player alone."""
    return {
        DEDUCTION: _deduction,
        DECEPTION: lambda of: {**{f"doubt_{who}": one for who, one in of.deception.items()}, "by_words": of.by_words},
        PERSUASION: lambda of: {
            **{f"claims_{side}": one for side, one in of.persuasion._asdict().items()},
            **{f"votes_{side}": one for side, one in vars(of.votes).items()},
        },
        CONSISTENCY: lambda of: dict(_consistency(of)),
        MERLIN: lambda of: {"names": of.names_merlin, "hides": of.hides_merlin},
    }[ability](found)


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


def _deduction(found: Abilities) -> dict[str, Estimate | None]:
    """Without a figure if fewer than half of the beliefs are the player's own."""
    asked = found.asked.asked
    hidden = mostly_foreign(asked.first + asked.again, asked.asked)
    own = found.deduction[found.player]
    village = found.village.all.get(found.player)
    estimates: Mapping[str, Estimate | None] = {
        "skill": own.skill,
        "loss": own.loss,
        "calibration_error": Estimate(own.calibration),
        "werewolf_skill": village and village.skill,
        "werewolf_loss": village and village.loss,
        "werewolf_calibration_error": village and Estimate(village.calibration),
    }
    return {name: None if hidden else one for name, one in estimates.items()}


def _consistency(found: Abilities) -> Iterator[tuple[str, Estimate | None]]:
    for game, of in found.consistency.items():
        if found.player in of:
            for kind in CONTRADICTIONS:
                yield f"{game.partition('_')[0]}_{kind}", getattr(of[found.player], kind)
