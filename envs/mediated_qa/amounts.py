"""The dates, the numbers and the other words of an answer, for the judge.

A number is written in digits, as a word up to twenty, or as "II" to "XX"; "million" and its kind multiply it. The name of a month
beside a number counts as one of the numbers, because it is a part of a date.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from parlour.envs.language import english

_MONTHS: Final = english.word_list(
    "january february march april may june july august september october november december"
)
_NAMED: Final = english.word_list(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_ROMAN: Final = english.word_list("II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX XX")
_VALUES: Final = {
    **{word: float(k) for k, word in enumerate(_NAMED)},
    **{word: float(k) for word, k in zip(_ROMAN, (2, 3, 4, 6, 7, 8, 9, *range(11, 21)), strict=True)},
}
_TIMES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SIGNS: Final = {"%": "percent", "€": "euro", "$": "dollar", "£": "pound"}
_ABBREVIATED: Final = dict(
    pair.split("=")
    for pair in english.word_list(
        "km=kilometre m=metre cm=centimetre mm=millimetre kg=kilogram g=gram mi=mile ft=foot feet=foot lb=pound h=hour hr=hour "
        "hrs=hour min=minute mins=minute sec=second secs=second"
    )
)
_UNITS: Final = _SIGNS | _ABBREVIATED
"""Sign or abbreviation behind a number -> the word for it."""
_JOINED: Final = re.compile(rf"(?<=\d)(?=(?:{'|'.join(_ABBREVIATED)})\b)")
_DAY_FIRST: Final = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s+([a-z]+)\.?,?\s+(\d{4})$")
_MONTH_FIRST: Final = re.compile(r"^([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$")
_ISO: Final = re.compile(r"^(\d{4})-(\d{1,2})-(\d{1,2})$")
_TOKEN: Final = re.compile(
    r"(?P<number>(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?)(?:st|nd|rd|th)?(?![^\W_])|(?P<sign>[%€$£])|(?P<word>[^\W_]+)"
)
_ORDERED: Final = re.compile(r"\d\s*(?:[-–:]|to)\s*\d")
_NUMBER_SIGN: Final = re.compile(r"\bno\.\s*(?=\d)", re.IGNORECASE)


class Counted(NamedTuple):
    """The numbers of a text, and its other words."""

    numbers: tuple[float | str, ...]
    """In the order of the text, the months by name behind them."""
    words: tuple[str, ...]
    """As they are written; signs and abbreviations of units as words."""
    ordered: bool
    """Whether the order of the numbers matters: a range, a score, a time."""

    def equal(self, other: Counted) -> bool:
        """Whether both hold the same numbers, each as often."""
        if self.ordered and other.ordered:
            return self.numbers == other.numbers
        return Counter(self.numbers) == Counter(other.numbers)


def counted(text: str) -> Counted:
    """The numbers and the words of a text.

    >>> counted("on the 3rd of May, 1.5 million men, 20km each")
    Counted(numbers=(3.0, 1500000.0, 20.0, 'may'), words=('on', 'the', 'of', 'men', 'kilometre', 'each'), ordered=False)
    """
    numbers: list[float] = []
    words: list[str] = []
    times = False  # whether the word before is a number
    for match in _TOKEN.finditer(_JOINED.sub(" ", _NUMBER_SIGN.sub("", text))):
        word = match["word"] or match["sign"] or ""
        value = float(match["number"].replace(",", "")) if match["number"] else _named(word)
        if value is not None:
            numbers.append(value)
        elif times and word.lower() in _TIMES:
            numbers[-1] *= _TIMES[word.lower()]
        else:
            words.append(_UNITS.get(word, word) if times or match["sign"] else word)
        times = value is not None or (times and word.lower() in _TIMES)
    months = [word.lower() for word in words if numbers and word.lower() in _MONTHS]
    left = tuple(word for word in words if word.lower() not in months)
    return Counted((*numbers, *months), left, _ORDERED.search(text) is not None)


def date(text: str) -> tuple[int, int, int] | None:
    """A full date as (year, month, day); None if the text is none."""
    plain = text.strip().strip(".").lower()
    if match := _ISO.match(plain):
        year, month, day = map(int, match.groups())
    elif match := _DAY_FIRST.match(plain):
        year, month, day = int(match[3]), _month(match[2]), int(match[1])
    elif match := _MONTH_FIRST.match(plain):
        year, month, day = int(match[3]), _month(match[1]), int(match[2])
    else:
        return None
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _named(word: str) -> float | None:
    return _VALUES.get(word, _VALUES.get(word.lower()) if word.lower() in _NAMED else None)


def _month(word: str) -> int:
    """The number of a month by its name or the first letters of it; 0 if it is none."""
    short = "sep" if word == "sept" else word
    return next((k for k, name in enumerate(_MONTHS, 1) if short in (name, name[:3])), 0)
