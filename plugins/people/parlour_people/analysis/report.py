"""The report of an analysed folder in Markdown: recorded players beside the heuristic, and surprise."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from parlour.envs.text import clean
from parlour.training.measure.avalon.games import NOT_TOLD, AnalysedGame
from parlour.training.report.html import opening
from parlour.training.report.result_table import markdown_table
from parlour.training.report.verdicts import WIN_RATE, compared, together
from parlour.training.statistics import Estimate, show_interval

from parlour_people.analysis.compare import (
    ComparedGuesses,
    ComparedVotes,
    DecidedGame,
    compared_guesses,
    compared_votes,
    surprises,
    wrong_guesses,
)

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


def report(folder: AnalysedFolder) -> str:
    """The report."""
    habits = "the habits given" if folder.beside else "the usual habits"
    quoted = replace(folder, theirs=plain(folder.theirs))
    parts = [
        "\n".join(opening("Analysis of recorded games of Avalon", verdict(quoted))).rstrip(),
        *([f"![Right votes]({VOTES_PICTURE})"] if folder.pictures and list(compared_votes(folder.games)) else []),
        _overview(folder),
        "## Votes of good seats",
        f"Right is approving a team without an evil member, or rejecting one with. The heuristic decides at the same Views, with {habits}. Where most teams are dirty, rejecting all of them is mostly right: the last two rows tell the two kinds of teams apart.",
        votes_table(list(compared_votes(folder.games)), folder.theirs),
        "## Guesses at Merlin",
        *_guesses(folder),
        "## Surprise of the decisions",
        f"-log2 of the likelihood that {habits} give a decision, for what its seat knew; one bit is a fair coin.",
        _surprise_table(folder.games),
        *_beside(folder),
        "## How it was made",
        "\n".join(f"- {line}" for line in folder.how),
    ]
    return "\n\n".join(parts) + "\n"


def verdict(folder: AnalysedFolder) -> str:
    """The recorded players beside the heuristic: right votes of good seats, and guesses that named Merlin."""
    votes, guesses = next(iter(compared_votes(folder.games)), None), next(iter(compared_guesses(folder.games)), None)
    said = [
        compared(f"{what} by {folder.theirs}", f"{what} by the heuristic", row.difference, WIN_RATE.of(cases))
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
        "`decisions.csv` holds every decision, `analysis.json` the figures below; `parlour replay` shows a game with its beliefs."
    )


# -- tables ------------------------------------------------------------------------------------------------------


def votes_table(rows: Sequence[ComparedVotes], theirs: str) -> str:
    """Right votes by group, or a sentence that says there are none."""
    if not rows:
        return "There is no vote to compare."
    cells = [
        (
            *_labels(row.by, row.group),
            str(row.games),
            str(row.votes),
            share(row.theirs),
            share(row.ours),
            points(row.difference),
        )
        for row in rows
    ]
    return markdown_table(("by", "", "games", "votes", plain(theirs), "heuristic", "difference, points"), cells)


def guesses_table(rows: Sequence[ComparedGuesses], theirs: str) -> str:
    """Right guesses by group, or a sentence that says there are none."""
    if not rows:
        return "Nobody guessed."
    cells = [
        (
            *_labels(row.by, row.group),
            str(row.theirs.n),
            _hits(row.theirs),
            _hits(row.ours),
            str(row.both),
            f"{row.chance:.1f}",
            f"{100 * row.difference.value:+.0f} {show_interval(row.difference, '+.0f', 100)}",
            f"{row.difference.p:.2g}",
        )
        for row in rows
    ]
    headings = ("by", "", "guesses", plain(theirs), "heuristic", "both", "chance", "difference, points", "p")
    return markdown_table(headings, cells)


def share(estimate: Estimate) -> str:
    """A mean share in percent with its interval."""
    return f"{100 * estimate.value:.1f} % {show_interval(estimate, '.1f', 100)}"


def points(estimate: Estimate) -> str:
    """A mean difference in points with its interval."""
    return f"{100 * estimate.value:+.1f} {show_interval(estimate, '+.1f', 100)}"


def _hits(estimate: Estimate) -> str:
    return f"{estimate.hits} ({100 * estimate.value:.0f} % {show_interval(estimate, '.0f', 100)})"


def _labels(by: str, group: str) -> tuple[str, str]:
    return ("all", "") if by == group else (by, plain(group))


def _guesses(folder: AnalysedFolder) -> Iterator[str]:
    rows = list(compared_guesses(folder.games))
    yield guesses_table(rows, folder.theirs)
    if not rows:
        return
    wrong = wrong_guesses(folder.games)
    if wrong:
        hit = ", ".join(f"{role} {count}" for role, count in wrong.items())
        yield f"Wrong guesses of {plain(folder.theirs)}, by the role that they hit: {hit}."
    if folder.pictures:
        yield f"![Right guesses]({GUESSES_PICTURE})"


def _surprise_table(games: Sequence[DecidedGame]) -> str:
    rows = [
        (
            surprise.kind,
            surprise.role,
            str(surprise.decisions),
            f"{surprise.bits.value:.2f} {show_interval(surprise.bits, '.2f')}",
        )
        for surprise in surprises(games)
    ]
    return markdown_table(("decision", "role", "n", "bits, mean"), rows) if rows else "Nobody had a choice."


def _beside(folder: AnalysedFolder) -> Iterator[str]:
    for habits, games in folder.beside.items():
        yield f"## The same with other habits: {habits}"
        yield votes_table(list(compared_votes(games)), folder.theirs)
        yield guesses_table(list(compared_guesses(games)), folder.theirs)
