"""Heuristics for roles in an utterance: roles that it assigns to players, and to the speaker."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final, Literal, NamedTuple, get_args

from parlour.envs.avalon.vocabulary import EVIL, GOOD, MERLIN, MORGANA, ROLES, side_of
from parlour.envs.language.english import negated
from parlour.training.papers.avalon_social.clauses import GROUP, NOBODY, members, sentences

Identity = Literal["self-disclosure", "camouflage", "withholding"]
IDENTITIES: Final[tuple[Identity, ...]] = get_args(Identity)
DISCLOSURE, CAMOUFLAGE, WITHHOLDING = IDENTITIES


class Named(NamedTuple):
    """A role that a player is said to hold, or to have hinted at or claimed."""

    role: str
    """The role; `"evil"` if only the side is named."""
    claimed: bool
    """Whether it is reported as that player's own claim."""
    sides: frozenset[str]
    """The sides of this role and of those named in the same breath ("Merlin or Morgana")."""


_WORDS: Final = {role.lower(): role for role in ROLES} | {"loyal servants": "Loyal Servant", "servant": "Loyal Servant"}
_ROLE: Final = "|".join(sorted((re.escape(word) for word in _WORDS), key=len, reverse=True))
_SPY: Final = r"evil(?!\s+(?:side\b|aims|players?\b(?=\s+(?:in|from)))(?:['’]s)?)|a spy|the enemy|on the evil side|on the other side"
_ANY: Final = rf"(?:{_ROLE}|{_SPY})"
_A: Final = r"(?:(?:the|an?|one of|fellow|indeed|potentially|potential|likely|probably|possibly|either|confirmed|both|being|be)\s+)*"
_LINK: Final = r"\b(?:is|are|was|were|am|be|being|as|seems?(?: to be)?|looks?|appears?(?: to be)?|roles? of|of)\s+"
_ROLES: Final = rf"({_ANY})(?:\s*(?:,|/|and|or)+\s*{_A}({_ANY}))?"
_SAID_OF: Final = re.compile(rf"{GROUP}({NOBODY}{{0,160}})")
_HOLDS: Final = re.compile(rf"{_LINK}{_A}{_ROLES}\b(\s*,?\s*respectively)?", re.IGNORECASE)
_BRACKETS: Final = re.compile(
    rf"{GROUP}\s*\({_A}({_ANY})\)|\b({_ANY})\s*\({GROUP}\)|{GROUP}\s*,\s*{_A}({_ANY})\s*,", re.I
)
_RESUMED: Final = re.compile(r"\b(?:but|however|while)\b")


def named(sentence: str) -> dict[int, list[Named]]:
    """The roles that one sentence (of `clauses.sentences`) says players to hold, by seat."""
    claims: dict[int, list[Named]] = defaultdict(list)
    for match in _BRACKETS.finditer(sentence):
        group, role = next((a, b) for a, b in ((match[1], match[2]), (match[4], match[3]), (match[5], match[6])) if a)
        for seat in members(group):
            claims[seat].append(_named([_role(role)], 0, claimed=False))
    for said in _SAID_OF.finditer(sentence):
        before = _RESUMED.split(sentence[: said.start()])[-1][-40:]
        for match in _HOLDS.finditer(said[2]):
            between = said[2][: match.start()]
            if not negated(before + between):
                _hold(claims, members(said[1]), match, claimed="claim" in between)
    return claims


def _hold(claims: dict[int, list[Named]], seats: tuple[int, ...], match: re.Match[str], *, claimed: bool) -> None:
    """One or two roles said of a group: of each member, or in turn ("respectively")."""
    first, second, each = match.groups()
    roles = [_role(role) for role in (first, second) if role]
    in_turn = each is not None and len(seats) == len(roles)
    for number, seat in enumerate(seats):
        said_roles = [roles[number]] if in_turn else roles
        claims[seat] += [_named(said_roles, k, claimed=claimed) for k in range(len(said_roles))]


def _named(roles: list[str], number: int, *, claimed: bool) -> Named:
    return Named(roles[number], claimed, frozenset(EVIL if role == EVIL else side_of(role) for role in roles))


def shared(words: str, speaker: int, role: str, known: tuple[int, ...]) -> tuple[int, ...]:
    """Seats shown by the night that the words name: as evil (Merlin), as Merlin or Morgana (Percival).

    What another player is only said to have claimed is no news of the night's.
    """
    shared = set()
    for sentence in sentences(words, speaker):
        for seat, of in named(sentence).items():
            seen = [claim for claim in of if not claim.claimed]
            if any(EVIL in claim.sides if role == MERLIN else claim.role in (MERLIN, MORGANA) for claim in seen):
                shared.add(seat)
    return tuple(seat for seat in known if seat in shared)


# -- what the speaker says of itself ---------------------------------------------------------------------------

_QUALIFIED: Final = (
    r"(?:(?:the|an?|one of the|your|indeed|actually|also|really|in fact|fellow|true|proud|confirmed)\s+)*"
)
_SPEAKS_AS: Final = re.compile(
    rf"^(?:\w+,\s+|\W)*(?:speaking |as always, )?as\s+{_QUALIFIED}({_ROLE})\b(?!['’]s)"
    rf"|,\s+as\s+{_QUALIFIED}({_ROLE}),?\s+I\b"
    rf"|\bas\s+{_QUALIFIED}({_ROLE})\s+myself\b"
    rf"|\bI(?:\s+am|['’]m|\s+was dealt|\s+hold|\s+claim to be|\s+have the role of|\s+confirm (?:that )?I am)\s+{_QUALIFIED}({_ROLE})\b"
    rf"|\bmy role\s+(?:is|as)\s+{_QUALIFIED}({_ROLE})\b"
    rf"|\bfellow\s+({_ROLE})\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    rf"{GROUP}\s*(?:,\s*)?(?:(?:(?:who|which)\s+)?(?:is|am|as|(?:has |have )?confirmed \w+ role as)\s+{_A}({_ROLE})\b"
    rf"|\(({_ROLE})\))",
    re.IGNORECASE,
)
_SIDE: Final = re.compile(
    r"\bI(?:\s+am|['’]m)\s+(?:\w+\s+)?(?:on|part of|loyal to|dedicated to|committed to|with|a member of)\s+the\s+(good|evil)\b"
    r"|\bI(?:\s+am|['’]m)\s+(?:an?\s+)?(good|evil|loyal)\b"
    r"|^(?:\w+,\s+|\W)*as\s+an?\s+(loyal|good|evil)\s+(?:player|member|person)\b"
    r"|\bmy\s+(?:\w+\s+){0,4}?to\s+the\s+(good)\s+side\b",
    re.IGNORECASE,
)
_AIMS: Final = re.compile(
    r"\b(?:mislead|deceive|confuse|fool)\w*\s+(?:the\s+)?(?:good|loyal)\b"
    r"|\bincreas\w*\s+(?:the\s+|our\s+)?(?:chances?|likelihood)\s+of\s+(?:a\s+|the\s+)?(?:quests?(?:['’]s)?\s+)?(?:fail\w*)"
    r"|\blet\s+the\s+quests?\s+fail|\bmake\s+the\s+quests?\s+fail"
    r"|\b(?:more\s+likely|likelihood)\s+for\s+the\s+quest\s+to\s+fail|\bleading\s+to\s+a\s+failed\s+quest"
    r"|\bmanipulat\w+\s+the\s+(?:quest|outcome|vot\w+|players)|\bour\s+evil\s+side\b|\bfellow\s+evil\b"
    r"|\b(?:interests?\s+of|successful\s+quest\s+for|victory\s+(?:of|for)|win\s+for|as)\s+the\s+evil\s+side\b"
    r"|\bassassinat\w+\s+merlin\b|\bour\s+(?:\w+\s+){0,3}as\s+the\s+evil\b",
    re.IGNORECASE,
)
_CLAIMED_BY_OTHERS: Final = re.compile(
    r"\b(?:not|never|minimi[sz]\w*|reduc\w*|avoid\w*|prevent\w*|risk)\b|n['’]t\b", re.I
)


def identity(words: str, speaker: int, role: str) -> Identity:
    """What the words do with the speaker's identity: the first role that it states as its own, else the first side.

    Another role or side than the true one is a camouflage, also a harmless one among the good. A speaker that calls the evil
    side's aims its own states that side.
    """
    roles, sides = stated(words, speaker)
    if roles:
        return DISCLOSURE if roles[0] == role else CAMOUFLAGE
    if sides:
        return DISCLOSURE if sides[0] == side_of(role) else CAMOUFLAGE
    return WITHHOLDING


def stated(words: str, speaker: int) -> tuple[list[str], list[str]]:
    """The roles, and the sides, that the words state as the speaker's own, in order."""
    parts = list(sentences(words, speaker))
    roles = [own_role for sentence in parts for own_role in _own_roles(sentence, speaker)]
    return roles, [side for sentence in parts for side in _own_sides(sentence)]


def openly_evil(words: str, speaker: int) -> bool:
    """Whether the speaker states an evil role, or the evil side, as its own."""
    roles, sides = stated(words, speaker)
    return (side_of(roles[0]) if roles else sides[0] if sides else GOOD) == EVIL


def _own_roles(sentence: str, speaker: int) -> list[str]:
    placed = [
        (match.start(), _role(next(filter(None, match.groups()))))
        for match in _SPEAKS_AS.finditer(sentence)
        if not _CLAIMED_BY_OTHERS.search(sentence[: match.start()][-20:])
    ]
    placed += [
        (match.start(), _role(match[2] or match[3]))
        for match in _OWN.finditer(sentence)
        if members(match[1]) == (speaker,)
    ]
    return [role for _, role in sorted(placed)]


def _own_sides(sentence: str) -> list[str]:
    stated = [next(filter(None, match.groups())).lower() for match in _SIDE.finditer(sentence)]
    sides = [EVIL if word == EVIL else GOOD for word in stated]
    aims = [match for match in _AIMS.finditer(sentence) if not _CLAIMED_BY_OTHERS.search(sentence[: match.start()])]
    return sides + [EVIL] * len(aims)


def _role(word: str) -> str:
    return _WORDS.get(" ".join(word.lower().split()), EVIL)
