"""The report of an analysed folder in Markdown: recorded players beside the heuristic, surprise, and what decisions cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from parlour.envs.english import name
from parlour.training.measure.analysis.compare import (
    ComparedGuesses,
    ComparedVotes,
    DecidedGame,
    compared_guesses,
    compared_votes,
    surprises,
    wrong_guesses,
)
from parlour.training.measure.analysis.decisions import CARD, GUESS, VOTE, Decision
from parlour.training.measure.analysis.games import NOT_TOLD, AnalysedGame
from parlour.training.measure.analysis.pages import plain
from parlour.training.measure.analysis.values import DecisionValue
from parlour.training.measure.statistics import COUNT, Estimate, mean_estimate, show_interval
from parlour.training.results.pages.report import opening
from parlour.training.results.result_table import markdown_table
from parlour.training.results.verdicts import WIN_RATE, compared, together

_MOST: Final = 20
"""Decisions of the folder that are listed."""
VOTES_PICTURE: Final = "votes.png"
GUESSES_PICTURE: Final = "guesses.png"


@dataclass(frozen=True)
class Costed:
    """A decision that was valued, and the game it is of."""

    game: AnalysedGame
    decision: Decision
    value: DecisionValue


@dataclass(frozen=True)
class AnalysedFolder:
    """What the report is made of."""

    theirs: str
    """Who played, for headings."""
    games: Sequence[DecidedGame]
    """With the decisions under the habits of the analysis."""
    beside: Mapping[str, Sequence[DecidedGame]]
    """The same under other habits, by their name; empty if the analysis uses the usual habits."""
    costed: Sequence[Costed]
    how: Sequence[str]
    """How it was made, a sentence each."""
    pictures: bool


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
        "## What decisions cost",
        *_costs(folder.costed),
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
        f"{len(games)} games of {plain(folder.theirs)} ({text}), {decisions} decisions. [All games](index.md); "
        "`decisions.csv` holds every decision, `analysis.json` the figures below, `games/` a page, a picture and the "
        "beliefs of each game."
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


def _costs(costed: Sequence[Costed]) -> Iterator[str]:
    if not costed:
        yield "No decision was valued."
        return
    groups: dict[tuple[str, str], list[float]] = {}
    for costly in costed:
        groups.setdefault((costly.decision.kind, costly.decision.role), []).append(costly.value.loss)
    order = [VOTE, CARD, GUESS]
    rows = [
        (kind, role, str(len(losses)), _lost(losses))
        for (kind, role), losses in sorted(groups.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]
    yield (
        "Lost is the value of the best move minus the value of the move made, in points of winning. The best of a few noisy "
        "means is overestimated, so that small losses by continuations are no evidence; the listed ones have their "
        "standard errors."
    )
    yield markdown_table(("decision", "role", "valued", "lost, points, mean"), rows)
    ranked = sorted(costed, key=lambda costly: (-costly.value.loss, costly.game.name, costly.decision.number))
    yield markdown_table(
        ("game", "move", "who", "decision", "lost, points", "error", "bits"), map(_cost, ranked[:_MOST])
    )


def _lost(losses: Sequence[float]) -> str:
    mean = mean_estimate(losses, COUNT)
    return f"{100 * mean.value:.1f} {show_interval(mean, '.1f', 100)}"


def _cost(costed: Costed) -> tuple[str, ...]:
    decision, value = costed.decision, costed.value
    return (
        f"[{plain(costed.game.name)}](<games/{costed.game.name}.md>)",
        str(decision.number),
        f"{name(decision.seat)}, {decision.role}",
        f"{decision.kind} {' '.join(map(str, decision.move.args))}, better {' '.join(map(str, value.best_move.args))}",
        f"{100 * value.loss:.0f}",
        f"{100 * value.error:.0f}" if value.continuations else "exact",
        "-" if decision.bits is None else f"{decision.bits:.1f}",
    )


def _beside(folder: AnalysedFolder) -> Iterator[str]:
    for habits, games in folder.beside.items():
        yield f"## The same with other habits: {habits}"
        yield votes_table(list(compared_votes(games)), folder.theirs)
        yield guesses_table(list(compared_guesses(games)), folder.theirs)


def figures_of_costs(costed: Sequence[Costed]) -> list[Mapping[str, object]]:
    """The valued decisions as plain values."""
    return [
        {
            "game": costly.game.name,
            "move": costly.decision.number,
            "kind": costly.decision.kind,
            "role": costly.decision.role,
            "value": costly.value.value,
            "best": costly.value.best,
            "error": costly.value.error,
            "continuations": costly.value.continuations,
        }
        for costly in costed
    ]
