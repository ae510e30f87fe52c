"""The result of an arena as plain values, in words, and as tables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from parlour.policies.llm.decisions import foreign
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.decision_tables import MEANING, figure, marked
from parlour.training.report.html import opening
from parlour.training.report.result_table import markdown_list, markdown_table
from parlour.training.report.verdicts import compared, doubt, no_score, together
from parlour.training.runs.folder import write_csv
from parlour.training.statistics import Estimate, show_interval


def as_json(result: ArenaResult) -> dict[str, Any]:
    """The main numbers as plain values."""
    config, strengths = result.config, result.strengths
    return {
        "game": config.game,
        "options": dict(config.options),
        "deals": config.games,
        "first_deal": config.seed,
        "games": len(result.played),
        "sides": list(result.sides),
        "standing": [
            {
                "player": name,
                "rating": _plain(strength.rating),
                "ranks": list(strength.ranks),
                **{side: _plain(of) for side, of in zip(result.sides, (strength.first, strength.second), strict=True)},
            }
            for name, strength in result.standing
        ],
        "advantage": {"side": result.sides[0], **_plain(strengths.advantage)},
        "miss": round(strengths.miss, 6),
        "noise": round(strengths.noise, 6),
        "cycles": [list(cycle) for cycle in result.cycles],
        "cells": [dict(zip(("first", "second", *_CELL), row, strict=True)) for row in _cells(result)],
        "pairs": [dict(zip(_PAIR, row, strict=True)) for row in _pairs(result)],
        "players": {name: decision.as_json() for name, decision in result.decisions.items()},
    }


_CELL = ("n", "first_won", "drawn", "rate", "low", "high", "expected")
_SHORT = 40
"""Letters of a value in a title, at most."""
_PAIR = ("player", "opponent", "deals", "points", "low", "high", "beats")


def _plain(estimate: Estimate) -> dict[str, float]:
    return {
        name: round(value, 2)
        for name, value in (("value", estimate.value), ("low", estimate.ends[0]), ("high", estimate.ends[1]))
    }


def _cells(result: ArenaResult) -> list[list[Any]]:
    """Who held the first side, who the second, and how it went; `expected` by the ratings."""
    names, rows = result.config.players, []
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            cell = result.cell(a, b)
            drawn = sum(not game.winner for game in result.cells[a, b])
            expected = round(result.strengths.expected[i][j], 4)
            rows.append([a, b, cell.n, cell.hits, drawn, *(round(x, 4) for x in (cell.value, *cell.ends)), expected])
    return rows


def _pairs(result: ArenaResult) -> list[list[Any]]:
    """Points of one player against another, over both sides of the same deals."""
    rows = []
    for a, b in combinations(result.config.players, 2):
        cell = result.pairs.difference(a, b)
        beats = a if result.pairs.beats(a, b) else b if result.pairs.beats(b, a) else None
        ends = [None if end is None else round(end, 4) for end in (cell.low, cell.high)]
        rows.append([a, b, cell.n, round(cell.value, 4), *ends, beats])
    return rows


def write_tables(result: ArenaResult, folder: Path) -> None:
    """cells.csv, pairs.csv and standing.csv."""
    write_csv(folder / "cells.csv", [*result.sides, *_CELL], _cells(result))
    write_csv(folder / "pairs.csv", list(_PAIR), _pairs(result))
    numbers = ["rating", *result.sides]
    heading = ["player", *(f"{of}{end}" for of in numbers for end in ("", "_low", "_high")), "rank_low", "rank_high"]
    rows = [
        [
            name,
            *(round(x, 2) for of in (strength.rating, strength.first, strength.second) for x in (of.value, *of.ends)),
            *strength.ranks,
        ]
        for name, strength in result.standing
    ]
    write_csv(folder / "standing.csv", heading, rows)


# -- in words ----------------------------------------------------------------------------------------------------------


def verdict(result: ArenaResult) -> str:
    """The two strongest players, and whether the first is better; players without a score are left out and named."""
    refused = {name: no_score(name, made.own, made.decisions) for name, made in result.decisions.items()}
    scored = [name for name, _ in result.standing if not refused[name]]
    if len(scored) < 2:
        return together([*refused.values(), "Fewer than two players have a score."])
    first, second = scored[:2]
    rating = dict(result.standing)[first].rating
    said = f"{first} has the highest rating of {len(scored)} players: {points(rating)}; {result.config.games:,} deals."
    doubts = [doubt(name, made.own, made.decisions) for name, made in result.decisions.items()]
    return together([said, compared(first, second, result.pairs.difference(first, second)), *doubts])


def headings(result: ArenaResult) -> tuple[str, ...]:
    """Headings of the table of ratings."""
    return ("place", "player", "rating", *(f"as {side}" for side in result.sides))


def standing_rows(result: ArenaResult) -> list[tuple[str, ...]]:
    """The places that the deals leave, the player, its rating and its strength on each side, with intervals, in points."""
    rows = []
    for place, (name, strength) in enumerate(result.standing, 1):
        low, high = strength.ranks
        made = result.decisions[name]
        who = name_shown(result, name)
        where = f"{place}" if low == high == place else f"{place} ({low}-{high})"
        ratings = (
            figure(points(of), (made.own, made.decisions)) for of in (strength.rating, strength.first, strength.second)
        )
        rows.append((where, who, *ratings))
    return rows


def points(estimate: Estimate) -> str:
    """Points with their interval.

    >>> points(Estimate(12.4, -3.0, 30.6))
    '+12 [-3, +31]'
    """
    return f"{estimate.value:+.0f} {show_interval(estimate, '+.0f')}"


def remarks(result: ArenaResult) -> list[str]:
    """What else the games say: which side is better off, cycles, how well ratings tell the cells."""
    strengths, first, named = result.strengths, result.sides[0], partial(name_shown, result)
    even = 1 / (1 + 10 ** (-strengths.advantage.value / 400))
    said = [
        f"{first} against {result.sides[1]}, both of mean strength: {points(strengths.advantage)} points, {100 * even:.0f} % won.",
        *(f"Cycle: {' beats '.join(map(named, (*cycle, cycle[0])))}." for cycle in result.cycles),
        f"Ratings miss a cell by {100 * strengths.miss:.1f} points of 100 (root mean square; chance alone: {100 * strengths.noise:.1f})"
        f"{_largest_miss(result)}.",
    ]
    if not result.cycles:
        said.insert(1, "No cycles of three in which each beats the next.")
    if any(foreign(decision.own, decision.decisions) for decision in result.decisions.values()):
        said.append(MEANING)
    return said


def name_shown(result: ArenaResult, player: str) -> str:
    """A player's name, marked where too many decisions were not its own."""
    return marked(player, result.decisions[player].own, result.decisions[player].decisions)


def _largest_miss(result: ArenaResult) -> str:
    if not result.scored:
        return ""
    a, b, share, expected = result.largest_miss
    return (
        f", the most where {name_shown(result, a)} is {result.sides[0]} against {name_shown(result, b)}: "
        f"it won {100 * share:.0f} %, by the ratings {100 * expected:.0f} %"
    )


def title(result: ArenaResult) -> str:
    """The table and what was played, on one line."""
    config = result.config
    return f"{config.game}{table_of(config.options)}: {config.games} deals, {len(result.played):,} games"


def table_of(options: Mapping[str, Any]) -> str:
    """The options that are set to one short value, behind a comma; the others, such as the roles, are in config.json.

    >>> table_of({"num_players": 5, "roles": ["Merlin", "Assassin"], "talk": False, "guesser": None})
    ', num_players 5, talk False'
    """
    plain = {key: str(value) for key, value in options.items() if isinstance(value, bool | int | float | str)}
    return "".join(f", {key} {value}" for key, value in plain.items() if len(value) <= _SHORT)


def text(result: ArenaResult) -> str:
    """The report as Markdown."""
    first, second = result.sides

    def figured(shown: str, *players: str) -> str:
        behind = [result.decisions[player] for player in players]
        return figure(shown, *((made.own, made.decisions) for made in behind))

    pairs = [
        [
            a,
            b,
            figured(f"{100 * mean:+.1f} " + ("-" if low is None else f"[{100 * low:+.1f}, {100 * high:+.1f}]"), a, b),
            str(n),
            figured(beats or "-", a, b),
        ]
        for a, b, n, mean, low, high, beats in _pairs(result)
    ]
    cells = [
        [
            *(a, b, figured(f"{100 * share:.1f} % [{100 * low:.1f}, {100 * high:.1f}]", a, b), str(n)),
            figured(f"{100 * expected:.1f} %", a, b),
        ]
        for a, b, n, _, _, share, low, high, expected in _cells(result)
    ]
    lines = [
        *opening(f"Arena: {title(result)}", verdict(result), "![Arena](arena.png)"),
        "Whole sides, every player against every other and itself, on the same held-out deals. Ratings: a logistic model with a "
        "strength on each side, in points (400: odds of ten to one), the mean of all players is zero; intervals at 95 % over "
        "the deals; places that the deals leave in brackets.",
        "",
        markdown_table(headings(result), standing_rows(result)),
        "",
        markdown_list(remarks(result)),
        "",
        "## Pairs, over both sides of each deal",
        "",
        markdown_table(["player", "opponent", "points of 100", "deals", "beats the other"], pairs),
        "",
        "## Cells",
        "",
        markdown_table([f"as {first}", f"as {second}", f"{first} won", "n", "by the ratings"], cells),
    ]
    return "\n".join(lines) + "\n"
