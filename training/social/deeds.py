"""What the seats of one game did besides talking: who was on the teams, who played which card, whose teams were liked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from parlour.envs.avalon.state import CARD, LEADS, TEAM, VOTES
from parlour.envs.core import Event


class Card(NamedTuple):
    """A quest card."""

    seat: int
    fails: bool


class Vote(NamedTuple):
    """A vote on a team."""

    leader: int
    agrees: bool


class Deeds(NamedTuple):
    """What is counted of one game."""

    voted: tuple[tuple[int, ...], ...]
    """The last team voted on in each round."""
    cards: tuple[Card, ...]
    votes: tuple[Vote, ...]


def deeds(log: Iterable[Event]) -> Deeds:
    """The deeds in the record of a game."""
    voted: dict[int, tuple[int, ...]] = {}
    cards: list[Card] = []
    votes: list[Vote] = []
    quest = leader = 0
    team: tuple[int, ...] = ()
    for seat, (kind, args, _), _ in log:
        if kind == LEADS:
            quest, leader = args[:2]
        elif kind == TEAM:
            team = args
        elif kind == VOTES:
            voted[quest] = team
            votes += [Vote(leader, bool(vote)) for vote in args[1:]]
        elif kind == CARD:
            cards.append(Card(seat, args == (0,)))
    return Deeds(tuple(voted.values()), tuple(cards), tuple(votes))
