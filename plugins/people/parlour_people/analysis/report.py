"""The report of an analysed folder: recorded players beside the heuristic, and surprise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from parlour.envs.language.text import clean
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import DifferenceScale, together

from parlour_people.analysis import pictures
from parlour_people.analysis.compare import (
    ComparedGuesses,
    ComparedVotes,
    DecidedGame,
    compared_guesses,
    compared_votes,
    surprises,
    wrong_guesses,
)
from parlour_people.analysis.tables import decisions_table

WIN_RATE: Final = DifferenceScale("points", times=100, matters=0.03)

NOT_TOLD: Final = "-"

_WORDS: Final = 160
"""Letters of a record's words that are shown."""
_HIDDEN: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")
VOTES_PICTURE: Final = "votes.png"
GUESSES_PICTURE: Final = "guesses.png"


@dataclass(frozen=True)
class AnalysedFolder:
    """What the report is made of."""

    theirs: str
    """Who played, for headings."""
    games: Sequence[DecidedGame]
    """With the decisions under the habits of the analysis."""
    beside: Mapping[str, Sequence[DecidedGame]]
    """The same under other habits, by their name; empty if the analysis uses the usual habits."""
    how: Sequence[str]
    """How it was made, a sentence each."""
    pictures: bool


def plain(text: str) -> str:
    r"""Words from a record as one line of Markdown that shows them as they are.

    >>> print(plain("<b>x|y"))
    \<b\>x\|y
    """
    line = " ".join(clean(text).split())
    shown = line if len(line) <= _WORDS else f"{line[: _WORDS - 4]} ..."
    return _HIDDEN.sub(r"\\\1", shown)


def players_of(games: Sequence[AnalysedGame]) -> str:
    """Who played the games, in a few words.

    >>> players_of([])
    'recorded players'
    """
    models = sorted({game.noted("model") for game in games} - {NOT_TOLD})
    return ", ".join(models) if models else "recorded players"


def report_of(folder: AnalysedFolder, figures: Mapping[str, Any]) -> Report:
    """The report; `figures` are its plain values."""
    habits = "the habits given" if folder.beside else "the usual habits"
    theirs = plain(folder.theirs)
    votes, guesses = list(compared_votes(folder.games)), list(compared_guesses(folder.games))
    right = f"Right is approving a team without an evil member, or rejecting one with. The heuristic decides at the same Views, with {habits}. Where most teams are dirty, rejecting all of them is mostly right: the last two rows tell the two kinds of teams apart."
    picture = partial(pictures.votes, votes, folder.theirs) if folder.pictures and votes else None
    parts: list[Any] = [_overview(folder), replace(votes_table(votes, theirs), note=right), *_guesses(folder, guesses)]
    for other, games in folder.beside.items():
        title = f"The same with other habits: {other}"
        parts.append(votes_table(list(compared_votes(games)), theirs, title))
        parts.append(guesses_table(list(compared_guesses(games)), theirs, title))
    return Report(
        "Analysis of recorded games of Avalon",
        verdict(replace(folder, theirs=theirs)),
        (*parts, _surprise_table(folder.games, habits), tuple(folder.how)),
        picture=None if picture is None else Picture(picture, "Right votes", VOTES_PICTURE),
        data=(decisions_table(folder.games),),
        values=figures,
    )


def verdict(folder: AnalysedFolder) -> str:
    """The recorded players beside the heuristic: right votes of good seats, and guesses that named Merlin."""
    votes, guesses = next(iter(compared_votes(folder.games)), None), next(iter(compared_guesses(folder.games)), None)
    said = [
        WIN_RATE.of(cases).compared(f"{what} by {folder.theirs}", f"{what} by the heuristic", row.difference)
        for what, row, cases in (("voting", votes, "games"), ("guessing", guesses, "guesses"))
        if row is not None
    ]
    return together(said) or "Nothing could be compared with the heuristic: no votes and no guesses."


def _overview(folder: AnalysedFolder) -> str:
    games = [game for game, _ in folder.games]
    winners = Counter(game.transcript.outcome.winner for game in games if game.transcript.outcome is not None)
    counts = [f"{number} won by {side}" for side, number in sorted(winners.items())]
    rest = [f"{len(games) - winners.total()} not finished"] if winners.total() < len(games) else []
    decisions = sum(len(of) for _, of in folder.games)
    text = ", ".join([*counts, *rest])
    return (
        f"{len(games)} games of {plain(folder.theirs)} ({text}), {decisions} decisions. "
        "`decisions.csv` holds every decision, `summary.json` the figures below; `parlour replay` shows a game with its beliefs."
    )


# -- tables ------------------------------------------------------------------------------------------------------


def votes_table(rows: Sequence[ComparedVotes], theirs: str, title: str = "Votes of good seats") -> ResultTable:
    """Right votes by group; `theirs` is who played."""
    share = partial(Column, format=".1f", times=100, unit=" %")
    columns = (
        *map(Column, ("by", "", "games", "votes")),
        share(theirs, key="theirs"),
        share("heuristic"),
        Column("difference, points", "+.1f", 100),
    )
    cells = ((*_labels(row.by, row.group), row.games, row.votes, row.theirs, row.ours, row.difference) for row in rows)
    return ResultTable(title, columns, tuple(cells))


def guesses_table(rows: Sequence[ComparedGuesses], theirs: str, title: str = "Guesses at Merlin") -> ResultTable:
    """Right guesses by group; `theirs` is who played."""
    right = partial(Column, format=".0f", times=100, unit=" %", shows=("hits",))
    columns = (
        *map(Column, ("by", "", "guesses")),
        right(theirs, key="theirs"),
        right("heuristic"),
        *(Column("both"), Column("chance", ".1f"), Column("difference, points", "+.0f", 100, shows=("p",))),
    )
    cells = (
        (*_labels(row.by, row.group), row.theirs.n, row.theirs, row.ours, row.both, row.chance, row.difference)
        for row in rows
    )
    return ResultTable(title, columns, tuple(cells))


def _labels(by: str, group: str) -> tuple[str, str]:
    return ("all", "") if by == group else (by, plain(group))


def _guesses(folder: AnalysedFolder, rows: Sequence[ComparedGuesses]) -> Iterator[Any]:
    if not rows:
        yield "Nobody guessed."
        return
    yield guesses_table(rows, plain(folder.theirs))
    if wrong := wrong_guesses(folder.games):
        hit = ", ".join(f"{role} {count}" for role, count in wrong.items())
        yield f"Wrong guesses of {plain(folder.theirs)}, by the role that they hit: {hit}."
    if folder.pictures:
        yield f"[{GUESSES_PICTURE}]({GUESSES_PICTURE}) shows the guesses."


def _surprise_table(games: Sequence[DecidedGame], habits: str) -> ResultTable:
    rows = tuple((row.kind, row.role, row.decisions, row.bits) for row in surprises(games))
    columns = (*map(Column, ("decision", "role", "n")), Column("bits, mean", ".2f"))
    note = f"-log2 of the likelihood that {habits} give a decision, for what its seat knew; one bit is a fair coin."
    return ResultTable("Surprise of the decisions", columns, rows, note)
