"""What free words claim: whom they accuse, defend, want on the team or follow, which role they claim, what they promise.

A reader by rule, of English as it is spoken at tables of hidden roles; it knows no rules of a game. A statement is read
sentence by sentence. Lists of seats ("player_1, player_2 and me", "one of player_3/player_4") become one mark; the turn of
speech before a list governs it, and the lists that follow it, until another turn or the end of the clause; what is said
right behind a list counts for that list alone. What is denied, supposed ("if ...") or reported of others claims nothing.
How far it agrees with people's reading of real speech: docs/claims.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs import claim_words as turns
from parlour.envs.english import NEGATION
from parlour.envs.speech import ACCUSE, CLAIM_ROLE, DEFEND, PROMISE

PROPOSE: Final = "propose"
DEFER: Final = "defer"
KINDS: Final = (ACCUSE, DEFEND, PROPOSE, CLAIM_ROLE, PROMISE, DEFER)
_READ: Final = 4000
"""Characters of a statement that are read."""


class Claim(NamedTuple):
    """One claim of a statement."""

    kind: str
    """One of `KINDS`."""
    seats: tuple[int, ...] = ()
    """Whom it is about, ascending. Empty: `defer` to the table, `propose` a team by reference ("the same team")."""
    some: bool = False
    """Whether it is about some of these seats only ("one of player_1/player_2")."""
    value: int = -1
    """Of `claim_role` the role's number, of `promise` 1 (will approve) or 0 (will reject)."""


class _List(NamedTuple):
    """A list of seats in a sentence: where it stands, who is in it, whether some of them only, whether it is a possessive."""

    start: int
    end: int
    seats: tuple[int, ...]
    some: bool
    owner: bool


_NAME: Final = r"player[_ ]?\d{1,2}(?!\w)"
_MEMBER: Final = rf"(?:{_NAME}(?:\s*\((?:myself|me)\))?|(?:myself|\bme\b|\bI\b(?=\s*\({_NAME}\)))(?:\s*\({_NAME}\))?)"
_JOIN: Final = (
    r"(?:\s*,?\s*(?:\band/or\b|\bor\b|\band\b|\bplus\b|&|\+)\s*(?:(?:then|also|maybe|possibly|either|even|both)\s+)?"
    r"|\s*,\s*(?:maybe\s+)?|\s*/\s*|\s*–\s*|-)"
)
_LIST: Final = re.compile(
    rf"(?P<some>\b(?:one|two|three|either|some|any|slot)(?: or (?:two|both|one))?(?: \w+)? (?:of|from|between|among)\s+(?:the\s+)?|\beither\s+)?"
    rf"(?P<list>{_MEMBER}(?:{_JOIN}{_MEMBER})*(?:\s+(?:and|or|nor) I\b(?!\s+(?:know|think|would|will|want|can|do|like)|['’]))?)"
    r"(?P<owner>['’]s?(?![a-z]))?",
    re.IGNORECASE,
)
_SEAT: Final = re.compile(rf"\((?:{_NAME}|me|myself)\)|player[_ ]?(\d+)|\b(?:me|myself|I)\b", re.IGNORECASE)
_OR: Final = re.compile(r"\bor\b", re.IGNORECASE)
_PLAIN: Final = str.maketrans(
    {
        "’": "'",
        "‑": "-",
        "‘": "'",
        "“": " ",
        "”": " ",
        '"': " ",
        "*": " ",
        "{": " ",
        "}": " ",
        "[": " ",
        "]": " ",
        "⟨": " ",
        "⟩": " ",
    }
)
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_FORWARD: Final = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in turns.FORWARD)
_BACKWARD: Final = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in turns.BACKWARD)
_BREAK: Final = re.compile(turns.BREAK, re.IGNORECASE)
_ALONE: Final = re.compile(turns.ALONE, re.IGNORECASE)
_SELF: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in turns.SELF)
_TABLE: Final = re.compile(turns.OF_THE_TABLE, re.IGNORECASE)
_SAME_TEAM: Final = re.compile(turns.SAME_TEAM, re.IGNORECASE)
_VOTE: Final = re.compile(turns.VOTE, re.IGNORECASE)
_RESULT: Final = re.compile(turns.RESULT, re.IGNORECASE)
_REACH: Final = 160
"""Characters before and behind a list that are looked at."""


def claims(words: str, speaker: int, seats: int, roles: tuple[str, ...] = ()) -> tuple[Claim, ...]:
    """What a statement claims, each claim once, in the order of the words.

    Args:
        words: The statement, seats as `player_N`.
        speaker: Who speaks: "me" and "I".
        seats: How many sit at the table; other numbers name nobody.
        roles: The roles' names by number, for `claim_role`.

    >>> claims("player_1 looks evil, so I'd take me plus one of player_2/player_3.", 0, 5)
    (Claim(kind='accuse', seats=(1,), some=False, value=-1), \
Claim(kind='propose', seats=(0,), some=False, value=-1), Claim(kind='propose', seats=(2, 3), some=True, value=-1))
    """
    found: dict[Claim, None] = {}
    for sentence in _SENTENCE.split(words[:_READ].translate(_PLAIN)):
        for claim in _of_sentence(sentence, speaker, seats, roles):
            found[claim] = None
    return tuple(found)


def _of_sentence(sentence: str, speaker: int, seats: int, roles: tuple[str, ...]) -> Iterator[Claim]:
    lists = tuple(_lists(sentence, speaker, seats))
    named = False
    for one, sorts in _governed(sentence, lists):
        named |= PROPOSE in sorts
        for sort in sorted(sorts):
            yield from _claim(sort, one, speaker)
    yield from _without_lists(sentence, speaker, named)
    yield from _roles_claimed(sentence, roles)


def _claim(sort: str, one: _List, speaker: int) -> Iterator[Claim]:
    kind = ACCUSE if sort == "among" else sort
    others = tuple(seat for seat in one.seats if seat != speaker)
    about = others if kind in (ACCUSE, DEFER) else one.seats
    if about:
        some = sort == "among" or (one.some and kind != DEFER and len(about) > 1)
        yield Claim(kind, about, some and len(one.seats) > 1)


def _lists(sentence: str, speaker: int, seats: int) -> Iterator[_List]:
    for found in _LIST.finditer(sentence):
        members = (int(one[1]) if one[1] else speaker for one in _SEAT.finditer(found["list"]) if one[0][0] != "(")
        present = tuple(sorted({seat for seat in members if seat < seats}))
        some = bool(found["some"]) or _OR.search(found["list"]) is not None
        yield _List(found.start(), found.end(), present, some, bool(found["owner"]))


def _governed(sentence: str, lists: tuple[_List, ...]) -> Iterator[tuple[_List, set[str]]]:
    """Each list with what is said of it."""
    state: set[str] = set()
    last = 0
    for number, one in enumerate(lists):
        before = sentence[max(last, one.start - _REACH) : one.start] + ("⟨?" if one.some else "⟨")
        end = lists[number + 1].start if number + 1 < len(lists) else len(sentence)
        behind = sentence[one.end : min(end, one.end + _REACH)]
        state = _state(before, state)
        yield one, _behind(one, before, behind, state)
        last = one.end


def _state(before: str, state: set[str]) -> set[str]:
    """What governs after a stretch of words, given what governed before it."""
    breaks = [found.end() for found in _BREAK.finditer(before)]
    clause = breaks[-1] if breaks else 0
    if breaks and "hypothetical" not in state:
        state = set()
    found = sorted(
        (hit.start(), -hit.end(), number, sort)
        for number, (sort, pattern) in enumerate(_FORWARD)
        for hit in pattern.finditer(before)
    )
    for start, end, _, sort in found:
        if start < clause and sort != "hypothetical":
            continue
        state = _after(sort, before, clause, start, -end, state)
    return state


def _after(sort: str, before: str, clause: int, start: int, end: int, state: set[str]) -> set[str]:
    denied = NEGATION.search(before[clause:start]) is not None
    if sort == PROPOSE:
        if "neutral" in state and _ALONE.search(before[clause:]):
            return state
        if state & {ACCUSE, "among"} and not denied:
            return {"neutral"} if _ALONE.match(before, start) else state if start - clause < 40 else {PROPOSE}
        if denied:
            return {"neutral"} if _ALONE.search(before[clause:]) or "both" in before else {ACCUSE}
        return {PROPOSE} | (state & {DEFEND})
    if sort == DEFEND:
        return {"neutral"} if denied else {DEFEND} | (state & {PROPOSE})
    if sort == ACCUSE and denied:
        return {"neutral"}
    return {sort}


def _behind(one: _List, before: str, behind: str, state: set[str]) -> set[str]:
    for sort, pattern in _BACKWARD:
        found = pattern.match(behind)
        if found is None or (sort in (DEFER,) and "neutral" in state):
            continue
        denied = NEGATION.search(found[0]) is not None
        if denied and sort in (ACCUSE, DEFEND, PROPOSE):
            return set()
        keep = state & {PROPOSE} if sort == DEFEND else set()
        return {sort} | keep
    if one.owner:
        return set()
    return state & {ACCUSE, "among", DEFEND, PROPOSE, DEFER}


def _without_lists(sentence: str, speaker: int, named: bool) -> Iterator[Claim]:
    for kind, pattern in _SELF:
        if any(not _supposed(sentence, found) for found in pattern.finditer(sentence)):
            yield Claim(kind, (speaker,))
    if any(not _supposed(sentence, found) for found in _TABLE.finditer(sentence)):
        yield Claim(DEFER)
    if not named and _SAME_TEAM.search(sentence):
        yield Claim(PROPOSE)
    for found in _VOTE.finditer(sentence):
        if not _supposed(sentence, found):
            yield Claim(PROMISE, (), value=int(found["vote"].lower().startswith(("approv", "support", "back"))))


def _supposed(sentence: str, found: re.Match[str]) -> bool:
    before = _BREAK.split(sentence[max(0, found.start() - _REACH) : found.start()])[-1]
    return NEGATION.search(before) is not None or re.search(r"\bif\b", before, re.IGNORECASE) is not None


@lru_cache
def _role_pattern(roles: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(role) for role in sorted(roles, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"\b(?:I am|I'm|as) (?:an? |the |your )?({names})\b(?=,? I\b|[.,;!]|$| and\b)", re.IGNORECASE)


def _roles_claimed(sentence: str, roles: tuple[str, ...]) -> Iterator[Claim]:
    lower = [role.lower() for role in roles]
    for found in _role_pattern(roles).finditer(sentence):
        if not _supposed(sentence, found):
            yield Claim(CLAIM_ROLE, (), value=lower.index(found[1].lower()))
