"""What one place at a table is shown, and what its browser answers: the meeting point of the game's thread and the sockets.

A board holds messages (`messages`): a browser that comes, or comes back, is sent all that the place knows by now, and from
then on each message as it is made, in order. A seat has one browser: the one that came last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Condition, Event
from typing import Any, NamedTuple

from parlour.envs import core
from parlour.envs.core import GameText, ParlourError, View
from parlour.envs.text import MAX_WORDS
from parlour.training.play.live_table import messages
from parlour.training.play.live_table.messages import Message

Send = Callable[[Message], None]
"""Sends a message to one browser; returns at once, and may be called from any thread."""
ELSEWHERE = "this seat was opened in another tab or browser, which has it now; to take it back, reload this page"


class Question(NamedTuple):
    """What a seat is asked at its turn."""

    ask: str
    options: Sequence[str]
    words: bool
    """Whether free words are taken."""
    refused: Sequence[str]
    """What was wrong with earlier answers of this turn."""
    read: Callable[[str], object]
    """Reads words. Raises `ParlourError` for words that are no move."""


class Given(NamedTuple):
    """The answer of a browser: the number of an option, or words."""

    option: int | None
    words: str | None


class Board:
    """What is shown at one place. All methods may be called from any thread.

    Args:
        place: The seat, or `keys.WATCHING`.
        text: The wording of the game.
        spoken: Kinds of moves that take words.
        alone: Whether the place has one browser only.
    """

    def __init__(self, place: int, text: GameText[Any], spoken: frozenset[str], *, alone: bool) -> None:
        self.place, self.alone = place, alone
        self._text, self._spoken = text, spoken
        self._changed = Condition()
        self._browsers: list[Send] = []
        self._begun: list[Message] = []
        """The messages `table` and `who` of the game."""
        self._lines: list[Any] = []
        self._over: Message | None = None
        self._question: Question | None = None
        self._turn, self._ends = 0, 0.0
        self._given: Given | None = None
        self._closed = False
        self.come = Event()
        """Set once a browser has come, or the table is closed."""

    # -- the game's thread ----------------------------------------------------------------------------------------

    def begin(self, table: Message) -> None:
        """A game begins."""
        with self._changed:
            self._begun, self._lines, self._over, self._question = [table], [], None, None
            self._send(table)

    def show(self, view: View, events: Sequence[core.Event], own: Message) -> None:
        """What the place knows now: `own` is its message `who`, `events` all that it has seen."""
        with self._changed:
            first = len(self._begun) == 1
            if first:
                self._begun.append(own)
                self._send(own)
            new = events[len(self._lines) :]
            if first or new:
                told = messages.told(self._text, new, self._spoken, len(self._lines))
                self._lines += told["lines"]
                self._send(told)

    def ask(self, question: Question, seconds: float | None) -> Given | None:
        """Ask the seat and wait for the answer; None when the clock has run out or the table is closed."""
        with self._changed:
            self._turn += 1
            self._question, self._given = question, None
            self._ends = 0.0 if seconds is None else time.monotonic() + seconds
            self._send(self._asked(question))
            self._changed.wait_for(lambda: self._given is not None or self._closed, seconds)
            self._question = None
            given = self._given
            if given is None and not self._closed:
                self._send({"type": "taken", "turn": self._turn, "by": "table", "why": "the clock ran out"})
            return given

    def end(self, over: Message) -> None:
        """The game is over."""
        with self._changed:
            self._over = over
            self._send(over)

    def close(self, why: str) -> None:
        """Nothing follows: whoever waits goes on, and the browsers are told why."""
        with self._changed:
            self._closed = True
            self.come.set()
            self._send(messages.gone(why))
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the table is closed."""
        return self._closed

    # -- the sockets ----------------------------------------------------------------------------------------------

    def join(self, send: Send, most: int) -> bool:
        """A browser comes, and is sent all that the place knows; False where there is no room for more than `most`."""
        with self._changed:
            if self.alone:
                for other in self._browsers:
                    other(messages.gone(ELSEWHERE))
                self._browsers.clear()
            elif len(self._browsers) >= most:
                return False
            self._browsers.append(send)
            for message in self._known():
                send(message)
            self.come.set()
            return True

    def leave(self, send: Send) -> None:
        """A browser has gone."""
        with self._changed:
            if send in self._browsers:
                self._browsers.remove(send)

    def answer(self, turn: int, given: Given) -> None:
        """Take the answer of a browser. Raises `ParlourError`, with the turn going on, if it cannot be taken."""
        question = self._current(turn)
        if (given.option is None) == (given.words is None):
            raise ParlourError("a move with words and an option, or none, is not accepted; accepted: one of them")
        if given.option is not None and given.option >= len(question.options):
            raise ParlourError(f"option {given.option} is not accepted; accepted: 0..{len(question.options) - 1}")
        if given.words is not None:
            if len(given.words) > MAX_WORDS:
                told = f"words of {len(given.words):,} characters are not accepted"
                raise ParlourError(f"{told}; accepted: up to {MAX_WORDS:,}")
            question.read(given.words)
        with self._changed:
            self._current(turn)
            self._given = given
            self._send({"type": "taken", "turn": turn, "by": "you", "why": ""})
            self._changed.notify_all()

    # -- inside ---------------------------------------------------------------------------------------------------

    def _current(self, turn: int) -> Question:
        """The question of a turn. Raises `ParlourError` if it is over."""
        with self._changed:
            if self._question is None or turn != self._turn or self._given is not None:
                raise ParlourError("this move came too late: the turn is over; accepted: one move a turn, at your turn")
            return self._question

    def _asked(self, question: Question) -> Message:
        left = max(0.0, self._ends - time.monotonic()) if self._ends else None
        return {
            "type": "asked",
            "turn": self._turn,
            "ask": question.ask,
            "options": list(question.options),
            "words": question.words,
            "refused": list(question.refused),
            "seconds": left,
        }

    def _known(self) -> list[Message]:
        """All that the place knows by now."""
        known = [*self._begun]
        if len(known) > 1:
            known.append({"type": "told", "from": 0, "lines": list(self._lines)})
        if self._question is not None and self._given is None:
            known.append(self._asked(self._question))
        if self._over is not None:
            known.append(self._over)
        return known

    def _send(self, message: Message) -> None:
        for browser in self._browsers:
            browser(message)
