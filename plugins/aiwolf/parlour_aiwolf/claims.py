"""AIWolf's talk and parlour's claims: one table says which sentence is which claim; the rest becomes English words.

A report is a medium's, and so `IDENTIFIED`, if the last role that its speaker claimed is the medium's; else it is `DIVINED`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.core import Move, ParlourError
from parlour.envs.language.english import name
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, DEFEND, RECOMMEND, REPORT, SILENT

from parlour_aiwolf.language import (
    AIWOLF_ROLES,
    ANY,
    ANY_WORD,
    Compound,
    Pause,
    Reply,
    Sentence,
    Utterance,
)


class Correspondence(NamedTuple):
    """One row of `CORRESPONDENCES`: a sentence about another seat, or about the speaker for `COMINGOUT`."""

    verb: str
    value: str
    """A role or species; `ROLE` for every role."""
    kind: str
    """The claim's kind."""
    verdict: int | None = None
    """For a report: 1 a werewolf, 0 a human."""
    medium: bool = False
    """For a report: whether it is that of a seat that claims to be the medium."""

    def fits(self, medium: bool) -> bool:
        """Whether it is a row for a speaker who claims to be the medium, or who does not."""
        return self.kind != REPORT or self.medium == medium


EVERY_ROLE: Final = "ROLE"
CORRESPONDENCES: Final = (
    Correspondence("ESTIMATE", "WEREWOLF", ACCUSE),
    Correspondence("ESTIMATE", "VILLAGER", DEFEND),
    Correspondence("COMINGOUT", EVERY_ROLE, CLAIM_ROLE),
    Correspondence("DIVINED", "WEREWOLF", REPORT, 1),
    Correspondence("DIVINED", "HUMAN", REPORT, 0),
    Correspondence("IDENTIFIED", "WEREWOLF", REPORT, 1, medium=True),
    Correspondence("IDENTIFIED", "HUMAN", REPORT, 0, medium=True),
    Correspondence("ATTACK", "", RECOMMEND),
)
"""Claims with a counterpart. A role claim's number is the role's place in `AIWOLF_ROLES`."""
_VERBS: Final = {
    "DIVINATION": "will check",
    "GUARD": "will protect",
    "GUARDED": "protected",
    "VOTE": "will vote for",
    "VOTED": "voted for",
    "ATTACK": "will attack",
    "ATTACKED": "attacked",
}
_ROLE_WORDS: Final = {"ESTIMATE": "estimates that", "COMINGOUT": "states that", "DIVINED": "found by divination that"}


def claim_of(utterance: Utterance, speaker: int, *, medium: bool = False) -> Move:
    """What a seat claims by a line: a claim of the table, else `silent`. `in_words` gives the words.

    `medium`: whether the speaker claims to be the medium.

    >>> claim_of(Sentence("DIVINED", 2, "WEREWOLF"), speaker=0).args
    (2, 1)
    """
    words = "" if isinstance(utterance, Pause) else in_words(utterance, speaker)
    if isinstance(utterance, Sentence) and utterance.subject in (None, speaker) and utterance.target != ANY:
        for row in CORRESPONDENCES:
            own = utterance.target == speaker
            if row.verb != utterance.verb or own != (row.kind == CLAIM_ROLE) or not row.fits(medium):
                continue
            if row.value == EVERY_ROLE and utterance.value != ANY_WORD:
                return Move(row.kind, (AIWOLF_ROLES.index(utterance.value),), words)
            if row.value == utterance.value:
                verdict = () if row.verdict is None else (row.verdict,)
                return Move(row.kind, (utterance.target, *verdict), words)
    return Move(SILENT, (), words)


def utterance_of(claim: Move, speaker: int, *, medium: bool = False) -> Utterance:
    """The line by which a seat makes a claim, `Skip` for silence; words are not looked at.

    `medium`: whether the speaker claims to be the medium.

    Raises:
        ParlourError: the claim's kind has no counterpart.
    """
    if claim.kind == SILENT:
        return Pause()
    if claim.kind == CLAIM_ROLE:
        return Sentence("COMINGOUT", speaker, AIWOLF_ROLES[claim.args[0]])
    for row in CORRESPONDENCES:
        if row.kind == claim.kind and row.verdict in (None, *claim.args[1:]) and row.fits(medium):
            return Sentence(row.verb, claim.args[0], row.value)
    accepted = ", ".join(sorted({SILENT, *(row.kind for row in CORRESPONDENCES)}))
    raise ParlourError(f"claim: {claim.kind!r}; accepted: {accepted}")


def in_words(utterance: Utterance, speaker: int) -> str:
    """A line in plain English, one sentence.

    >>> in_words(Compound("XOR", (Sentence("VOTE", 1), Sentence("VOTE", 2))), speaker=0)
    'Either player_0 will vote for player_1 or player_0 will vote for player_2, but not both.'
    """
    words = _clause(utterance, speaker)
    return f"{words[0].upper() if not words.startswith('player_') else words[0]}{words[1:]}."


def _clause(utterance: Utterance, speaker: int) -> str:
    if isinstance(utterance, Pause):
        return f"{name(speaker)} has nothing more to say today" if utterance.over else f"{name(speaker)} says nothing"
    subject = speaker if utterance.subject is None else utterance.subject
    who = _who(subject)
    if isinstance(utterance, Reply):
        channel = "whisper" if utterance.whisper else "talk"
        verb = "agrees" if utterance.verb == "AGREE" else "disagrees"
        return f"{who} {verb} with {channel} {utterance.number} of day {utterance.day}"
    if isinstance(utterance, Compound):
        return _joined(utterance, subject)
    if utterance.verb in _VERBS:
        return f"{who} {_VERBS[utterance.verb]} {_who(utterance.target)}"
    value = "of any kind" if utterance.value == ANY_WORD else f"a {utterance.value.lower()}"
    predicate = _ROLE_WORDS.get(utterance.verb, "learnt as the medium that")
    return f"{who} {predicate} {_who(utterance.target)} is {value}"


def _joined(compound: Compound, subject: int) -> str:
    who = _who(subject)
    inner = subject if compound.target is None else compound.target
    parts = [_clause(part, inner) for part in compound.parts]
    if compound.operator == "REQUEST":
        return f"{who} asks {_who(inner)} that {parts[0]}"
    if compound.operator == "INQUIRE":
        return f"{who} asks {_who(inner)} whether {parts[0]}"
    if compound.operator == "BECAUSE":
        return f"because {parts[0]}, {parts[1]}"
    if compound.operator == "XOR":
        return f"either {parts[0]} or {parts[1]}, but not both"
    if compound.operator == "NOT":
        return f"it is not so that {parts[0]}"
    if compound.operator == "DAY":
        return f"on day {compound.day}, {parts[0]}"
    return f" {compound.operator.lower()} ".join(parts)


def _who(seat: int) -> str:
    return "anybody" if seat == ANY else name(seat)
