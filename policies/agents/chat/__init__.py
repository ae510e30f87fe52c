"""The plain player: one question a turn, which holds what the seat reads and what it may do. Plays any game.

What it reads comes in the order in which it changes: the words of the question and the sentences for free talk, which are
the same for the whole table; what everybody saw, which grows line by line; then what the seat alone knows, and what it may
do now. So a server that keeps the beginning of a prompt, of whatever seat, reads little more than the news. A seat with a
long story of its own has it first: nothing behind it is worth sharing.

Sentences for free talk have numbers, and a turn names the numbers. Where the table does not tell them all, each stands in the
record once, where it was first offered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

import numpy as np
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.ask import ENGLISH, Answer, Ask, Choices
from parlour.policies.llm.model import Model

_HEADING: Final = re.compile(r"^# ", re.MULTILINE)
"""No player's words can begin a line of an observation."""
_OPTION: Final = "- "
_SPEECH: Final = re.compile(r'^[^:："]{1,80}?(?: says(?: [^:"]*)?: | asks: |说：|问：)["“]')
"""A line of the record that is the words of a player; what the moderator tells begins otherwise."""


_PRIVATE: Final = re.compile(r'^(?:Privately, |[^:"]{1,80} says to the werewolves: |[^：“]{1,80}（私下）：)')
"""A line that not everybody saw."""
_PLACED: Final = re.compile(r"(\d+): (.*)", re.DOTALL)
_LONG: Final = 1500
"""Characters of `who` from which on it is a story."""
_OFFER: Final = re.compile(r"\+(\d+) (\[.*\])")
"""A line of `events` that is none of the game's: sentences that may be said from then on, and the number of the first."""


class TurnWords(Answer):
    """What a player says."""

    thoughts: str
    """Nobody else reads them."""
    words: str
    """Read by the game as the player's move."""


class TakeTurn(Ask[TurnWords]):
    """What to say or do now. The heuristic is any option, each as likely as the others."""

    kind: ClassVar[str] = "chat.take_turn"
    fixed: ClassVar[tuple[str, ...]] = ("spoken", "story")
    record: ClassVar[tuple[str, ...]] = ("events",)
    words_first: ClassVar[bool] = True

    spoken: list[str]
    """Sentences for free talk at this table; the first has number 1."""
    story: str
    """Who the seat is and what it knows, if that is long; the rules of the table stand apart."""
    events: list[str]
    """What has happened, line by line; among the lines, as `+30 [...]`, further sentences for free talk and their numbers."""
    private: list[str]
    """What not everybody saw: after how many lines of `events`, and the line, as in `12: Privately, ...`."""
    who: str
    """Who the seat is and what it knows, if that is short."""
    asked: str
    """What is asked of it now."""
    options: list[str]
    """What it may do, in the words that the game understands best; in free talk, only by `sayings`."""
    sayings: str
    """Which of the numbered sentences may be said now, as in `1-12, 14`; words of its own may be said too. Empty where there
    is no free talk."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        options = self.sentences()
        return TurnWords(thoughts="", words=options[int(rng.integers(len(options)))])

    def sentences(self) -> list[str]:
        """All that it may do, in the words that the game understands best."""
        if not self.sayings:
            return self.options
        known = {**dict(enumerate(self.spoken, 1)), **offered(self.events)}
        return [known[number] for number in numbers_in(self.sayings)]

    def choices(self) -> Choices:
        return {} if self.sayings else {"words": dict.fromkeys(self.options, "")}

    def check(self, answer: TurnWords) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return _SPEECH.match(entry) is not None

    def observation(self, rules: str) -> str:
        """The whole of what the seat read, as the game wrote it; `rules` are those of the table."""
        lines = [line for line in self.events if not _OFFER.fullmatch(line)]
        for placed in reversed(self.private):
            found = _PLACED.match(placed)
            if found:
                lines.insert(int(found[1]), found[2])
        parts = [self.story or self.who, *([rules] if rules else []), *lines, self.asked]
        told = "".join(f"{part}\n" for part in parts if part)
        return told + "".join(f"{_OPTION}{option}\n" for option in self.sentences())


def apart(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """What everybody saw, and what not, with the place of each among the other lines.

    >>> apart(["Night falls.", "Privately, player_1: I save nobody.", "Day breaks."])
    (['Night falls.', 'Day breaks.'], ['1: Privately, player_1: I save nobody.'])
    """
    events: list[str] = []
    private: list[str] = []
    for line in lines:
        if _PRIVATE.match(line):
            private.append(f"{len(events)}: {line}")
        else:
            events.append(line)
    return events, private


def offered(events: Iterable[str]) -> dict[int, str]:
    """The sentences for free talk by their numbers, from the lines of the record that offer them."""
    known: dict[int, str] = {}
    for found in filter(None, map(_OFFER.fullmatch, events)):
        known |= dict(enumerate(json.loads(found[2]), int(found[1])))
    return known


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in few words.

    >>> ranges([1, 2, 3, 7, 9, 10]), numbers_in("1-3, 7, 9-10")
    ('1-3, 7, 9-10', [1, 2, 3, 7, 9, 10])
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def numbers_in(words: str) -> list[int]:
    """The numbers that `ranges` put into words."""
    runs = [[int(number) for number in run.split("-")] for run in words.split(",")]
    return [number for run in runs for number in range(run[0], run[-1] + 1)]


class Offers:
    """The sentences for free talk that a seat was offered in one game, and where in the record that was.

    Args:
        spoken: Those that the table tells from the beginning.
    """

    def __init__(self, spoken: Iterable[str] = ()) -> None:
        self._numbers = {sentence: number for number, sentence in enumerate(spoken, 1)}
        self._lines: list[tuple[int, str]] = []
        """Lines of the record before it, and the line that offers."""

    def sayings(self, options: Iterable[str], after: int) -> str:
        """The numbers of sentences; new ones are offered after so many lines of the record."""
        options = list(options)
        new = [option for option in dict.fromkeys(options) if option not in self._numbers]
        if new:
            first = len(self._numbers) + 1
            self._numbers |= {option: number for number, option in enumerate(new, first)}
            self._lines.append((after, f"+{first} {json.dumps(new, ensure_ascii=False)}"))
        return ranges(self._numbers[option] for option in options)

    def among(self, lines: list[str]) -> list[str]:
        """The record with the lines that offer."""
        told = list(lines)
        for after, line in reversed(self._lines):
            told.insert(after, line)
        return told


def turn_of(text: str, info: Mapping[str, Any], offers: Offers) -> TakeTurn:
    """The question of a turn, from what the seat reads.

    Args:
        text: The prose of parlour's games in its three sections; of any other text, all lines are events.
        info: `options` as the game has them, and, where it tells them, `free_words`, `spoken`, `rules` and `language`.
        offers: The sentences for free talk so far; new ones join them.
    """
    parts = [f"# {part}".rstrip("\n") for part in _HEADING.split(text)[1:]]
    who, record, asked = parts if len(parts) == 3 and text.startswith("# ") else ("", text.rstrip("\n"), "")
    rules, options = info.get("rules", ""), list(info["options"])
    who = who.removesuffix(rules).removesuffix("\n")
    long, lines = len(who) > _LONG, record.split("\n")
    events, private = (lines, []) if long else apart(lines)
    talk = info.get("free_words", True)
    sayings = offers.sayings(options, len(events)) if talk else ""
    return TakeTurn(
        language=info.get("language", ENGLISH),
        spoken=list(info.get("spoken", ())),
        story=who if long else "",
        events=offers.among(events),
        private=private,
        who="" if long else who,
        asked=asked.removesuffix("".join(f"\n{_OPTION}{option}" for option in options)),
        options=[] if talk else options,
        sayings=sayings,
    )


class ChatPlayer(AskingPolicy):
    """Asks a model one question a turn. Needs `info="full"` and text actions.

    Args:
        model: Who answers; by default the heuristic, which plays at random.
    """

    name: ClassVar[str] = "chat"
    wants: ClassVar[str] = "text"

    def __init__(self, model: Model | None = None) -> None:
        super().__init__(model)
        self._offers: Offers | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._offers = None

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        if self._offers is None:
            self._offers = Offers(info.get("spoken", ()))
        return self.seat_model.ask(turn_of(observation["text"], info, self._offers)).words
