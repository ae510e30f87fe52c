"""Whose decisions a result rests on, as tables and lines: shown with every result of players that may ask a model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from parlour.policies.llm.decisions import MOST_FOREIGN, Decisions, foreign, mostly_foreign
from parlour.training.report.result_table import NONE, Cell, Column, Figure, HasInterval, Plain, ResultTable
from parlour.training.report.verdicts import SIGN, DecidedBy

MEANING: Final = (
    f"{SIGN} more than {MOST_FOREIGN:.0%} of the decisions in this row were not the player's own; "
    f"{SIGN} alone: more than half, so there is no figure"
)
_SHARE: Final = Column("", ".1f", 100, " %")
PAPER: Final = "paper's rule"
"""A column that is left out where no rule decided anything."""
WHOSE: Final = (
    Column("player"),
    Column("decisions"),
    replace(_SHARE, heading="its own"),
    *map(Column, ("at once", "asked again", "heuristic", PAPER, "by the table", "refused words", "talk")),
)
TOOK: Final = (
    *map(Column, ("player", "model", "served", "requests")),
    Column("tokens in", ",", none="unknown"),
    Column("cached", ",", none="unknown"),
    Column("out", ",", none="unknown"),
    replace(_SHARE, heading="begin alike"),
    Column("dollars", ".4f", none="unknown"),
    Column("seconds", ".1f"),
    *map(Column, ("cut", "dropped")),
)
MEASURED: Final = ("cached", "seconds")
"""Columns of `TOOK` that the same game fills differently when it is played again."""
ASKED: Final = tuple(map(Column, ("player", "question", "asked", "first reply", "asked again", "heuristic", PAPER)))


def figure(
    value: Plain | HasInterval, *behind: tuple[int, int], column: Column | None = None, before: str = ""
) -> Cell:
    """A figure, marked where too many decisions behind it were not its players' own; fewer than half: the sign alone.

    >>> figure(0.62, (19, 20)), figure(0.62, (18, 20), (20, 20)).mark, figure(0.62, (9, 20)).hidden
    (0.62, '†', True)

    Args:
        value: The figure.
        behind: For each player that it rests on, own decisions and all decisions.
        column: How it is shown, where not as its column says.
        before: Words before it.
    """
    sign = SIGN if any(foreign(own, made) for own, made in behind) else ""
    if not (sign or column or before):
        return value
    return Figure(value, column, sign, before, any(mostly_foreign(own, made) for own, made in behind))


def share(own: int, decisions: int) -> str:
    """A share of decisions, or of other counts.

    >>> share(0, 58), share(0, 0)
    ('0.0 %', '-')
    """
    return f"{100 * own / decisions:.1f} %" if decisions else "-"


def amount(count: float | None, form: str = ",") -> str:
    """A number of tokens or dollars, by a format; `unknown` where a server does not report it.

    >>> amount(1200), amount(0.5, ".4f"), amount(None)
    ('1,200', '0.5000', 'unknown')
    """
    return "unknown" if count is None else f"{count:{form}}"


def no_result(players: Iterable[tuple[str, int, int]]) -> str:
    """What a comparison begins with if its players' decisions were not their own; empty if they were.

    Args:
        players: Name, own decisions, all decisions.
    """
    distinct = dict.fromkeys(players)
    names = [f"{name} ({share(own, made)} its own decisions)" for name, own, made in distinct if foreign(own, made)]
    return f"{SIGN} no result of {', nor of '.join(names)}: " if names else ""


def decision_tables(players: Mapping[str, Decisions], *, measured: bool = True) -> list[ResultTable]:
    """The tables of some players: whose decisions; where a model was called, what it took, by kind of question too.

    None where nobody asked a model, all decisions were the players' own and no word was refused.

    Args:
        players: Name -> decisions.
        measured: Whether the columns `MEASURED` are among them.
    """
    if all(not of.questions and of.own == of.decisions and not of.refused for of in players.values()):
        return []
    hidden = [*([] if any(of.paper for of in players.values()) else [PAPER]), *([] if measured else MEASURED)]
    tables = [_table("Decisions", WHOSE, [_whose(name, of) for name, of in players.items()], hidden)]
    called = {name: of for name, of in players.items() if of.requests or of.answers.heuristic or of.answers.paper}
    if called:
        asked = [_asked(name, ask, of) for name, made in called.items() for ask, of in made.questions.items()]
        took = [_took(name, of) for name, of in called.items()]
        tables += [
            _table("What the models took", TOOK, took, hidden),
            _table("Questions by kind", ASKED, asked, hidden),
        ]
    return tables


def _table(
    title: str, columns: Sequence[Column], rows: Iterable[tuple[Cell, ...]], hidden: Collection[str]
) -> ResultTable:
    """A table without the columns of these headings."""
    shown = [k for k, column in enumerate(columns) if column.heading not in hidden]
    kept = tuple(tuple(row[k] for k in shown) for row in rows)
    return ResultTable(title, tuple(columns[k] for k in shown), kept, wrap=True)


def decision_parts(players: Mapping[str, Decisions], *, measured: bool = True) -> list[ResultTable | str]:
    """The same, with an explanation of the mark if it occurs, and a warning for kinds of questions that no model answered."""
    marked_any = any(foreign(of.own, of.decisions) for of in players.values())
    warnings = [
        f"{name}: the model answered no question {ask}; the question's heuristic answered all: {reasons(of.heuristic)}. Such questions "
        "only prepared decisions: a decision is the player's own if the model answered the last question of the turn."
        for name, made in players.items()
        for ask, of in made.questions.items()
        if made.own and of.heuristic and not of.own
    ]
    return [*decision_tables(players, measured=measured), *([MEANING] if marked_any else []), *warnings]


def reasons(counts: Mapping[str, int]) -> str:
    """A count with its parts.

    >>> reasons({"invalid": 3, "timeout": 1}), reasons({})
    ('4 (invalid 3, timeout 1)', '0')
    """
    parts = ", ".join(f"{reason} {n}" for reason, n in counts.items())
    return f"{sum(counts.values())} ({parts})" if counts else "0"


def in_its_place(of: Decisions) -> str:
    """How many decisions, or questions, were not left to the model.

    >>> in_its_place(Decisions(heuristic={"invalid": 2})), in_its_place(Decisions(paper={"unclear=paper": 1}))
    ('2 (invalid 2) by the heuristic', "0 by the heuristic, 1 (unclear=paper 1) by the paper's rule")
    """
    by_paper = f", {reasons(of.paper)} by the paper's rule" if of.paper else ""
    return f"{reasons(of.heuristic)} by the heuristic{by_paper}"


def _whose(name: str, of: Decisions) -> tuple[Cell, ...]:
    own = of.own / of.decisions if of.decisions else None
    counts: tuple[Cell, ...] = (*map(reasons, (of.heuristic, of.paper, of.replaced, of.refused)), of.talk)
    return (DecidedBy(name, of.own, of.decisions).marked, of.decisions, own, of.first, of.again, *counts)


def _took(name: str, of: Decisions) -> tuple[Cell, ...]:
    cached: Cell = of.cached
    if of.cached is not None and of.prompt is not None:
        cached = f"{of.cached:,} ({share(of.cached, of.prompt)})"
    who = (name, ", ".join(of.models), ", ".join(of.served) or NONE, of.requests)
    alike = of.shared / of.characters if of.characters else None
    took = (of.prompt, cached, of.completion, alike, of.dollars, of.seconds or None)
    return (*who, *took, of.cut, ", ".join(of.dropped) or NONE)


def _asked(name: str, ask: str, of: Decisions) -> tuple[Cell, ...]:
    return (name, ask, of.asked, of.first, of.again, reasons(of.heuristic), reasons(of.paper))
