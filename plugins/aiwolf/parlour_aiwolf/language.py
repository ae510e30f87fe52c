"""AIWolf's formal language of talk (protocol 3.x): a line is read into a tree, and a tree is written as a line.

Seats count from 0: seat 0 is `Agent[01]`. An omitted subject stays omitted; who is meant depends on the speaker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from parlour.envs.core import ParlourError

ANY: Final = -1
"""Stands where a seat may stand and means any agent."""
ANY_WORD: Final = "ANY"
"""The word for any agent, role or species."""
AIWOLF_ROLES: Final = (
    "VILLAGER",
    "SEER",
    "MEDIUM",
    "BODYGUARD",
    "POSSESSED",
    "WEREWOLF",
    "FOX",
    "FREEMASON",
)
SPECIES: Final = ("HUMAN", "WEREWOLF")
ROLE_VERBS: Final = ("ESTIMATE", "COMINGOUT")
RESULT_VERBS: Final = ("DIVINED", "IDENTIFIED")
ACTION_VERBS: Final = ("DIVINATION", "GUARD", "GUARDED", "VOTE", "VOTED", "ATTACK", "ATTACKED")
REPLY_VERBS: Final = ("AGREE", "DISAGREE")
ADDRESSED: Final = ("REQUEST", "INQUIRE")
PART_COUNTS: Final = {
    "REQUEST": (1, 1),
    "INQUIRE": (1, 1),
    "BECAUSE": (2, 2),
    "XOR": (2, 2),
    "NOT": (1, 1),
    "DAY": (1, 1),
    "AND": (1, 64),
    "OR": (1, 64),
}
"""Each operator with the fewest and the most sentences it takes."""
MAX_CHARACTERS: Final = 4000
MAX_DEPTH: Final = 16
"""Operators within each other."""
MAX_AGENTS: Final = 99
MAX_NUMBER: Final = 999_999
"""The largest day and the largest number of a talk."""

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
_AGENT: Final = re.compile(r"Agent(?:\[([0-9]{1,2})\]|([0-9]{1,2}))")
_DAY_WORD: Final = re.compile(r"day([0-9]{1,6})")
_NUMBER_WORD: Final = re.compile(r"ID:([0-9]{1,6})")
_PLAIN_NUMBER: Final = re.compile(r"[0-9]{1,6}")


@dataclass(frozen=True)
class Pause:
    """`Skip` (nothing to say this turn) or `Over` (nothing more to say today)."""

    over: bool = False


@dataclass(frozen=True)
class Sentence:
    """A verb with a target, and a role or species where the verb takes one.

    Raises ParlourError if verb, seats or value do not fit together.
    """

    verb: str
    target: int
    """A seat, or `ANY`."""
    value: str = ""
    """A role for `ROLE_VERBS`, a species for `RESULT_VERBS`, or `ANY_WORD`; empty for `ACTION_VERBS`."""
    subject: int | None = None
    """A seat, `ANY`, or None where it is omitted."""

    def __post_init__(self) -> None:
        accepted = _values(self.verb)
        _check(self.value in accepted, "value", self.value, ", ".join(accepted) or "none")
        _check_seats(self.subject, self.target)


@dataclass(frozen=True)
class Reply:
    """Agreement or disagreement with an earlier line. Raises ParlourError if a field is out of range."""

    verb: str
    whisper: bool
    day: int
    number: int
    subject: int | None = None

    def __post_init__(self) -> None:
        _check(self.verb in REPLY_VERBS, "verb", self.verb, ", ".join(REPLY_VERBS))
        _check_number("day", self.day)
        _check_number("ID", self.number)
        _check_seats(self.subject)


@dataclass(frozen=True)
class Compound:
    """An operator over sentences. Raises ParlourError if parts, target or day do not fit the operator."""

    operator: str
    parts: tuple[Utterance, ...]
    target: int | None = None
    """Who is addressed, for `ADDRESSED`: a seat or `ANY`; None otherwise."""
    day: int | None = None
    """For `DAY` only."""
    subject: int | None = None

    def __post_init__(self) -> None:
        _check(self.operator in PART_COUNTS, "operator", self.operator, ", ".join(PART_COUNTS))
        fewest, most = PART_COUNTS[self.operator]
        accepted = str(fewest) if fewest == most else f"{fewest} to {most}"
        _check(fewest <= len(self.parts) <= most, f"sentences of {self.operator}", len(self.parts), accepted)
        _check(not any(isinstance(part, Pause) for part in self.parts), "part", "Skip or Over", "a sentence")
        needed = self.operator in ADDRESSED
        _check((self.target is not None) == needed, "target", self.target, "a seat" if needed else "none")
        _check((self.day is not None) == (self.operator == "DAY"), "day", self.day, "a day, for DAY only")
        if self.day is not None:
            _check_number("day", self.day)
        _check_seats(self.subject, self.target)


Utterance = Pause | Sentence | Reply | Compound


@lru_cache(maxsize=4096)
def read(text: str) -> Utterance:
    """The tree of a line of talk. `Agent1` is read as `Agent[01]`, and version 2's `REQUEST (...)` has its old meaning.

    Raises:
        ParlourError: the line is malformed, longer than `MAX_CHARACTERS` or nested deeper than `MAX_DEPTH`.

    >>> read("DIVINED Agent[03] WEREWOLF")
    Sentence(verb='DIVINED', target=2, value='WEREWOLF', subject=None)
    """
    _check(len(text) <= MAX_CHARACTERS, "length", len(text), f"at most {MAX_CHARACTERS} characters")
    reader = _Reader(_TOKEN.findall(text))
    utterance = reader.sentence(0)
    reader.end()
    return utterance


def write(utterance: Utterance) -> str:
    """A tree as a line in AIWolf's canonical form. Raises ParlourError where `read` would refuse the line.

    >>> write(Compound("REQUEST", (Sentence("VOTE", 2),), target=ANY))
    'REQUEST ANY (VOTE Agent[03])'
    """
    text = _written(utterance, 0)
    _check(len(text) <= MAX_CHARACTERS, "length", len(text), f"at most {MAX_CHARACTERS} characters")
    return text


def agent(seat: int) -> str:
    """A seat in AIWolf's words.

    >>> agent(0), agent(ANY)
    ('Agent[01]', 'ANY')
    """
    _check_seats(seat)
    return ANY_WORD if seat == ANY else f"Agent[{seat + 1:02d}]"


class _Reader:
    """The tokens of a line and how far they are read."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._next = 0

    def sentence(self, depth: int) -> Utterance:
        _check(depth <= MAX_DEPTH, "nesting", depth, f"at most {MAX_DEPTH} operators deep")
        if depth == 0 and self._peek() in ("Skip", "Over"):
            return Pause(self._take() == "Over")
        subject = self._subject()
        verb = self._take()
        if verb in REPLY_VERBS:
            return self._reply(verb, subject)
        if verb in PART_COUNTS:
            return self._compound(verb, subject, depth)
        takes_value = bool(_values(verb)[0])
        target = self._agent()
        return Sentence(verb, target, self._take() if takes_value else "", subject)

    def end(self) -> None:
        _check(self._next == len(self._tokens), "word", self._peek(), "the end of the line")

    def _reply(self, verb: str, subject: int | None) -> Reply:
        channel = self._take()
        _check(channel in ("TALK", "WHISPER"), "channel", channel, "TALK, WHISPER")
        day = self._number(_DAY_WORD, "day1")
        return Reply(verb, channel == "WHISPER", day, self._number(_NUMBER_WORD, "ID:1"), subject)

    def _compound(self, operator: str, subject: int | None, depth: int) -> Compound:
        day = int(self._number(_PLAIN_NUMBER, "1")) if operator == "DAY" else None
        addressed = operator in ADDRESSED
        named = addressed and (self._peek() != "(" or operator == "INQUIRE")
        target = self._agent() if named else None
        parts: list[Utterance] = []
        while self._peek() == "(":
            self._take()
            parts.append(self.sentence(depth + 1))
            closing = self._take()
            _check(closing == ")", "word", closing, ")")
        if addressed and target is None and parts:
            own = None if isinstance(parts[0], Pause) else parts[0].subject
            target = ANY if own is None else own
        return Compound(operator, tuple(parts), target, day, subject)

    def _subject(self) -> int | None:
        word = self._peek()
        if word == "UNSPEC":
            self._next += 1
            return None
        return self._agent() if word == ANY_WORD or word.startswith("Agent") else None

    def _agent(self) -> int:
        word = self._take()
        if word == ANY_WORD:
            return ANY
        match = _AGENT.fullmatch(word)
        number = int(match[1] or match[2]) if match else 0
        _check(1 <= number <= MAX_AGENTS, "agent", word, "Agent[01] to Agent[99], ANY")
        return number - 1

    def _number(self, pattern: re.Pattern[str], example: str) -> int:
        word = self._take()
        match = pattern.fullmatch(word)
        if match is None:
            raise ParlourError(f"number: {_short(word)}; accepted: such as {example}")
        return int(match[match.re.groups])

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        word = self._peek()
        _check(bool(word), "line", "ends too early", "a whole sentence")
        self._next += 1
        return word


def _written(utterance: Utterance, depth: int) -> str:
    _check(depth <= MAX_DEPTH, "nesting", depth, f"at most {MAX_DEPTH} operators deep")
    if isinstance(utterance, Pause):
        return "Over" if utterance.over else "Skip"
    words = [] if utterance.subject is None else [agent(utterance.subject)]
    if isinstance(utterance, Reply):
        channel = "WHISPER" if utterance.whisper else "TALK"
        words += [utterance.verb, channel, f"day{utterance.day}", f"ID:{utterance.number}"]
    elif isinstance(utterance, Sentence):
        words += [utterance.verb, agent(utterance.target), *([utterance.value] if utterance.value else [])]
    else:
        words.append(utterance.operator)
        words += [str(utterance.day)] if utterance.day is not None else []
        words += [agent(utterance.target)] if utterance.target is not None else []
        words += [f"({_written(part, depth + 1)})" for part in utterance.parts]
    return " ".join(words)


def _values(verb: str) -> tuple[str, ...]:
    """What may stand behind the target of a verb; `("",)` for nothing."""
    if verb in ROLE_VERBS:
        return (*AIWOLF_ROLES, ANY_WORD)
    if verb in RESULT_VERBS:
        return (*SPECIES, ANY_WORD)
    verbs = ", ".join((*ROLE_VERBS, *RESULT_VERBS, *ACTION_VERBS, *REPLY_VERBS, *PART_COUNTS))
    _check(verb in ACTION_VERBS, "verb", verb, verbs)
    return ("",)


def _check_seats(*seats: int | None) -> None:
    for seat in seats:
        _check(seat is None or ANY <= seat < MAX_AGENTS, "seat", seat, f"0 to {MAX_AGENTS - 1}, {ANY} for any")


def _check_number(name: str, number: int) -> None:
    _check(0 <= number <= MAX_NUMBER, name, number, f"0 to {MAX_NUMBER}")


def _check(holds: bool, name: str, value: object, accepted: str) -> None:
    if not holds:
        raise ParlourError(f"{name}: {_short(value)}; accepted: {accepted}")


def _short(value: object) -> str:
    return ascii(value)[:60]
