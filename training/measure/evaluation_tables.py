"""What `parlour.training.measure.evaluate` measured, as tables: win rates, paired differences, whose decisions they rest on."""

from __future__ import annotations

from functools import partial
from typing import Final

from parlour.policies.llm.decisions import foreign
from parlour.training.measure.decision_tables import MEANING, decision_parts, figure, marked, no_result
from parlour.training.measure.evaluate import ALL_GAMES, Comparison, Evaluation
from parlour.training.report import display
from parlour.training.report.result_table import ResultTable, plain_table
from parlour.training.report.verdicts import WIN_RATE, compared, doubt, no_score, together, won, word
from parlour.training.statistics import Estimate, show_interval

_MOST: Final = 3
"""Comparisons in a verdict."""
SCALES: Final = {"single": WIN_RATE, "team": WIN_RATE.of("sides of a deal")}


def show_report(report: Evaluation, note: str) -> None:
    """Print win rates and comparisons, and whose decisions they rest on; the note follows the title."""
    display.show(*report_parts(report, note))


def report_parts(report: Evaluation, note: str = "") -> list[ResultTable | str]:
    """All tables of a report, and the lines below them; the note follows the first title."""
    parts: list[ResultTable | str] = [rate_table(report, note)]
    if report.comparisons:
        parts.append(comparison_table(report))
    if mark_of(report):
        parts.append(mark_of(report))
    parts += decision_parts(report.players)
    return parts + [f"not finished, and not counted: seed {game.seed} ({game.why})" for game in report.unfinished]


def verdict_of(report: Evaluation) -> str:
    """What a report found: the first player beside each other one, or a single player's share of games won."""
    overall = [pair for pair in report.comparisons if pair.side == ALL_GAMES]
    rest = [f"{len(overall) - _MOST} more comparisons are in the table."] if len(overall) > _MOST else []
    return together([*map(partial(_compared, report), overall[:_MOST]), *rest] or _alone(report))


def _compared(report: Evaluation, pair: Comparison) -> str:
    doubts = [doubt(*player) for player in report.rests_on(pair)]
    refused = [no_score(*player) for player in report.rests_on(pair)]
    said = "" if any(refused) else compared(pair.a, pair.b, pair.result, SCALES[report.design])
    return together([said, *doubts])


def _alone(report: Evaluation) -> list[str]:
    """Of players that are compared with nobody."""
    said = []
    for name, rates in report.rates.items():
        own = report.own.get(name, {}).get(ALL_GAMES, (0, 0))
        rate = rates[ALL_GAMES]
        refused = no_score(name, *own)
        said += [doubt(name, *own)] if refused or rate is None else [won(name, rate), doubt(name, *own)]
    return said


def rate_table(report: Evaluation, note: str = "") -> ResultTable:
    """Player and win rate, marked where too many decisions were not its own; as what."""
    rows = [
        (marked(policy, *own), what, figure(show_rate(rate), own))
        for policy, rates in report.rates.items()
        for what, rate in rates.items()
        for own in [report.own.get(policy, {}).get(what, (0, 0))]
    ]
    return plain_table(f"Win rates (95 % Wilson interval){note}", ("player", "as", "win rate"), rows)


def comparison_table(report: Evaluation) -> ResultTable:
    """Players, as what, paired difference; it says so itself where it is no result of its players."""
    rows = [
        (
            f"{pair.a} - {pair.b}",
            pair.side,
            no_result(report.rests_on(pair)) + figure(show_difference(pair.result), *behind),
            figure(word(pair.result), *behind),
        )
        for pair in report.comparisons
        for behind in [[(own, made) for _, own, made in report.rests_on(pair)]]
    ]
    title = "Same deals, paired (95 % interval; exact McNemar test)"
    return plain_table(title, ("players", "as", "difference", "verdict"), rows, wrap=bool(mark_of(report)))


def mark_of(report: Evaluation) -> str:
    """The line below a table that says what the sign in it means; empty where there is none."""
    counts = [own for counts_by in report.own.values() for own in counts_by.values()]
    return MEANING if any(foreign(*own) for own in counts) else ""


def show_rate(rate: Estimate | None) -> str:
    """A rate with its interval and n.

    >>> show_rate(None)
    '-'
    """
    if rate is None:
        return "-"
    return f"{rate.value:6.1%}  {show_interval(rate, '.1%')}  n={rate.n}"


def show_difference(pair: Estimate) -> str:
    """A paired difference in points, with its interval and the test's p."""
    return f"{100 * pair.value:+.1f} points  {show_interval(pair, '+.1f', 100)}  n={pair.n}  p={pair.p:.2g}"
