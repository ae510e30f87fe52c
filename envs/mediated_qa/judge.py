"""Whether an answer is right, by the order of tests of GRACE's published code.

Normalised exact match; dates, if both are dates; numbers, if both hold one; for up to five words the significant words, the last name with the initial, or the capitalised phrases; two short
answers that pass none of these differ. (The code takes an equal last name for enough; two given names are two persons here.) For longer ones token F1, or a similarity of the caller's (of embeddings, say).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from parlour.envs import english

Similarity = Callable[[str, str], float]
"""How much two texts mean the same, 0..1."""

ENOUGH: Final = 0.9
"""Least F1 or similarity of a long answer that is right (the paper's threshold for its BERTScore)."""
_SHORT: Final = 5  # words

_MONTHS: Final = english.word_list(
    "january february march april may june july august september october november december"
)
_NUMBERS: Final = english.word_list("zero one two three four five six seven eight nine ten eleven twelve")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_SMALL: Final = _ARTICLES | {"of", "in", "on", "at", "and", "by", "for", "to", "de", "von", "van"}
_DAY_FIRST: Final = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+([a-z]+),?\s+(\d{4})$")
_MONTH_FIRST: Final = re.compile(r"^([a-z]+)\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$")
_ISO: Final = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})$")
_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?")


def is_right(answer: str, gold: str, similarity: Similarity | None = None) -> bool:
    """Whether `answer` counts as `gold`. An empty answer never does.

    >>> is_right("the Maren", "Maren"), is_right("3 May 1912", "May 3, 1912"), is_right("1913", "in 1912")
    (True, True, False)
    """
    ours, theirs = _words(answer), _words(gold)
    if not ours or not theirs:
        return False
    if ours == theirs:
        return True
    dates = date(answer), date(gold)
    if None not in dates:
        return dates[0] == dates[1]
    numbers = number(answer), number(gold)
    if None not in numbers:
        return numbers[0] == numbers[1]
    if len(ours) <= _SHORT and _same_name(answer, gold, ours, theirs):
        return True
    if len(ours) <= _SHORT and len(theirs) <= _SHORT:
        return False
    likeness = f1(answer, gold) if similarity is None else similarity(answer, gold)
    return likeness >= ENOUGH


def f1(answer: str, gold: str) -> float:
    """Token F1 of two texts, 0..1, articles and punctuation left aside."""
    ours, theirs = Counter(_words(answer)), Counter(_words(gold))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def date(text: str) -> tuple[int, int, int] | None:
    """A full date as (year, month, day); None if the text is none."""
    plain = text.strip().strip(".").lower()
    if match := _ISO.match(plain):
        year, month, day = map(int, match.groups())
    elif (match := _DAY_FIRST.match(plain)) and match[2] in _MONTHS:
        year, month, day = int(match[3]), _MONTHS.index(match[2]) + 1, int(match[1])
    elif (match := _MONTH_FIRST.match(plain)) and match[1] in _MONTHS:
        year, month, day = int(match[3]), _MONTHS.index(match[1]) + 1, int(match[2])
    else:
        return None
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def number(text: str) -> float | None:
    """The first number in a text, in digits or as a word up to twelve; None if there is none."""
    match = _NUMBER.search(text)
    if match:
        return float(match[0].replace(",", ""))
    named = next((word for word in _WORD.findall(text.lower()) if word in _NUMBERS), None)
    return None if named is None else float(_NUMBERS.index(named))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def _same_name(answer: str, gold: str, ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    significant = set(ours) - _SMALL, set(theirs) - _SMALL
    if all(significant) and (significant[0] <= significant[1] or significant[1] <= significant[0]):
        return True
    capitalised = [tuple(map(english.normal, english.proper_names(text))) for text in (answer, gold)]
    if all(capitalised) and set(capitalised[0]) <= set(capitalised[1]):
        return True
    # one given name may be the initial of the other; two different given names are two persons
    initials = ours[0][0] == theirs[0][0] and min(len(ours[0]), len(theirs[0])) == 1
    return len(ours) == len(theirs) > 1 and ours[-1] == theirs[-1] and initials
