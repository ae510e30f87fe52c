"""Questions in free words at tables of hidden roles: which seats are asked, and what they are asked about.

A reader by rule, of English, that knows no rules of a game. A question ends with a question mark, or begins with a player's name and
a word of asking ("player_2 why did you approve"). It is put to whoever is called by name before or behind it, also in
an earlier sentence of the same words; else to the players it names; else, if it says so, to everybody.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from parlour.envs.language.english import PLAYER, SEPARATOR, listing, sentences

TRUST: Final = "trust"
SUSPECT: Final = "suspect"
TEAM: Final = "team"
ABOUT: Final = "about"
WHY: Final = "why"
WHY_VOTED: Final = "vote"
SEEN: Final = "seen"
ROLE: Final = "role"
ANYTHING: Final = "anything"
TOPICS: Final = (TRUST, SUSPECT, TEAM, ABOUT, WHY, WHY_VOTED, SEEN, ROLE, ANYTHING)
"""The player that the seat trusts, suspects, wants on the team; its view of a player; the reason for its words or choice; the reason
for its vote; what it saw; its card; something else."""


_ASKED: Final = {
    TRUST: "whom do you trust?",
    SUSPECT: "whom do you suspect?",
    TEAM: "whom would you take?",
    ABOUT: "what do you think of {about}?",
    WHY: "why did you say that about {about}?",
    WHY_VOTED: "why did you vote so?",
    SEEN: "what did you see?",
    ROLE: "what are you?",
}


class Question(NamedTuple):
    """One question."""

    topic: str
    """One of `TOPICS`."""
    to: tuple[int, ...] | None
    """The seats that are asked; None: everybody."""
    about: tuple[int, ...] = ()
    """The other seats that it names, in order."""
    against: bool = False
    """Of `WHY`: whether it is about words against them."""
    number: int | None = None
    """The quest or day that it names."""
    words: str = ""
    """The sentence, in small letters."""

    def asked(self) -> str:
        """The seats that are asked and how the question was understood, in short; empty if nobody is asked.

        >>> next(questions("player_3, do you trust player_4?")).asked()
        'a question to player_3: what do you think of player_4?'
        """
        if self.to == ():
            return ""
        whom = "everybody" if self.to is None else listing(self.to)
        wanted = _ASKED.get(self.topic, "").format(about=listing(self.about))
        return f"a question to {whom}: {wanted}" if wanted else f"a question to {whom}"

    def names_one_of(self, names: Collection[str]) -> str:
        """The first of these names that the question contains as a word; empty if there is none."""
        matches = (word for word in names if re.search(rf"\b{re.escape(word.lower())}s?\b", self.words))
        return next(matches, "")


_CALLED: Final = rf"{PLAYER}(?:{SEPARATOR}{PLAYER})*"
_ASKING: Final = r"(?:who|whom|whose|what|which|why|how|where|when|do|did|are|were|have|can|could|would|will|should)\b"
_BEFORE: Final = re.compile(rf"^\W*(?:(?!player)\w+\s+){{0,2}}?({_CALLED})\s*(?:[,:;–—-]|\s(?={_ASKING}|you\b))", re.IGNORECASE)  # fmt: skip
_BEHIND: Final = re.compile(rf"[,–—-]\s*({_CALLED})\s*[?:]|^(?:(?!player)\w+\s+){{0,3}}?(?!player)\w+,\s*({_CALLED})\s*[.!]", re.IGNORECASE)  # fmt: skip
_AUXILIARY: Final = r"(?:do|did|are|were|have|can|could|would|will|should)(?:n['’]t)?\s+you\b"
_UNMARKED: Final = re.compile(
    rf"^\W*({_CALLED})\s*[,:]?\s*(?:(?:who|whom|whose|what|which|why|how|where|when)\b[^.!]*?\b)?{_AUXILIARY}",
    re.IGNORECASE,
)
_ALL: Final = re.compile(r"\b(?:every(?:body|one)|all of you|you all|each of you|any(?:body|one) (?:here|else))\b", re.IGNORECASE)  # fmt: skip
_SEAT: Final = re.compile(PLAYER, re.IGNORECASE)
_NUMBERS: Final = ("first", "second", "third", "fourth", "fifth")
_NUMBER: Final = re.compile(rf"\b(?:quest|mission|round|day|night|team)\s+(\d)\b|\b({'|'.join(_NUMBERS)})\b", re.IGNORECASE)  # fmt: skip
_WHOM: Final = r"\b(?:whom?|which|what|any(?:body|one)|name)\b.*"
_BAD: Final = r"(?:suspect\w*|suspicious|accus\w*|distrust\w*|evil|bad|guilty|lying|liar|lies|spy|spies|wol(?:f|ves)|werewol(?:f|ves)|minions?|traitors?|fail\w*)\b"  # fmt: skip
_GOOD: Final = r"(?:trust\w*|believe\w*|good|clean|loyal|innocent|vouch\w*|safe)\b"
_CHOICE: Final = r"(?:take|pick\w*|choose|chose|propos\w*|nominat\w*|recommend\w*|send|go|team|quest|join|led|lead)\b"
_KINDS: Final = tuple(
    (topic, re.compile(pattern, re.IGNORECASE))
    for topic, pattern in (
        (WHY_VOTED, r"\b(?:why|how come|what made you|reason)\b.*\b(?:vot\w+|approv\w+|reject\w*|ballot|said (?:yes|no))\b"),
        (WHY, rf"\b(?:why|how come|what makes you|what made you)\b.*\b(?:{_BAD}|{_GOOD}|{_CHOICE}|against\b|point\w*\b|name\w*\b)"),
        (ROLE, r"\b(?:are you|you are|you['’]re|aren['’]t you|who are you|your (?:role|card|side))\b"),
        (SUSPECT, rf"{_WHOM}(?:\b{_BAD}|(?:n['’]t|\bnot|\bleast)\b.*\btrust)"),
        (TRUST, rf"{_WHOM}\b{_GOOD}"),
        (SEEN, r"\b(?:see|saw|seen|notic\w+|observ\w+|learn\w*|check\w*|happen\w*|play\w*|go wrong|went)\b"),
        (TEAM, rf"{_WHOM}\b{_CHOICE}"),
        (SEEN, r"\bwhat\b.*\bknow\b"),
    )
)  # fmt: skip


def statements(words: str) -> str:
    """Words without their questions.

    >>> statements("I like this team. player_3, do you trust player_4?")
    'I like this team.'
    """
    parts = sentences(words)
    rest = [part for part in parts if not _is_question(part)]
    return words if len(rest) == len(parts) else " ".join(rest)


def questions(words: str) -> Iterator[Question]:
    """The questions in words, in order.

    >>> [question[:3] for question in questions("player_3, do you trust player_4? And are you Merlin?")]
    [('about', (3,), (4,)), ('role', (3,), ())]
    """
    called: tuple[int, ...] = ()
    for sentence in sentences(words):
        match = _BEFORE.search(sentence) or _BEHIND.search(sentence)  # who is called by name
        to = () if match is None else _seats(match[0])
        called = to or called
        if _is_question(sentence):
            yield _question(sentence, to, called)


def _is_question(sentence: str) -> bool:
    return "?" in sentence or _UNMARKED.match(sentence) is not None


def _question(sentence: str, to: tuple[int, ...], called: tuple[int, ...]) -> Question:
    about = tuple(seat for seat in _seats(sentence) if seat not in to)
    words = _SEAT.sub("@", sentence).lower()
    asked, rest = (to or called, about) if to or called else (about, ())
    topic = next((kind for kind, pattern in _KINDS if pattern.search(words)), ABOUT if about else ANYTHING)
    if topic == WHY and not about:
        topic = WHY_VOTED if re.search(rf"\b{_CHOICE}", words) else ANYTHING
    elif topic == ABOUT and not rest:
        topic = ROLE if re.match(r"\W*(?:is|are|was)\b", words) else ANYTHING
    everybody = not asked and _ALL.search(words) is not None
    against = re.search(rf"\b(?:{_BAD}|against\b|point\w*\b|(?:n['’]t|not|never)\b.*\b{_GOOD})", words) is not None
    return Question(topic, None if everybody else asked, rest, against, _number(words), words)


def _seats(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(match[1]) for match in _SEAT.finditer(text)))


def _number(words: str) -> int | None:
    match = _NUMBER.search(words)
    if match is None:
        return None
    return int(match[1]) if match[1] else 1 + _NUMBERS.index(match[2])
