"""What one place at a table is shown, and what its browser answers: the meeting point of the game's thread and the sockets.

People read and say names instead of seats; the game and its record keep the seats.

A board holds messages (`messages`): a browser that comes, or comes back, is sent all that the place knows by now, and from
then on each message as it is made, in order. A seat has one browser: the latest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Condition, Event
from typing import Any, ClassVar, NamedTuple, cast

from parlour.envs import core
from parlour.envs.core import GameText, Move, ParlourError, View
from parlour.envs.language.entries import TextAction
from parlour.envs.language.free_words import FreeWords
from parlour.envs.language.seat_names import SeatNames
from parlour.envs.language.text import MAX_WORDS
from parlour.policies import Policy
from parlour.training.play.rollout import Stopped
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

from parlour_table import board
from parlour_table.board.avalon import asked_about
from parlour_table.coach import Coach
from parlour_table.live import messages
from parlour_table.live.messages import Message
from parlour_table.live.settings import WATCHING

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
    read: Callable[[str], Move]
    """Reads words. Raises `ParlourError` for words that are no move."""
    hint: Message | None = None
    """What the coach says, where there is one."""
    about: str = ""
    """As of `asked_about`."""


class Given(NamedTuple):
    """The answer of a browser: the number of an option, or words."""

    option: int | None
    words: str | None


class Ended(NamedTuple):
    """How a turn ended."""

    given: Given | None
    """None: the table made the move."""
    taken: Message


class Board:
    """What is shown at one place. All methods may be called from any thread.

    Args:
        place: The seat, or `settings.WATCHING`.
        text: The wording of the game.
        spoken: Kinds of moves that take words.
        alone: Whether the place has one browser only.
        names: Names of the seats.
    """

    def __init__(
        self, place: int, text: GameText[Any], spoken: frozenset[str], *, alone: bool, names: SeatNames
    ) -> None:
        self.place, self.alone, self.names = place, alone, names
        self._text, self._spoken = text, spoken
        self._changed = Condition()
        self._browsers: dict[Send, str] = {}
        """Each with the name of its page."""
        self.address = ""
        """Where the latest browser found the page."""
        self._begun: list[Message] = []
        """The messages `table` and `who` of the game."""
        self._lines: list[Any] = []
        self._laid: Message | None = None
        """What lies on the table: the message `board`."""
        self._waits_until = 0.0
        self._over: Message | None = None
        self._review: Message | None = None
        """The coach's view of the game that is over."""
        self._question: Question | None = None
        self._turn, self._ends = 0, 0.0
        self._given: Given | None = None
        self._ended: dict[int, Ended] = {}
        """The turns that are over, by number."""
        self.closed = False
        """Whether the table is closed."""
        self.come = Event()
        """Set once a browser has come, or the table is closed."""

    # -- the game's thread ----------------------------------------------------------------------------------------

    def wait(self, waiting: Message) -> None:
        """Not everybody has come: the message `waiting`; nothing, once a game has begun."""
        with self._changed:
            if not self._begun:
                self._send(waiting)

    def begin(self, table: Message) -> None:
        """A game begins."""
        with self._changed:
            self._begun, self._lines = [table], []
            self._over = self._review = self._question = self._laid = None
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
                lines = messages.told(self._text, new, self._spoken, len(self._lines))
                self._lines += lines["lines"]
                self._send(lines)

    def lay(self, laid: Message, seconds: float | None) -> None:
        """What lies on the table now: the message `board`; `seconds` are left to the players who are to move."""
        with self._changed:
            if laid != self._laid:
                self._laid = laid
                self._waits_until = 0.0 if seconds is None else time.monotonic() + seconds
                self._send(self._board_now(laid))

    def ask(self, question: Question, seconds: float | None) -> Given | None:
        """Ask the seat and wait for the answer; None when the clock has run out or the table is closed."""
        with self._changed:
            self._turn += 1
            self._question, self._given = question, None
            self._ends = 0.0 if seconds is None else time.monotonic() + seconds
            self._send(self._asked(question))
            self._changed.wait_for(lambda: self._given is not None or self.closed, seconds)
            self._question = None
            given = self._given
            if given is None and not self.closed:
                self._end_turn(None, "table", "the clock ran out")
            return given

    def end(self, over: Message) -> None:
        """The game is over."""
        with self._changed:
            self._over = over
            self._send(over)

    def review(self, review: Message) -> None:
        """The coach's view of the game that is over; nothing, if the next one has begun."""
        with self._changed:
            if self._over is not None and self._over["number"] == review["number"]:
                self._review = review
                self._send(review)

    def close(self, why: str) -> None:
        """The table ends: waiting threads continue, and the browsers get the reason."""
        with self._changed:
            self.closed = True
            self.come.set()
            self._send(messages.gone(why))
            self._changed.notify_all()

    # -- the sockets ----------------------------------------------------------------------------------------------

    def join(self, send: Send, most: int, page: str = "", address: str = "") -> bool:
        """A browser comes, and is sent all that the place knows; False where there is no room for more than `most`.

        Args:
            send: Its connection.
            most: Watchers at once.
            page: As of `messages.Sit`; a page that comes back replaces its own connection, whichever of the two is read first.
            address: Where it found the page.
        """
        with self._changed:
            if self.alone:
                for other, its_page in self._browsers.items():
                    other(messages.REPLACED if page and page == its_page else messages.gone(ELSEWHERE))
                self._browsers.clear()
            elif len(self._browsers) >= most:
                return False
            self._browsers[send] = page
            self.address = address
            for message in self._known():
                send(self.names.shown_in(message))
            self.come.set()
            return True

    def leave(self, send: Send) -> None:
        """A browser has gone."""
        with self._changed:
            self._browsers.pop(send, None)

    def answer(self, turn: int, given: Given) -> Message | None:
        """Take the answer of a browser, once. Raises `ParlourError`, if the move cannot be taken; the turn continues.

        Returns:
            For a turn that is over, how it ended: the message `taken`, for the browser whose answer came again or too late.
        """
        if (given.option is None) == (given.words is None):
            raise ParlourError("a move with words and an option, or none, is not accepted; accepted: one of them")
        if given.words is not None:
            given = given._replace(words=self._in_seats(given.words))
        if (ended := self._ended.get(turn)) is not None:
            return self._again(ended, given)
        question = self._current(turn)
        if given.option is not None and given.option >= len(question.options):
            raise ParlourError(f"option {given.option} is not accepted; accepted: 0..{len(question.options) - 1}")
        if given.words is not None:
            question.read(given.words)
        with self._changed:
            if (ended := self._ended.get(turn)) is not None:  # meanwhile
                return self._again(ended, given)
            self._current(turn)
            self._given = given
            self._end_turn(given, "you", "")
            self._changed.notify_all()
            return None

    def reading(self, turn: int, words: str) -> Message:
        """What the words of a browser would be taken as: the message `reading`. Raises `ParlourError` if the turn is over."""
        question = self._current(turn)
        message: Message = {"type": "reading", "turn": turn, "words": words, "claim": "", "why": ""}
        try:
            claim = FreeWords(self._text).understood(question.read(self._in_seats(words)))
        except ParlourError as error:
            return {**message, "why": self.names.shown(str(error))}
        return {**message, "claim": self.names.shown(claim)}

    # -- inside ---------------------------------------------------------------------------------------------------

    def _end_turn(self, given: Given | None, by: str, why: str) -> None:
        taken: Message = {"type": "taken", "turn": self._turn, "by": by, "why": why}
        self._ended[self._turn] = Ended(given, taken)
        self._send(taken)

    def _again(self, ended: Ended, given: Given) -> Message:
        """How a turn ended. Raises `ParlourError` if another answer was taken."""
        if ended.given is not None and ended.given != given:
            raise ParlourError("another move was taken at this turn; accepted: one move a turn")
        return ended.taken

    def _in_seats(self, words: str) -> str:
        """Words with seats instead of names. Raises `ParlourError` for too many."""
        words_shown = self.names.seats(words)
        if len(words_shown) > MAX_WORDS:
            text = f"words of {len(words_shown):,} characters are not accepted"
            raise ParlourError(f"{text}; accepted: up to {MAX_WORDS:,}")
        return words_shown

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
            "about": question.about,
            "options": list(question.options),
            "words": question.words,
            "refused": list(question.refused),
            "seconds": left,
            "hint": question.hint,
        }

    def _board_now(self, laid: Message) -> Message:
        return {**laid, "seconds": max(0.0, self._waits_until - time.monotonic()) if self._waits_until else None}

    def _known(self) -> list[Message]:
        """All that the place knows by now."""
        known = [*self._begun]
        if len(known) > 1:
            known.append({"type": "told", "from": 0, "lines": list(self._lines)})
        if self._laid is not None:
            known.append(self._board_now(self._laid))
        if self._question is not None and self._given is None:
            known.append(self._asked(self._question))
        return known + [message for message in (self._over, self._review) if message is not None]

    def _send(self, message: Message) -> None:
        shown = self.names.shown_in(message) if self._browsers else message
        for browser in self._browsers:
            browser(shown)


CLOCK = "clock"
"""Why the table made a move in a person's place; see `parlour.envs.language.entries.Entry.replaced`."""


class Person(Policy):
    """Asks whoever sits at a board.

    Args:
        board: Where it is asked.
        text: The wording of the game.
        clock: Seconds for a move; None: no clock.
        coach: Gives hints; None: no hints.
    """

    name: ClassVar[str] = "human"
    wants: ClassVar[str] = "text"
    waits: ClassVar[bool] = True
    """Seats that decide at the same moment are asked at once (`parlour.training.play.moments`)."""

    def __init__(self, board: Board, text: GameText[Any], clock: float | None, coach: Coach | None = None) -> None:
        super().__init__()
        self._board, self._text, self._clock, self._coach = board, text, clock, coach

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        if self._coach is not None:
            self._coach.reset(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        view: View = info["view"]
        question = Question(
            self._text.ask(view.legal),
            info["options"],
            info["free_words"],
            FreeWords(self._text).refused(observation["text"]),
            lambda words: FreeWords(self._text).read(words, view),
            None if self._coach is None else self._coach.hint(observation, info).as_json(),
            asked_about(view),
        )
        given = self._board.ask(question, self._clock)
        if given is not None:
            return (
                info["legal"][given.option]
                if given.words is None
                else TextAction(question.read(given.words), given.words)
            )
        if self._board.closed:
            raise Stopped
        return TextAction(self._text.default("", view, self.rng), None, CLOCK)


class ShownTable(BaseWrapper[str, Any, Any]):
    """Shows a game to boards as it is played.

    Args:
        env: One of parlour's environments, possibly in wrappers.
        boards: Seat, or `settings.WATCHING` -> the board.
        clock: Seconds that people have for a move; None: no clock.
    """

    def __init__(self, env: AECEnv[str, Any, Any], boards: Mapping[int, Board], clock: float | None = None) -> None:
        super().__init__(env)
        self.game_env, self.boards, self.clock = cast("Any", env.unwrapped), boards, clock

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._show()

    def step(self, action: Any) -> None:
        super().step(action)
        self._show()

    def _show(self) -> None:
        base = self.game_env
        laid = board.board_of(base.spec, base.view(0), base.game.seats)
        timed = self.clock if any(seat in self.boards for seat in laid.waits) else None
        for place, shown in self.boards.items():
            view = base.view(max(place, 0))
            if place == WATCHING:
                shown.show(view, board.public(view), watchers_message(base.text, view))
                shown.lay(messages.board(laid, None), timed)
            else:
                shown.show(view, view.events, messages.who(base.text, view))
                shown.lay(messages.board(laid, view), timed)


def watchers_message(text: GameText[Any], view: View) -> Message:
    """What watchers see of the table: the rules, and what all seats read; nothing private to a seat."""
    rules, names = messages.rules_of(text), messages.names_of(view)
    return {"type": "who", "own": text.common(view), "rules": rules, "names": names}
