"""Sentences for free talk: told once, with numbers, and close together where they differ in a word only.

Sentences that begin and end alike stand as one entry, as JSON: `["I trust that ", ["player_0", "player_1"], " is good."]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from os.path import commonprefix
from typing import Final

Entry = str | tuple[str, list[str], str]
"""A sentence; or how several sentences begin, what each says in the middle, and how they end."""

OFFER: Final = re.compile(r"\+(\d+) (\[.*\])")
"""A line of a record that is none of the game's: sentences that may be said from then on, and the number of the first."""
_PIECE: Final = re.compile(r"\d+(?::\d+)*|[^\W\u2e80-\uffff]+|.", re.DOTALL)
"""A word, a time of day, a letter of a script without blanks, or a sign."""


def together(sentences: Iterable[str]) -> list[Entry]:
    """Sentences in their order, those that begin and end alike in one entry where that is shorter.

    >>> together(["I wait.", "I trust player_0 now.", "I trust player_1 now.", "I trust player_2 now."])
    ['I wait.', ('I trust ', ['player_0', 'player_1', 'player_2'], ' now.')]
    """
    entries: list[Entry] = []
    group: list[str] = []
    for sentence in sentences:
        if group and _length(_entry([*group, sentence])) < _length(_entry(group)) + _length(sentence):
            group.append(sentence)
            continue
        if group:
            entries.append(_entry(group))
        group = [sentence]
    return [*entries, _entry(group)] if group else entries


def one_by_one(entries: Iterable[Entry]) -> list[str]:
    """The sentences that `together` put into entries. Raises `ValueError` for what is no entry."""
    sentences: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            sentences.append(entry)
            continue
        before, middles, after = entry
        sentences += [f"{before}{middle}{after}" for middle in middles]
    return sentences


def _entry(sentences: Sequence[str]) -> Entry:
    """Sentences as one entry, cut between words."""
    if len(sentences) == 1:
        return sentences[0]
    pieces = [_PIECE.findall(sentence) for sentence in sentences]
    before = len(commonprefix(pieces))  # noqa: RUF071 - of lists
    before = min(before, *(len(one) - 1 for one in pieces))
    after = len(commonprefix([one[::-1] for one in pieces]))  # noqa: RUF071
    after = min(after, *(len(one) - before - 1 for one in pieces))
    middles = ["".join(one[before : len(one) - after]) for one in pieces]
    return "".join(pieces[0][:before]), middles, "".join(pieces[0][len(pieces[0]) - after :])


def _length(entry: Entry) -> int:
    return len(json.dumps(entry, ensure_ascii=False)) + 2


def offered(events: Iterable[str]) -> dict[int, str]:
    """The sentences for free talk by their numbers, from the lines of the record that offer them."""
    known: dict[int, str] = {}
    for found in filter(None, map(OFFER.fullmatch, events)):
        known |= dict(enumerate(one_by_one(json.loads(found[2])), int(found[1])))
    return known


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in few words.

    >>> ranges([1, 2, 3, 7, 9, 10]), numbers_in("1-3, 7, 9-10")
    ('1-3, 7, 9-10', [1, 2, 3, 7, 9, 10])
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def numbers_in(words: str) -> list[int]:
    """The numbers that `ranges` put into words."""
    runs = [[int(number) for number in run.split("-")] for run in words.split(",")]
    return [number for run in runs for number in range(run[0], run[-1] + 1)]


class Offers:
    """The sentences for free talk that a seat was offered in one game, and where in the record that was.

    Args:
        spoken: Those that the table tells from the beginning.
    """

    def __init__(self, spoken: Iterable[str] = ()) -> None:
        self._numbers = {sentence: number for number, sentence in enumerate(spoken, 1)}
        self._lines: list[tuple[int, str]] = []
        """Lines of the record before it, and the line that offers."""

    def sayings(self, options: Iterable[str], after: int) -> str:
        """The numbers of sentences; new ones are offered after so many lines of the record."""
        options = list(options)
        new = [option for option in dict.fromkeys(options) if option not in self._numbers]
        if new:
            first = len(self._numbers) + 1
            self._numbers |= {option: number for number, option in enumerate(new, first)}
            self._lines.append((after, f"+{first} {json.dumps(together(new), ensure_ascii=False)}"))
        return ranges(self._numbers[option] for option in options)

    def among(self, lines: list[str]) -> list[str]:
        """The record with the lines that offer."""
        told = list(lines)
        for after, line in reversed(self._lines):
            told.insert(after, line)
        return told
