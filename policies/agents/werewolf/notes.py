"""What a seat of Werewolf notes down: messages, each with its speaker and one statement in plain English.

Messages are all that passes from the table to the agents' inference: a history window counts them, retrieval embeds them,
GRATR takes its evidence from them. As in the game of the paper's authors every vote is a message of its voter, and what
wolves say and do at night is a message to wolves. A message of speech holds the words as they were said. What the game took them
for reaches no prompt; only the heuristics read it, which understand few words.

In a question a message is a plain line, from which it is read back as it was:

    Day 1, player_2: "I am Seer."            Day 1, player_2 in private: "I want to kill player_4."
    Day 1, player_2 acts: "I vote for player_3."             Day 1, moderator: "player_3 was the Seer."
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import copy
from typing import Any, Final

from parlour.envs.core import NATURE, Event
from parlour.envs.language import speech
from parlour.envs.language.english import name, names
from parlour.envs.werewolf import vocabulary as game
from parlour.policies.agents.seat import InputPart
from pydantic import Field, model_serializer, model_validator

_LINE: Final = re.compile(
    r'Day (?P<day>-?\d{1,9}), (?:moderator|player_(?P<seat>\d{1,9}))(?P<act> acts)?(?P<private> in private)?: (?P<text>".*")'
)


class HeardMessage(InputPart):
    """A statement that a seat heard or read. As plain data it is its `line`."""

    day: int
    """Number of the night and of the day after it, from 1."""
    speaker: int
    """Number of the player; -1 for the moderator."""
    text: str
    private: bool = False
    """Whether not everybody heard it: what wolves say at night, and what the moderator tells one player."""
    act: bool = False
    """Whether the speaker did something, such as voting, and did not merely say it. No player's words can feign it."""
    claim: str = Field(default="", exclude=True)
    """The sentence of the claim for which the game took free words. No model sees this."""

    @property
    def in_full(self) -> str:
        """What the heuristics read: the words, and the claim behind them."""
        return f"{self.text} ({self.claim})" if self.claim else self.text

    @model_validator(mode="before")
    @classmethod
    def _of_line(cls, value: Any) -> Any:
        return _read(value) if isinstance(value, str) else value

    @model_serializer
    def line(self) -> str:
        r"""The message in one line; the words in quotation marks, with everything unprintable escaped.

        >>> HeardMessage(day=1, speaker=2, text="I am Seer.").line()
        'Day 1, player_2: "I am Seer."'
        """
        manner = f"{' acts' if self.act else ''}{' in private' if self.private else ''}"
        return f"Day {self.day}, {_who(self)}{manner}: {speech.quote(self.text)}"

    @property
    def said(self) -> bool:
        """Whether it holds words of a player and nothing else."""
        return self.speaker != NATURE and not self.act


def _who(message: HeardMessage) -> str:
    return "moderator" if message.speaker == NATURE else name(message.speaker)


def _read(line: str) -> dict[str, Any]:
    """The fields of a message in a line. Raises `ValueError` for any other line."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"no line of a message: {line[:60]!r}")
    return {
        "day": int(match["day"]),
        "speaker": NATURE if match["seat"] is None else int(match["seat"]),
        "text": json.loads(match["text"]),
        "private": match["private"] is not None,
        "act": match["act"] is not None,
    }


def embedded(message: HeardMessage) -> str:
    """What retrieval embeds: who said what, whatever the manner.

    >>> embedded(HeardMessage(day=1, speaker=2, text="I vote for player_3.", act=True))
    'Day 1, player_2: "I vote for player_3."'
    """
    return f"Day {message.day}, {_who(message)}: {speech.quote(message.text)}"


class HeardMessages:
    """The messages of one seat in one game, oldest first."""

    def __init__(self) -> None:
        self.read = 0
        """Events taken in so far."""
        self.day = 1
        self.messages: list[HeardMessage] = []
        self._cast = False

    def take(self, events: tuple[Event, ...], role_names: Sequence[str]) -> list[HeardMessage]:
        """Note what is new; returns the new messages."""
        before = len(self.messages)
        for event in events[self.read :]:
            if event.seat == NATURE and event.move.kind in (game.NIGHT, game.DAY):
                self.day, self._cast = event.move.args[0], False
            self._cast |= event.seat != NATURE and event.move.kind == game.BALLOT
            if not (event.move.kind == game.VOTES and self._cast):  # where each vote was seen as it was cast
                self.messages += messages(event, role_names, self.day)
        self.read = len(events)
        return self.messages[before:]

    def news(self, events: tuple[Event, ...], role_names: Sequence[str]) -> list[HeardMessage]:
        """What `take` will return; nothing is noted."""
        later = copy(self)
        later.messages = []
        return later.take(events, role_names)


def messages(event: Event, role_names: Sequence[str], day: int) -> list[HeardMessage]:
    """The messages of one event; none for events that say nothing of players."""
    seat, (kind, args, words), to = event
    if seat != NATURE:
        text = _said(kind, args, role_names)
        act, claim = kind in (*game.TARGETED, game.SHOOTS), "" if kind == speech.SILENT else text
        if words and not act:
            return [HeardMessage(day=day, speaker=seat, text=words, private=to is not None, claim=claim)]
        text = f"{words} ({text})" if words and text else text or words
        return [HeardMessage(day=day, speaker=seat, text=text, private=to is not None, act=act)] if text else []
    if kind == game.VOTES:
        return [
            HeardMessage(
                day=day, speaker=voter, text=_said(game.BALLOT, (target,) if target >= 0 else (), role_names), act=True
            )
            for voter, target in enumerate(args[1:])
            if target >= -1
        ]
    text = _announced(kind, args, role_names)
    return [HeardMessage(day=day, speaker=NATURE, text=text, private=to is not None)] if text else []


_MOVES: Final = {
    speech.ACCUSE: "I accuse {} of being evil.",
    speech.DEFEND: "I trust that {} is good.",
    speech.RECOMMEND: "I want to kill {}.",  # among wolves, at night
    game.KILL: "I vote to kill {}.",
    game.GUARDS: "I protect {}.",
    game.POISONS: "I poison {}.",
    game.BALLOT: "I vote for {}.",
    game.SHOOTS: "I shoot {}.",
}


def _said(kind: str, args: tuple[int, ...], role_names: Sequence[str]) -> str:
    """The sentence of a move; empty for those that the moderator tells of."""
    if kind in _MOVES:
        return _MOVES[kind].format(names(args))
    if kind == speech.CLAIM_ROLE:
        return f"I am {role_names[args[0]]}."
    if kind == speech.REPORT:
        return f"I checked {name(args[0])}: {'evil' if args[1] else 'good'}."
    return "I have nothing to say." if kind == speech.SILENT else ""


def _announced(kind: str, args: tuple[int, ...], role_names: Sequence[str]) -> str:
    if kind == game.DAWN:
        dead = args[1:]
        return f"In the morning {names(dead)} {'are' if len(dead) > 1 else 'is'} found dead."
    if kind == game.REVEALED:
        return f"{name(args[0])} was the {role_names[args[1]]}."
    if kind == game.HUNTER_SHOWN:
        return f"{name(args[0])} is the Hunter."
    if kind == game.EXECUTED:
        return f"The table executes {names(args)}."
    if kind == game.CHOSEN:
        return f"The werewolves choose {names(args)}."
    if kind == game.ATTACKED:
        return f"{names(args)} was attacked tonight."
    if kind == game.CHECKED:
        if len(args) > 2:
            return f"{name(args[0])} is the {role_names[args[2]]}."
        return f"{name(args[0])} is {'a' if args[1] else 'not a'} werewolf."
    return ""
