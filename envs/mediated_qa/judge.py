"""Whether an answer is right, after the tests of GRACE's published code (decisions 2.7).

An answer may be any of the names that it gives: "also known as" and its kind stand between two, and brackets hold another name or a
remark. A remark matters only if the right answer has one, too.

Two names agree by normalised exact match; as dates, if both are dates; with a number in either, if the numbers are equal and little
else differs (`_little_differs`); for up to five words by the significant words, the last name with the initials, or the
capitalised phrases; two short answers that pass none of these differ. (The code takes an equal first number, or an equal last
name, for enough; here "Windows 95" and "95 Theses", or two given names, are two things.) For longer ones token F1, or a
similarity of the caller's (of embeddings, say).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from parlour.envs.language import english
from parlour.envs.mediated_qa.amounts import Counted, counted, date
from parlour.envs.mediated_qa.retrievers import Embedder

Similarity = Callable[[str, str], float]
"""How much two texts mean the same, 0..1."""

ENOUGH: Final = 0.9
"""Least F1 or similarity of a long answer that is right (the paper's threshold for its BERTScore)."""
_SHORT: Final = 5  # words
_LITTLE: Final = 3
"""Words at most that one of two answers with equal numbers has more than the other, such as a unit; one of them may be a name."""

_ARTICLES: Final = frozenset({"a", "an", "the"})
_SMALL: Final = frozenset({"of", "in", "on", "at", "and", "by", "for", "to", "de", "von", "van"})
_DENIALS: Final = frozenset({"no", "not", "never"})
_AROUND: Final = frozenset(
    english.word_list(
        "about approximately around roughly nearly almost exactly circa ca c year "
        "monday tuesday wednesday thursday friday saturday sunday"
    )
)
"""Words beside a number that change nothing."""
_ALIAS: Final = re.compile(
    r",?\s*\b(?:(?:(?:also|better|otherwise|formerly)\s+)?known(?:\s+\w+ly)?\s+as|(?:also|formerly)\s+called|a\.?\s?k\.?\s?a\b\.?)\s*",
    re.IGNORECASE,
)
"""Between two names of one thing."""
_BRACKETS: Final = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_WORD: Final = re.compile(r"[^\W_]+")


class _Reading(NamedTuple):
    """What an answer names."""

    names: tuple[str, ...]
    remark: str
    """Words in brackets that are no name."""


def is_right(answer: str, gold: str, similarity: Similarity | None = None, enough: float = ENOUGH) -> bool:
    """Whether `answer` counts as `gold`, long answers from the similarity `enough` on. An empty answer never does.

    >>> is_right("the Maren", "Maren"), is_right("3 May 1912", "May 3, 1912"), is_right("1913", "in 1912")
    (True, True, False)
    >>> is_right("Damon Gough, also known as Badly Drawn Boy", "Badly Drawn Boy"), is_right("Windows 95", "95 Theses")
    (True, False)
    """
    if not _words(answer) or not _words(gold):
        return False
    if _words(answer) == _words(gold):
        return True
    ours, theirs = _read(answer), _read(gold)
    if ours.remark and theirs.remark and not _agree(ours.remark, theirs.remark, similarity, enough):
        return False
    return any(_agree(mine, other, similarity, enough) for mine in ours.names for other in theirs.names)


def cosine(embedder: Embedder, answer: str, gold: str) -> float:
    """The similarity of two texts by their embeddings."""
    first, second = embedder.embed([answer, gold])
    return float(first @ second)


def f1(answer: str, gold: str) -> float:
    """Token F1 of two texts, 0..1, articles and punctuation left aside."""
    ours, theirs = Counter(_words(answer)), Counter(_words(gold))
    shared = (ours & theirs).total()
    return 2 * shared / (ours.total() + theirs.total()) if shared else 0.0


def _read(text: str) -> _Reading:
    """The names of an answer, each up to a comma if another one is given, and the remark in its brackets."""
    bare = _BRACKETS.sub("", text).strip()
    if not _words(bare):
        return _Reading((text,), "")
    first, *aliases = _ALIAS.split(bare)
    names, remarks = [first, *(re.split(r"[,;]", alias)[0] for alias in aliases)], []
    for inside in _BRACKETS.findall(text):
        alias = _ALIAS.split(inside)[-1]
        if alias != inside or _is_name(inside, bare):
            names.append(alias)
        else:
            remarks.append(inside)
    return _Reading(tuple(name for name in names if _words(name)), " ".join(remarks))


def _is_name(inside: str, bare: str) -> bool:
    """Whether brackets hold another name of what stands before them: several words with capitals, or one from its initials."""
    words = inside.split()
    capitals = all(word[:1].isupper() or word in _SMALL for word in words)
    letters = ["".join(word[0] for word in _words(text)) for text in (inside, bare)]
    return (len(words) > 1 and capitals) or inside.lower() == letters[1] or bare.lower() == letters[0]


def _agree(answer: str, gold: str, similarity: Similarity | None, enough: float) -> bool:
    ours, theirs = _words(answer), _words(gold)
    if not ours or not theirs:
        return False
    if ours == theirs:
        return True
    if theirs in (("yes",), ("no",)):
        return ours[0] == theirs[0] and not {"yes", "no"} - {theirs[0]} & set(ours)
    dates = date(answer), date(gold)
    if None not in dates:
        return dates[0] == dates[1]
    short = len(ours) <= _SHORT and len(theirs) <= _SHORT
    counts = counted(answer), counted(gold)
    if counts[0].numbers or counts[1].numbers:
        if not counts[0].equal(counts[1]) and (short or (counts[0].numbers and counts[1].numbers)):
            return False
        if counts[0].equal(counts[1]) and _little_differs(*counts):
            return True
    elif len(ours) <= _SHORT and _same_name(answer, gold, ours, theirs):
        return True
    return not short and (f1(answer, gold) if similarity is None else similarity(answer, gold)) >= enough


def _words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case without articles; "A" is none where it is an initial, or stands behind other words."""
    found = list(_WORD.finditer(text))
    kept = [
        match[0].lower()
        for place, match in enumerate(found)
        if match[0].lower() not in _ARTICLES or (match[0] == "A" and (place > 0 or text[match.end() :][:1] == "."))
    ]
    return tuple(kept)


def _little_differs(ours: Counted, theirs: Counted) -> bool:
    """Whether one of two texts with the same numbers has all words of the other, and few more."""
    first, second = _significant(ours.words), _significant(theirs.words)
    if first.keys() - second.keys() and second.keys() - first.keys():
        return False
    more = [(first | second)[key] for key in first.keys() ^ second.keys()]
    names = [word for word in more if word != word.lower() or any(map(str.isdigit, word))]
    shared = first.keys() & second.keys()
    return len(more) <= _LITTLE and len(names) <= bool(shared) and not _DENIALS & set(map(str.lower, more))


def _significant(words: tuple[str, ...]) -> dict[str, str]:
    """Stem -> word as it is written."""
    left_out = (english.STOP_WORDS | _SMALL | _AROUND) - _DENIALS
    return {
        english.stem(word.lower().replace("meter", "metre")): word for word in words if word.lower() not in left_out
    }


def _same_name(answer: str, gold: str, ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    pairs = list(zip(ours, theirs, strict=False))
    if len(ours) == len(theirs) > 1 and ours[-1] == theirs[-1] and all(_same_or_initial(*pair) for pair in pairs):
        return True
    initials = [{word for word in words[1:-1] if len(word) == 1} for words in (ours, theirs)]
    if all(initials) and initials[0] != initials[1]:
        return False
    significant = set(ours) - _SMALL, set(theirs) - _SMALL
    if all(significant) and (significant[0] <= significant[1] or significant[1] <= significant[0]):
        return True
    capitalised = [tuple(map(english.normal, english.proper_names(text))) for text in (answer, gold)]
    return all(capitalised) and set(capitalised[0]) <= set(capitalised[1])


def _same_or_initial(first: str, second: str) -> bool:
    """Whether two words of a name are equal, or one is the initial of the other; two given names are two persons."""
    return first == second or (first[0] == second[0] and min(len(first), len(second)) == 1)
