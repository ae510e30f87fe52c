"""Phases, states and what a seat may choose from in AIWolf's Werewolf, as plain values; the rules are in `rules.py`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.core import Event, Move
from parlour.envs.hidden_roles.rules import NOTHING, Options, shown
from parlour.envs.language import speech
from parlour.envs.language.speech import speeches
from parlour.envs.werewolf.vocabulary import BALLOT, CHECKS, GUARDS, KILL

from parlour_aiwolf.vocabulary import REMARK, TALK_ACTS, TALK_OVER


class Phase(IntEnum):
    """Phases, in the order of play: a night, then a day."""

    DEAL = 0
    WHISPER = 1
    """The wolves talk among themselves."""
    HUNT = 2
    HUNT_TIE = 3
    """Nature draws among the tied targets of the wolves."""
    PROTECT = 4
    CHECK = 5
    TALK = 6
    VOTE = 7
    VOTE_TIE = 8
    """Nature draws among those with most votes."""
    DONE = 9


_KEPT: Final = 16_384


class AIWolfStanding(NamedTuple):
    """What changes at dawn, at dusk, or by a power, only."""

    alive: tuple[bool, ...]
    roles: tuple[int, ...] = ()
    """Role number of each seat, an index into `AIWolf.role_names`; empty before the deal."""
    living: tuple[int, ...] = ()
    """The seats of `alive`, ascending."""
    wolves: tuple[int, ...] = ()
    """The living werewolves, ascending."""
    day: int = 0
    """Number of the day, and of the night that follows it, from 0."""
    executed: int | None = None
    """Who was executed on this day."""
    attacked: int | None = None
    """Who dies at dawn, as far as the night has gone."""
    check: tuple[int, bool] | None = None
    """The player that the seer chose this night, and whether it is a werewolf; the seer learns it at dawn."""
    checks: tuple[tuple[int, bool], ...] = ()
    """What the seer has heard, oldest first."""
    guarded: int | None = None
    """The player that the bodyguard protected in the latest night in which it was asked."""
    reason: str = ""
    """Why the game ended; empty while it has not."""


class AIWolfState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: Phase
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    said: tuple[tuple[int, int], ...]
    """By seat: lines said in this talk, and times skipped running."""
    standing: AIWolfStanding
    seen: tuple[tuple[Event, ...], ...]
    """By seat, the part of `log` that it saw."""
    queue: tuple[int, ...] = ()
    """Who moves after the actor in this turn or vote."""
    secret: tuple[Move, ...] = ()
    """What those before the actor have chosen, which nobody sees yet; on a tie, the tied targets."""
    turn: int = 0
    """Number of the turn of talk, or of the vote, from 0."""
    options: Options = NOTHING
    """Options of the seat to move."""
    log: tuple[Event, ...] = ()


class AIWolfChoices:
    """The catalogue of one table, and the part of it that is open to a seat.

    Args:
        seats: How many.
        roles: How many different roles.
        talk: Whether there is talk by day and among the wolves.
    """

    def __init__(self, *, seats: int, roles: int, talk: bool) -> None:
        plain = Move(speech.SILENT), Move(REMARK), Move(TALK_OVER)
        self._talks = (*plain, *speeches(TALK_ACTS, seats, roles))
        self._whispers = (*plain, *speeches((speech.RECOMMEND,), seats, 0))
        targets = tuple((j,) for j in range(seats))
        self._aims = {kind: tuple(Move(kind, args) for args in ((), *targets)) for kind in (CHECKS, GUARDS, KILL)}
        self._aims[BALLOT] = tuple(Move(BALLOT, args) for args in targets)
        spoken = (*self._talks, *self._whispers[len(plain) :]) if talk else ()
        self.catalogue = (*spoken, *(move for moves in self._aims.values() for move in moves))

    @lru_cache(maxsize=_KEPT)  # noqa: B019 - bounded, and tables of rules live as long as their environments
    def talk(self, seat: int, may_skip: bool) -> Options:
        """A line by day: nobody hears it before the turn is over."""
        return Options(tuple(m for m in self._talks if _open(m, may_skip) and speech.sayable(m, seat)))

    @lru_cache(maxsize=_KEPT)  # noqa: B019
    def whisper(self, alive: tuple[bool, ...], wolves: tuple[int, ...], may_skip: bool) -> Options:
        """A line among the wolves, which may propose one of the living others as the victim."""
        return Options(tuple(m for m in self._whispers if _open(m, may_skip) and _aimed(m, alive, wolves)))

    @lru_cache(maxsize=_KEPT)  # noqa: B019
    def aim(self, kind: str, seat: int, alive: tuple[bool, ...], wolves: tuple[int, ...] = ()) -> Options:
        """A target among the living: for the attack nobody of the `wolves`, else another than the seat itself.

        The seat sees what it chose by night; a vote is secret.
        """
        spared = wolves if kind == KILL else (seat,)
        moves = tuple(m for m in self._aims[kind] if not m.args or (alive[m.args[0]] and m.args[0] not in spared))
        return shown(seat, (seat,), moves) if kind in (CHECKS, GUARDS) else Options(moves)


def _open(move: Move, may_skip: bool) -> bool:
    return may_skip or move.kind != speech.SILENT


def _aimed(move: Move, alive: Sequence[bool], wolves: tuple[int, ...]) -> bool:
    return not move.args or (alive[move.args[0]] and move.args[0] not in wolves)
