"""Who is named in a text: full names, aliases, unique beginnings of names, and numbers ("player_3", "3号")."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import CaseVocabulary

_SEAT: Final = r"(?<![A-Za-z0-9])player[\s_]*(?P<player>\d+)(?!\d)|(?<!\d)(?P<number>\d+)\s*号"
_BREAKS: Final = re.compile(r"[\s·・\-‐.,()（）“”\"'’]+")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


class Mention(NamedTuple):
    """One place of a text where somebody is named."""

    start: int
    end: int
    persons: tuple[int, ...]
    """The persons it may mean: one, or several who share a beginning or an alias."""


def mentions(text: str, vocabulary: CaseVocabulary) -> list[Mention]:
    """All places where somebody is named, in order; at each place the longest name counts.

    A name in full counts before an alias, and an alias before the beginning of another's name.
    """
    pattern, persons = _readers(vocabulary)
    found = []
    for match in pattern.finditer(text):
        number = match["player"] or match["number"]
        if number is None:
            found.append(Mention(match.start(), match.end(), persons[_plain(match[0])]))
        elif int(number) < vocabulary.seats:
            found.append(Mention(match.start(), match.end(), (int(number),)))
    return found


def beginning(text: str, vocabulary: CaseVocabulary) -> tuple[int, ...]:
    """The persons one of whose names begins with the whole text.

    An exact name counts alone; whole words count before beginnings of words ("Li" is Li Po and not Lin Wei).
    """
    start = _plain(text.strip(" \t\"'“”‘’.,;:!?。，；：！？"))
    if not start:
        return ()
    every = _names(vocabulary)
    fits = (lambda name: name == start, lambda name: _is_word_of(start, name), lambda name: name.startswith(start))
    found = (tuple(person for person, names in enumerate(every) if any(map(fit, names))) for fit in fits)
    return next(filter(None, found), ())


def _is_word_of(start: str, name: str) -> bool:
    return name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def _names(vocabulary: CaseVocabulary) -> list[list[str]]:
    return [
        [_plain(name), *map(_plain, aliases)]
        for name, aliases in zip(vocabulary.persons, vocabulary.aliases, strict=True)
    ]


@lru_cache(maxsize=256)
def _readers(vocabulary: CaseVocabulary) -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    """One pattern for all names, the longest first, and the persons that each of them may mean."""
    full = {_plain(name): (person,) for person, name in enumerate(vocabulary.persons)}
    aliases: dict[str, tuple[int, ...]] = {}
    for person, names in enumerate(vocabulary.aliases):
        for name in names:
            aliases[_plain(name)] = (*aliases.get(_plain(name), ()), person)
    starts: dict[str, tuple[int, ...]] = {}
    for person, name in enumerate(vocabulary.persons):
        for start in _beginnings(name):
            starts[start] = (*starts.get(start, ()), person)
    meanings = {**starts, **aliases, **full}
    longest_first = sorted(filter(None, meanings), key=lambda name: (-len(name), name))
    pattern = "|".join((*map(_bounded, longest_first), _SEAT))
    return re.compile(pattern, re.IGNORECASE), meanings


def _beginnings(name: str) -> list[str]:
    """Short forms of a name: its first parts; no single letter or Chinese character."""
    breaks = [found.start() for found in _BREAKS.finditer(name) if found.start()]
    return list(dict.fromkeys(_plain(name[:end]) for end in breaks if end > 1))


def _bounded(name: str) -> str:
    """Pattern of a name that is not part of another word; Chinese has no such boundaries."""
    body = r"\s+".join(re.escape(part) for part in name.split())
    before = "" if _HAN.match(name[0]) or not name[0].isalnum() else r"(?<!\w)"
    after = "" if _HAN.match(name[-1]) or not name[-1].isalnum() else r"(?!\w)"
    return f"{before}{body}{after}"
