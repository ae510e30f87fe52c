"""How Werewolf's words are read: the player in a choice, yes or no, and the claims in a talk."""

from __future__ import annotations

import re
from typing import Final

from parlour.envs.core import Move
from parlour.envs.language.english import PLAYER, last_clause, names, negated
from parlour.envs.language.text import AmbiguousMove, UnreadableMove, read_choice, read_claims, read_speech
from parlour.envs.werewolf.vocabulary import GIVE, KEEP, ROLES, WEREWOLF, WerewolfView

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s*")
# "As player_3, I ..." says who speaks, not whom the words choose (published code)
_SPEAKER: Final = re.compile(rf"\bas\s+(?:the\s+)?{PLAYER}", re.IGNORECASE)
_MENTION: Final = re.compile(rf"{PLAYER}|\b(?:myself)\b", re.IGNORECASE)
_BARE: Final = re.compile(r"\W*(\d+)\W*")
# A verb of choosing with its object. Past forms tell of what happened ("the wolves killed player_2").
_CHOICE: Final = re.compile(
    r"\b(?:vot|kill|hunt|attack|devour|eat|execut|eliminat|hang|lynch|shoot|protect|guard|poison|check|investigat|inspect|verif"
    r"|choos|pick|select|target|want)(?:e|es|ing|s|y|ies)?\b\W+(?:(?!player|not\b|never\b)\w+\W+){0,2}?"
    rf"(?:{PLAYER}|\b(myself|me)\b|\b(nobody|no[ -]one|none)\b|\b(anyone|anybody)\b)",
    re.IGNORECASE,
)
_PASSING: Final = re.compile(r"(?:^\W*|\bI\s+|\b(?:will|shall|['’]ll)\s+)(?:pass|abstain|skip)\b", re.IGNORECASE)
_PASS: Final = re.compile(r"\b(?:pass|abstain|skip|nobody|no[ -]one|none)\b|弃权|跳过", re.IGNORECASE)

_ANSWERS: Final = {
    GIVE: re.compile(
        r"(?P<word>\byes\b|\b(?:save|saving|heal|rescue|give|use|using)\b(?!\s+it\b)|是的)", re.IGNORECASE
    ),
    KEEP: re.compile(
        r"(?P<word>\b(?:keep|keeping|withhold|refuse|decline|pass)\b|(?<!\w )\bno\b(?=\s*(?:[\"'.!?,;:]|$)))",
        re.IGNORECASE,
    ),
}
_YES_WORDS: Final = re.compile(r"yes|save|will use|choose to use", re.IGNORECASE)

# What this game calls evil and good, put into the words that are common to all games.
_VILLAGE: Final = "|".join(role for role in ROLES if role != WEREWOLF)
_COMMON: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (
            r"\bI(?:['’]m|\s+am|\s+claim\s+to\s+be|\s+claim)\s+(?:actually\s+|really\s+|indeed\s+)?(?:(?:an?|the)\s+)?",
            "I am ",
        ),
        (r"(?:\s+not|n['’]t|\s+no)\s+(?:an?\s+|the\s+)?(?:evil|(?:were)?wol(?:f|ves))\b", " good"),
        (r"(?<!\bI am )(?<!\w)(?:an?\s+|the\s+)?(?<!\bI am )(?:were)?wol(?:f|ves)\b", "evil"),
        (rf"(?<=\bis\s)(?:an?\s+|the\s+)?(?:{_VILLAGE})\b", "good"),
        (r"\b(?:last night|tonight)\b", " "),
        (r"\b(?:vot(?:e|ing)\s+(?:for|out|against)|execute|eliminate|hang|lynch)\b", "accuse"),
    )
)
_PROPOSED: Final = re.compile(r"\b(?:kill|hunt|attack|devour|eat|target|murder)(?:ing)?\b", re.IGNORECASE)


def read_target(text: str, me: int) -> tuple[int, ...]:
    """The one seat that the words choose, or () for nobody.

    The object of a verb of choosing counts before mere mentions; what is denied is not chosen.

    Raises:
        UnreadableMove: nobody is named and no pass is said.
        AmbiguousMove: several are chosen, or mentioned without being chosen.
    """
    text = _SPEAKER.sub(" ", text)
    bare = _BARE.fullmatch(text)
    if bare:
        return (int(bare[1]),)
    chosen, denied = _choices(text, me)
    if not chosen and not denied:
        chosen = {(int(m[1]) if m[1] else me,) for m in _MENTION.finditer(text)} | (
            {()} if _PASS.search(text) else set()
        )
    if len(chosen) > 1:
        targets = ", ".join(names(seats) for seats in sorted(chosen))
        raise AmbiguousMove(f"{text!r} names {targets}; accepted: exactly one")
    if not chosen:
        raise UnreadableMove(f"{text!r} chooses nobody by name; accepted: a name such as player_0, or nobody")
    return chosen.pop()


def _choices(text: str, me: int) -> tuple[set[tuple[int, ...]], bool]:
    """What the words choose, and whether they deny a choice."""
    chosen: set[tuple[int, ...]] = {()} if _PASSING.search(text) else set()
    denied = False
    for match in _CHOICE.finditer(text):
        seat, own, nobody, anyone = match.groups()
        against = negated(last_clause(text[: match.start()]))
        if nobody or (anyone and against):
            chosen.add(())
        elif not against and not anyone:
            chosen.add((me if own else int(seat),))
        denied |= against and not anyone
    return chosen, denied


def first_named(text: str, me: int) -> tuple[int, ...]:
    """The published code's reading: the first player named in the first sentence, else in the last; else nobody."""
    sentences = [part for part in _SENTENCE.split(_SPEAKER.sub(" ", text)) if part]
    for sentence in (sentences[0], sentences[-1]) if sentences else ():
        match = _MENTION.search(sentence)
        if match:
            return (int(match[1]) if match[1] else me,)
    return ()


def read_yes(text: str) -> Move:
    """Whether the antidote is given. Raises `UnreadableMove` or `AmbiguousMove`."""
    return read_choice(text, _ANSWERS)


def says_yes(text: str) -> bool:
    """The published code's reading: any yes-word is a yes, "I will not save" too."""
    return _YES_WORDS.search(text) is not None


def read_talk(words: str, view: WerewolfView) -> Move:
    """The speech act in free words: among wolves a proposed victim, else what `parlour.envs.language.text.read_speech` finds."""
    return read_speech(_common(words, view), view, view.role_names)._replace(words=words)


def claims_of(words: str, view: WerewolfView) -> tuple[Move, ...]:
    """All that free words claim, as `parlour.envs.language.text.read_claims` finds it; the first is what `read_talk` gives."""
    return read_claims(_common(words, view), view, view.role_names)


def _common(words: str, view: WerewolfView) -> str:
    """The words with what this game calls things put into the words of all games."""
    if view.night:
        return _PROPOSED.sub("choose", words)
    for pattern, put in _COMMON:
        words = pattern.sub(put, words)
    return words
