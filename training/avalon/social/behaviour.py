"""What the seats of one game did besides talking: who was on the teams, who played which card, whose teams were liked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from parlour.envs.core import Event
from parlour.training.avalon.metrics import Card, counted


class TeamVote(NamedTuple):
    """A vote on a team."""

    leader: int
    agrees: bool


class Behaviour(NamedTuple):
    """What is counted of one game."""

    voted: tuple[tuple[int, ...], ...]
    """The last team voted on in each round."""
    cards: tuple[Card, ...]
    votes: tuple[TeamVote, ...]


def behaviour_of(log: Iterable[Event], seats: int) -> Behaviour:
    """The deeds in the record of a game of so many seats."""
    led, cards, _ = counted(log)
    votes = tuple(TeamVote(one.leader, number < one.agreed * seats) for one in led for number in range(seats))
    return Behaviour(tuple({one.quest: one.team for one in led}.values()), tuple(cards), votes)
