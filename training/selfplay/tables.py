"""The tables of a run as CSV: games learned from, cross-play, curve, ratings, one seat. Each rate has its n and interval."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from parlour.training import evaluate
from parlour.training.runs import write_csv
from parlour.training.selfplay.config import RANDOM, RULE, SelfplayConfig
from parlour.training.selfplay.learn import Phase
from parlour.training.selfplay.population import Population
from parlour.training.statistics import Rate

_RATE: Final = ("n", "win_rate", "low", "high")


def write_training(config: SelfplayConfig, phases: Sequence[Phase], folder: Path) -> None:
    """training.csv: each phase's games by opponent and side of the learner, and how likely it was to be drawn; roles.csv: by role."""
    rows: list[list[Any]] = []
    roles: list[list[Any]] = []
    for phase in phases:
        steps = (phase.number + 1) * config.phase_steps
        for side, chances in phase.chances.items():
            for member, chance in chances.items():
                rows.append([steps, side, member, round(chance, 4), *_cells(phase.won(member=member, side=side))])
        roles += [[steps, side, role, *_cells(phase.won(role=role))] for side, role in phase.roles]
    write_csv(folder / "training.csv", ["steps", "side", "opponent", "chance", *_RATE], rows)
    write_csv(folder / "roles.csv", ["steps", "side", "role", *_RATE], roles)


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
    seat = [[player, what, *_cells(one)] for player, of in found.seat.rates.items() for what, one in of.items()]
    write_csv(folder / "seat.csv", ["player", "as", *_RATE], seat)
    evaluate.write_table(found.seat, folder / "seat_games.csv")


def _cells(found: Rate | None) -> list[Any]:
    return (
        [0, None, None, None]
        if found is None
        else [found.n, *(round(x, 4) for x in (found.rate, found.low, found.high))]
    )
