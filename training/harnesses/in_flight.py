"""Many games as conversations at once, in step: the seats that wait are answered together, by one call for all of them.

For models that answer many prompts in the time of one: training loops, and harnesses that generate in batches. All is done
in the calling thread. Which turns are answered together follows from the games and their answers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from parlour.envs.core import ParlourError, check_from
from parlour.wrappers.conversation import ConversationSeat

USER, ASSISTANT = "user", "assistant"
"""Roles of messages: the game tells, the seat answers."""


@dataclass(frozen=True)
class TalkGame:
    """A game that is to be talked through at one seat."""

    seed: int
    """Seed of the deal and of the players at the other seats."""
    options: Mapping[str, Any] | None = None
    """As `GameEnv.reset` takes them."""


class ChatMessage(NamedTuple):
    """A message of a conversation."""

    role: str
    """`USER` or `ASSISTANT`."""
    content: str


@dataclass(frozen=True)
class TalkTurn:
    """A seat that waits for its answer."""

    game: int
    """Number of the game among those that are to be played, from 0."""
    seed: int
    agent: str
    messages: tuple[ChatMessage, ...]
    """The conversation so far; the last one is the game's."""
    options: tuple[str, ...]
    """Sentences that are always understood."""

    @property
    def message(self) -> str:
        """The last message to the seat."""
        return self.messages[-1].content


@dataclass(frozen=True)
class Answered:
    """A turn, and its result."""

    message: str
    """The message to the seat."""
    words: str | None
    """What it answered; None: it left the table."""
    faults: Mapping[str, int]
    """What was wrong with these words, by kind, as `ConversationSeat.faults` counts it; empty if they were understood."""


@dataclass(frozen=True)
class TalkedGame:
    """A game that is over."""

    game: int
    """Its number among those that were to be played, from 0."""
    seed: int
    agent: str
    reward: float
    replies: tuple[Answered, ...]
    faults: Mapping[str, int]
    """Faults in the whole game, as `ConversationSeat.faults` counts them."""
    left: bool
    """Whether the seat left the table before the end."""
    end: str
    """The last message to the seat."""
    notes: Any = None
    """What `at_end` found."""


Reply = Callable[[Sequence[TalkTurn]], Sequence[str | None]]
"""Answers turns, one answer for each; None: the seat leaves the table, and the table's rules for silence play on for it."""


def play_in_flight(
    make: Callable[[], ConversationSeat],
    games: Sequence[TalkGame],
    reply: Reply,
    *,
    at_once: int = 32,
    at_end: Callable[[ConversationSeat], Any] | None = None,
) -> list[TalkedGame]:
    """Play games, several at once.

    Args:
        make: Makes a seat at a table of its own; called as often as games are played at once.
        games: The games. When a game ends, the next begins.
        reply: Called with the turns of all games in progress, in the order of the games' numbers.
        at_once: How many games are in progress.
        at_end: Called with the seat of each game as it ends, before the next deal; its result becomes the game's `notes`.

    Returns:
        The games, in order.

    Raises:
        ParlourError: A setting is not accepted, or `reply` gives another number of answers.
        Exception: Whatever a table or `reply` raises.
    """
    check_from("at_once", at_once, 1)
    seats = [make() for _ in range(min(at_once, len(games)))]
    waiting = enumerate(games)
    finished: dict[int, TalkedGame] = {}

    def finish(talk: _Talk) -> None:
        finished[talk.number] = talk.over(None if at_end is None else at_end(talk.seat))

    def begun(seat: ConversationSeat) -> _Talk | None:
        """The next game in which the seat has something to answer."""
        for number, game in waiting:
            talk = _Talk(number, game, seat)
            if not seat.done:
                return talk
            finish(talk)
        return None

    talks = [talk for talk in map(begun, seats) if talk is not None]
    while talks:
        turns = [talk.turn() for talk in talks]
        answers = reply(turns)
        if len(answers) != len(turns):
            raise ParlourError(
                f"{len(answers)} answers for {len(turns)} turns are not accepted; accepted: one for each"
            )
        for talk, words in zip(talks, answers, strict=True):
            talk.answer(words)
        for talk in talks:
            if talk.seat.done:
                finish(talk)
        follow = [begun(talk.seat) if talk.seat.done else talk for talk in talks]
        talks = sorted((talk for talk in follow if talk is not None), key=lambda talk: talk.number)
    return [finished[number] for number in range(len(games))]


@dataclass
class _Talk:
    """A game in progress."""

    number: int
    game: TalkGame
    seat: ConversationSeat
    messages: list[ChatMessage] = field(default_factory=list)
    replies: list[Answered] = field(default_factory=list)
    left: bool = False

    def __post_init__(self) -> None:
        options = None if self.game.options is None else dict(self.game.options)
        self.messages.append(ChatMessage(USER, self.seat.reset(self.game.seed, options)))

    def turn(self) -> TalkTurn:
        return TalkTurn(self.number, self.game.seed, self.seat.agent, tuple(self.messages), self.seat.options)

    def answer(self, words: str | None) -> None:
        message, before = self.messages[-1].content, self.seat.faults
        if words is None:
            self.left = True
            news = self.seat.leave()
        else:
            news = self.seat.say(words)
            self.messages.append(ChatMessage(ASSISTANT, words))
        self.messages.append(ChatMessage(USER, news))
        faults = {kind: count - before[kind] for kind, count in self.seat.faults.items() if count > before[kind]}
        self.replies.append(Answered(message, words, faults))

    def over(self, notes: Any) -> TalkedGame:
        seat, end = self.seat, self.messages[-1].content
        return TalkedGame(
            self.number,
            self.game.seed,
            seat.agent,
            seat.reward,
            tuple(self.replies),
            seat.faults,
            self.left,
            end,
            notes,
        )
