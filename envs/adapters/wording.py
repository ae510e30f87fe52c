"""What seats read of one table: options and events in words, the numbers of each seat, the text that grows from turn to turn.

What belongs to the rules alone (`Wording`, `OwnNumbers`) is rendered once and shared by all environments of that table.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from parlour.envs.core import Event, Game, IllegalMove, Move, State, View
from parlour.envs.language.headings import headings_of
from parlour.envs.language.speech import ACTS
from parlour.envs.language.text import options, waiting
from parlour.envs.spec import GameSpec

Mask = np.ndarray[Any, np.dtype[np.int8]]
_KEPT: Final = 10_000
"""Turns, and lines, of one table that are kept: when there are as many, all are dropped and the next ones kept, so that no
game is slower for what was played long before it."""


class Turn(NamedTuple):
    """What a seat that may do `legal` is offered; the same for every seat with these options."""

    legal: tuple[Move, ...]
    mask: Mask
    indices: tuple[int, ...]
    sentences: tuple[str, ...]
    choice: str
    """The third section of the prose."""
    free_words: bool
    """Whether there is a move that takes words of your own."""


def worded_kinds(game: Game[Any]) -> tuple[str, ...]:
    """Kinds of moves that take free words at a table: kinds that the rules of the game name, and all speeches."""
    return (*ACTS, *game.worded)


def spans(numbers: Iterable[int]) -> str:
    """Rising numbers in few words.

    >>> spans([0, 1, 2, 5, 8, 9])
    '0..2, 5, 8..9'
    """
    runs = [[k for _, k in run] for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}..{run[-1]}" for run in runs)


def masked(action: Any, sentence: str, turn: Turn) -> IllegalMove:
    """The refusal of an action, `sentence` in words, that the mask of a turn leaves out."""
    what = f"action {action!r} ({sentence}) is not accepted: its action_mask is 0 here"
    return IllegalMove(f"{what}; accepted: {spans(sorted(turn.indices))}")


class Wording:
    """Turns and lines of a Game. Both are functions of their arguments; what is kept is only to be fast."""

    def __init__(self, spec: GameSpec, game: Game[Any]) -> None:
        self.text = spec.text(game)
        self._worded = frozenset(worded_kinds(game))
        texts = {"heuristic": spec.heuristic, "rules": self.text.rules, "language": self.text.language}
        self._table: dict[str, Any] = {name: value for name, value in texts.items() if value}
        self.headings = headings_of(self.text)
        self.waiting = waiting(self.headings)
        """The third section of a seat that is not to move."""
        self.numbers = {move: number for number, move in enumerate(game.catalogue)}
        self.turns: dict[int, Turn] = {}
        """By the identity of `legal`: a rule book that lays its options out once is recognised by it. The Turn keeps
        `legal` alive, so that no other options can come to have the same identity."""
        self.lines: dict[Event, str] = {}
        """Of events without free words, but for those that the text calls seldom."""
        self._sentences: dict[int, str] = {}
        """By number in the catalogue."""

    def turn(self, legal: tuple[Move, ...]) -> Turn:
        """What a seat that may do `legal` is offered."""
        turn = self.turns.get(id(legal))
        return self._offer(legal) if turn is None else turn

    def offered(self, turn: Turn, view: View) -> dict[str, Any]:
        """What `info="full"` adds at a seat's turn."""
        info = {
            "options": turn.sentences,
            "legal": turn.indices,
            "view": view,
            "free_words": turn.free_words,
            **self._table,
        }
        if common := self.text.common(view):
            info["common"] = common
        return info

    def line(self, event: Event) -> str:
        """One line of the record."""
        line = self.lines.get(event)
        if line is None:
            line = self.text.line(event)
            if not event.move.words and event.move.kind not in self.text.seldom:
                _keep(self.lines, event, line)
        return line

    def _offer(self, legal: tuple[Move, ...]) -> Turn:
        indices = tuple([self.numbers[move] for move in legal])
        mask = np.zeros(len(self.numbers), dtype=np.int8)
        mask[list(indices)] = 1
        sentences = tuple(map(self._sentence, indices, legal))
        free = any(move.kind in self._worded for move in legal)
        turn = Turn(legal, mask, indices, sentences, options(self.text.ask(legal), sentences, self.headings), free)
        _keep(self.turns, id(legal), turn)
        return turn

    def _sentence(self, number: int, move: Move) -> str:
        """What `move` is called; said once for each number, whatever the options are that it stands among."""
        if number not in self._sentences:
            self._sentences[number] = self.text.say(move)
        return self._sentences[number]


class OwnNumbers:
    """The moves of one table as each of its seats numbers them (`parlour.envs.common.frames`)."""

    def __init__(self, spec: GameSpec, game: Game[Any]) -> None:
        self.frame = spec.encoder(game).frame()
        self.catalogues = tuple(tuple(game.catalogue[k] for k in order) for order in self.frame.order.tolist())
        """Of each seat: its moves, in the order of its numbers."""
        self._turns: dict[tuple[int, int], Turn] = {}
        """By seat and identity of `legal`, which the Turn keeps alive."""

    def turn(self, turn: Turn, seat: int) -> Turn:
        """A turn of the table with the numbers of the seat; options and prose in the same order."""
        key = seat, id(turn.legal)
        own_turn = self._turns.get(key)
        if own_turn is None:
            own, order = self.frame.own[seat], self.frame.order[seat]
            indices = tuple(int(own[number]) for number in turn.indices)
            own_turn = turn._replace(mask=np.ascontiguousarray(turn.mask[order]), indices=indices)
            _keep(self._turns, key, own_turn)
        return own_turn


_WORDINGS: Final[WeakKeyDictionary[Any, Wording]] = WeakKeyDictionary()
_NUMBERS: Final[WeakKeyDictionary[Any, OwnNumbers]] = WeakKeyDictionary()


def wording(spec: GameSpec, game: Game[Any]) -> Wording:
    """The wording of a table; the same object for the same Game."""
    if game not in _WORDINGS:
        _WORDINGS[game] = Wording(spec, game)
    return _WORDINGS[game]


def own_numbers(spec: GameSpec, game: Game[Any]) -> OwnNumbers:
    """The numbers of a table; the same object for the same Game."""
    if game not in _NUMBERS:
        _NUMBERS[game] = OwnNumbers(spec, game)
    return _NUMBERS[game]


def _keep(cache: dict[Any, Any], key: Any, value: Any) -> None:
    """Put a value in a cache that is emptied when it holds `_KEPT`."""
    if len(cache) >= _KEPT:
        cache.clear()
    cache[key] = value


class SeatEncoders:
    """The features of all seats of one table, each in its own frame: one of its kinds, but `"table"`."""

    def __init__(self, spec: GameSpec, game: Game[Any], features: str) -> None:
        encoders = spec.encoder(game)
        self._of = [encoders.of_seat(features) for _ in range(game.seats)]
        self.size, self.names = self._of[0].size, self._of[0].names

    def __call__(self, view: View) -> np.ndarray[Any, np.dtype[np.float32]]:
        """The features of the seat whose View it is."""
        return self._of[view.seat](view)


class SeatTexts:
    """The first two sections of every seat's observation, for one game from its beginning.

    One text of what everybody saw, and for each seat what comes before it. `prose` equals `parlour.envs.language.text.render` of the
    seat's View at every step.
    """

    __slots__ = ("_lines", "_own", "_place", "_public", "_unread")

    def __init__(self, seats: int) -> None:
        self._public = ""  # the lines that everybody saw
        self._lines = 0  # events of the log that are among the lines
        # by seat: its text up to the last line that it had read and not everybody saw; empty before it is first needed
        self._own = [""] * seats
        self._unread: list[list[str]] = [[] for _ in range(seats)]  # what comes next, up to the last such line
        self._place = [0] * seats  # where in `_public` it goes on

    def prose(self, wording: Wording, game: Game[Any], state: State, seat: int, choice: str) -> str:
        """The whole observation of a seat now; `choice` is its third section."""
        log = state.log
        if self._lines < len(log):
            self._extend(wording, log)
        own, unread = self._own[seat], self._unread[seat]
        if not own:  # the first section is fixed once the roles are dealt
            who = wording.text.who(game.view(state, seat))
            own = self._own[seat] = f"{wording.headings.who}{who}{wording.headings.record}"
        if unread:
            own = self._own[seat] = own + "".join(unread)
            unread.clear()
        return f"{own}{self._public[self._place[seat] :]}{choice}"

    def _extend(self, wording: Wording, log: tuple[Event, ...]) -> None:
        """Put the new events into words."""
        public, lines, place = self._public, wording.lines, self._place
        for event in log[self._lines :]:
            line = lines.get(event) or wording.line(event)
            if event.to is None:
                public += line
                continue
            for seat in event.to:
                self._unread[seat] += public[place[seat] :], line
                place[seat] = len(public)
        self._public, self._lines = public, len(log)
