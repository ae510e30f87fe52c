"""What `parlour.training.measure.evaluate` measured, as a report: win rates, paired differences, whose decisions they rest on."""

from __future__ import annotations

from dataclasses import astuple, fields
from functools import partial
from typing import Final

from parlour.policies.llm.decisions import foreign
from parlour.training.measure.decision_tables import MEANING, decision_parts, figure, no_result
from parlour.training.measure.evaluate import ALL_GAMES, Comparison, Evaluation, Game
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable, points_column, rate_column
from parlour.training.report.verdicts import WIN_RATE, DecidedBy, together, won

_MOST: Final = 3
"""Comparisons in a verdict."""


def report_of(measured: Evaluation, note: str = "", model: str = "") -> Report:
    """Rates, comparisons, whose the decisions were; every game as CSV.

    Args:
        measured: What was measured.
        note: Behind the title, such as who answered agents.
        model: Name of the model that was asked; empty: none was.
    """
    mark = mark_of(measured)
    unfinished = tuple(f"not finished, and not counted: seed {game.seed} ({game.why})" for game in measured.unfinished)
    return Report(
        f"Win rates in {measured.table.get('game', 'a game')}",
        verdict_of(measured),
        (
            rate_table(measured, note),
            *([comparison_table(measured)] if measured.comparisons else []),
            *([mark] if mark else []),
            *decision_parts(measured.players),
            *unfinished,
        ),
        (", ".join(f"{name} = {value}" for name, value in measured.table.items()),),
        data=(games_table(measured),),
        values={**measured.as_json(), **({"model": model} if model else {})},
    )


def games_table(measured: Evaluation) -> ResultTable:
    """A row for each game of a measured player."""
    columns = tuple(Column(part.name) for part in fields(Game))
    return ResultTable("Games", columns, tuple(map(astuple, measured.games)), file="games.csv")


def verdict_of(report: Evaluation) -> str:
    """What a report found: the first player beside each other one, or a single player's share of games won."""
    overall = [pair for pair in report.comparisons if pair.side == ALL_GAMES]
    rest = [f"{len(overall) - _MOST} more comparisons are in the table."] if len(overall) > _MOST else []
    said = together([*map(partial(_compared, report), overall[:_MOST]), *rest] or _alone(report))
    return (
        f"One seat among {report.others} {report.games[0].opponent}. {said}" if report.others and report.games else said
    )


def _compared(report: Evaluation, pair: Comparison) -> str:
    doubts = [DecidedBy(*player).doubt for player in report.rests_on(pair)]
    refused = [DecidedBy(*player).no_score for player in report.rests_on(pair)]
    said = "" if any(refused) else WIN_RATE.compared(pair.a, pair.b, pair.result)
    return together([said, *doubts])


def _alone(report: Evaluation) -> list[str]:
    """Of players that are compared with nobody."""
    said = []
    for name, rates in report.rates.items():
        own = report.own.get(name, {}).get(ALL_GAMES, (0, 0))
        rate = rates[ALL_GAMES]
        refused = DecidedBy(name, *own).no_score
        said += (
            [DecidedBy(name, *own).doubt] if refused or rate is None else [won(name, rate), DecidedBy(name, *own).doubt]
        )
    return said


def rate_table(report: Evaluation, note: str = "") -> ResultTable:
    """Player and win rate, marked where too many decisions were not its own; as what."""
    rows = [
        (DecidedBy(policy, *own).marked, what, figure(rate, own))
        for policy, rates in report.rates.items()
        for what, rate in rates.items()
        for own in [report.own.get(policy, {}).get(what, (0, 0))]
    ]
    columns = (Column("player"), Column("as"), rate_column("win rate"))
    return ResultTable(f"Win rates (95 % Wilson interval){note}", columns, tuple(rows))


def comparison_table(report: Evaluation) -> ResultTable:
    """Players, as what, paired difference; it says so itself where it is no result of its players."""
    rows = [
        (
            f"{pair.a} - {pair.b}",
            pair.side,
            figure(pair.result, *behind, before=no_result(report.rests_on(pair))),
            figure(pair.result.outcome, *behind),
        )
        for pair in report.comparisons
        for behind in [[(own, made) for _, own, made in report.rests_on(pair)]]
    ]
    title = "Same deals, paired (95 % interval and its test)"
    columns = (Column("players"), Column("as"), points_column("difference"), Column("verdict"))
    return ResultTable(title, columns, tuple(rows), wrap=bool(mark_of(report)))


def mark_of(report: Evaluation) -> str:
    """The line below a table that says what the sign in it means; empty where there is none."""
    counts = [own for counts_by in report.own.values() for own in counts_by.values()]
    return MEANING if any(foreign(*own) for own in counts) else ""
