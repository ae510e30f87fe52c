"""The murder mystery's phases, topics, moves, states and views as plain values; what they mean in play is in `rules.py`.

Persons are numbers: seats 0 .. Na-1, then the victims Na .. Na+Nv-1. A victim's own number k runs from 0.
"""

from __future__ import annotations

from typing import NamedTuple

from parlour.envs.core import Event
from parlour.envs.hidden_roles import Options
from parlour.envs.murder_mystery.vocabulary import ANYBODY


class Exchange(NamedTuple):
    """One seat's questions about one victim."""

    asker: int
    victim: int
    asked: tuple[int, ...] = ()
    """Who has been chosen so far, the present target last."""
    question: int = 0
    """Number of the question to this target, from 0."""
    topic: int = -1
    """Of the question that is being answered; -1 while none is."""
    about: int = ANYBODY
    told: int = 0
    """Facts told in this answer."""


class MysteryState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, or `OVER`."""
    round: int
    turn: int
    """How many have moved in this phase; in the rounds, how many pairs of asker and victim are done."""
    exchange: Exchange
    heard: tuple[int, ...]
    """For each target, or each pair of target and asker where only two hear: the facts told, a bit for each `tell`."""
    suspects: tuple[int, ...]
    """The last report of each seat on each victim, seat after seat; -1 before."""
    votes: tuple[int, ...]
    """Given so far, seat after seat and victim after victim; shown to nobody until all are in."""
    options: Options
    """Of the seat to move; `NOTHING` if none is."""
    log: tuple[Event, ...]
