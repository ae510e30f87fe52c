"""Votes and guesses of recorded players against the heuristic's at the same Views, paired by game, with intervals.

A vote counts if its seat is good and it could decide something (`decisions`); ours is what the heuristic votes there.
Shares over votes weigh each vote alike; intervals of shares and differences resample games, because the votes of a game are not
independent (`Estimate.weighted_mean`). Guesses are one a game: Wilson intervals, and the paired difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import inf
from typing import Final

from parlour.envs.avalon.vocabulary import MERLIN, MINION, SERVANT
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.statistics import Estimate

from parlour_people.analysis.decisions import CARD, GUESS, TEAM, VOTE, Decision

NOT_TOLD: Final = "-"

ALL: Final = "all"
CLEAN: Final = "clean"
DIRTY: Final = "dirty"
PLAIN: Final = (SERVANT, MINION)
"""Roles without a power."""

DecidedGame = tuple[AnalysedGame, Sequence[Decision]]
Grouping = tuple[str, Callable[[AnalysedGame], str]]
GROUPINGS: Final[Sequence[Grouping]] = (
    (ALL, lambda game: ALL),
    ("players", lambda game: str(game.seats)),
    ("reasoning effort", lambda game: game.noted("reasoning_effort")),
    ("memory", lambda game: game.noted("memory")),
)
"""What games are grouped by, and the group of a game; `NOT_TOLD` where its record does not say."""


@dataclass(frozen=True)
class ComparedVotes:
    """Votes of good seats in one group of games, or of one role."""

    by: str
    group: str
    games: int
    votes: int
    theirs: Estimate
    """Share of right votes."""
    ours: Estimate
    difference: Estimate
    """Theirs less ours, on the same votes."""


@dataclass(frozen=True)
class ComparedGuesses:
    """Guesses at Merlin in one group of games."""

    by: str
    group: str
    theirs: Estimate
    ours: Estimate
    both: int
    """Games in which both were right."""
    chance: float
    """Right guesses expected of naming one of the good seats at random."""
    difference: Estimate


@dataclass(frozen=True)
class Surprise:
    """Surprise of the decisions of one kind by one role: those that were a choice."""

    kind: str
    role: str
    decisions: int
    bits: Estimate
    """Mean; intervals by games."""


def compared_votes(games: Sequence[DecidedGame]) -> Iterator[ComparedVotes]:
    """A row for each group with votes to compare, for each good role, and for clean and dirty teams."""
    for by, group, of in _grouped(games):
        yield from _votes(by, group, of, lambda decision: True)
    roles = {decision.role for _, decisions in games for decision in decisions if _is_judged(decision)}
    for role in sorted(roles, key=lambda name: (name in PLAIN, name != MERLIN, name)):
        yield from _votes("role", role, games, lambda decision, role=role: decision.role == role)  # type: ignore[misc]
    for team, approving in ((CLEAN, 1), (DIRTY, 0)):
        yield from _votes("team", team, games, partial(_on_a_team, approving))


def _on_a_team(approving: int, decision: Decision) -> bool:
    """Whether approving (1) or rejecting (0) is right."""
    return decision.right is (decision.move.args[0] == approving)


def _votes(
    by: str, group: str, games: Sequence[DecidedGame], counts: Callable[[Decision], bool]
) -> Iterator[ComparedVotes]:
    judged = _counted(games, VOTE, lambda decision: _is_judged(decision) and counts(decision))
    if not judged:
        return
    theirs = [sum(vote.right or False for vote in of) / len(of) for of in judged]
    ours = [sum(vote.ours_right or False for vote in of) / len(of) for of in judged]
    votes = list(map(len, judged))
    apart = [a - b for a, b in zip(theirs, ours, strict=True)]
    yield ComparedVotes(
        by,
        group,
        len(votes),
        sum(votes),
        Estimate.weighted_mean(theirs, votes, (0.0, 1.0)),
        Estimate.weighted_mean(ours, votes, (0.0, 1.0)),
        Estimate.weighted_mean(apart, votes, (-1.0, 1.0)),
    )


def compared_guesses(games: Sequence[DecidedGame]) -> Iterator[ComparedGuesses]:
    """A row for each group with guesses."""
    for by, group, of in _grouped(games):
        guesses = list(chain.from_iterable(_counted(of, GUESS, _is_judged)))
        theirs, ours = [guess.right is True for guess in guesses], [guess.ours_right is True for guess in guesses]
        theirs_rate, ours_rate = Estimate.rate(sum(theirs), len(guesses)), Estimate.rate(sum(ours), len(guesses))
        if theirs_rate is None or ours_rate is None:
            continue
        both = sum(a and b for a, b in zip(theirs, ours, strict=True))
        chance = sum(guess.chance or 0.0 for guess in guesses)
        yield ComparedGuesses(by, group, theirs_rate, ours_rate, both, chance, Estimate.paired(theirs, ours))


def wrong_guesses(games: Sequence[DecidedGame]) -> dict[str, int]:
    """Role -> how many wrong guesses hit it."""
    counts = Counter(
        game.roles[decision.move.args[0]]
        for game, decisions in games
        for decision in decisions
        if decision.kind == GUESS and decision.right is False
    )
    return dict(sorted(counts.items()))


def surprises(games: Sequence[DecidedGame]) -> Iterator[Surprise]:
    """A row for each kind of decision and role."""
    for kind in (VOTE, TEAM, CARD, GUESS):
        for role in sorted({decision.role for _, decisions in games for decision in decisions}):
            choices = _counted(games, kind, partial(_is_surprising, role))
            means = [sum(choice.bits or 0.0 for choice in of) / len(of) for of in choices]
            if choices:
                counts = list(map(len, choices))
                yield Surprise(kind, role, sum(counts), Estimate.weighted_mean(means, counts, (0.0, inf)))


def _is_surprising(role: str, decision: Decision) -> bool:
    return decision.role == role and decision.choices > 1 and decision.bits is not None


def _is_judged(decision: Decision) -> bool:
    return decision.right is not None


def _counted(games: Sequence[DecidedGame], kind: str, counts: Callable[[Decision], bool]) -> list[list[Decision]]:
    """The decisions of a kind that count, game by game; games without any are left out."""
    by_game = ([decision for decision in of if decision.kind == kind and counts(decision)] for _, of in games)
    return [decisions for decisions in by_game if decisions]


def _grouped(games: Sequence[DecidedGame]) -> Iterator[tuple[str, str, list[DecidedGame]]]:
    """Grouping, group and its games; groupings that no record tells are left out."""
    for by, group_of in GROUPINGS:
        groups = sorted({group_of(game) for game, _ in games} - {NOT_TOLD}, key=_numbers_first)
        for group in groups:
            yield by, group, [game for game in games if group_of(game[0]) == group]


def _numbers_first(group: str) -> tuple[int, str]:
    order: Iterable[str] = ("low", "medium", "high")
    ranks = {name: rank for rank, name in enumerate(order)}
    return (int(group) if group.isdecimal() else ranks.get(group, 0), group)
