"""Heuristics for the players that an utterance wants on the quest, praises, suspects, or wants off it.

What is looked for are a few turns of speech around groups of players (`clauses`): verbs of choosing and of excluding in
front of a group, praise and suspicion behind one, and roles that a group is said to hold (`roles`). What other players
are reported to have suggested is not the speaker's own stance, unless the speaker follows it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from parlour.envs.avalon.vocabulary import EVIL
from parlour.envs.language.english import negated, negated_at_end
from parlour.training.papers.avalon_social.clauses import GROUP, NOBODY, members, sentences
from parlour.training.papers.avalon_social.roles import named, openly_evil


class Sign(Enum):
    """The speaker's stance in a turn of speech."""

    WANTS = "wants on the quest"
    PRAISES = "calls good, or follows"
    SUSPECTS = "holds to be evil"
    EXCLUDES = "wants off the quest"


class Stances(NamedTuple):
    """Seats, ascending; who is in neither tuple is met neutrally."""

    trust: tuple[int, ...]
    distrust: tuple[int, ...]


# Words that may stand between a verb and the players it is about.
_FILLER: Final = (
    r"(?:\s+(?:that|the|of|for|up|both|as well|also|we|to|a|my|strongly|instead|again|once|considering|including|include"
    r"|includes?|inclusion|selection|selecting|select|choosing|choose|choice|taking|take|having|sending|send|adding|add"
    r"|picking|pick|consider|putting|proposal|idea|with|on|only|in|team|players?|candidates?|proceed|go)\b)*"
)
_CHOOSING: Final = (
    r"\b(?:includ(?:e|es|ing)|inclusion|recommend(?:s|ing)?|suggest(?:s|ing)?|propos(?:e|es|ing)|nominat(?:e|es|ing)"
    r"|select(?:s|ing|ion)?|choos(?:e|es|ing)|pick(?:s|ing)?|consider(?:s|ing)?|support(?:s|ing)?|favou?r(?:s|ing)?"
    r"|prefer|back|endorse|advocat(?:e|es|ing)|take|send|agree with|vote for|i(?: would|['’]d) like)\b"
)
_DROPPING: Final = (
    r"\b(?:exclud(?:e|es|ing)|exclusion|avoid(?:s|ing)?|object(?:s|ing)?|oppos(?:e|es|ing)|reject(?:s|ing)?"
    r"|leav(?:e|ing) out|keep(?:ing)? out|remov(?:e|ing)|not (?:be )?(?:includ|select|choos|recommend|suggest|support|take"
    r"|propos|nominat|pick|want|agree with)\w*|against)\b"
)
_DOUBTING: Final = (
    r"\b(?:suspect(?:s|ing)?|distrust\w*|accus(?:e|es|ing)|doubts?|doubting|mistrust|beware of|wary of|suspicious of"
    r"|cautious (?:of|about|with)|(?:suspicions?|concerns?|reservations|doubts)(?:\s+\w+)?\s+(?:about|regarding|towards?|of|on)"
    r"|(?:not|n['’]t|cannot|hardly)\s+(?:\w+\s+)?trust)\b(?:\s+(?:including|that|the|with|both|also))*"
)
_TRUSTING: Final = r"\b(?:trust(?:s|ing)?|believe in|vouch for|defend|have faith in|rely on)\b(?:\s+(?:that|both|in))*"
_FOLLOWING: Final = (
    r"\b(?:agree with|support|based on|follow|second|echo|endorse|trust|due to|in line with)\s+(?:the\s+)?(?:\w+\s+)?"
)
_ADVICE: Final = (
    r"(?:suggestions?|proposals?|recommendations?|decisions?|choices?|objections?|reasoning|advice|insights?)"
)

_NOT_ADVISED: Final = r"(?!\s+(?:(?:should|must|to)\s+)?(?:\w+ly\s+)?(?:consider|choose|select|pick|decide|name|explain|tell|vote|speak|share)s?\b)"
"""Advice to a leader ("I suggest that player_3 consider ...") wants nobody on the quest."""

_BEFORE: Final = {
    Sign.EXCLUDES: re.compile(rf"{_DROPPING}{_FILLER}\s+{GROUP}(?!['’]s)", re.IGNORECASE),
    Sign.SUSPECTS: re.compile(rf"{_DOUBTING}\s+{GROUP}(?!['’]s)", re.IGNORECASE),
    Sign.WANTS: re.compile(
        rf"{_CHOOSING}(?:{_FILLER}|{NOBODY}*?\bsuch as(?: both)?)\s+{GROUP}(?!['’]s){_NOT_ADVISED}", re.IGNORECASE
    ),
    Sign.PRAISES: re.compile(rf"{_TRUSTING}\s+{GROUP}", re.IGNORECASE),
}
"""Verbs in front of a group."""
_FOLLOWS: Final = re.compile(
    rf"{_FOLLOWING}(?:{GROUP}['’]s?\s|{_ADVICE}\s+(?:\w+\s+)?(?:by|of|from)\s+{GROUP})|\bagree with\s+{GROUP}",
    re.IGNORECASE,
)
_SHOULD: Final = rf"{GROUP}(?:\s*,[^,⟨⟩]*,)?\s+(?:\w+\s+)?(?:should|must|would|could|can|will|may|to)\s+(?:\w+ly\s+|also\s+|both\s+)*"
_BEHIND: Final = {
    Sign.EXCLUDES: re.compile(
        rf"{_SHOULD}(?:(?:not|never)\b|be\s+(?:excluded|avoided|left out|kept (?:off|out)|removed))"
        rf"|{GROUP}{NOBODY}{{0,90}}?\band should (?:not|be excluded|be avoided)"
        rf"|{GROUP}['’]s exclusion",
        re.IGNORECASE,
    ),
    Sign.WANTS: re.compile(
        rf"{_SHOULD}(?:be\s+(?:\w+\s+){{0,3}}?(?:included|chosen|selected|considered|candidates?|choices?|members?|picked|part"
        rf"|taken|sent|given|on|in)\b|go\b|join\b|make\b)"
        rf"|(?:candidates?|team|members|choices?)\b{NOBODY}{{0,60}}?\b(?:should be|would be|are|is|be|to be)\s+{GROUP}",
        re.IGNORECASE,
    ),
    Sign.SUSPECTS: re.compile(
        rf"{GROUP}{NOBODY}{{0,110}}?(?<!any )\b(?:(?<!non-)suspicious(?! of)|untrustworthy|untrusted|disloyal"
        rf"|(?:rais|show|display|exhibit)\w*\s+(?:\w+\s+){{0,2}}?(?:suspicions?|concerns?|doubts?)\b"
        rf"(?!\s+(?:\w+\s+)?(?:about|regarding|towards?|of|on|among)\s)|which is concerning)",
        re.IGNORECASE,
    ),
    Sign.PRAISES: re.compile(
        rf"{GROUP}{NOBODY}{{0,130}}?\b(?:(?:loyal(?:ty|ly)?(?! servants?\b)|(?<=are )likely loyal servants|trustworth(?:y|iness)|dedicat(?:ed|ion)|reliab(?:le|ility)|committed"
        rf"|commitment|good|innocent|trusted|honest|valuable|safer?|insights|consistency|lack of suspicion)\b"
        rf"|(?:not|n['’]t|never|neither|nor)\s+(?:\w+\s+)?(?:been identified|raised?|shown? any|given any)"
        rf"|without raising any)",
        re.IGNORECASE,
    ),
}
"""What is said behind a group, about it."""
_FIRST_PERSON: Final = re.compile(r"\b(?:I|we|let['’]?s|let us|my|our)\b", re.IGNORECASE)
_REPORTED: Final = re.compile(rf"{GROUP}(?!['’])|\b(?:their|they|he|she)\b", re.IGNORECASE)
_URGED: Final = re.compile(
    r"\b(?:urge|encourage|ask|invite|discuss|test|question|prove|importance|prioriti[sz]\w*)\b", re.I
)
_OF_OTHERS: Final = re.compile(r"\b(?:players|candidates|those) (?:who|that)\b|\bI\b")
_NEAR: Final = re.compile(r"[,;:]|\b(?:and|but)\b")


def stances(words: str, speaker: int) -> Stances:
    """The other seats that the words trust and distrust.

    A player that the speaker wants off the quest is distrusted; wanted on it and called evil: neither; otherwise suspicion counts
    before praise.
    """
    signs_by_seat = signs(words, speaker)
    trust, distrust = [], []
    for seat in sorted(set(signs_by_seat) - {speaker}):
        of = signs_by_seat[seat]
        if Sign.EXCLUDES in of or (Sign.SUSPECTS in of and Sign.WANTS not in of):
            distrust.append(seat)
        elif Sign.SUSPECTS not in of:
            trust.append(seat)
    return Stances(tuple(trust), tuple(distrust))


def proposes_self(words: str, speaker: int) -> bool:
    """Whether the speaker is among those it wants on the quest, or offers to go."""
    of = signs(words, speaker).get(speaker, set())
    offers = (match for sentence in sentences(words, speaker) for match in _OFFERS.finditer(sentence))
    return (Sign.WANTS in of and Sign.EXCLUDES not in of) or any(
        not _denied(offer) and not negated(offer[0]) for offer in offers
    )


_OFFERS: Final = re.compile(
    r"\b(?:I (?:\w+ )?volunteer|(?:recommend|suggest|propose|nominate|choose|pick|include|including) me"
    r"|I(?: am|['’]m) (?:\w+ )?(?:willing|ready|happy) to (?:participate|go|join|serve|be (?:on|part))"
    r"|I (?:should|want to|would like to|['’]d like to) (?:be (?:on|in|part|included|chosen|a candidate)|go|join|participate))\b",
    re.IGNORECASE,
)


def signs(words: str, speaker: int) -> dict[int, set[Sign]]:
    """The signs that the words give of each seat they are about, the speaker among them.

    A speaker that openly plays for the evil side does not suspect players it calls evil.
    """
    by_seat: dict[int, set[Sign]] = defaultdict(set)
    allies = openly_evil(words, speaker)
    for sentence in sentences(words, speaker):
        for sign, group in _of_sentence(sentence):
            for seat in members(group):
                by_seat[seat].add(sign)
        for seat, of in named(sentence).items():
            if not allies and any(ally.sides == {EVIL} for ally in of):
                by_seat[seat].add(Sign.SUSPECTS)
    return by_seat


def _of_sentence(sentence: str) -> Iterator[tuple[Sign, str]]:
    for sign, pattern in _BEFORE.items():
        for match in pattern.finditer(sentence):
            if not _reported(sentence, match) and not (sign in (Sign.WANTS, Sign.PRAISES) and _denied(match)):
                yield sign, match[1]
            elif sign is Sign.WANTS and not _reported(sentence, match) and negated_at_end(sentence[: match.start()]):
                yield Sign.EXCLUDES, match[1]
    for match in _FOLLOWS.finditer(sentence):
        if not _reported(sentence, match) and not _denied(match):
            yield Sign.PRAISES, next(group for group in match.groups() if group)
    for sign, pattern in _BEHIND.items():
        for match in pattern.finditer(sentence):
            group = next(group for group in match.groups() if group)
            if not _TOLD_BY_OTHERS.search(sentence[: match.start()]) and not _turned(sign, match):
                yield sign, group


def _reported(sentence: str, match: re.Match[str]) -> bool:
    """Whether somebody else is the subject of a verb: a group before it, and no "I" or "we" before that."""
    before = _TURNS.split(sentence[: match.start()])[-1]
    return bool(_REPORTED.search(before)) and not _FIRST_PERSON.search(before)


_TOLD_BY_OTHERS: Final = re.compile(
    rf"{GROUP}{NOBODY}*\b(?:said|says|claim\w*|stat\w*|thinks?|believe\w*|suggest\w*|propos\w*|recommend\w*|mention\w*"
    r"|express\w*|agree\w*|support\w*)\b(?:(?!\bI\b)[^,;⟨⟩])*$",
    re.IGNORECASE,
)
_TURNS: Final = re.compile(r",\s*(?:but|however|so|and (?=I\b|we\b)|while|whereas|yet)\b|;")


def _denied(match: re.Match[str]) -> bool:
    """Whether a negation or an exclusion stands before the match in its clause."""
    before = _NEAR.split(match.string[: match.start()])[-1]
    return negated(before) or _AGAINST.search(before) is not None


_AGAINST: Final = re.compile(f"{_DROPPING}|{_DOUBTING}", re.IGNORECASE)


def _turned(sign: Sign, match: re.Match[str]) -> bool:
    """Whether praise or suspicion is denied, or asked for rather than said."""
    if sign in (Sign.WANTS, Sign.EXCLUDES):
        return False
    behind = re.split(GROUP, match[0], maxsplit=1)[-1]
    near = _NEAR.split(behind)[-1]
    if sign is Sign.SUSPECTS:
        return negated(near)
    denies = re.search(r"\b(?:not|n['’]t|lacks?|hardly|doubts? (?:about )?(?:their|his|her))\b", near)
    kept = re.search(r"(?:been identified|raised?|any)$|lack of suspicion", behind)
    asked = _URGED.search(match.string[: match.end()][-160:]) or _OF_OTHERS.search(behind)
    return bool((denies and not kept) or asked)
