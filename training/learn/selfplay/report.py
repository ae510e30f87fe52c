"""The result of a run of self-play: what it is, its files of CSV, the main numbers as plain values, the report in words, and pictures.

The pictures: the cross-play matrix as a heat map with numbers, and the curves with their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.learn.batch.matches import SeatResult
from parlour.training.learn.ppo.phase_config import features_of
from parlour.training.learn.selfplay.config import FIXED, RANDOM, RULE, SelfplayConfig
from parlour.training.learn.selfplay.crossplay import Crossplay, Rated
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.selfplay.seating import RATE, Phase, rate_cells
from parlour.training.report import plots
from parlour.training.report.html import opening
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.result_table import markdown_list, markdown_table
from parlour.training.report.verdicts import compared, together
from parlour.training.runs.folder import write_csv
from parlour.training.statistics import Estimate, plain, rate, show_estimate, show_interval


@dataclass(frozen=True)
class RoleLoss:
    """Mean log loss in nats for each other seat and decision; the mean and its interval are over games."""

    head: Estimate
    habits: Estimate
    difference: Estimate
    """Head less habits, paired by game."""


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
        return [member for member in self.crossplay.members if member.steps is not None]

    @property
    def first(self) -> str:
        return self.snapshots[0].name

    @property
    def last(self) -> str:
        return self.snapshots[-1].name

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Pairs of players in the report."""
        pairs = [(self.last, self.first), (self.last, RULE), (self.first, RULE), (self.last, RANDOM)]
        return [(a, b) for a, b in pairs if a != b]

    @property
    def seat_rates(self) -> dict[str, dict[str, Estimate | None]]:
        """Player -> `all` or its side -> win rate in one seat among heuristics."""
        rates = {name: _by_side(self.sides, seats, seats.won) for name, seats in self.seat.items()}
        own = self.seat[self.last]
        return rates | {RULE: _by_side(self.sides, own, own.reference)}

    @property
    def training_games(self) -> int:
        """Games that were learned from."""
        return sum(phase.games for phase in self.phases)


def _by_side(sides: tuple[str, str], result: SeatResult, won: NDArray[np.bool_]) -> dict[str, Estimate | None]:
    of = {side: won[result.sides == k] for k, side in enumerate(sides)}
    return {what: rate(int(own.sum()), len(own)) for what, own in {"all": won, **of}.items()}


def write_tables(population: Population, folder: Path) -> None:
    """crossplay.csv, curve.csv, ratings.csv, and seat.csv."""
    games, names = population.crossplay, [member.name for member in population.crossplay.members]
    pairs = [(a, b) for a in names for b in names if a != b]
    rows = [
        [a, b, *(value for side in (None, *population.sides) for value in rate_cells(games.rate(a, b, side)))]
        for a, b in pairs
    ]
    heading = ["player", "opponent", *RATE, *(f"{side}_{column}" for side in population.sides for column in RATE)]
    write_csv(folder / "crossplay.csv", heading, rows)
    curve = [
        [snapshot.name, snapshot.steps, opponent, *rate_cells(games.rate(snapshot.name, opponent))]
        for opponent in (RULE, RANDOM, population.first)
        for snapshot in population.snapshots
        if snapshot.name != opponent
    ]
    write_csv(folder / "curve.csv", ["snapshot", "steps", "opponent", *RATE], curve)
    rated = [[rating.name, rating.mu, rating.sigma, rating.ordinal, rating.games] for rating in population.ratings]
    write_csv(folder / "ratings.csv", ["player", "mu", "sigma", "ordinal", "games"], rated)
    seat = [
        [player, what, *rate_cells(estimate)]
        for player, of in population.seat_rates.items()
        for what, estimate in of.items()
    ]
    write_csv(folder / "seat.csv", ["player", "as", *RATE], seat)


def summary(population: Population) -> dict[str, Any]:
    """The main numbers as plain values."""
    games = population.crossplay
    return {
        "game": population.config.game,
        "options": dict(population.config.options),
        "steps": population.phases[-1].steps,
        "seconds": population.phases[-1].seconds,
        "training_games": population.training_games,
        "first": population.first,
        "last": population.last,
        "verdict": verdict(population),
        "differences": [{"a": a, "b": b, **plain(games.difference(a, b))} for a, b in population.pairs],
        "rates": [
            {"player": a, "opponent": b, "side": side or "all", **_plain(games.rate(a, b, side))}
            for a, b in population.pairs
            for side in (None, *population.sides)
        ],
        "roles": population.roles and plain(population.roles),
        "cycles": games.cycles(),
        "ratings": [plain(rating) for rating in population.ratings],
        "seat": {name: plain(match.points) for name, match in population.seat.items()},
        "seat_rates": {
            a: {what: _plain(estimate) for what, estimate in of.items()} for a, of in population.seat_rates.items()
        },
    }


def _plain(estimate: Estimate | None) -> dict[str, Any]:
    return {"n": 0} if estimate is None else plain(estimate)


def verdicts(population: Population) -> list[str]:
    """What the held-out deals say about the last snapshot, a sentence for each opponent."""
    games, last, first = population.crossplay, population.last, population.first
    others = {first: f"the first ({first})", RULE: "the heuristic", RANDOM: "random play"}
    lines = [
        compared(f"the last snapshot ({last})", named, games.difference(last, other))
        for other, named in others.items()
        if other != last
    ]
    lines.append(
        compared(f"in one seat among heuristics, {last}", "the heuristic in that seat", population.seat[last].points)
    )
    if population.roles is not None:
        head, habits, difference = (
            show_estimate(estimate, ".3f")
            for estimate in (population.roles.head, population.roles.habits, population.roles.difference)
        )
        lines.append(
            f"Log loss of the roles of the others, in its games against itself: {head} by its head, {habits} by the habits of "
            f"the features, difference {difference}, n = {population.roles.difference.n} games."
        )
    return lines


def verdict(population: Population) -> str:
    """The last snapshot beside the heuristic: as whole sides, and in one seat."""
    last = population.last
    sides = compared(f"the last snapshot ({last})", "the heuristic", population.crossplay.difference(last, RULE))
    seat = compared(f"in one seat, {last}", "the heuristic in that seat", population.seat[last].points)
    return together([sides, seat])


def text(population: Population) -> str:
    """The report as Markdown."""
    config, games = population.config, population.crossplay
    table = ", ".join(f"{key} {value}" for key, value in config.options.items())
    last_phase = population.phases[-1]
    lines = [
        *opening(f"Self-play on {config.game}", verdict(population), "![Curve](curve.png)"),
        f"{table}. Features {features_of(config.game, config.features)}. {last_phase.steps:,} decisions in {population.training_games:,} games, "
        f"{len(population.phases)} snapshots, seed {config.seed}.",
        f"Held-out deals: {config.deals} for each pair of members, {config.test_deals} among {RULE}, {population.first} and {population.last}, "
        "each from both sides. Points: win rate of one less win rate of the other, over both sides of the same deals. "
        "Intervals: 95 %; of rates Wilson's, of points Student's, paired by deal.",
        "",
        markdown_list(verdicts(population)),
        "",
        "![Cross-play](crossplay.png)",
        "",
        "## Whole sides, by side",
        "",
        markdown_table(
            ["player", "opponent", "as", "win rate", "n"],
            [
                [a, b, side or "all", *_cells(games.rate(a, b, side))]
                for a, b in (
                    (population.last, RULE),
                    (population.last, RANDOM),
                    (population.last, population.first),
                    (RULE, population.first),
                )
                if a != b
                for side in (None, *population.sides)
            ],
        ),
        "",
        "## One seat among heuristics, by side and role",
        "",
        markdown_table(
            ["player", "as", "win rate", "n"],
            [
                [player, what, *_cells(estimate)]
                for player, of in population.seat_rates.items()
                for what, estimate in of.items()
            ],
        ),
        "",
        "## Games learned from, last phase, by opponent",
        "",
        markdown_table(
            ["opponent", "as", "win rate", "n"],
            [[score.member, score.side, *_cells(rate(score.won, score.n))] for score in last_phase.scores],
        ),
        "",
        "## Ratings",
        "",
        markdown_table(
            ["player", "mu", "sigma", "mu - 3 sigma", "games"],
            [[r.name, f"{r.mu:.2f}", f"{r.sigma:.2f}", f"{r.ordinal:.2f}", str(r.games)] for r in population.ratings],
        ),
    ]
    return "\n".join(lines) + "\n"


def _cells(estimate: Estimate | None) -> list[str]:
    if estimate is None:
        return ["-", "0"]
    return [f"{100 * estimate.value:.1f} % {show_interval(estimate, '.1f', 100)}", str(estimate.n)]


_SNAPSHOTS: Final = "snapshots"
_STEPS: Final = "decisions learned from"


def draw_crossplay(population: Population, path: Path) -> None:
    """Win rates of each pair of players. The heuristic is the first row, set off by a line."""
    played = population.crossplay
    names = [RULE, *(member.name for member in played.members if member.name != RULE)]
    n = len(names)
    met = [rate for a in names for b in names if a != b and (rate := played.rate(a, b)) is not None]
    others = [member.name for member in played.members if member.name not in FIXED and member.steps is None]
    named = "".join(f", {name}" for name in others)
    with plots.picture(
        path,
        0.8 * n + 3.2,
        0.58 * n + 1.6,
        title="Cross-play: games won by the row's player, % [95 % interval]",
        who=f"{population.config.game}; whole sides on common held-out deals, sides swapped; {RULE}, {RANDOM}{named}, and "
        "snapshots s000 and later of the network that learned",
        n=f"n = {plots.range_of([estimate.n for estimate in met])} games a cell",
    ) as made:
        _matrix(made, population, names)


def _matrix(made: Any, population: Population, names: list[str]) -> None:
    axes, n = made.add_subplot(), len(names)
    rates = np.full((n, n), np.nan)
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if i != j and (rate := population.crossplay.rate(a, b)) is not None:
                rates[i, j] = rate.value
                plots.percent(axes, j, i, rate.value, *rate.ends)
            else:
                axes.text(j, i, "·", ha="center", va="center", color="0.5")
    image = axes.imshow(rates, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    axes.axhline(0.5, color="black", linewidth=1.5)
    axes.axvline(0.5, color="black", linewidth=1.5)
    steps = {member.name: member.steps for member in population.crossplay.members}
    labels = [name if steps[name] is None else f"{name} ({(steps[name] or 0) / 1000:,.0f}k)" for name in names]
    plots.numbers(axes, labels, labels)
    for rate in axes.get_xticklabels():
        rate.set(rotation=45 if n > 8 else 0, ha="left" if n > 8 else "center")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.xaxis.labelpad = 8
    plots.label(axes, "opponent", f"player ({_STEPS})", grid="")
    made.colorbar(image, ax=axes, label="win rate of the row's player")


def draw_curve(population: Population, path: Path) -> None:
    """Each snapshot against `heuristic`, `random` and the first snapshot, and its rating; dashed: the heuristic."""
    played = population.crossplay
    opponents = (RULE, RANDOM, population.first)
    met = [
        played.rate(snapshot.name, other)
        for snapshot in population.snapshots
        for other in opponents
        if snapshot.name != other
    ]
    with plots.picture(
        path,
        10,
        7.2,
        title="Snapshots of the network, from its first to its last",
        who=f"{population.config.game}; whole sides on held-out deals, from both sides; bands: 95 % intervals",
        n=f"n = {plots.range_of([estimate.n for estimate in met if estimate is not None])} games a point",
    ) as made:
        panels = made.subplots(2, 2, sharex=True).flat
        for axes, opponent in zip(panels, opponents, strict=False):
            _against(axes, population, opponent)
        _rating(panels[3], population)
        for axes in (panels[2], panels[3]):
            axes.set_xlabel(_STEPS)
        plots.whole(panels[3].xaxis)
        plots.key(made)


def _against(axes: Any, population: Population, opponent: str) -> None:
    met = [snapshot for snapshot in population.snapshots if snapshot.name != opponent]
    played = [(snapshot.steps or 0, population.crossplay.rate(snapshot.name, opponent)) for snapshot in met]
    points = [CurvePoint(at, *won.with_ends) for at, won in played if won is not None]
    plots.draw(axes, Curve(_SNAPSHOTS, points, marker="o", interval=""), color=plots.OWN, markersize=4)
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        if name == opponent:
            plots.level(axes, name, (0.5, None, None), style)  # against itself: one half, by symmetry
        elif (own := population.crossplay.rate(name, opponent)) is not None:
            plots.level(axes, name, own.with_ends, style)
    axes.set_ylim(-0.02, 1.02)
    title = f"against {opponent}" if opponent in FIXED else f"against {opponent}, the first snapshot"
    plots.label(axes, "", "share of games won", title)


def _rating(axes: Any, population: Population) -> None:
    rated = {rating.name: rating for rating in population.ratings}
    own = [rated[snapshot.name] for snapshot in population.snapshots]
    ratings = [(snapshot.mu, snapshot.mu - 2 * snapshot.sigma, snapshot.mu + 2 * snapshot.sigma) for snapshot in own]
    steps = [snapshot.steps or 0 for snapshot in population.snapshots]
    plots.points(axes, steps, ratings, fmt="o-", markersize=4, color=plots.OWN)
    for name, style in ((RULE, "--"), (RANDOM, ":")):
        plots.level(axes, name, (rated[name].mu, None, None), style)
    plots.label(axes, "", "mu (points)", "rating (openskill, Plackett-Luce), bars: 2 sigma each way")
