"""Base class of the rules of games with hidden roles: precomputed legal moves, `apply`, visibility, roles.

A state has a phase, a seat to move, and the options of that seat; each phase has one function, in the order
of play in the game's own `rules.py`. No text, no arrays, no PettingZoo.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

from parlour.envs.core import Event, Game, IllegalMove, Move, ParlourError

FEATURES: Final = ("summary", "record", "belief", "record+belief")
"""Kinds of features in the frame of a seat."""


class Options:
    """What one seat may do at one kind of decision: the one source of legality. Equal if the moves are the same.

    When taken, they add nothing to the log: they are secret. Options made by `shown` do.

    Args:
        legal: The moves in catalogue order.
    """

    __slots__ = ("_hash", "events", "legal")

    def __init__(self, legal: tuple[Move, ...]) -> None:
        self.legal = legal
        self.events: dict[Move, tuple[Event, ...]] = dict.fromkeys(legal, ())
        """Move -> what it adds to the log. All that is legal, except in `shown`: there, what was taken before."""
        self._hash: int | None = None  # found when it is asked for: few states are ever hashed

    def event(self, move: Move) -> tuple[Event, ...] | None:
        """What a move adds to the log; None if it is not legal."""
        return self.events.get(move)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Options) and self.legal == other.legal)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.legal)
        return self._hash

    def __repr__(self) -> str:
        return f"<{len(self.legal)} options>"


NOTHING: Final = Options(())


class _Shown(Options):
    """Options that are seen as they are taken. Their events are made then: most options are never taken."""

    __slots__ = ("_seat", "_to")

    def __init__(self, seat: int, to: tuple[int, ...] | None, legal: tuple[Move, ...]) -> None:
        self.legal, self.events, self._hash = legal, {}, None
        self._seat, self._to = seat, to

    def event(self, move: Move) -> tuple[Event, ...] | None:
        legal = self.legal
        try:
            same = legal[legal.index(move)]  # with the catalogue's own numbers, whatever came in
        except ValueError:
            return None
        taken = self.events[same] = (Event(self._seat, same, self._to),)
        return taken


def shown(seat: int, to: tuple[int, ...] | None, moves: Iterable[Move]) -> Options:
    """Options of `seat`; `to` sees each as it is taken (None: everybody)."""
    return _Shown(seat, to, tuple(moves))


def seen_by(seat: int, log: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events that a seat saw."""
    return tuple([event for event in log if event.to is None or seat in event.to])


class SeenEvents:
    """`seen_by` that reads only what is new where a log continues the seat's last one."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[tuple[Event, ...], tuple[Event, ...]]] = {}

    def __call__(self, seat: int, log: tuple[Event, ...]) -> tuple[Event, ...]:
        before, seen = self._last.get(seat, ((), ()))
        if log[: len(before)] != before:
            before = seen = ()
        seen += seen_by(seat, log[len(before) :])
        self._last[seat] = log, seen
        return seen


def why_illegal(legal: tuple[Move, ...], move: Move) -> str:
    """Why a move is none of the legal ones, in one line."""
    kinds = sorted({m.kind for m in legal})
    if move.kind not in kinds:
        return f"{move.kind!r} is not a move of this phase; accepted: {', '.join(kinds)}"
    accepted = [list(m.args) for m in legal if m.kind == move.kind]
    return f"{move.kind} {list(move.args)} is not accepted; accepted: {accepted}"


class History(NamedTuple):
    """One course of a game from the deal on, hidden moves included."""

    deal: tuple[int, ...]
    """The `args` of nature's first move."""
    moves: tuple[tuple[int, Move], ...]
    """All moves after it, each with its seat, or `NATURE`."""


class HiddenRolesState(Protocol):
    """What the states of these games have in common."""

    @property
    def phase(self) -> int: ...

    @property
    def actor(self) -> int:
        """The seat to move, `NATURE`, or `OVER`."""

    @property
    def options(self) -> Options:
        """Options of the seat to move; `NOTHING` if there is none."""

    @property
    def standing(self) -> Any:
        """What changes seldom; has `reason`, why the game ended."""


S = TypeVar("S", bound=HiddenRolesState)


class HiddenRoles(Game[S]):
    """The part of `parlour.envs.core.Game` that does not depend on the game.

    Args:
        roles: The roles in play, one for each seat, in no order of seats.
        config: What `build` makes the same rules from.
    """

    _STEPS: ClassVar[Mapping[int, Callable[..., Any]]]
    """Phase -> what a legal move of a seat leads to, given the events that it adds to the log."""
    _NATURAL: ClassVar[Mapping[int, Callable[..., Any]]]
    """Phase -> what a move of nature leads to."""

    def __init__(self, roles: tuple[str, ...], config: Mapping[str, Any]) -> None:
        self.seats, self.roles, self.config = len(roles), roles, config
        self.role_names = tuple(dict.fromkeys(roles))
        """The different roles; role numbers are indices into it."""
        self.deck = tuple(self.role_names.index(role) for role in roles)
        self.seen = SeenEvents()

    def actor(self, s: S) -> int:
        return s.actor

    def legal(self, s: S) -> tuple[Move, ...]:
        return s.options.legal

    def apply(self, s: S, move: Move) -> S:
        if s.actor < 0:
            return self._NATURAL[s.phase](self, s, move)  # type: ignore[no-any-return]
        options = s.options
        event = options.events.get(move)
        if event is None:
            event = options.event(move)
        if event is None:
            event = self._worded(s, move)
        return self._STEPS[s.phase](self, s, move, event)  # type: ignore[no-any-return]

    def _worded(self, s: S, move: Move) -> tuple[Event, ...]:
        """The event of a speech with words of its own. Raises `IllegalMove` for what is not legal."""
        plain = s.options.event(Move(move.kind, move.args))
        if plain is None:
            raise IllegalMove(self._refusal(s, move))
        return tuple(event._replace(move=move) for event in plain)

    def _refusal(self, s: S, move: Move) -> str:
        """Why a move of a seat is not legal, in one line."""
        return why_illegal(s.options.legal, move)

    def _done(self, s: S, move: Move) -> S:
        raise IllegalMove(f"{move!r}: the game is over ({s.standing.reason})")


def count_roles(num_players: int, roles: Sequence[str]) -> Counter[str]:
    """How often each role is in play. Raises `ParlourError` unless there is one for each player."""
    if len(roles) != num_players:
        raise ParlourError(f"roles {list(roles)!r} are {len(roles)}; accepted: one for each of {num_players} players")
    return Counter(roles)
