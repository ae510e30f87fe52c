"""Conventions of Avalon: how often a good seat approves teams with an evil member, and its claims.

Votes on such teams count together, and apart: with the seat on the team or not on it, at the last proposal of a quest, and on
teams that the seat can prove to hold an evil member. It can if every evil side that agrees with the night and with the fails of
earlier quests has a member on the team. A good seat plays no fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief, AvalonHabits
from parlour.envs.avalon.vocabulary import DRAWN, EVIL, FAILS, GOOD, LEADS, MERLIN, TEAM, VOTES, AvalonView
from parlour.training.measure.conventions import Cases, LiteralListener, of_seat, words

_USUAL: Final = AvalonHabits()
LITERAL: Final = replace(_USUAL, evil_accuses_evil=_USUAL.accuse_evil, evil_defends_evil=_USUAL.defend_evil)
"""All accuse and defend as good seats do."""


def in_avalon(views: Sequence[AvalonView], seat: int) -> Cases:
    """What a seat did in a game, by the last View of every seat."""
    view = views[seat]
    if view.side == GOOD:
        for case, approved in _votes(view, {other for other, of in enumerate(views) if of.side == EVIL}):
            yield from of_seat(view, f"approves teams with an evil seat{case}", approved)
    belief = AvalonBelief(view.roles, ONLOOKER, "", (), LITERAL, view.guesser)
    true = (belief.evil == [of.side == EVIL for of in views]).all(axis=1)
    true &= (belief.merlin == [of.role == MERLIN for of in views]).all(axis=1)
    listener = LiteralListener(belief, lambda event: belief.see(event.seat, *event.move), true)
    yield from words(views, seat, tuple(dict.fromkeys(view.roles)), EVIL, listener)


def _votes(view: AvalonView, evil: set[int]) -> Iterator[tuple[str, bool]]:
    """For each vote on a team with an evil member: what it counts for, and whether the seat approved."""
    possible = AvalonBelief(view.roles, view.seat, view.role, view.knows).evil
    team: tuple[int, ...] = ()
    size = counted = 0
    for _, (kind, args, _), _ in view.events:
        if kind == LEADS:
            size, counted = args[2:4]
        elif kind == TEAM:
            team, counted = args, counted + (2 if len(args) < size else 1)  # a short team counts twice
        elif kind == DRAWN:
            team = args
        elif kind == FAILS:
            possible = possible[possible[:, list(team)].sum(axis=1) >= args[1]]
        elif kind == VOTES and evil & set(team):
            approved = args[1 + view.seat] == 1
            yield "", approved
            yield ", on the team" if view.seat in team else ", not on the team", approved
            if len(possible) and possible[:, list(team)].any(axis=1).all():
                yield ", which it can prove", approved
            if counted >= view.limit:
                yield ", at the last proposal", approved
