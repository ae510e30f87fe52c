"""The result of a run of self-play, and its report: verdicts, tables, the main numbers as plain values, a picture.

The picture: the cross-play matrix as a heat map with numbers, and the curves with their intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.common.plain import plain
from parlour.training.learn.batch.matches import SeatResult
from parlour.training.learn.ppo.config import features_of
from parlour.training.learn.selfplay.config import FIXED, RANDOM, RULE, SelfplayConfig
from parlour.training.learn.selfplay.crossplay import Crossplay, Rated
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.selfplay.seating import Phase
from parlour.training.report import plots
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import WIN_RATE, together
from parlour.training.statistics import Estimate


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
    return {what: Estimate.rate(int(own.sum()), len(own)) for what, own in {"all": won, **of}.items()}


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
        "differences": [{"a": a, "b": b, **plain(games.difference(a, b))} for a, b in population.pairs],
        "rates": [
            {"player": a, "opponent": b, "side": side or "all", **(plain(games.rate(a, b, side)) or {"n": 0})}
            for a, b in population.pairs
            for side in (None, *population.sides)
        ],
        "roles": population.roles and plain(population.roles),
        "cycles": games.cycles(),
        "ratings": [plain(rating) for rating in population.ratings],
        "seat": {name: plain(match.points) for name, match in population.seat.items()},
        "seat_rates": {
            a: {what: plain(estimate) or {"n": 0} for what, estimate in of.items()}
            for a, of in population.seat_rates.items()
        },
    }


def verdicts(population: Population) -> list[str]:
    """What the held-out deals say about the last snapshot, a sentence for each opponent."""
    games, last, first = population.crossplay, population.last, population.first
    others = {first: f"the first ({first})", RULE: "the heuristic", RANDOM: "random play"}
    lines = [
        WIN_RATE.compared(f"the last snapshot ({last})", named, games.difference(last, other))
        for other, named in others.items()
        if other != last
    ]
    lines.append(
        WIN_RATE.compared(
            f"in one seat among heuristics, {last}", "the heuristic in that seat", population.seat[last].points
        )
    )
    if population.roles is not None:
        head, habits, difference = (
            estimate.shown(".3f")
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
    sides = WIN_RATE.compared(
        f"the last snapshot ({last})", "the heuristic", population.crossplay.difference(last, RULE)
    )
    seat = WIN_RATE.compared(f"in one seat, {last}", "the heuristic in that seat", population.seat[last].points)
    return together([sides, seat])


WON: Final = Column("win rate", ".1%", shows=("n",), key="win_rate")


def report(population: Population) -> Report:
    """Ratings and what the held-out deals say; with all pairs, the curve, and single seats behind them."""
    config, last = population.config, population.phases[-1]
    table = ", ".join(f"{key} {value}" for key, value in config.options.items())
    learned = (
        f"{table}. Features {features_of(config.game, config.features)}. {last.steps:,} decisions in "
        f"{population.training_games:,} games, {len(population.phases)} snapshots, seed {config.seed}."
    )
    deals = (
        f"Held-out deals: {config.deals} for each pair of members, {config.test_deals} among {RULE}, {population.first} and "
        f"{population.last}, each from both sides. Points: win rate of one less win rate of the other, over both sides of the same "
        "deals. Intervals: 95 %; of rates Wilson's, of points Student's, paired by deal."
    )
    return Report(
        f"Self-play on {config.game}",
        verdict(population),
        (ratings(population), tuple(verdicts(population))),
        (learned, deals, *tables(population)),
        Picture(partial(draw, population), "Cross-play, and the snapshots from the first to the last", PICTURE),
        summary(population),
    )


def ratings(population: Population) -> ResultTable:
    """Each member's rating, and how often it beats the heuristic."""
    numbers = (
        Column("mu", ".2f"),
        Column("sigma", ".2f"),
        Column("mu - 3 sigma", ".2f", key="ordinal"),
        Column("games"),
    )
    columns = (Column("player"), *numbers, replace(WON, heading=f"against {RULE}"))
    against = {own.name: population.crossplay.rate(own.name, RULE) for own in population.ratings if own.name != RULE}
    rows = tuple(
        (own.name, own.mu, own.sigma, own.ordinal, own.games, against.get(own.name)) for own in population.ratings
    )
    return ResultTable(f"Ratings on {population.config.game}", columns, rows, file="ratings.csv")


def tables(population: Population) -> Iterator[ResultTable]:
    """All pairs as whole sides, snapshot after snapshot, one seat among heuristics, and the last games learned from."""
    games, sides = population.crossplay, population.sides
    names = [member.name for member in games.members]
    who, as_what = (Column("player"), Column("opponent")), Column("as")
    by_side = tuple(replace(WON, heading=side, key=side) for side in sides)
    pairs = ((a, b, *(games.rate(a, b, side) for side in (None, *sides))) for a in names for b in names if a != b)
    yield ResultTable("Whole sides, by side", (*who, WON, *by_side), tuple(pairs), file="crossplay.csv")
    met = [(snapshot, other) for other in (RULE, RANDOM, population.first) for snapshot in population.snapshots]
    curve = ((own.name, own.steps, other, games.rate(own.name, other)) for own, other in met if own.name != other)
    columns = (Column("snapshot"), Column("steps"), Column("opponent"), WON)
    yield ResultTable("From the first snapshot to the last", columns, tuple(curve), file="curve.csv")
    seats = ((player, what, won) for player, of in population.seat_rates.items() for what, won in of.items())
    yield ResultTable(f"One seat among {RULE}s, by side", (who[0], as_what, WON), tuple(seats), file="seat.csv")
    learned = ((score.member, score.side, Estimate.rate(score.won, score.n)) for score in population.phases[-1].scores)
    yield ResultTable("Games learned from, last phase, by opponent", (who[1], as_what, WON), tuple(learned))


PICTURE: Final = "crossplay.png"
_SNAPSHOTS: Final = "snapshots"
_STEPS: Final = "decisions learned from"


def draw(population: Population, path: Path) -> None:
    """Win rates of each pair of players, the heuristic set off by a line; and each snapshot against those that do not learn."""
    played = population.crossplay
    names = [RULE, *(member.name for member in played.members if member.name != RULE)]
    n = len(names)
    met = [rate for a in names for b in names if a != b and (rate := played.rate(a, b)) is not None]
    others = [member.name for member in played.members if member.name not in FIXED and member.steps is None]
    named = "".join(f", {name}" for name in others)
    with plots.picture(
        path,
        0.8 * n + 3.2,
        0.58 * n + 5.2,
        title="Cross-play: games won by the row's player, % [95 % interval]",
        who=f"{population.config.game}; whole sides on common held-out deals, sides swapped; {RULE}, {RANDOM}{named}, and "
        "snapshots s000 and later of the network that learned",
        n=f"n = {plots.range_of([estimate.n for estimate in met])} games a cell",
    ) as made:
        matrix, curve = made.subplots(2, 1, height_ratios=(0.58 * n + 1.2, 3.2))
        _matrix(matrix, population, names)
        _curve(curve, population)
        plots.key(made)


def _matrix(axes: Any, population: Population, names: list[str]) -> None:
    n = len(names)
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
    axes.figure.colorbar(image, ax=axes, label="win rate of the row's player")


def _curve(axes: Any, population: Population) -> None:
    """Each snapshot against the heuristic, random and the first snapshot."""
    for opponent, colour in zip((RULE, RANDOM, population.first), (plots.OWN, plots.ORANGE, plots.GREEN), strict=True):
        met = [snapshot for snapshot in population.snapshots if snapshot.name != opponent]
        played = [(snapshot.steps or 0, population.crossplay.rate(snapshot.name, opponent)) for snapshot in met]
        points = [CurvePoint(at, *won.with_ends) for at, won in played if won is not None]
        plots.draw(axes, Curve(f"{_SNAPSHOTS} against {opponent}", points, marker="o"), color=colour, markersize=4)
    plots.level(axes, "even", (0.5, None, None), ":")
    axes.set_ylim(-0.02, 1.02)
    plots.whole(axes.xaxis)
    plots.label(axes, _STEPS, "share of games won")
