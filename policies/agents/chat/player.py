"""The plain player: one question a turn, which holds what the seat reads and what it may do. Plays any game.

What it reads comes in the order in which it changes: the words of the question and what all know from the beginning, which
are the same for the whole table; what everybody saw, which grows line by line; what may be done now, which is the same for
all who vote at one moment; then what the seat alone knows. So a server that keeps the beginning of a prompt, of whatever
seat, reads little more than the news. A seat with a long story of its own has it before the record: nothing behind it is
worth sharing.

The sentences that the game understands best are listed, those that differ in one place in one line.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from os.path import commonprefix
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.language.headings import LANGUAGES, sections_of
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.ask import ENGLISH, Answer, Ask, Choices, SaidWords

_ALTERNATIVES: Final = re.compile(r"\[([^\[\]|]+(?: \| [^\[\]|]+)+)\]")
"""In a line for several sentences, the different middles."""
_PIECE: Final = re.compile(r"\[[^\[\]|]+(?: \| [^\[\]|]+)+\]|\d+(?::\d+)*|[^\W\u2e80-\uffff]+|.", re.DOTALL)
"""Alternatives, a word, a time of day, a letter of a script without blanks, or a sign."""


def together(sentences: Iterable[str]) -> list[str]:
    """Sentences in their order, those that begin and end alike in one line where that is shorter.

    >>> together(["I wait.", "I trust player_0 now.", "I trust player_1 now.", "I trust player_2 now."])
    ['I wait.', 'I trust [player_0 | player_1 | player_2] now.']
    >>> together([f"I checked {who}: {found}." for who in ("player_0", "player_1") for found in ("good", "evil")])
    ['I checked [player_0 | player_1]: [good | evil].']
    """
    return _grouped(
        _grouped([json.dumps(text, ensure_ascii=False) if _is_marked(text) else text for text in sentences])
    )


def _is_marked(sentence: str) -> bool:
    """Whether a sentence would not be read back as it stands."""
    return sentence[:1] == '"' or _ALTERNATIVES.search(sentence) is not None


def _grouped(sentences: Sequence[str]) -> list[str]:
    groups: list[list[str]] = []
    for sentence in sentences:
        if groups and _shorter(groups[-1], sentence):
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    return list(map(_line, groups))


def one_by_one(lines: Iterable[str]) -> list[str]:
    """The sentences that `together` put into lines. Raises `ValueError` for what is no such line."""
    sentences: list[str] = []
    for line in lines:
        match = _ALTERNATIVES.search(line)
        if line.startswith('"'):
            sentences.append(str(json.loads(line)))
        elif match is None:
            sentences.append(line)
        else:
            before, after = line[: match.start()], line[match.end() :]
            sentences += one_by_one(f"{before}{middle}{after}" for middle in match[1].split(" | "))
    return sentences


def _shorter(group: Sequence[str], sentence: str) -> bool:
    """Whether a sentence takes less room in the line of a group than in one of its own, from which it can be read back."""
    line = _line([*group, sentence])
    parts = _ALTERNATIVES.sub("", "".join((*group, sentence)))
    if any(sign in parts for sign in "[]|") or any(text[:1] == '"' for text in (*group, sentence)):
        return False
    if one_by_one([line]) != one_by_one([*group, sentence]):
        return False
    return len(line) < len(_line(group)) + len(sentence)


def _line(sentences: Sequence[str]) -> str:
    """Sentences as one line, cut between words."""
    if len(sentences) == 1:
        return sentences[0]
    pieces = [_PIECE.findall(sentence) for sentence in sentences]
    before = len(commonprefix(pieces))  # noqa: RUF071 - of lists
    before = min(before, *(len(piece) - 1 for piece in pieces))
    after = len(commonprefix([piece[::-1] for piece in pieces]))  # noqa: RUF071
    after = min(after, *(len(piece) - before - 1 for piece in pieces))
    middles = ["".join(piece[before : len(piece) - after]) for piece in pieces]
    return f"{''.join(pieces[0][:before])}[{' | '.join(middles)}]{''.join(pieces[0][len(pieces[0]) - after :])}"


_OPTION: Final = "- "
_SPEECH: Final = re.compile(r'^(?:\d+: )?[^:："]{1,80}?(?: says(?: [^:"]*)?: | asks: |说：|问：)["“]')
"""A line of the record that is the words of a player; what the moderator tells begins otherwise."""

_PLACED: Final = re.compile(r"(\d+): (.*)", re.DOTALL)
_FEW: Final = 6
"""Options up to this number have a line each."""
_LONG: Final = 1500
"""Least number of characters that make `who` a story."""


class TurnWords(Answer):
    """What a player says."""

    thoughts: str
    """Nobody else reads them."""
    words: SaidWords
    """Read by the game as the player's move."""


class TakeTurn(
    Ask[TurnWords],
    kind="chat.take_turn",
    fixed=("common", "story"),
    record=("events",),
    recent=("private",),
    words_first=True,
):
    """What to say or do now. The heuristic is any option, each as likely as the others."""

    common: str
    """What all seats know from the beginning, if `who` is short; the rules of the table stand apart."""
    story: str
    """Who the seat is and what it knows besides, if that is long."""
    events: list[str]
    """What everybody saw, line by line. If the table does not say who saw what, or the seat has a story: everything that
    the seat saw."""
    asked: str
    """The current question; further lines say what was wrong with the last answer."""
    options: list[str]
    """What it may do, in the words that the game understands best, as `together` lists it where they are many; in free talk, only by `sayings`."""
    sayings: list[str]
    """Sentences of free talk that the game understands best, as `together` lists them; words of its own may be said too.
    Empty where there is no free talk."""
    private: list[str]
    """What not everybody saw: after how many lines of `events`, and the line, as in `12: Privately, ...`."""
    who: str
    """Who the seat is and what it knows besides, if that is short."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        options = self.sentences()
        return TurnWords(thoughts="", words=options[int(rng.integers(len(options)))])

    def sentences(self) -> list[str]:
        """All that it may do, in the words that the game understands best."""
        return one_by_one(self.sayings or self.options)

    def choices(self) -> Choices:
        return {} if self.sayings else {"words": dict.fromkeys(self.sentences(), "")}

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return _SPEECH.match(entry) is not None

    def renumbered(self, gone: Mapping[str, Collection[int]]) -> Mapping[str, Any]:
        """The places of private lines among the events that stay."""
        lost = sorted(gone.get("events", ()))
        placed = [(_PLACED.match(line), line) for line in self.private]
        return {
            "private": [
                line if match is None else f"{int(match[1]) - bisect_left(lost, int(match[1]))}: {match[2]}"
                for match, line in placed
            ]
        }

    def observation(self, rules: str) -> str:
        """Everything that the seat read, as the game wrote it; `rules` are the table's rules."""
        lines = list(self.events)
        for placed in reversed(self.private):
            match = _PLACED.match(placed)
            if match:
                lines.insert(int(match[1]), match[2])
        sentences = self.sentences()
        if not self.asked:
            return _lines(lines) + _lines(_OPTION + sentence for sentence in sentences)
        headings = LANGUAGES[self.language]
        who = _lines(part for part in (self.story or self.who, self.common, rules) if part)
        asked, *wrong = self.asked.split("\n")
        choice = _lines([asked, *(_OPTION + sentence for sentence in sentences), *wrong])
        return f"{headings.who}{who}{headings.record}{_lines(lines)}{headings.choice}{choice}"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def apart(lines: Sequence[str], secret: Sequence[bool]) -> tuple[list[str], list[str]]:
    """What everybody saw, and what not, with the place of each among the other lines.

    >>> apart(["Night falls.", "Privately, player_1: I save nobody.", "Day breaks."], [False, True, False])
    (['Night falls.', 'Day breaks.'], ['1: Privately, player_1: I save nobody.'])
    """
    events, private = list[str](), list[str]()
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
    secret = [event.to is not None for event in info["view"].events] if "view" in info else []
    if len(lines) > len(secret):
        return [False] * len(lines)
    return secret if len(lines) == len(secret) else [False, *secret[len(secret) - len(lines) + 1 :]]


def turn_of(text: str, info: Mapping[str, Any]) -> TakeTurn:
    """The question of a turn, from what the seat reads.

    Args:
        text: The prose of parlour's games in its three sections; of any other text, all lines are events.
        info: `options` as the game has them, and, where it tells them, `free_words`, `rules`, `common`, `view` and
            `language`.
    """
    language, offered_now = info.get("language", ENGLISH), list(info["options"])
    sections = sections_of(text)
    if sections is None or sections.language != language or not sections.choice.strip():
        who, common, asked, lines = "", "", "", text.rstrip("\n").split("\n")
    else:
        rules = info.get("rules", "")
        who, common = sections.who.removesuffix(f"{rules}\n" if rules else ""), info.get("common", "")
        who, common = (who.removesuffix(common), common) if who.endswith(common) else (who, "")
        asked = sections.choice.replace(_lines(_OPTION + option for option in offered_now), "", 1).removesuffix("\n")
        lines = sections.record.split("\n")[:-1]
    who, common = who.removesuffix("\n"), common.removesuffix("\n")
    long = len(who) > _LONG
    events, private = (lines, []) if long or not asked else apart(lines, _secret(lines, info))
    talk = info.get("free_words", True)
    listed = offered_now if not talk and len(offered_now) <= _FEW else _together(tuple(offered_now))
    return TakeTurn(
        language=language,
        common=common,
        story=who if long else "",
        events=events,
        asked=asked,
        options=[] if talk else listed,
        sayings=listed if talk else [],
        private=private,
        who="" if long else who,
    )


_together: Final = lru_cache(maxsize=256)(together)
"""As `together`; a seat is often offered the same sentences."""


class ChatPlayer(AskingPolicy):
    """Asks a model one question a turn; by default the heuristic, which plays at random. Needs `info="full"` and text actions."""

    name: ClassVar[str] = "chat"
    wants: ClassVar[str] = "text"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.seat_model.rules = info.get("rules", "")
        return self.seat_model.ask(turn_of(observation["text"], info)).words
