"""The result of an arena as a report: ratings, pairs and cells as tables, what else the games say in words."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from typing import Any, Final

from parlour.policies.llm.decisions import foreign
from parlour.training.measure.arena.picture import draw
from parlour.training.measure.arena.result import ArenaResult
from parlour.training.measure.decision_tables import MEANING, figure
from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Cell, Column, HasInterval, Plain, ResultTable, cell_text
from parlour.training.report.verdicts import WIN_RATE, DecidedBy, together
from parlour.training.statistics import Estimate

_ABOUT: Final = (
    "Whole sides, every player against every other and itself, on the same held-out deals. Ratings: a logistic model with a "
    "strength on each side, in points (400: odds of ten to one), the mean of all players is zero; intervals at 95 % over "
    "the deals; best and worst are the places that the deals leave."
)
_RATING: Final = Column("rating", "+.0f")


def report_of(result: ArenaResult, note: str = "") -> Report:
    """The report; the note follows the title of the first table."""
    return Report(
        f"Arena: {result.title}",
        verdict(result),
        (standing_table(result, note), *remarks(result)),
        (_ABOUT, pairs_table(result), cells_table(result)),
        picture=Picture(partial(draw, result), "Arena", "arena.png"),
        values=partial(as_json, result),
    )


def as_json(result: ArenaResult) -> dict[str, Any]:
    """The main numbers, as `Report.values`."""
    config, advantage = result.config, result.strengths.advantage
    return {
        "game": config.game,
        "options": dict(config.options),
        "deals": config.games,
        "first_deal": config.seed,
        "games": len(result.played),
        "sides": list(result.sides),
        "standing": standing_table(result),
        "advantage": {"side": result.sides[0], "value": advantage.value, "low": advantage.low, "high": advantage.high},
        "miss": result.strengths.miss,
        "noise": result.strengths.noise,
        "cycles": [list(cycle) for cycle in result.cycles],
        "cells": cells_table(result),
        "pairs": pairs_table(result),
        "players": result.decisions,
    }


# -- tables ------------------------------------------------------------------------------------------------------------


def standing_table(result: ArenaResult, note: str = "") -> ResultTable:
    """The players, the strongest first: places that the deals leave, rating and strength on each side, in points."""
    sides = (Column(f"as {side}", _RATING.format, key=side) for side in result.sides)
    places = (Column("place"), Column("best", key="rank_low"), Column("worst", key="rank_high"))
    rows = tuple(
        (
            *(place, *of.ranks, result.shown(name)),
            *(_figure(result, rating, name) for rating in (of.rating, of.first, of.second)),
        )
        for place, (name, of) in enumerate(result.standing, 1)
    )
    columns = (*places, Column("player"), _RATING, *sides)
    return ResultTable(f"{result.title}{note}", columns, rows, file="standing.csv")


def pairs_table(result: ArenaResult) -> ResultTable:
    """Points of one player against another, over both sides of the same deals."""
    columns = (
        *map(Column, ("player", "opponent", "deals")),
        Column("points of 100", "+.1f", 100, key="points"),
        Column("beats the other", key="beats"),
    )
    rows = []
    for a, b in combinations(result.config.players, 2):
        points = result.pairs.difference(a, b)
        beats = a if result.pairs.beats(a, b) else b if result.pairs.beats(b, a) else None
        rows.append((a, b, points.n, _figure(result, points, a, b), _figure(result, beats, a, b)))
    return ResultTable("Pairs, over both sides of each deal", columns, tuple(rows), file="pairs.csv")


def cells_table(result: ArenaResult) -> ResultTable:
    """Who held the first side, who the second, and how it went."""
    first, second = result.sides
    columns = (
        *(Column(f"as {first}", key=first), Column(f"as {second}", key=second), Column("n")),
        *(Column(f"{first} won", key="first_won"), Column("drawn")),
        Column(f"share won by {first}", ".1f", 100, " %", key="rate"),
        Column("by the ratings", ".1f", 100, " %", key="expected"),
    )
    expected = [chance for row in result.strengths.expected for chance in row]
    rows = []
    for (a, b), chance in zip(product(result.config.players, repeat=2), expected, strict=True):
        cell, drawn = result.cell(a, b), sum(not game.winner for game in result.cells[a, b])
        rows.append((a, b, cell.n, cell.hits, drawn, _figure(result, cell, a, b), _figure(result, chance, a, b)))
    return ResultTable("Cells", columns, tuple(rows), file="cells.csv")


def _figure(result: ArenaResult, value: Plain | HasInterval, *players: str) -> Cell:
    return figure(value, *((made.own, made.decisions) for made in map(result.decisions.__getitem__, players)))


# -- in words ----------------------------------------------------------------------------------------------------------


def verdict(result: ArenaResult) -> str:
    """The two strongest players, and whether the first is better; players without a score are left out and named."""
    refused = {name: DecidedBy(name, made.own, made.decisions).no_score for name, made in result.decisions.items()}
    scored = [name for name, _ in result.standing if not refused[name]]
    if len(scored) < 2:
        return together([*refused.values(), "Fewer than two players have a score."])
    first, second = scored[:2]
    rating = dict(result.standing)[first].rating
    said = f"{first} has the highest rating of {len(scored)} players: {points(rating)}; {result.config.games:,} deals."
    doubts = [DecidedBy(name, made.own, made.decisions).doubt for name, made in result.decisions.items()]
    return together([said, WIN_RATE.compared(first, second, result.pairs.difference(first, second)), *doubts])


def points(estimate: Estimate) -> str:
    """Points with their interval.

    >>> points(Estimate(12.4, -3.0, 30.6))
    '+12  [-3, +31]'
    """
    return cell_text(estimate, _RATING)


def remarks(result: ArenaResult) -> list[str]:
    """What else the games say: which side is better off, cycles, how well ratings tell the cells."""
    strengths, first, named = result.strengths, result.sides[0], result.shown
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


def _largest_miss(result: ArenaResult) -> str:
    if not result.scored:
        return ""
    a, b, share, expected = result.largest_miss
    return (
        f", the most where {result.shown(a)} is {result.sides[0]} against {result.shown(b)}: "
        f"it won {100 * share:.0f} %, by the ratings {100 * expected:.0f} %"
    )
