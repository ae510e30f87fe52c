"""The plain player: one question a turn, which holds what the seat reads and what it may do. Plays any game.

What it reads comes in the order in which it changes: who the seat is, what has happened, which grows line by line, and
what it may do now. So a server that keeps the beginning of a prompt reads little more than the news.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

import numpy as np
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.ask import ENGLISH, Answer, Ask, Choices

_HEADING: Final = re.compile(r"^# ", re.MULTILINE)
"""No player's words can begin a line of an observation."""
_OPTION: Final = "- "
_SPEECH: Final = re.compile(r'^[^:："]{1,80}?(?: says(?: [^:"]*)?: | asks: |说：|问：)["“]')
"""A line of the record that is the words of a player; what the moderator tells begins otherwise."""


class TurnWords(Answer):
    """What a player says."""

    thoughts: str
    """Nobody else reads them."""
    words: str
    """Read by the game as the player's move."""


class TakeTurn(Ask[TurnWords]):
    """What to say or do now. The heuristic is any option, each as likely as the others."""

    kind: ClassVar[str] = "chat.take_turn"
    fixed: ClassVar[tuple[str, ...]] = ("who",)
    record: ClassVar[tuple[str, ...]] = ("events",)
    words_first: ClassVar[bool] = True

    who: str
    """Who the seat is and what it knows; the rules of the table stand apart."""
    events: list[str]
    """What has happened, line by line."""
    asked: str
    """What is asked of it now."""
    options: list[str]
    """What it may do, in the words that the game understands best."""
    free_words: bool
    """Whether it may use words of its own; otherwise its words are one of the options."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        return TurnWords(thoughts="", words=self.options[int(rng.integers(len(self.options)))])

    def choices(self) -> Choices:
        return {} if self.free_words else {"words": dict.fromkeys(self.options, "")}

    def check(self, answer: TurnWords) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return _SPEECH.match(entry) is not None

    def observation(self, rules: str) -> str:
        """The whole of what the seat read, as the game wrote it; `rules` are those of the table."""
        parts = [self.who, *([rules] if rules else []), *self.events, self.asked]
        return "".join(f"{part}\n" for part in parts if part) + "".join(f"{_OPTION}{one}\n" for one in self.options)


def turn_of(text: str, info: dict[str, Any]) -> TakeTurn:
    """The question of a turn, from what the seat reads.

    Args:
        text: The prose of parlour's games in its three sections; of any other text, all lines are events.
        info: `options` as the game has them, and, where it tells them, `free_words`, `rules` and `language`.
    """
    parts = [f"# {part}".rstrip("\n") for part in _HEADING.split(text)[1:]]
    who, record, asked = parts if len(parts) == 3 and text.startswith("# ") else ("", text.rstrip("\n"), "")
    rules = info.get("rules", "")
    options = list(info["options"])
    return TakeTurn(
        language=info.get("language", ENGLISH),
        who=who.removesuffix(rules).rstrip("\n"),
        events=record.split("\n"),
        asked=asked.removesuffix("".join(f"\n{_OPTION}{option}" for option in options)),
        options=options,
        free_words=info.get("free_words", True),
    )


class ChatPlayer(AskingPolicy):
    """Asks a model one question a turn. Needs `info="full"` and text actions.

    Args:
        model: Who answers; by default the heuristic, which plays at random.
    """

    name: ClassVar[str] = "chat"
    wants: ClassVar[str] = "text"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        return self.seat_model.ask(turn_of(observation["text"], info)).words
