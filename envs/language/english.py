"""A reader of plain English that knows no game: sentences, clauses, negation, players by name and number, content words.

What the words mean for a game (which claims, roles and choices there are) is the game's own grammar; this module only takes
a text apart. It is by rule, not by model, and so is the same for environments, players and measurements. Where players
write Chinese, its stops and its negations are known as well. Patterns are given as text where others build on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

# -- players ---------------------------------------------------------------------------------------------------

_NUMBER: Final = r"(\d{1,99})(?!\d)"
PLAYER: Final = rf"(?<![A-Za-z0-9])player[\s_]*{_NUMBER}"
"""One player, as `player_3` or `Player 3`; the group is the number."""
ME: Final = r"\b(?:myself|me)\b"
"""The speaker among others."""
SEPARATOR: Final = r"\s*(?:(?:[,;、&+]|\band\b)\s*)+"
"""Between two members of a list."""
PLAYERS: Final = (
    rf"(?<![A-Za-z0-9])players?[\s_]*\d{{1,99}}(?!\d)(?:{SEPARATOR}(?:(?:players?[\s_]*)?\d{{1,99}}\b|{ME}))*"
)
"""A list of players, as `player_1, player_2 and me` or `players 1, 2 & 3`; no group."""
_MEMBER: Final = re.compile(rf"\d+|{ME}|\bI\b", re.IGNORECASE)
_NAME_OF_SEAT: Final = re.compile(r"player_(\d{1,4})\b")
_NUMBERS_ALONE: Final = re.compile(r"(?:[\s,;、&+.()\[\]]|\band\b)*\d(?:[\d\s,;、&+.()\[\]]|\band\b)*", re.IGNORECASE)


def name(seat: int) -> str:
    """The name of a seat, the same as its PettingZoo agent.

    >>> name(3)
    'player_3'
    """
    return f"player_{seat}"


def names(seats: Iterable[int]) -> str:
    """Names in one phrase; `nobody` if there are none.

    >>> names([0, 2]), names([])
    ('player_0, player_2', 'nobody')
    """
    return ", ".join([f"player_{seat}" for seat in seats]) or "nobody"


def listing(seats: Iterable[int]) -> str:
    """Names as a sentence lists them; `nobody` if there are none.

    >>> listing([0, 2, 5]), listing([4])
    ('player_0, player_2 and player_5', 'player_4')
    """
    *first, last = [name(seat) for seat in seats] or ["nobody"]
    return f"{', '.join(first)} and {last}" if first else last


def seats_in(phrase: str, me: int = -1) -> tuple[int, ...]:
    """The seats of a phrase that is a list of players, in order; `me` stands for the speaker.

    >>> seats_in("players 1, 3 and myself", me=4)
    (1, 3, 4)
    """
    return tuple(int(member) if member.isdigit() else me for member in _MEMBER.findall(phrase))


def seats_named(text: str) -> tuple[int, ...]:
    """The seats whose names occur in a text, in order.

    >>> seats_named("Your evil teammates are player_1 and player_4 (2 x Minion).")
    (1, 4)
    """
    return tuple(int(number) for number in _NAME_OF_SEAT.findall(text))


def only_numbers(text: str) -> bool:
    """Whether a text is nothing but numbers, as in "1, 3 and 4"."""
    return _NUMBERS_ALONE.fullmatch(text) is not None


# -- clauses and negation --------------------------------------------------------------------------------------

CONJUNCTIONS: Final = r"\b(?:but|because|since|while|whereas|so|although|and then)\b"
"""Words at which another clause begins."""
_CLAUSE_ENDS: Final = re.compile(rf"[.!?;,:，。！？；：]|{CONJUNCTIONS}", re.IGNORECASE)
_NEGATIONS: Final = r"\b(?:not|never|no|none|neither|nor|cannot|without|hardly|refuse\w*|doubt\w*)\b|n['’]t\b|[不没]"
NEGATION: Final = re.compile(_NEGATIONS, re.IGNORECASE)
_DIRECTLY: Final = re.compile(
    r"(?:\b(?:not|never|cannot|refuse to|no)|n['’]t)\s+(?:\w+\s+)?$|[不没]\s*$", re.IGNORECASE
)


def last_clause(text: str) -> str:
    """What a text has behind its last comma, stop or conjunction.

    >>> last_clause("She was wrong, but I never")
    ' I never'
    """
    return _CLAUSE_ENDS.split(text)[-1]


def negated(words: str) -> bool:
    """Whether a negation stands anywhere in a clause: it is not safe to take the clause at face value.

    >>> negated("I doubt that he is good"), negated("he is good")
    (True, False)
    """
    return NEGATION.search(words) is not None


def negated_match(text: str, match: re.Match[str]) -> bool:
    """Whether the clause of a match has a negation before the end of the match.

    >>> text = "I never said it, and I doubt that he is good"
    >>> negated_match(text, re.search("said", text)), negated_match(text, re.search("and", text))
    (True, False)
    """
    return negated(last_clause(text[: match.start()]) + match[0])


def denied(words: str) -> bool:
    """Whether a clause is negated after all: two negations are none.

    >>> denied("I do not trust"), denied("I do not doubt")
    (True, False)
    """
    return len(NEGATION.findall(words)) % 2 == 1


def negated_at_end(before: str) -> bool:
    """Whether a text ends in a negation, with at most one word behind it: what comes next is turned into its opposite.

    >>> negated_at_end("I do not really "), negated_at_end("not a bad team: I ")
    (True, False)
    """
    return _DIRECTLY.search(before) is not None


# -- sentences, names, content words ---------------------------------------------------------------------------

_SENTENCE: Final = re.compile(r"(?<=[.!?;。！？；])[\"'”’)]*\s+|[。！？；]|\n+")
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NAME: Final = re.compile(
    r"[A-Z][^\W_]*(?:['’.-]+[^\W_]+)*(?:\s+(?:of\s+(?:the\s+)?|de\s+)?[A-Z][^\W_]*(?:['’-][^\W_]+)*)*"
)
_YEAR: Final = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})\b")
_ARTICLE: Final = re.compile(r"^(?:the|an?) ")


def word_list(text: str) -> list[str]:
    """The words of a text, as a constant is written."""
    return text.split()


STOP_WORDS: Final = frozenset(
    word_list(
        "a an the of in on at to for from by with and or as is are was were be been it its he she his her "
        "they their this that these those which who whom whose what when where how did do does has have had "
        "not no same both than into one two first earlier later"
    )
)
_OPENERS: Final = frozenset(
    word_list(
        "the in on at a an he she it his her its this that which who what when where were was are is did does "
        "do of for both"
    )
)


def sentences(text: str) -> tuple[str, ...]:
    """A text in sentences; a semicolon ends one, too.

    >>> sentences("It rose in 1912. Nobody saw it.")
    ('It rose in 1912.', 'Nobody saw it.')
    """
    return tuple(filter(None, map(str.strip, _SENTENCE.split(text))))


def stem(word: str) -> str:
    """A word without the commonest endings, lower case."""
    word = word.lower()
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed", "er", "or", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=200_000)
def stems(text: str) -> tuple[str, ...]:
    """The content words of a text, stemmed, in order, each once."""
    return tuple(dict.fromkeys(stemmed(text)))


def stemmed(text: str) -> list[str]:
    """The content words of a text, stemmed, in order, with repetitions.

    >>> stemmed("Towns, and the town of Telby")
    ['town', 'town', 'telby']
    """
    words = (word.lower() for word in _WORD.findall(text))
    return [stem(word) for word in words if word not in STOP_WORDS]


@lru_cache(maxsize=200_000)
def proper_names(text: str) -> tuple[str, ...]:
    """The capitalised phrases of a text, in order, each once.

    >>> proper_names("In 1912 Edda Marlow wrote The Glass Harbour.")
    ('Edda Marlow', 'The Glass Harbour')
    """
    phrases = []
    for match in _NAME.finditer(text):
        name, at = match[0].rstrip("."), match.start()
        first, _, rest = name.partition(" ")
        opens = at == 0 or text[:at].rstrip()[-1:] in ".!?:"
        if opens and first.lower() in _OPENERS and first != "The":
            name = rest
        if name and name.lower() not in _OPENERS:
            phrases.append(name)
    return tuple(dict.fromkeys(phrases))


@lru_cache(maxsize=200_000)
def normal(name: str) -> str:
    """A name for comparison: lower case, no leading article, letters and digits only."""
    return " ".join(_WORD.findall(name.lower().removeprefix("the ")))


def years(text: str) -> tuple[str, ...]:
    """The years in a text, each once."""
    return tuple(dict.fromkeys(_YEAR.findall(text)))


def without_article(word: str) -> str:
    """A noun without the article before it.

    >>> without_article("the nephew")
    'nephew'
    """
    return _ARTICLE.sub("", word)


@lru_cache(maxsize=1 << 12)
def whole_word(word: str) -> re.Pattern[str]:
    """What finds a word, or a name, and no part of a longer word; Chinese has no such bounds.

    >>> bool(whole_word("ann").search("anna")), bool(whole_word("ann").search("to ann."))
    (False, True)
    """
    return re.compile(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])" if word.isascii() else re.escape(word))
