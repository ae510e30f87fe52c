"""The tables of a run as CSV: progress, games learned from, cross-play, curve, ratings, one seat. Each rate has its n and interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from parlour.training.learn.selfplay.config import RANDOM, RULE
from parlour.training.learn.selfplay.phase import Phase
from parlour.training.learn.selfplay.population import Population
from parlour.training.measure.statistics import Rate, rate
from parlour.training.results.runs import write_csv

_RATE: Final = ("n", "win_rate", "low", "high")


def write_training(phases: Sequence[Phase], folder: Path) -> None:
    """training.csv: each phase's games by opponent and side of the network; progress.csv: how each phase ended."""
    rows = [
        [phase.steps, one.side, one.member, *_cells(rate(one.won, one.n))] for phase in phases for one in phase.scores
    ]
    write_csv(folder / "training.csv", ["steps", "side", "opponent", *_RATE], rows)
    losses = sorted({name for phase in phases for name in phase.losses})
    sides = list(phases[0].against)
    curve = [
        [
            *(phase.number, phase.steps, phase.seconds, phase.games),
            *(value for side in (None, *sides) for value in _cells(phase.won(side))),
            *(phase.losses.get(name) for name in losses),
        ]
        for phase in phases
    ]
    columns = [*_RATE, *(f"{side}_{column}" for side in sides for column in _RATE)]
    write_csv(folder / "progress.csv", ["phase", "steps", "seconds", "games", *columns, *losses], curve)


def write(found: Population, folder: Path) -> None:
    """crossplay.csv, curve.csv, ratings.csv, and seat.csv."""
    games, names = found.crossplay, [one.name for one in found.crossplay.members]
    pairs = [(a, b) for a in names for b in names if a != b]
    rows = [
        [a, b, *_cells(games.rate(a, b)), *(value for side in found.sides for value in _cells(games.rate(a, b, side)))]
        for a, b in pairs
    ]
    heading = ["player", "opponent", *_RATE, *(f"{side}_{column}" for side in found.sides for column in _RATE)]
    write_csv(folder / "crossplay.csv", heading, rows)
    curve = [
        [one.name, one.steps, opponent, *_cells(games.rate(one.name, opponent))]
        for opponent in (RULE, RANDOM, found.first)
        for one in found.snapshots
        if one.name != opponent
    ]
    write_csv(folder / "curve.csv", ["snapshot", "steps", "opponent", *_RATE], curve)
    rated = [[one.name, one.mu, one.sigma, one.ordinal, one.games] for one in found.ratings]
    write_csv(folder / "ratings.csv", ["player", "mu", "sigma", "ordinal", "games"], rated)
    seat = [[player, what, *_cells(one)] for player, of in found.seat_rates.items() for what, one in of.items()]
    write_csv(folder / "seat.csv", ["player", "as", *_RATE], seat)


def _cells(found: Rate | None) -> list[Any]:
    return (
        [0, None, None, None]
        if found is None
        else [found.n, *(round(x, 4) for x in (found.rate, found.low, found.high))]
    )
