"""What one statement says about players: intents and identities. The same reading for every way of inference.

GRATR (Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning", appendices 1 and 2) has a language model find the
attacks, defences and deceptions in each statement, with a score, and the identities that it assigns, with a confidence, both
0..10. Here is that reading by rule: patterns for the sentences of the table's speech acts, for what the moderator says
(`record`), and for
ordinary English words. Who speaks is given apart from the words, so that nothing a player says is read as the
moderator's. Players that do not exist and what one says about oneself carry no edge: they are dropped and counted, as is
attacking and defending the same player at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.language.english import CONJUNCTIONS, PLAYER, PLAYERS, denied, seats_in

MODERATOR: Final = -1
"""The speaker of announcements."""
ATTACK, DEFEND, DECEIVE = "attack", "defend", "deceive"
INTENTS: Final = (ATTACK, DEFEND, DECEIVE)
WEREWOLF, NOT_WEREWOLF = "werewolf", "not-werewolf"
IDENTITIES: Final = (WEREWOLF, NOT_WEREWOLF, "villager", "witch", "seer", "guard", "hunter")
MOST: Final = 10.0
"""The highest score and the highest confidence."""

# Scores and confidences of the rule, 0..10: a check says most, a mere opinion less, a vote says what it costs.
CHECK, OPINION, HUNCH, BALLOT, HEARSAY = 9.0, 6.0, 4.0, 5.0, 3.0
CLAIM, DENIAL, FOUND_DEAD, CERTAIN = 6.0, 2.0, 9.0, MOST
# What a statement about a player whose side is known tells of the speaker.
LIE, FOUND_OUT, WRONG, RIGHT = 8.0, 6.0, 4.0, 2.0


class ReadIntent(NamedTuple):
    """A player acts towards another."""

    speaker: int
    kind: str
    """One of `INTENTS`."""
    target: int
    score: float
    """How strongly, 0..10."""


class ReadJudgement(NamedTuple):
    """A player is said to be something."""

    player: int
    identity: str
    """One of `IDENTITIES`."""
    confidence: float
    """0..10."""


class ReadStatement(NamedTuple):
    """What a statement says."""

    intents: tuple[ReadIntent, ...]
    judgements: tuple[ReadJudgement, ...]
    dropped: int
    """What was said about players that do not exist, or of the speaker himself, or against what was said with it."""


def is_bad(identity: str) -> bool:
    """Whether an identity is of the werewolves' side."""
    return identity == WEREWOLF


@lru_cache(maxsize=65536)
def read(speaker: int, text: str, players: int) -> ReadStatement:
    """The intents and judgements of one statement.

    Args:
        speaker: Who says it; `MODERATOR` for announcements.
        text: The words, in English; others say nothing that can be read.
        players: Seats of the table; players are numbered from 0.

    >>> read(1, "I accuse player_3 of being evil.", players=8).intents
    (ReadIntent(speaker=1, kind='attack', target=3, score=6.0),)
    """
    collected = _Collected()
    if speaker == MODERATOR:
        _announcement(text, collected)
    else:
        rest = _reports(speaker, text, collected)
        for clause in filter(None, map(str.strip, _CLAUSES.split(rest))):
            _clause(speaker, clause, collected)
    return sift(collected.intents, collected.judgements, players)


def sift(intents: Iterable[ReadIntent], judgements: Iterable[ReadJudgement], players: int) -> ReadStatement:
    """What can be used of a reading, by rule or by a model: numbers clamped to 0..10, the strongest of equal items.

    Dropped and counted: players that do not exist, intents towards oneself, words that are no intent or identity, and
    whatever one speaker says both for and against the same player.
    """
    kept: dict[tuple[int, str, int], float] = {}
    unusable: set[tuple[int, str, int]] = set()  # the same thing said twice is dropped once
    for a, kind, b, score in intents:
        if a != b and 0 <= a < players and 0 <= b < players and kind in INTENTS:
            kept[a, kind, b] = max(kept.get((a, kind, b), 0.0), _clamped(score))
        else:
            unusable.add((a, kind, b))
    torn = {(a, b) for a, kind, b in kept if kind == DEFEND and ((a, ATTACK, b) in kept or (a, DECEIVE, b) in kept)}
    dropped = len(unusable) + sum((a, b) in torn for a, _, b in kept)
    named, lost = _judged(judgements, players)
    return ReadStatement(
        tuple(ReadIntent(a, kind, b, score) for (a, kind, b), score in kept.items() if (a, b) not in torn),
        tuple(named),
        dropped + lost,
    )


def _judged(judgements: Iterable[ReadJudgement], players: int) -> tuple[list[ReadJudgement], int]:
    """The surest judgement on each player; none where both sides are named. And how many were dropped."""
    best: dict[int, ReadJudgement] = {}
    torn: dict[int, int] = {}
    dropped = 0
    for player, identity, confidence in judgements:
        if not (0 <= player < players and identity in IDENTITIES):
            dropped += 1
            continue
        judgement = ReadJudgement(player, identity, _clamped(confidence))
        before = best.get(player)
        if player in torn or (before is not None and is_bad(before.identity) != is_bad(identity)):
            torn[player] = torn.get(player, 1) + 1
        elif before is None or (judgement.confidence, _specific(judgement)) > (before.confidence, _specific(before)):
            best[player] = judgement
    return [judgement for player, judgement in best.items() if player not in torn], dropped + sum(torn.values())


def _specific(judgement: ReadJudgement) -> bool:
    return judgement.identity != NOT_WEREWOLF


def _clamped(number: float) -> float:
    return min(MOST, max(0.0, float(number)))


class _Collected:
    """What is collected while reading."""

    def __init__(self) -> None:
        self.intents: list[ReadIntent] = []
        self.judgements: list[ReadJudgement] = []

    def both(self, speaker: int, target: int, *, bad: bool, score: float, identity: str = "") -> None:
        """The speaker is against or for somebody, and says so."""
        self.intents.append(ReadIntent(speaker, ATTACK if bad else DEFEND, target, score))
        if speaker != target:  # of oneself only claims count
            identity = identity or (WEREWOLF if bad else NOT_WEREWOLF)
            self.judgements.append(ReadJudgement(target, identity, score))


# -- the observer ----------------------------------------------------------------------------------------------


class Observer(NamedTuple):
    """Who reads, and what it knows for certain."""

    seat: int
    identity: str
    """Its own, one of `IDENTITIES`."""
    single: tuple[str, ...]
    """The identities that one player at the table holds, no more."""
    bad: tuple[int, ...]
    """Players known to be werewolves, including itself if it is a werewolf."""
    good: tuple[int, ...]
    """Players known not to be werewolves."""
    poisoned: tuple[int, ...] = ()
    """Players that it has poisoned: they are not the werewolves' victims."""


def judged_by(observer: Observer, speaker: int, reading: ReadStatement) -> tuple[ReadJudgement, ...]:
    """The judgements of a statement as an observer takes them, given what it knows (the paper's appendix 1).

    A statement about the observer, or about players whose side it knows, is evidence only about the speaker. A speaker that
    reports an impossible check, or claims the observer's own single role, is a werewolf. A right guess makes a speaker slightly
    less suspicious, a wrong guess slightly more. A werewolf, who knows all sides, learns roles alone. The observer's own words
    are no evidence.
    """
    if speaker == observer.seat:
        return ()
    if speaker == MODERATOR:
        others = [judgement for judgement in reading.judgements if judgement.player != observer.seat]
        return tuple(j for j in others if j.confidence != FOUND_DEAD or j.player not in observer.poisoned)
    bad_of = dict.fromkeys(observer.good, False) | dict.fromkeys(observer.bad, True)
    bad_of[observer.seat] = is_bad(observer.identity)
    taken: list[ReadJudgement] = []
    for judgement in reading.judgements:
        known = bad_of.get(judgement.player)
        own = judgement.player == speaker and judgement.identity == observer.identity
        if own and observer.identity in observer.single:
            taken.append(ReadJudgement(speaker, WEREWOLF, LIE))
        elif known is None:
            taken.append(judgement)
        else:
            right = known == is_bad(judgement.identity)
            if right and not known and judgement.player != observer.seat and _specific(judgement):
                taken.append(judgement)
            if judgement.player != speaker and speaker not in bad_of:
                taken.append(_of_speaker(speaker, judgement, right=right))
    return tuple(_judged_alone(taken))


def _of_speaker(speaker: int, said: ReadJudgement, *, right: bool) -> ReadJudgement:
    """What a statement about a player whose side is known tells of the speaker: wolves seldom name wolves."""
    if right:
        return ReadJudgement(speaker, NOT_WEREWOLF, FOUND_OUT if is_bad(said.identity) else RIGHT)
    return ReadJudgement(speaker, WEREWOLF, LIE if said.confidence >= CHECK else WRONG)


def _judged_alone(taken: list[ReadJudgement]) -> list[ReadJudgement]:
    """For each player the surest judgement, and the bad one of two: a liar's claims are lies."""
    best: dict[int, ReadJudgement] = {}
    for judgement in taken:
        pair = (best.get(judgement.player, judgement), judgement)  # of equals the first
        best[judgement.player] = min(pair, key=lambda j: (-is_bad(j.identity), -j.confidence))
    return list(best.values())


# -- the moderator ---------------------------------------------------------------------------------------------

_ROLES: Final = r"(werewol(?:f|ves)|wol(?:f|ves)|seer|witch|guard|hunter|(?:plain |simple |ordinary )?villager)\b"
_ANNOUNCED: Final = (
    ("is", re.compile(rf"{PLAYER} (?:was|is) (not )?(?:an? |the )?{_ROLES}", re.IGNORECASE)),
    ("dead", re.compile(rf"({PLAYERS}) (?:is|are|was|were) (?:found )?(?:dead|killed|attacked)", re.IGNORECASE)),
    ("vote", re.compile(rf"{PLAYER} (?:voted|votes) for {PLAYER}", re.IGNORECASE)),
)


def _announcement(text: str, collected: _Collected) -> None:
    """Checks and revealed roles, deaths at night (the wolves hardly kill their own), votes."""
    for what, form in _ANNOUNCED:
        for match in form.finditer(text):
            if what == "vote":
                collected.intents.append(ReadIntent(int(match[1]), ATTACK, int(match[2]), BALLOT))
            elif what == "dead":
                for seat in seats_in(match[1]):
                    collected.judgements.append(ReadJudgement(seat, NOT_WEREWOLF, FOUND_DEAD))
            else:
                identity = _identity(match[3])
                if match[2]:
                    identity = NOT_WEREWOLF
                collected.judgements.append(ReadJudgement(int(match[1]), identity, CERTAIN))


def _identity(word: str) -> str:
    word = word.lower()
    if "wol" in word:
        return WEREWOLF
    return "villager" if "villager" in word else word


# -- the players -----------------------------------------------------------------------------------------------

_CLAUSES: Final = re.compile(rf"[.!;:](?=\s|$)|(?<=\?)\s|[\n()]|{CONJUNCTIONS}", re.IGNORECASE)
_WOLF: Final = r"(?:an? |one of the )?(?:were)?wol(?:f|ves)"
_BAD: Final = rf"(?:evil|bad|guilty|suspicious|strange|dangerous|hostile|lying|a liar|{_WOLF})\b"
_GOOD: Final = (
    r"(?:good|innocent|loyal|honest|trustworthy|clean|clear|human|(?:an? |the |our )?"
    r"(?:(?:plain|simple|ordinary) )?(?:villagers?|seer|witch|guard|hunter))\b"
)
_COPULA: Final = r"\s+(?:is|are|was|were|must be|has to be|seems?|looks?|appears? to be|could be|may be|might be)\s+"
_FILL: Final = (
    r"(?:(?:to be|like|really|very|probably|likely|surely|clearly|definitely|certainly|just|a bit|not|never)\s+)*"
)
_REPORT: Final = re.compile(
    rf"\bI(?:\s+have|['’]ve)?\s+(?:checked|investigated|inspected|examined|verified)\s+(?:out\s+)?{PLAYER}"
    rf"([^\d]{{0,60}}?)\b(?:({_BAD})|({_GOOD}))",
    re.IGNORECASE,
)
_I_AM: Final = re.compile(
    r"\b(?:I\s+am|I['’]m|my\s+role\s+is|I\s+claim\s+to\s+be)\s+(not\s+)?(?:an?\s+|the\s+|your\s+|one\s+of\s+the\s+)?"
    rf"(?:{_ROLES}|(evil|good|innocent)\b)",
    re.IGNORECASE,
)
_THEY: Final = re.compile(
    rf"{PLAYER}\s+(?:has\s+|is\s+)?(?:(accus|attack|suspect|blam|vot\w+\s+(?:for|against))|(defend|protect|support|trust)"
    rf"|(deceiv|trick|mislead|fool|fram))\w*\s+{PLAYER}",
    re.IGNORECASE,
)
_VOTES: Final = re.compile(rf"\bvot(?:e|ed|ing)\s+(?:for|against|out|to\s+\w+)\s+({PLAYERS})", re.IGNORECASE)
_AGAINST: Final = re.compile(
    r"\b(?:accus\w*|suspect\w*|distrust\w*|doubt\w*|blam\w*|execut\w*|lynch\w*|eliminat\w*|exil\w*|hang\w*|kill\w*|shoot\w*"
    rf"|poison\w*|get\s+rid\s+of)\s+(?:that\s+|both\s+)?({PLAYERS})",
    re.IGNORECASE,
)
_FOR: Final = re.compile(
    r"\b(?:trust\w*|defend\w*|support\w*|vouch\w*\s+for|believ\w*(?:\s+in)?|protect\w*|sav(?:e|ed|ing)|agree\w*\s+with)"
    rf"\s+(?:that\s+|both\s+)?({PLAYERS})",
    re.IGNORECASE,
)
_TRICKS: Final = re.compile(rf"\bI\s+(?:\w+\s+)?(?:deceiv|trick|misle|fool|fram)\w*\s+({PLAYERS})", re.IGNORECASE)
_PREDICATE: Final = re.compile(rf"({PLAYERS})(?:['’]s\s+\w+)?{_COPULA}({_FILL})(?:({_BAD})|({_GOOD}))", re.IGNORECASE)
_IS: Final = re.compile(_COPULA, re.IGNORECASE)
_STANCES: Final = ((_VOTES, True, BALLOT), (_AGAINST, True, OPINION), (_FOR, False, OPINION))


def _reports(speaker: int, text: str, collected: _Collected) -> str:
    """Checks that are reported, which may run over several sentences; returns the text without them."""
    for match in _REPORT.finditer(text):
        bad = (match[3] is not None) != denied(match[2])
        collected.both(speaker, int(match[1]), bad=bad, score=CHECK)
        collected.judgements.append(ReadJudgement(speaker, "seer", CLAIM))
    return _REPORT.sub(" . ", text)


def _clause(speaker: int, clause: str, collected: _Collected) -> None:
    """One clause. What a claim or hearsay takes up is not read again as an opinion."""
    rest = _hearsay(_claims(speaker, clause, collected), collected)
    for form, bad, score in _STANCES:
        for match in form.finditer(rest):
            against = denied(rest[: match.start()])
            # to accuse somebody not is to say little; "I trust that player_1 is good" is read as "player_1 is good"
            if not (bad and against) and _IS.match(rest, match.end()) is None:
                for seat in seats_in(match[1], speaker):
                    collected.both(speaker, seat, bad=bad != against, score=HUNCH if against or "?" in rest else score)
    for match in _TRICKS.finditer(rest):
        collected.intents += [ReadIntent(speaker, DECEIVE, seat, OPINION) for seat in seats_in(match[1], speaker)]
    _predicates(speaker, rest, collected)


def _claims(speaker: int, clause: str, collected: _Collected) -> str:
    """What the speaker claims to be; returns the clause without it."""
    for match in _I_AM.finditer(clause):
        word = (match[2] or match[3]).lower()
        bad = word == "evil" or "wol" in word
        if match[1] and bad:
            collected.judgements.append(ReadJudgement(speaker, NOT_WEREWOLF, DENIAL))
        elif not match[1]:
            identity = _identity(word) if match[2] else (WEREWOLF if bad else NOT_WEREWOLF)
            confidence = DENIAL if word in ("good", "innocent") else CHECK if bad else CLAIM
            collected.judgements.append(ReadJudgement(speaker, identity, confidence))
    return _I_AM.sub(" ", clause)


def _hearsay(clause: str, collected: _Collected) -> str:
    """What somebody is said to do to somebody else; returns the clause without it."""
    for match in _THEY.finditer(clause):
        kind = ATTACK if match[2] else DEFEND if match[3] else DECEIVE
        collected.intents.append(ReadIntent(int(match[1]), kind, int(match[5]), HEARSAY))
    return _THEY.sub(" ", clause)


def _predicates(speaker: int, clause: str, collected: _Collected) -> None:
    """What players are said to be."""
    for match in _PREDICATE.finditer(clause):
        against = denied(match[2]) != denied(re.split(r",|\band\b", clause[: match.start()])[-1])
        bad = (match[3] is not None) != against
        role = re.search(r"seer|witch|guard|hunter|villager", match[4] or "", re.IGNORECASE)
        if role and against:
            continue  # not to be the Seer is not to be a werewolf
        sure = OPINION if not against and "?" not in clause else HUNCH
        for seat in seats_in(match[1], speaker):
            collected.both(speaker, seat, bad=bad, score=sure, identity=role[0].lower() if role else "")
