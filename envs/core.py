"""The contract of a game: a pure state machine of seven functions, without text and without arrays.

Every world of parlour is an object that satisfies `Game`. Adapters (PettingZoo, replay, features, prose) are written
once against this contract and serve all games. Nothing here knows PettingZoo, numpy arrays or wording.

Conventions
-----------
* A *seat* is a number 0 .. n-1; `NATURE` moves for chance and for every outside service; `OVER` moves no more.
* A *move* is data. The list of all moves, nature's included, is the game: folding `apply` over it gives every state.
* An *event* is what a move, or the moderator after it, showed to some or all seats. `state.log` is the list of events.
  A move that is seen is its own event; a secret move shows nothing until the moderator announces it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import factorial, prod
from numbers import Integral
from operator import index
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np

NATURE: Final = -1
"""The seat of chance, of the moderator and of outside services."""

OVER: Final = -2
"""What `Game.actor` answers when nobody moves any more."""


LONGEST_SHOWN: Final = 500
"""Characters of a refused value that are shown."""
MOST_LISTED: Final = 40
"""Accepted values that a refusal lists."""

TABLE: Final = "table"
"""The kind of features that every game has, with seats and actions numbered as at the table."""


class ParlourError(ValueError):
    """Something a caller handed in cannot be used; the message says what it was and what is accepted."""


class IllegalMove(ParlourError):  # noqa: N818 - the field says "illegal move", not "illegal move error"
    """A move that can be read but is not allowed in this state."""


class Move(NamedTuple):
    """One move of a seat or of nature."""

    kind: str
    """What is done, for example `"vote"`."""
    args: tuple[int, ...] = ()
    """With what: seats (0-based), role numbers, 0/1 for no/yes."""
    words: str = ""
    """Free speech that goes with the move (or a service's answer, for nature). Legality never reads it."""


class Number(IntEnum):
    """A number with a name. It prints as the number, also where it is an argument of a move."""

    __repr__ = int.__repr__


class Event(NamedTuple):
    """An event: its content, its author, and the seats that see it."""

    seat: int
    """Who moved; `NATURE` for the moderator's announcements."""
    move: Move
    """The move, or the announcement in the form of one."""
    to: tuple[int, ...] | None
    """The seats that saw it; None for everybody."""


def announcement(kind: str, args: tuple[int, ...], to: tuple[int, ...] | None = None) -> Event:
    """An announcement of the moderator."""
    return Event(NATURE, Move(kind, args), to)


class Knowledge(NamedTuple):
    """A fact from outside the table talk: among the other seats, exactly `seats` hold one of `roles`."""

    roles: tuple[str, ...]
    seats: tuple[int, ...]


class View(Protocol):
    """All that one seat may know. Prose and features are functions of a View, never of a State.

    A game's own View is an immutable value with at least these fields.
    """

    @property
    def seat(self) -> int:
        """The seat whose knowledge this is."""

    @property
    def legal(self) -> tuple[Move, ...]:
        """The moves it may make now; empty when it is not its turn."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What it has seen, oldest first."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended."""

    returns: tuple[float, ...]
    """Return per seat."""
    winner: str
    """The side that won, in the game's own term; `"draw"` if none did."""
    reason: str
    """Why, in one word of the game's card."""


def given_up(seats: int, seat: int) -> Outcome:
    """How a game ends in which `seat` gives up: it gets -1, nobody else gets anything."""
    return Outcome(tuple(-1.0 if k == seat else 0.0 for k in range(seats)), "draw", "forfeit")


class State(Protocol):
    """What every game's state offers to the adapters; the rest of it is the game's own affair."""

    @property
    def log(self) -> tuple[Event, ...]: ...


S = TypeVar("S")


class Game(Protocol[S]):
    """The rules. Stateless: all that changes is in the immutable, hashable states."""

    seats: int
    """How many seats there are."""
    catalogue: tuple[Move, ...]
    """All discrete moves of the seats in a fixed order: the action numbering. Speech appears with empty words."""
    max_moves: int
    """No game is longer, nature's moves included."""
    config: Mapping[str, Any]
    """Plain values from which the same game can be built again (the header of a transcript)."""
    agent_names: tuple[str, ...] = ()
    """Names of the seats; where there are none, they are `player_0` and so on."""
    role_names: tuple[str, ...] = ()
    """The different roles of the table, by number."""
    worded: tuple[str, ...] = ()
    """Kinds of moves that take free words at this table, besides the acts of `parlour.envs.language.speech`."""

    def initial(self) -> S:
        """The state before the first move."""

    def actor(self, s: S) -> int:
        """The seat to move, `NATURE`, or `OVER`."""

    def legal(self, s: S) -> tuple[Move, ...]:
        """What the seat to move may do, in catalogue order; empty if nature moves or the game is over."""

    def nature(self, s: S, rng: np.random.Generator) -> Move:
        """Draw nature's move. The only place where chance enters."""

    def apply(self, s: S, move: Move) -> S:
        """The state after `move`. Pure and deterministic. Raises `IllegalMove` with the reason."""

    def outcome(self, s: S) -> Outcome | None:
        """How it ended, or None while it has not."""

    def view(self, s: S, seat: int) -> View:
        """What `seat` may know."""

    def chances(self, s: S) -> Iterator[tuple[Move, float]] | None:
        """Each move that `nature` may draw in `s`, once, always in the same order, with its probability; None where they are unknown.

        An iterator, because deals can be very many.
        """
        return None

    def hidden_cycles(self, view: Any) -> int:
        """Cycles of the present hidden phase, in which not all see the turns; 0 outside (`parlour.envs.adapters.moment`)."""
        return 0

    def asked(self, view: Any, cycle: int) -> tuple[Move, ...]:
        """The moves that a seat is asked for in a cycle of a hidden phase."""
        return ()


V_contra = TypeVar("V_contra", bound=View, contravariant=True)


class GameText(Protocol[V_contra]):
    """The wording of a game (`<game>/text.py`). Reads its Views, Events and Moves; never sees a State."""

    seldom: frozenset[str] = frozenset()
    """Kinds of moves and announcements that are hardly ever the same twice, so that environments need not keep their lines."""
    rules: str = ""
    """The rules of this table, whole and in its language, the same for all seats; a first paragraph, up to an empty line, must do
    where there is no room for more. `who` ends with them, and `info["rules"]` holds them with `info="full"`."""
    language: str = ""
    """The language of its words, such as `"zh"`; empty for English."""

    def who(self, view: V_contra) -> str:
        """First section: who the seat is and what it knows from outside the talk. Fixed once the roles are dealt."""

    def line(self, event: Event) -> str:
        """One line of the second section; the same for everybody who saw the event."""

    def ask(self, legal: tuple[Move, ...]) -> str:
        """The decision of a seat that may do `legal`, in one line."""

    def say(self, move: Move) -> str:
        """The canonical sentence of a move of a seat, words left aside. `parse(say(m), view) == m`."""

    def parse(self, text: str, view: V_contra) -> Move:
        """Read free text as one of `view.legal`. Raises `UnreadableMove`, `AmbiguousMove` or `IllegalMove`."""

    def default(self, text: str, view: V_contra, rng: np.random.Generator) -> Move:
        """The legal move that the sources of the rules prescribe when `text` cannot be used."""

    def common(self, view: V_contra) -> str:
        """Lines of `who`, in one piece and the rules aside, that all seats of this game read alike once the roles are dealt, such as
        the order of talk; in `info["common"]` with `info="full"`.
        """
        return ""

    def why(self, outcome: Outcome) -> str | None:
        """Why a game ended as it did, a clause behind "X wins: " and "You lost: "; None: the outcome's `reason`."""
        return None

    def why_lost(self, outcome: Outcome) -> str | None:
        """The same behind "You lost: " alone, where that says it better; None: as `why`."""
        return None

    def end(self, outcome: Outcome) -> str | None:
        """How a game ended, in one sentence, where "X wins: reason." would not do; None where it does."""
        return None

    def was(self, view: V_contra) -> str | None:
        """Who a seat was, in one sentence, once the game is over; None: "player_0 was ROLE."."""
        return None


class Encoder(Protocol[V_contra]):
    """Numeric features of a game (`<game>/encode.py`), a function of a View."""

    size: int

    def __call__(self, view: V_contra) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Features, shape (size,), float32, each in [-1, 1]."""


class SeatEncoder(Protocol[V_contra]):
    """Numeric features of one seat of one game in the seat's own frame (`parlour.envs.common.frames`), a function of a View.

    It may read incrementally: if a View continues the last one, it reads only the new events. What it answers is the same as
    if it had read everything again.
    """

    @property
    def size(self) -> int:
        """How many features there are."""

    @property
    def names(self) -> Sequence[str]:
        """What each feature is, in order."""

    def __call__(self, view: V_contra) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Features, shape (size,), float32, each in [-1, 1]; an array of its own."""


def counted(seat: int, by: int, seats: int) -> int:
    """The seat that is `by` places further round a table of `seats`."""
    return (seat + by) % seats


def shuffles(deck: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], float]]:
    """The different orders of the numbers of a deck, each once, ascending, with its probability after shuffling.

    >>> [order for order, _ in shuffles((0, 1, 1))]
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    share = prod(factorial(deck.count(number)) for number in set(deck)) / factorial(len(deck))
    yield from ((order, share) for order in _orders(deck))


def _orders(deck: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not deck:
        yield ()
    for first in sorted(set(deck)):
        at = deck.index(first)
        yield from ((first, *rest) for rest in _orders(deck[:at] + deck[at + 1 :]))


def accept(name: str, value: object, accepted: object) -> ParlourError:
    """The error for an argument outside what is accepted: one line with the value and the alternatives."""
    return ParlourError(f"{name} {value_shown(value)} is not accepted; accepted: {listed(accepted)}")


def value_shown(value: object) -> str:
    """A value as it was written, in one line; a long value is cut."""
    text = repr(value)
    if "\n" in text:  # of an array; those of texts are escaped
        text = " ".join(text.split())
    return in_short(text)


def in_short(text: str) -> str:
    """A text that a message repeats; a long text is cut."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(text)} characters)"


def check_one_of(name: str, value: object, accepted: Iterable[object]) -> None:
    """Raise the error of `accept` unless `value` is accepted; for a range, unless it is a whole number in it."""
    numbers = isinstance(accepted, range)
    if (numbers and not _is_whole(value)) or value not in (accepted if numbers else list(accepted)):
        raise accept(name, value, accepted)


def check_from(name: str, value: object, least: int) -> None:
    """Raise the error of `accept` unless `value` is a whole number, `least` or more."""
    if not _is_whole(value) or value < least:  # type: ignore[operator]
        raise accept(name, value, f"a whole number from {least}")


def _is_whole(value: object) -> bool:
    """Whether a value is an int, of Python's or of NumPy's; a bool is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def listed(values: object) -> str:
    """Values in one line for a message: ranges as `5..10`, everything else separated by commas, of many the first ones."""
    if isinstance(values, range):
        return f"{values[0]}..{values[-1]}"
    if isinstance(values, str):
        return values
    try:
        words = [str(value) for value in values]  # type: ignore[attr-defined]
    except TypeError:
        return str(values)
    rest = f", ... ({len(words) - MOST_LISTED} more)" if len(words) > MOST_LISTED else ""
    return ", ".join(words[:MOST_LISTED]) + rest


def numbered(action: Any, count: int) -> int:
    """The action as a number of `Discrete(count)`. Raises `ParlourError` if it is none of them."""
    try:
        number = index(action)
    except TypeError:
        number = -1
    if not 0 <= number < count:
        raise accept("action", action, f"a whole number 0..{count - 1}")
    return number
