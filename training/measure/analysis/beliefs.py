"""What each seat, and an onlooker who knows no role, could believe after each event: exact posteriors under habits.

A seat's belief starts from its own role and night and takes in what that seat saw (`parlour.envs.avalon.belief`).
With habits that read words there are two lines a viewer: one of deeds alone, one of deeds and words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from parlour.envs.avalon import vocabulary as said
from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief, AvalonHabits, LearnedHabits
from parlour.envs.core import NATURE, Event, Move
from parlour.training.measure.analysis.games import AnalysedGame

_TELLS_NOTHING: Final = (said.LEADS, said.SCORE, said.BALLOT, said.CARD)
"""Kinds of events after which every belief is as it was: announcements, and the seat's own secret moves."""
_OPENING: Final = Event(NATURE, Move(said.DEALT), None)


@dataclass(frozen=True)
class BeliefPoint:
    """What a viewer believes after an event."""

    event: int
    """Its number in the game's log; -1 before the first."""
    by: int
    kind: str
    args: tuple[int, ...]
    evil: tuple[float, ...]
    """Probability that each seat is evil."""
    merlin: tuple[float, ...]
    """Probability that each seat is Merlin."""
    truth: float
    """Probability of the true evil side."""


@dataclass(frozen=True)
class BeliefLine:
    """The belief of one viewer over a game."""

    viewer: int
    """A seat, or `ONLOOKER`."""
    words: bool
    """Whether words are evidence, too."""
    points: tuple[BeliefPoint, ...]
    """Before the first event, and after each that may tell something."""


def opening_belief(game: AnalysedGame, viewer: int, habits: AvalonHabits) -> AvalonBelief:
    """The belief of a viewer before the first event."""
    guesser = game.rules.role_names[game.rules.guesser]
    if viewer == ONLOOKER:
        return AvalonBelief(game.rules.roles, ONLOOKER, "", (), habits, guesser)
    knows = game.rules.night(game.states[-1].standing.roles, viewer)
    return AvalonBelief(game.rules.roles, viewer, game.roles[viewer], knows, habits, guesser)


def take_in(belief: AvalonBelief, event: Event) -> None:
    """Let a belief see an event, its words included."""
    belief.see(event.seat, *event.move)


def without_words(habits: AvalonHabits) -> AvalonHabits:
    """Habits to which words tell nothing; the same if they are such."""
    if isinstance(habits, LearnedHabits) and habits.words is not None:
        return replace(habits, words=None)
    return habits


def belief_lines(game: AnalysedGame, habits: AvalonHabits) -> Iterator[BeliefLine]:
    """The onlooker's line, then the seats' lines; with habits that read words, each without and with words."""
    deaf = without_words(habits)
    for viewer in (ONLOOKER, *range(game.seats)):
        yield _line(game, viewer, deaf, words=False)
        if deaf is not habits:
            yield _line(game, viewer, habits, words=True)


def _line(game: AnalysedGame, viewer: int, habits: AvalonHabits, *, words: bool) -> BeliefLine:
    belief = opening_belief(game, viewer, habits)
    points = [_point(game, belief, -1, _OPENING)]
    for number, event in enumerate(game.log):
        if event.to is not None and viewer not in event.to:
            continue
        take_in(belief, event)
        if event.move.kind not in _TELLS_NOTHING:
            points.append(_point(game, belief, number, event))
    return BeliefLine(viewer, words, tuple(points))


def _point(game: AnalysedGame, belief: AvalonBelief, number: int, event: Event) -> BeliefPoint:
    evil, merlin = tuple(belief.evil_chance().tolist()), tuple(belief.merlin_chance().tolist())
    true_side = np.array([seat in game.evil for seat in range(game.seats)])
    truth = float(belief.weights @ (belief.evil == true_side).all(axis=1))
    return BeliefPoint(number, event.seat, event.move.kind, event.move.args, evil, merlin, truth)
