"""The result of a run, in words and as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from parlour.training.learn.ppo.phase_config import features_of
from parlour.training.learn.selfplay.config import RANDOM, RULE
from parlour.training.learn.selfplay.population import Population
from parlour.training.measure.statistics import MeanEstimate, Rate, rate, show_interval
from parlour.training.results.result_table import markdown_table


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
        "differences": [{"a": a, "b": b, **asdict(games.difference(a, b))} for a, b in found.pairs],
        "rates": [
            {"player": a, "opponent": b, "side": side or "all", **_plain(games.rate(a, b, side))}
            for a, b in found.pairs
            for side in (None, *found.sides)
        ],
        "roles": found.roles and asdict(found.roles),
        "cycles": games.cycles(),
        "ratings": [asdict(one) for one in found.ratings],
        "seat": {name: asdict(one.points) for name, one in found.seat.items()},
        "seat_rates": {a: {what: _plain(one) for what, one in of.items()} for a, of in found.seat_rates.items()},
    }


def _plain(found: Rate | None) -> dict[str, Any]:
    return {"n": 0} if found is None else asdict(found)


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
            f"{one.mean:.3f} {show_interval(one, '.3f')}"
            for one in (found.roles.head, found.roles.habits, found.roles.difference)
        )
        told.append(
            f"Log loss of the roles of the others, in its games against itself: {head} by its head, {habits} by the habits of "
            f"the features, difference {difference}, n = {found.roles.difference.n} games."
        )
    return told


def _verdict(who: str, whom: str, found: MeanEstimate) -> str:
    word = "cannot be told from" if not found.clear else "beats" if found.mean > 0 else "loses to"
    points = f"{100 * found.mean:+.1f} points {show_interval(found, '+.1f', 100)}"
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


def _cells(found: Rate | None) -> list[str]:
    if found is None:
        return ["-", "0"]
    return [f"{100 * found.rate:.1f} % {show_interval(found, '.1f', 100)}", str(found.n)]
