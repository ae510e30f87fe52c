"""Whose decisions a result rests on, as tables and lines: shown with every result of players that may ask a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from parlour.policies.llm.decisions import MOST_FOREIGN, Answers, Decisions, foreign

SIGN: Final = "†"
"""Behind the name of a player in a row of which too many decisions were not its own."""
MEANING: Final = f"{SIGN} more than {MOST_FOREIGN:.0%} of the decisions in this row were not the player's own"
WHOSE: Final = (
    "player",
    "decisions",
    "its own",
    "at once",
    "asked again",
    "rule of thumb",
    "by the table",
    "refused words",
    "talk",
)
TOOK: Final = (
    "player",
    "model",
    "served",
    "requests",
    "tokens in",
    "cached",
    "out",
    "begin alike",
    "dollars",
    "seconds",
    "cut",
    "dropped",
)
ASKED: Final = ("player", "question", "asked", "first reply", "asked again", "rule of thumb")

Grid = tuple[str, Sequence[str], list[tuple[str, ...]]]
"""A table: title, headings, rows."""


def marked(name: str, own: int, decisions: int) -> str:
    """A player's name, with the sign where it has to be.

    >>> marked("chat", 19, 20), marked("chat", 9, 10)
    ('chat', 'chat †')
    """
    return f"{name} {SIGN}" if foreign(own, decisions) else name


def share(own: int, decisions: int) -> str:
    """A share of decisions, or of other counts.

    >>> share(0, 58), share(0, 0)
    ('0.0 %', '-')
    """
    return f"{100 * own / decisions:.1f} %" if decisions else "-"


def no_result(players: Iterable[tuple[str, int, int]]) -> str:
    """What a comparison begins with if its players' decisions were not their own; empty if they were.

    Args:
        players: Name, own decisions, all decisions.
    """
    both = dict.fromkeys(players)
    told = [f"{name} ({share(own, made)} its own decisions)" for name, own, made in both if foreign(own, made)]
    return f"{SIGN} no result of {', nor of '.join(told)}: " if told else ""


def grids(players: Mapping[str, Decisions]) -> Iterator[Grid]:
    """The tables of some players: whose decisions; where a model was called, what it took, by kind of question too.

    None where nobody asked a model, all decisions were the players' own and no word was refused.
    """
    if all(not one.questions and one.own == one.decisions and not one.refused for one in players.values()):
        return
    yield "Decisions", WHOSE, [_whose(name, one) for name, one in players.items()]
    called = {
        name: one for name, one in players.items() if one.requests or any(of.heuristic for of in one.questions.values())
    }
    if called:
        yield "What the models took", TOOK, [_took(name, one) for name, one in called.items()]
        rows = [_asked(name, ask, of) for name, one in called.items() for ask, of in one.questions.items()]
        yield "Questions by kind", ASKED, rows


def reasons(counts: Mapping[str, int]) -> str:
    """A count with its parts.

    >>> reasons({"invalid": 3, "timeout": 1}), reasons({})
    ('4 (invalid 3, timeout 1)', '0')
    """
    parts = ", ".join(f"{reason} {n}" for reason, n in counts.items())
    return f"{sum(counts.values())} ({parts})" if counts else "0"


def _whose(name: str, of: Decisions) -> tuple[str, ...]:
    plain = (
        marked(name, of.own, of.decisions),
        str(of.decisions),
        share(of.own, of.decisions),
        str(of.first),
        str(of.again),
    )
    return (*plain, reasons(of.heuristic), reasons(of.replaced), reasons(of.refused), str(of.talk))


def _took(name: str, of: Decisions) -> tuple[str, ...]:
    dollars = "unknown" if of.dollars is None else f"{of.dollars:.4f}"
    tokens = (f"{of.prompt:,}", f"{of.cached:,} ({share(of.cached, of.prompt)})", f"{of.completion:,}")
    told = (name, ", ".join(of.models), ", ".join(of.served) or "-", str(of.requests))
    seconds = f"{of.seconds:.1f}" if of.seconds else "-"
    alike = share(of.shared, of.characters)
    return (*told, *tokens, alike, dollars, seconds, str(of.cut), ", ".join(of.dropped) or "-")


def _asked(name: str, ask: str, of: Answers) -> tuple[str, ...]:
    return (name, ask, str(of.asked), str(of.first), str(of.again), reasons(of.heuristic))
