"""The claims in free words: players accused, defended, wanted on the team or followed, roles claimed, promises.

A reader by rule, of English as it is spoken at tables of hidden roles; it knows no rules of a game. A statement is read
sentence by sentence. Lists of seats ("player_1, player_2 and me", "one of player_3/player_4") become one mark; the turn of
speech before a list governs it, and the lists that follow it, until another turn or the end of the clause; what is said
right behind a list counts for that list alone. What is denied, supposed ("if ...") or reported of others claims nothing.
How far it agrees with people's reading of real speech: docs/reference/claims.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.language import claim_words as turns
from parlour.envs.language.english import NEGATION
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, DEFEND, PROMISE

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
    """The seats that it is about, ascending. Empty: `defer` to the table, `propose` a team by reference ("the same team")."""
    some: bool = False
    """Whether it is about some of these seats only ("one of player_1/player_2")."""
    value: int = -1
    """Of `claim_role` the role's number, of `promise` 1 (will approve) or 0 (will reject)."""


class _List(NamedTuple):
    """A list of seats in a sentence: where it stands, who is in it, ascending, and whether some of them only are meant."""

    start: int
    end: int
    seats: tuple[int, ...]
    some: bool


_NAME: Final = r"player[_ ]?\d{1,2}(?!\w)"
_MEMBER: Final = rf"(?:{_NAME}(?:\s*\((?:myself|me)\))?|(?:myself|\bme\b|\bI\b(?=\s*\({_NAME}\)))(?:\s*\({_NAME}\))?)"
_JOIN: Final = (
    r"(?:\s*(?:,\s*)?(?:\band/or\b|\bor\b|\band\b|\bplus\b|&|\+)\s*(?:(?:then|also|maybe|possibly|either|even|both)\s+)?"
    r"|\s*,\s*(?:maybe\s+)?|\s*/\s*|\s*–\s*|-)"
)
_LIST: Final = re.compile(
    r"(?P<some>\b(?:one|two|three|either|some|any|slot|as many)(?: or (?:two|both|one))?(?: \w+)? (?:of|from|between|among)\s+(?:the\s+)?"
    r"|\beither\s+)?(?:both\s+)?"
    rf"(?P<list>{_MEMBER}(?:{_JOIN}{_MEMBER})*(?:\s+(?:and|or|nor) I\b(?!\s+(?:know|think|would|will|want|can|do|like)|'))?)"
    r"(?:\s+(?:core|pair|trio|block|bloc|combo|duo|group|set|overlap|lineup|combination|pairing)\b)?",
    re.IGNORECASE,
)
_AGAIN: Final = re.compile(
    r"\b(?:that|this) (?:exact |same |proven |clean |whole )*(?:pair|core|trio|group|combo|duo|block)\b|\b(?:both of (?:them|those)|them both)\b"
    r"|\b(?P<one>her|him)\b(?=\s*(?:[.,;!—)]|$|(?:off|out|back|here|on|there|again|from|with|and|is|now|this|right|entirely)\b))",
    re.IGNORECASE,
)
"""The seats that the words named last."""
_SEAT: Final = re.compile(rf"\((?:{_NAME}|me|myself)\)|player[_ ]?(\d+)|\b(?:me|myself|I)\b", re.IGNORECASE)
_OR: Final = re.compile(r"\bor\b", re.IGNORECASE)
_ASIDE: Final = re.compile(r"\((?!(?:like|e\.g|such as|including|me\b|myself\b)|player)[^()⟨⟩]{0,200}\)", re.IGNORECASE)
_PLAIN: Final = str.maketrans({"’": "'", "‘": "'", "‑": "-"} | dict.fromkeys('“”"*{}[]⟨⟩', " "))
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+")
_FORWARD: Final = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in turns.FORWARD)
_BACKWARD: Final = tuple((sort, re.compile(pattern, re.IGNORECASE)) for sort, pattern in turns.BACKWARD)
_SELF: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in turns.SELF)
_BREAK, _CONDITION, _RESULT, _TABLE, _SAME_TEAM, _VOTE, _KEEPING, _CLEAN_BEFORE, _AGREEING = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        turns.BREAK,
        turns.CONDITION,
        turns.RESULT,
        turns.OF_THE_TABLE,
        turns.SAME_TEAM,
        turns.VOTE,
        turns.KEEPING,
        turns.CLEAN_BEFORE,
        turns.AGREEING,
    )
)
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
    stated: dict[Claim, None] = {}
    named: tuple[int, ...] = ()
    for sentence in _SENTENCE.split(words[:_READ].translate(_PLAIN)):
        clause = _ASIDE.sub("", _unsupposed(sentence))
        lists = tuple(_lists(clause, speaker, seats, named))
        for claim in _of_sentence(clause, lists, speaker, roles):
            if all(0 <= seat < seats for seat in claim.seats):
                stated[claim] = None
        named = lists[-1].seats if lists else named
    return tuple(stated)


def _unsupposed(sentence: str) -> str:
    """A sentence without what it only supposes, and without what it concludes from a supposed result."""
    match = _CONDITION.search(sentence)
    while match is not None:
        rest = "" if _RESULT.search(match[0]) else sentence[match.end() :]
        sentence = f"{sentence[: match.start()]}; {rest}"
        match = _CONDITION.search(sentence, match.start())
    return sentence


def _of_sentence(sentence: str, lists: tuple[_List, ...], speaker: int, roles: tuple[str, ...]) -> Iterator[Claim]:
    named = False
    for group, sorts in _governed(sentence, lists):
        named |= PROPOSE in sorts
        for sort in sorted(sorts):
            yield from _claim(sort, group, speaker)
    yield from _without_lists(sentence, speaker, named)
    yield from _roles_claimed(sentence, roles)


def _claim(sort: str, group: _List, speaker: int) -> Iterator[Claim]:
    kind = ACCUSE if sort == "among" else sort
    about = tuple(seat for seat in group.seats if seat != speaker) if kind in (ACCUSE, DEFER) else group.seats
    if about:
        yield Claim(kind, about, len(group.seats) > 1 and kind != DEFER and (group.some or sort == "among"))


def _lists(sentence: str, speaker: int, seats: int, named: tuple[int, ...]) -> Iterator[_List]:
    """The lists of a sentence in order; `named` are those whom the sentence before named last."""
    hits = [*_LIST.finditer(sentence), *_AGAIN.finditer(sentence)]
    for hit in sorted(hits, key=re.Match.start):
        if hit.re is _AGAIN:
            if named and (len(named) == 1) == (hit["one"] is not None):
                yield _List(hit.start(), hit.end(), named, False)
            continue
        if hit["list"].lower() == "me" and _TO_ME.search(sentence[max(0, hit.start() - 20) : hit.start()]):
            continue
        members = (
            int(match[1]) if match[1] else speaker for match in _SEAT.finditer(hit["list"]) if match[0][0] != "("
        )
        named = tuple(sorted({seat for seat in members if 0 <= seat < seats}))
        some = bool(hit["some"]) or _OR.search(hit["list"]) is not None
        yield _List(hit.start(), hit.end(), named, some)


def _governed(sentence: str, lists: tuple[_List, ...]) -> Iterator[tuple[_List, frozenset[str]]]:
    """Each list with what is said of it."""
    clean = _CLEAN_BEFORE.search(sentence) is not None
    state: frozenset[str] = frozenset()
    last = 0
    for number, group in enumerate(lists):
        before = sentence[max(last, group.start - _REACH) : group.start]
        state = _state(before, group, state)
        end = lists[number + 1].start if number + 1 < len(lists) else len(sentence)
        sorts, last, state = _behind(group, before, sentence[group.end : min(end, group.end + _REACH)], state)
        if clean and PROPOSE in sorts and _KEEPING.search(_BREAK.split(before)[-1]):
            sorts |= {DEFEND}
        yield group, sorts & _SAID


def _state(before: str, group: _List, state: frozenset[str]) -> frozenset[str]:
    """What governs a list behind a stretch of words, given what governed before it."""
    if "reported" in state and _TURN.search(before) is None:
        return state
    breaks = [match.end() for match in _BREAK.finditer(before)]
    clause = breaks[-1] if breaks else 0
    if breaks:
        state = frozenset()
    marked = before[clause:] + ("⟨?" if group.some else "⟨," if len(group.seats) > 1 else "⟨")
    hits = (
        (hit.start(), -hit.end(), number, sort)
        for number, (sort, pattern) in enumerate(_FORWARD)
        for hit in pattern.finditer(marked)
    )
    last = 0
    for start, end, _, sort in sorted(hits):
        if start >= last:
            state, last = _after(sort, marked, start, state), -end
    return state


def _after(sort: str, clause: str, start: int, state: frozenset[str]) -> frozenset[str]:
    """What governs after a turn of speech of this sort at this place of a clause."""
    denied = NEGATION.search(clause, max(0, start - 40), start) is not None
    if sort == PROPOSE:
        if state & {ACCUSE, "among", "apart", "neutral"}:
            return state if not _RESUMED.search(clause, 0, start) else frozenset({PROPOSE})
        return frozenset({"apart"}) if denied else frozenset({PROPOSE}) | (state & {DEFEND})
    if sort == "instead":
        return frozenset({PROPOSE}) if ACCUSE in state and _SWAPPED.search(clause) else state
    if sort == "join":
        if denied or state & {ACCUSE, "apart"}:
            return frozenset({"apart"})
        return state if state & {"among", "neutral"} else frozenset({PROPOSE}) | (state & {DEFEND})
    if sort == "apart":
        return frozenset({"apart"}) if denied or state & {ACCUSE, "apart"} else frozenset({"neutral"})
    if sort in (DEFEND, "best"):
        good = frozenset({DEFEND, PROPOSE}) if sort == "best" else frozenset({DEFEND}) | (state & {PROPOSE})
        return frozenset({"neutral"}) if denied or "apart" in state else good
    return frozenset({"neutral"}) if sort == ACCUSE and denied else frozenset({sort})


_TURN: Final = re.compile(turns.TURN, re.IGNORECASE)
_RESUMED: Final = re.compile(r"(?:,|—|\band\b|\bso\b|\bwith\b)[^,—]*$", re.IGNORECASE)
_TO_ME: Final = re.compile(
    r"\b(?:to|on|of|about|pings|makes|gives|tells?|let|(?:works?|fine|good|okay) for) $", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"\bbetween $", re.IGNORECASE)
_FOR_EXAMPLE: Final = re.compile(r"\b(?:like|team|e\.g\.,) $", re.IGNORECASE)
_SWAPPED: Final = re.compile(r"^\s*(?:out |back |\()?(?:for|with)\s*⟨", re.IGNORECASE)
_SAID: Final = frozenset({ACCUSE, "among", DEFEND, PROPOSE, DEFER})


def _behind(
    group: _List, before: str, behind: str, state: frozenset[str]
) -> tuple[frozenset[str], int, frozenset[str]]:
    """What is said of a list, up to where its words were read, and what governs behind it."""
    if _BETWEEN.search(before) or "reported" in state:
        return frozenset(), group.end, state
    for sort, pattern in _BACKWARD:
        match = pattern.match(behind, int(behind.startswith(")")))
        if match is None:
            continue
        end = group.end + match.end()
        if sort == "report":
            follows = _AGREEING.search(before) is not None or "including" in before[-40:]
            return frozenset({DEFER}) if follows else frozenset(), end, frozenset({"reported"})
        if NEGATION.search(match[0]) and not (sort == DEFEND and " no " in match[0]):
            return frozenset(), end, state
        if sort == "best":
            return frozenset({DEFEND, PROPOSE}), end, state
        if sort == DEFEND and PROPOSE in state and _FOR_EXAMPLE.search(before):
            return frozenset({PROPOSE}), end, state
        return frozenset({sort}) | (state & {PROPOSE} if sort == DEFEND else frozenset()), end, state
    if _AGREEING.search(before):
        return frozenset({DEFER}), group.end, frozenset({"neutral"})
    if behind.startswith("'"):
        return frozenset(), group.end, state
    if "apart" in state:
        return frozenset({ACCUSE}) if len(group.seats) == 1 else frozenset(), group.end, state
    return state, group.end, state


def _without_lists(sentence: str, speaker: int, named: bool) -> Iterator[Claim]:
    for kind, pattern in _SELF:
        if any(not _denied(sentence, match) for match in pattern.finditer(sentence)):
            yield Claim(kind, (speaker,))
    if any(not _denied(sentence, match) for match in _TABLE.finditer(sentence)):
        yield Claim(DEFER)
    if not named and _SAME_TEAM.search(sentence):
        yield Claim(PROPOSE)
    for match in _VOTE.finditer(sentence):
        if not _denied(sentence, match):
            yield Claim(PROMISE, (), value=int(match["vote"].lower().startswith(("approv", "back", "vote yes"))))


def _denied(sentence: str, match: re.Match[str]) -> bool:
    return NEGATION.search(_BREAK.split(sentence[max(0, match.start() - _REACH) : match.start()])[-1]) is not None


@lru_cache
def _role_pattern(roles: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(role) for role in sorted(roles, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"\b(?:I am|I'm|as) (?:an? |the |your )?({names})\b(?=,? I\b|[.,;!]|$| and\b)", re.IGNORECASE)


def _roles_claimed(sentence: str, roles: tuple[str, ...]) -> Iterator[Claim]:
    lower = [role.lower() for role in roles]
    for match in _role_pattern(roles).finditer(sentence):
        if not _denied(sentence, match):
            yield Claim(CLAIM_ROLE, (), value=lower.index(match[1].lower()))
