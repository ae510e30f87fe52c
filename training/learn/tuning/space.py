"""The numbers that a trainer may turn: their ranges, defaults, and maps to the unit interval and to the whole line.

A float is mapped by its place between `low` and `high` (of the logarithms, with `log`); an int counts as if its range went
half a step further on both sides, so that all its values are equally wide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from parlour.envs.core import ParlourError, accept, check_one_of

Parameters = Mapping[str, float]
"""Name -> value."""
EDGE: Final = 6.0
"""Farthest point of the whole line that is used: 0.25 % of the range from its end."""


@dataclass(frozen=True)
class Parameter:
    """One number to tune.

    Raises:
        ParlourError: The range is empty, the default lies outside of it, or a logarithm would not exist.
    """

    name: str
    low: float
    high: float
    """Both ends belong to the range."""
    default: float
    kind: Literal["float", "int"] = "float"
    log: bool = False

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, ("float", "int"))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ParlourError(f"range of {self.name}: {self.low} to {self.high} is not accepted; accepted: low < high")
        if self.log and self.low <= 0:
            raise ParlourError(f"range of {self.name}: {self.low} has no logarithm; accepted: a number above 0")
        if self.kind == "int" and any(x != int(x) for x in (self.low, self.high, self.default)):
            raise ParlourError(f"range of {self.name} is not accepted; accepted: whole numbers")
        self.check(self.default)

    def check(self, value: float) -> None:
        """Raise `ParlourError` for a value outside of the range."""
        if not self.low <= value <= self.high or (self.kind == "int" and value != int(value)):
            kind = "a whole number" if self.kind == "int" else "a number"
            raise accept(self.name, value, f"{kind} from {self.low} to {self.high}")

    def place(self, value: float) -> float:
        """Where a value lies, 0 to 1."""
        low, high = self._ends()
        return (self._line(value) - low) / (high - low)

    def at(self, place: float, lift: float = 0.5) -> float:
        """The value at a place.

        Args:
            place: 0 to 1.
            lift: For an int, what is added before the fraction is cut off: 0.5 takes the nearest whole number; drawn
                evenly from 0 to 1, the mean of the values is the number between them.
        """
        low, high = self._ends()
        found = low + place * (high - low)
        value = math.exp(found) if self.log else found
        if self.kind == "int":
            return int(min(max(math.floor(value + lift), self.low), self.high))
        return min(max(value, self.low), self.high)

    def _ends(self) -> tuple[float, float]:
        half = 0.5 if self.kind == "int" and not self.log else 0.0
        return self._line(self.low) - half, self._line(self.high) + half

    def _line(self, value: float) -> float:
        return math.log(value) if self.log else value

    def grid(self, points: int) -> list[float]:
        """At most `points` values, evenly spread from end to end, in rising order."""
        if self.kind == "int" and not self.log:
            spread = [self.low + k * (self.high - self.low) / (points - 1) for k in range(points)]
            return sorted({math.floor(value + 0.5) for value in spread})
        return sorted({self.at(k / (points - 1)) for k in range(points)})


@dataclass(frozen=True)
class Space:
    """All numbers that are tuned together, in order. Raises `ParlourError` if there is none, or a name comes twice."""

    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if not names or len(set(names)) < len(names):
            raise ParlourError(f"parameters {', '.join(names) or '(none)'}; accepted: one or more, each once")

    @property
    def names(self) -> tuple[str, ...]:
        """In order."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def defaults(self) -> dict[str, float]:
        """Name -> default."""
        return {parameter.name: parameter.default for parameter in self.parameters}

    def chosen(self, names: Sequence[str]) -> Space:
        """The space of these numbers alone, in the order of the names. Raises `ParlourError` for one it does not have."""
        have = {parameter.name: parameter for parameter in self.parameters}
        for name in names:
            check_one_of("parameter", name, have)
        return Space(tuple(have[name] for name in names))

    def check(self, values: Parameters) -> None:
        """Raise `ParlourError` unless there is a value within its range for each number, and no other."""
        if set(values) != set(self.names):
            raise ParlourError(f"parameters {', '.join(values)} are not accepted; accepted: {', '.join(self.names)}")
        for parameter in self.parameters:
            parameter.check(values[parameter.name])

    def unbounded(self, values: Parameters) -> list[float]:
        """The point of the whole space that stands for these values: log-odds of each place, at most `EDGE` from 0."""
        places = [parameter.place(values[parameter.name]) for parameter in self.parameters]
        return [min(max(math.log(p / (1 - p)), -EDGE), EDGE) if 0 < p < 1 else EDGE * (2 * p - 1) for p in places]

    def bounded(self, point: Sequence[float], lift: float = 0.5) -> dict[str, float]:
        """The values that a point of the whole space stands for; `lift` as in `Parameter.at`."""
        places = [1 / (1 + math.exp(-min(max(x, -EDGE), EDGE))) for x in point]
        return {p.name: p.at(place, lift) for p, place in zip(self.parameters, places, strict=True)}

    def as_json(self) -> list[dict[str, Any]]:
        """Plain values."""
        return [dict(vars(parameter)) for parameter in self.parameters]


def show(values: Parameters) -> str:
    """Values in one line.

    >>> show({"rho": 0.95, "width": 3})
    'rho=0.95 width=3'
    """
    return " ".join(f"{name}={value:.4g}" for name, value in values.items())
