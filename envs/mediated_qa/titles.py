"""Titles that a question contains word for word, whatever the case: an index by their first word."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Final

from parlour.envs.language import english

_SMALL: Final = frozenset(english.word_list("a an and as at by for from in of on or per the to with"))
"""Words that may be in lower case where every word of a question begins with a capital letter."""
_GENITIVE: Final = re.compile(r"['’]s(?![^\W_])")


class TitleIndex:
    """Titles by their words in lower case, without a leading article (`english.normal`); of equal ones the first.

    A question is looked through once, from each of its words as far as the longest title that begins with that word.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lengths: dict[str, list[int]] = defaultdict(list)
        """First word -> numbers of words of the titles that begin with it, greatest first."""

    def add(self, title: str, number: int) -> None:
        """Add a title as `english.normal` writes it; a stop word alone is none."""
        key = without_genitives(title)
        if not key or key in english.STOP_WORDS or key in self._numbers:
            return
        self._numbers[key] = number
        words = key.split()
        lengths = self._lengths[words[0]]
        if len(words) not in lengths:
            lengths.append(len(words))
            lengths.sort(reverse=True)

    def found_in(self, text: str) -> dict[str, int]:
        """Title -> number, in the order of a text as `english.normal` writes it; of two that overlap the longer, or else the first.

        >>> index = TitleIndex()
        >>> for number, title in enumerate(("falcon", "falcon sensor", "sensor test")):
        ...     index.add(title, number)
        >>> index.found_in("the falcon sensor's price, and a falcon's")
        {'falcon sensor': 1, 'falcon': 0}
        """
        words = without_genitives(text).split()
        spans = [
            (at, at + n) for at, word in enumerate(words) for n in self._lengths.get(word, ()) if at + n <= len(words)
        ]
        titles = {span: " ".join(words[slice(*span)]) for span in spans}
        chosen: list[tuple[int, int]] = []
        for span in sorted(
            (span for span in spans if titles[span] in self._numbers), key=lambda span: span[0] - span[1]
        ):
            if all(span[1] <= start or end <= span[0] for start, end in chosen):
                chosen.append(span)
        return {titles[span]: self._numbers[titles[span]] for span in sorted(chosen)}


def without_genitives(text: str) -> str:
    """A text in which names stand as titles have them.

    >>> without_genitives("the falcon sensor's price")
    'the falcon sensor price'
    """
    return _GENITIVE.sub("", text)


def last_words(question: str) -> frozenset[str]:
    """The last words of names of several words, in lower case; none where every word begins with a capital letter.

    The first word of a question, which has its capital letter in any case, belongs to no name.

    >>> last_words("Was Kaspian Verner born in Telby?"), last_words("Is Free Parking Near?")
    (frozenset({'verner'}), frozenset())
    """
    words = question.split()[1:]
    if all(not word[:1].islower() or word in _SMALL for word in words):
        return frozenset()
    names = (english.normal(name).split() for name in english.proper_names(without_genitives(" ".join(words))))
    return frozenset(name[-1] for name in names if len(name) > 1)
