"""The result of a run of self-play: what it is, its files of CSV, the main numbers as plain values, and the report in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.training.learn.batch.matches import SeatResult
from parlour.training.learn.ppo.phase_config import features_of
from parlour.training.learn.selfplay.config import RANDOM, RULE, SelfplayConfig
from parlour.training.learn.selfplay.crossplay import Crossplay, Rated
from parlour.training.learn.selfplay.phase import RATE, Phase, rate_cells
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.selfplay.role_beliefs import RoleLoss
from parlour.training.measure.statistics import Estimate, plain, rate, show_interval
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import write_csv


@dataclass(frozen=True)
class Population:
    """The result of a run."""

    config: SelfplayConfig
    sides: tuple[str, str]
    phases: tuple[Phase, ...]
    crossplay: Crossplay
    ratings: tuple[Rated, ...]
    """The highest first."""
    seat: Mapping[str, SeatResult]
    """The last and the first snapshot, and `random`, in the same seat of the same deals as `heuristic`, among heuristics."""
    roles: RoleLoss | None = None
    """How well the network knows the roles of the others; None where it did not learn to (`SelfplayConfig.infer`)."""

    @property
    def snapshots(self) -> list[Member]:
        """Those in the cross-play, in order."""
        return [one for one in self.crossplay.members if one.steps is not None]

    @property
    def first(self) -> str:
        return self.snapshots[0].name

    @property
    def last(self) -> str:
        return self.snapshots[-1].name

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Who is reported against whom."""
        pairs = [(self.last, self.first), (self.last, RULE), (self.first, RULE), (self.last, RANDOM)]
        return [(a, b) for a, b in pairs if a != b]

    @property
    def seat_rates(self) -> dict[str, dict[str, Estimate | None]]:
        """Player -> `all` or its side -> win rate in one seat among heuristics."""
        found = {name: _by_side(self.sides, one, one.won) for name, one in self.seat.items()}
        own = self.seat[self.last]
        return found | {RULE: _by_side(self.sides, own, own.reference)}

    @property
    def training_games(self) -> int:
        """Games that were learned from."""
        return sum(phase.games for phase in self.phases)


def _by_side(sides: tuple[str, str], found: SeatResult, won: NDArray[np.bool_]) -> dict[str, Estimate | None]:
    of = {side: won[found.sides == k] for k, side in enumerate(sides)}
    return {what: rate(int(own.sum()), len(own)) for what, own in {"all": won, **of}.items()}


def write_tables(found: Population, folder: Path) -> None:
    """crossplay.csv, curve.csv, ratings.csv, and seat.csv."""
    games, names = found.crossplay, [one.name for one in found.crossplay.members]
    pairs = [(a, b) for a in names for b in names if a != b]
    rows = [
        [
            a,
            b,
            *rate_cells(games.rate(a, b)),
            *(value for side in found.sides for value in rate_cells(games.rate(a, b, side))),
        ]
        for a, b in pairs
    ]
    heading = ["player", "opponent", *RATE, *(f"{side}_{column}" for side in found.sides for column in RATE)]
    write_csv(folder / "crossplay.csv", heading, rows)
    curve = [
        [one.name, one.steps, opponent, *rate_cells(games.rate(one.name, opponent))]
        for opponent in (RULE, RANDOM, found.first)
        for one in found.snapshots
        if one.name != opponent
    ]
    write_csv(folder / "curve.csv", ["snapshot", "steps", "opponent", *RATE], curve)
    rated = [[one.name, one.mu, one.sigma, one.ordinal, one.games] for one in found.ratings]
    write_csv(folder / "ratings.csv", ["player", "mu", "sigma", "ordinal", "games"], rated)
    seat = [[player, what, *rate_cells(one)] for player, of in found.seat_rates.items() for what, one in of.items()]
    write_csv(folder / "seat.csv", ["player", "as", *RATE], seat)


def summary(found: Population) -> dict[str, Any]:
    """The main numbers as plain values."""
    games = found.crossplay
    return {
        "game": found.config.game,
        "options": dict(found.config.options),
        "steps": found.phases[-1].steps,
        "seconds": found.phases[-1].seconds,
        "training_games": found.training_games,
        "first": found.first,
        "last": found.last,
        "differences": [{"a": a, "b": b, **plain(games.difference(a, b))} for a, b in found.pairs],
        "rates": [
            {"player": a, "opponent": b, "side": side or "all", **_plain(games.rate(a, b, side))}
            for a, b in found.pairs
            for side in (None, *found.sides)
        ],
        "roles": found.roles and plain(found.roles),
        "cycles": games.cycles(),
        "ratings": [plain(one) for one in found.ratings],
        "seat": {name: plain(one.points) for name, one in found.seat.items()},
        "seat_rates": {a: {what: _plain(one) for what, one in of.items()} for a, of in found.seat_rates.items()},
    }


def _plain(found: Estimate | None) -> dict[str, Any]:
    return {"n": 0} if found is None else plain(found)


def verdicts(found: Population) -> list[str]:
    """What the held-out deals say of the last snapshot, a sentence for each opponent."""
    games, last, first = found.crossplay, found.last, found.first
    told = []
    if last != first:
        told.append(_verdict(f"The last snapshot ({last})", f"the first ({first})", games.difference(last, first)))
    told.append(_verdict(f"The last snapshot ({last})", "the heuristic", games.difference(last, RULE)))
    told.append(_verdict(f"The last snapshot ({last})", "random play", games.difference(last, RANDOM)))
    told.append(
        _verdict(f"In one seat among heuristics, {last}", "the heuristic in that seat", found.seat[last].points)
    )
    if found.roles is not None:
        head, habits, difference = (
            f"{one.value:.3f} {show_interval(one, '.3f')}"
            for one in (found.roles.head, found.roles.habits, found.roles.difference)
        )
        told.append(
            f"Log loss of the roles of the others, in its games against itself: {head} by its head, {habits} by the habits of "
            f"the features, difference {difference}, n = {found.roles.difference.n} games."
        )
    return told


def _verdict(who: str, whom: str, found: Estimate) -> str:
    word = "cannot be told from" if not found.clear else "beats" if found.value > 0 else "loses to"
    points = f"{100 * found.value:+.1f} points {show_interval(found, '+.1f', 100)}"
    return f"{who} {word} {whom}: {points}, n = {found.n} deals, paired."


def text(found: Population) -> str:
    """The report as Markdown."""
    config, games = found.config, found.crossplay
    table = ", ".join(f"{key} {value}" for key, value in config.options.items())
    last_phase = found.phases[-1]
    lines = [
        f"# Self-play on {config.game}",
        "",
        f"{table}. Features {features_of(config.game, config.features)}. {last_phase.steps:,} decisions in {found.training_games:,} games, "
        f"{len(found.phases)} snapshots, seed {config.seed}.",
        f"Held-out deals: {config.deals} for each pair of members, {config.test_deals} among {RULE}, {found.first} and {found.last}, "
        "each from both sides. Points: win rate of one less win rate of the other, over both sides of the same deals. "
        "Intervals: 95 %; of rates Wilson's, of points Student's, paired by deal.",
        "",
        *(f"- {one}" for one in verdicts(found)),
        "",
        "![Curve](curve.png)",
        "",
        "![Cross-play](crossplay.png)",
        "",
        "## Whole sides, by side",
        "",
        markdown_table(
            ["player", "opponent", "as", "win rate", "n"],
            [
                [a, b, side or "all", *_cells(games.rate(a, b, side))]
                for a, b in ((found.last, RULE), (found.last, RANDOM), (found.last, found.first), (RULE, found.first))
                if a != b
                for side in (None, *found.sides)
            ],
        ),
        "",
        "## One seat among heuristics, by side and role",
        "",
        markdown_table(
            ["player", "as", "win rate", "n"],
            [[player, what, *_cells(one)] for player, of in found.seat_rates.items() for what, one in of.items()],
        ),
        "",
        "## Games learned from, last phase, by opponent",
        "",
        markdown_table(
            ["opponent", "as", "win rate", "n"],
            [[one.member, one.side, *_cells(rate(one.won, one.n))] for one in last_phase.scores],
        ),
        "",
        "## Ratings",
        "",
        markdown_table(
            ["player", "mu", "sigma", "mu - 3 sigma", "games"],
            [[r.name, f"{r.mu:.2f}", f"{r.sigma:.2f}", f"{r.ordinal:.2f}", str(r.games)] for r in found.ratings],
        ),
    ]
    return "\n".join(lines) + "\n"


def _cells(found: Estimate | None) -> list[str]:
    if found is None:
        return ["-", "0"]
    return [f"{100 * found.value:.1f} % {show_interval(found, '.1f', 100)}", str(found.n)]
