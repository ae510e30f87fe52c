"""The response surface: how much more than the defaults a grid over the first two parameters earns, on common deals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

from parlour.training.learn.tuning.config import TuneConfig
from parlour.training.learn.tuning.problem import Problem
from parlour.training.learn.tuning.space import Parameters, show
from parlour.training.measure.statistics import MeanEstimate, mean_difference
from parlour.training.results.runs import write_csv

TABLE: Final = "surface.csv"
_DEFAULTS: Final = "defaults"


@dataclass(frozen=True)
class SurfacePoint:
    """One point of the grid."""

    parameters: dict[str, float]
    """All of them; those that are not on an axis have their defaults."""
    against: MeanEstimate
    """Reward with these parameters less reward with the defaults, per deal."""


def cells(problem: Problem, points: int) -> list[dict[str, float]]:
    """The grid over the first two parameters, or over the only one; the first runs slowest."""
    axes = problem.space.parameters[:2]
    grids = [axis.grid(points) for axis in axes]
    names = [axis.name for axis in axes]
    return [problem.space.defaults | dict(zip(names, values, strict=True)) for values in product(*grids)]


def measure_surface(
    problem: Problem, config: TuneConfig, folder: Path, play: Callable[..., dict[str, tuple[float, ...]]]
) -> list[SurfacePoint]:
    """Measure all cells by `play`, or what is missing in the folder, and write the table."""
    grid = cells(problem, config.grid)
    arms: dict[str, Parameters] = {_DEFAULTS: problem.space.defaults}
    arms.update((show(cell), cell) for cell in grid if cell != problem.space.defaults)
    found = play(arms, config.drawn, folder / "surface.jsonl", stage="surface")
    measured = [
        SurfacePoint(cell, mean_difference(found.get(show(cell), found[_DEFAULTS]), found[_DEFAULTS])) for cell in grid
    ]
    rows = [
        [*one.parameters.values(), one.against.n, one.against.mean, one.against.low, one.against.high, one.against.p]
        for one in measured
    ]
    write_csv(folder / TABLE, [*problem.space.names, "deals", "difference", "low", "high", "p"], rows)
    return measured
