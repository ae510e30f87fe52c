"""The histories of a game of Avalon that a seat holds possible: for each deal and each hidden card, all moves so far.

A seat sees its own role, what the night showed it, and events. A history is possible if the rules lead from it to exactly
these events. So every history is played through the rules of `rules.py`, which also say whose turn it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.bidding import BiddingAvalon
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonPhase, AvalonState
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import NATURE, OVER, Event, Knowledge, Move, ParlourError, shuffles
from parlour.envs.hidden_roles.rules import History, seen_by


def histories(game: Avalon, view: AvalonView) -> Iterator[History]:
    """All histories after which `view.seat` sees what it sees.

    Votes and cards that others have given already in the present round are left out, because the seat learns nothing of
    them before the round is over.

    Args:
        game: The rules of the table.
        view: What the seat sees, after the deal.

    Raises:
        ParlourError: Players bid for the floor: their hidden bids would have to be listed, too.
    """
    if isinstance(game, BiddingAvalon):
        raise ParlourError("histories are not listed where players bid for the floor; accepted: speaking='order'")
    leader = view.events[0].move.args[1]
    for roles in _deals(game, view.seat, view.role, view.knows):
        dealt = game.apply(game.initial(), Move(vocabulary.DEALT, (*roles, leader)))
        yield from (History((*roles, leader), moves) for moves in _courses(game, view, dealt))


@lru_cache(maxsize=64)
def _deals(game: Avalon, seat: int, role: str, knows: tuple[Knowledge, ...]) -> tuple[tuple[int, ...], ...]:
    """The role numbers of every deal in which `seat` has this role and knows this."""
    own = game.role_names.index(role)
    return tuple(roles for roles, _ in shuffles(game.deck) if roles[seat] == own and game.night(roles, seat) == knows)


def _courses(game: Avalon, view: AvalonView, dealt: AvalonState) -> Iterator[tuple[tuple[int, Move], ...]]:
    """The moves of the histories of one deal, each with its seat."""
    open_courses: list[tuple[AvalonState, int, tuple[tuple[int, Move], ...]]] = [(dealt, 0, ())]
    while open_courses:
        state, logged, moves = open_courses.pop()
        events = seen_by(view.seat, state.log)
        seen = len(events)
        if view.events[logged:seen] != events[logged:]:
            continue
        if seen == len(view.events):
            yield moves
        elif state.actor != OVER:
            for move in _possible(view, state, view.events[seen]):
                if state.actor == NATURE or Move(move.kind, move.args) in state.options.legal:  # words are no rule
                    open_courses.append((game.apply(state, move), seen, (*moves, (state.actor, move))))


def _possible(view: AvalonView, state: AvalonState, event: Event) -> Sequence[Move]:
    """The moves of the seat to move that `event`, the next one that the seat of the View saw, leaves possible."""
    kind, args = event.move.kind, event.move.args
    own = state.actor == view.seat
    if state.phase == AvalonPhase.VOTE:
        return (Move(vocabulary.BALLOT, (args[1 + state.actor],)),) if kind == vocabulary.VOTES else ()
    if state.phase == AvalonPhase.QUEST and not own:
        return vocabulary.SUCCESS, vocabulary.FAIL
    if state.phase == AvalonPhase.HUNT and not own:
        if kind != vocabulary.EXPOSED:
            return (vocabulary.PASS,)
        return (Move(vocabulary.GUESS, (args[1],)),) if args[0] == state.actor else ()
    return (event.move,) if event.seat == state.actor else ()
