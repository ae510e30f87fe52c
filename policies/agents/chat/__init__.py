"""The plain player: one question a turn, which holds what the seat reads and what it may do. Plays any game.

What it reads comes in the order in which it changes: the words of the question, the sentences for free talk and what all
know from the beginning, which are the same for the whole table; what everybody saw, which grows line by line; what may be
done now, which is the same for all who vote at one moment; then what the seat alone knows. So a server that keeps the
beginning of a prompt, of whatever seat, reads little more than the news. A seat with a long story of its own has it before
the record: nothing behind it is worth sharing.

Sentences for free talk have numbers, and a turn names the numbers. If the table does not list them all, the record shows each
once, where it was first offered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.headings import LANGUAGES, sections_of
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.ask import ENGLISH, Answer, Ask, Choices

Entry = str | tuple[str, list[str], str]
"""A sentence; or how several sentences begin, what each says in the middle, and how they end."""

OFFER: Final = re.compile(r"\+(\d+) (\[.*\])")
"""A line of a record that is none of the game's: sentences that may be said from then on, and the number of the first."""
_PIECE: Final = re.compile(r"\d+(?::\d+)*|[^\W\u2e80-\uffff]+|.", re.DOTALL)
"""A word, a time of day, a letter of a script without blanks, or a sign."""


def together(sentences: Iterable[str]) -> list[Entry]:
    """Sentences in their order, those that begin and end alike in one entry where that is shorter.

    >>> together(["I wait.", "I trust player_0 now.", "I trust player_1 now.", "I trust player_2 now."])
    ['I wait.', ('I trust ', ['player_0', 'player_1', 'player_2'], ' now.')]
    """
    entries: list[Entry] = []
    group: list[str] = []
    for sentence in sentences:
        if group and _length(_entry([*group, sentence])) < _length(_entry(group)) + _length(sentence):
            group.append(sentence)
            continue
        if group:
            entries.append(_entry(group))
        group = [sentence]
    return [*entries, _entry(group)] if group else entries


def one_by_one(entries: Iterable[Entry]) -> list[str]:
    """The sentences that `together` put into entries. Raises `ValueError` for what is no entry."""
    sentences: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            sentences.append(entry)
            continue
        before, middles, after = entry
        sentences += [f"{before}{middle}{after}" for middle in middles]
    return sentences


def _entry(sentences: Sequence[str]) -> Entry:
    """Sentences as one entry, cut between words."""
    if len(sentences) == 1:
        return sentences[0]
    pieces = [_PIECE.findall(sentence) for sentence in sentences]
    before = len(commonprefix(pieces))  # noqa: RUF071 - of lists
    before = min(before, *(len(one) - 1 for one in pieces))
    after = len(commonprefix([one[::-1] for one in pieces]))  # noqa: RUF071
    after = min(after, *(len(one) - before - 1 for one in pieces))
    middles = ["".join(piece[before : len(piece) - after]) for piece in pieces]
    return "".join(pieces[0][:before]), middles, "".join(pieces[0][len(pieces[0]) - after :])


def _length(entry: Entry) -> int:
    return len(json.dumps(entry, ensure_ascii=False)) + 2


def offered(events: Iterable[str]) -> dict[int, str]:
    """The sentences for free talk by their numbers, from the lines of the record that offer them."""
    known: dict[int, str] = {}
    for found in filter(None, map(OFFER.fullmatch, events)):
        known |= dict(enumerate(one_by_one(json.loads(found[2])), int(found[1])))
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
            self._lines.append((after, f"+{first} {json.dumps(together(new), ensure_ascii=False)}"))
        return ranges(self._numbers[option] for option in options)

    def among(self, lines: list[str]) -> list[str]:
        """The record with the lines that offer."""
        told = list(lines)
        for after, line in reversed(self._lines):
            told.insert(after, line)
        return told


_OPTION: Final = "- "
_SPEECH: Final = re.compile(r'^(?:\d+: )?[^:："]{1,80}?(?: says(?: [^:"]*)?: | asks: |说：|问：)["“]')
"""A line of the record that is the words of a player; what the moderator tells begins otherwise."""

_PLACED: Final = re.compile(r"(\d+): (.*)", re.DOTALL)
_LONG: Final = 1500
"""Least number of characters that make `who` a story."""


class TurnWords(Answer):
    """What a player says."""

    thoughts: str
    """Nobody else reads them."""
    words: str
    """Read by the game as the player's move."""


class TakeTurn(
    Ask[TurnWords],
    kind="chat.take_turn",
    fixed=("spoken", "common", "story"),
    record=("events",),
    recent=("private",),
    words_first=True,
):
    """What to say or do now. The heuristic is any option, each as likely as the others."""

    spoken: list[Entry]
    """Sentences for free talk at this table; the first has number 1."""
    common: str
    """What all seats know from the beginning, if `who` is short; the rules of the table stand apart."""
    story: str
    """Who the seat is and what it knows besides, if that is long."""
    events: list[str]
    """What everybody saw, line by line; among the lines, as `+30 [...]`, further sentences for free talk and their numbers.
    If the table does not say who saw what, or the seat has a story: everything that the seat saw."""
    asked: str
    """The current question; further lines say what was wrong with the last answer."""
    options: list[str]
    """What it may do, in the words that the game understands best; in free talk, only by `sayings`."""
    sayings: str
    """Which of the numbered sentences may be said now, as in `1-12, 14`; words of its own may be said too. Empty where there
    is no free talk."""
    private: list[str]
    """What not everybody saw: after how many lines of `events`, and the line, as in `12: Privately, ...`."""
    who: str
    """Who the seat is and what it knows besides, if that is short."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        options = self.sentences()
        return TurnWords(thoughts="", words=options[int(rng.integers(len(options)))])

    def sentences(self) -> list[str]:
        """All that it may do, in the words that the game understands best."""
        if not self.sayings:
            return self.options
        known = {**dict(enumerate(one_by_one(self.spoken), 1)), **offered(self.events)}
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
        """Everything that the seat read, as the game wrote it; `rules` are the table's rules."""
        lines = [line for line in self.events if not OFFER.fullmatch(line)]
        for placed in reversed(self.private):
            match = _PLACED.match(placed)
            if match:
                lines.insert(int(match[1]), match[2])
        sentences = self.sentences()
        if not self.asked:
            return _lines(lines) + _lines(_OPTION + sentence for sentence in sentences)
        told = LANGUAGES[self.language]
        who = _lines(part for part in (self.story or self.who, self.common, rules) if part)
        asked, *wrong = self.asked.split("\n")
        choice = _lines([asked, *(_OPTION + sentence for sentence in sentences), *wrong])
        return f"{told.who}{who}{told.record}{_lines(lines)}{told.choice}{choice}"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def apart(lines: Sequence[str], secret: Sequence[bool]) -> tuple[list[str], list[str]]:
    """What everybody saw, and what not, with the place of each among the other lines.

    >>> apart(["Night falls.", "Privately, player_1: I save nobody.", "Day breaks."], [False, True, False])
    (['Night falls.', 'Day breaks.'], ['1: Privately, player_1: I save nobody.'])
    """
    events: list[str] = []
    private: list[str] = []
    for line, hidden in zip(lines, secret, strict=True):
        if hidden:
            private.append(f"{len(events)}: {line}")
        else:
            events.append(line)
    return events, private


def _secret(lines: Sequence[str], info: Mapping[str, Any]) -> list[bool]:
    """Of each line of the record, whether not everybody saw it, as far as the game tells.

    A window may show less than the game tells, with a line of its own before it.
    """
    told = [event.to is not None for event in info["view"].events] if "view" in info else []
    if len(lines) > len(told):
        return [False] * len(lines)
    return told if len(lines) == len(told) else [False, *told[len(told) - len(lines) + 1 :]]


def turn_of(text: str, info: Mapping[str, Any], offers: Offers) -> TakeTurn:
    """The question of a turn, from what the seat reads.

    Args:
        text: The prose of parlour's games in its three sections; of any other text, all lines are events.
        info: `options` as the game has them, and, where it tells them, `free_words`, `spoken`, `rules`, `common`,
            `view` and `language`.
        offers: The sentences for free talk so far; new ones join them.
    """
    language, offered_now = info.get("language", ENGLISH), list(info["options"])
    found = sections_of(text)
    if found is None or found.language != language or not found.choice.strip():
        who, common, asked, lines = "", "", "", text.rstrip("\n").split("\n")
    else:
        rules = info.get("rules", "")
        who, common = found.who.removesuffix(f"{rules}\n" if rules else ""), info.get("common", "")
        who, common = (who.removesuffix(common), common) if who.endswith(common) else (who, "")
        asked = found.choice.replace(_lines(_OPTION + option for option in offered_now), "", 1).removesuffix("\n")
        lines = found.record.split("\n")[:-1]
    who, common = who.removesuffix("\n"), common.removesuffix("\n")
    long = len(who) > _LONG
    events, private = (lines, []) if long or not asked else apart(lines, _secret(lines, info))
    talk = info.get("free_words", True)
    sayings = offers.sayings(offered_now, len(events)) if talk else ""
    return TakeTurn(
        language=language,
        spoken=_told_once(tuple(info.get("spoken", ()))),
        common=common,
        story=who if long else "",
        events=offers.among(events),
        asked=asked,
        options=[] if talk else offered_now,
        sayings=sayings,
        private=private,
        who="" if long else who,
    )


@lru_cache(maxsize=64)
def _told_once(spoken: tuple[str, ...]) -> list[Entry]:
    """The sentences of a table as entries; the same at each turn."""
    return together(spoken)


class ChatPlayer(AskingPolicy):
    """Asks a model one question a turn; by default the heuristic, which plays at random. Needs `info="full"` and text actions."""

    name: ClassVar[str] = "chat"
    wants: ClassVar[str] = "text"

    def _begin(self) -> None:
        self._offers: Offers | None = None

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        if self._offers is None:
            self._offers = Offers(info.get("spoken", ()))
        return self.seat_model.ask(turn_of(observation["text"], info, self._offers)).words
