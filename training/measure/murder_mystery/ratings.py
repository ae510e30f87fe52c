"""Ratings by people who have played: five scales from 1 to 5 (Questum, table 7), kept beside the transcript.

The scales are the paper's; the words of their criteria are ours. A transcript FILE.jsonl has its ratings in
FILE.ratings.json: one record for each person at the table, with the SHA-256 of the transcript that they belong to. A
transcript itself is never changed. The summary is that of table 6: for each scale mean and deviation over people, and the mean of
the five means with their deviation, both with n under the root (so table 6's own last row comes out).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs import replay
from parlour.envs.core import ParlourError, accept, check_one_of, value_shown
from parlour.envs.json_values import json_value
from parlour.envs.language_files import LanguageTable, read_language
from parlour.envs.terminal import tell
from parlour.policies.files import write_json

FORMAT: Final = 1
ENDING: Final = ".ratings.json"
POINTS: Final = range(1, 6)


class Scale(LanguageTable):
    """One question to a person."""

    title: str
    levels: tuple[str, str, str, str, str]
    """What 1 to 5 points mean."""


class RatingTexts(LanguageTable):
    """What a person is asked, in one language."""

    opening: str
    prompt: str
    refused: str
    scales: dict[str, Scale]


@cache
def texts(language: str) -> RatingTexts:
    """The texts of a language. Raises `ParlourError` if there is no such language."""
    return read_language(__package__, language, RatingTexts)


NAMES: Final = ("story advancement", "question quality", "response quality", "role immersion", "response speed")
"""The scales, in the order of table 7."""


@dataclass(frozen=True)
class Rating:
    """What one person said about the players of one game."""

    seat: str
    """Who rates."""
    rated: Mapping[str, str]
    """The other seats and who sat there."""
    points: Mapping[str, int]
    """Scale -> 1..5; a scale that was left out is missing."""

    @property
    def method(self) -> str:
        """The others' policies, each once."""
        return " + ".join(sorted(set(self.rated.values())))


class Row(NamedTuple):
    """One scale of a summary."""

    mean: float
    deviation: float
    """n under the root."""
    n: int


def ask(
    read: Callable[[str], str] = input, write: Callable[[str], None] = tell, language: str = "en"
) -> dict[str, int]:
    """Ask a person for the five scales.

    Args:
        read: Reads one line.
        write: Shows a line.
        language: Language of the table: `"en"` or `"zh"`.
    """
    words = texts(language)
    write(words.opening)
    points: dict[str, int] = {}
    for name in NAMES:
        scale = words.scales[name]
        write(scale.title)
        for level, meaning in enumerate(scale.levels, 1):
            write(f"  {level}  {meaning}")
        while True:
            said = read(words.prompt).strip()
            if said.isdecimal() and int(said) in POINTS:
                points[name] = int(said)
            elif said:
                write(words.refused.format(said))
                continue
            break
    return points


def path_of(transcript: Path) -> Path:
    """Where the ratings of a transcript are."""
    return transcript.with_name(transcript.name.removesuffix(".jsonl") + ENDING)


def store(transcript: Path, seat: str, points: Mapping[str, int]) -> Path:
    """Add a person's ratings to a transcript's ratings; a second rating of the same seat replaces the first.

    Raises:
        ParlourError: The transcript cannot be read, has no such seat, or the points are none.
    """
    players = replay.read(transcript).header.get("players", {})
    check_one_of("seat", seat, players)
    _check(points)
    path = path_of(transcript)
    records = [record for record in _records(path)["ratings"] if record["seat"] != seat] if path.exists() else []
    rated = {agent: who for agent, who in players.items() if agent != seat}
    records.append({"seat": seat, "rated": rated, "points": dict(points)})
    write_json(
        path,
        {"parlour_ratings": FORMAT, "transcript": transcript.name, "sha256": _hash(transcript), "ratings": records},
    )
    return path


def read(path: Path) -> list[Rating]:
    """The ratings in a file.

    Raises:
        ParlourError: It is no such file, or the transcript beside it is missing or another one.
    """
    stored = _records(path)
    transcript = path.with_name(str(stored["transcript"]))
    if not _is_of(transcript, stored["sha256"]):
        what = f"{str(path)!r} does not belong to {value_shown(transcript.name)}"
        raise ParlourError(f"{what}; accepted: the transcript it was made with")
    return [Rating(record["seat"], record["rated"], record["points"]) for record in stored["ratings"]]


def of_directory(directory: Path) -> list[Rating]:
    """All ratings below a folder, in the order of the files. Raises `ParlourError` if there is none."""
    all_ratings = [rating for path in sorted(directory.rglob(f"*{ENDING}")) for rating in read(path)]
    if not all_ratings:
        raise ParlourError(f"folder {str(directory)!r} holds no ratings; accepted: a folder with *{ENDING} files")
    return all_ratings


def summary(ratings: Sequence[Rating]) -> dict[str, dict[str, Row]]:
    """Method -> scale, then `"overall"` -> mean, deviation, n; as in table 6."""
    by_method: dict[str, dict[str, Row]] = {}
    for method in sorted({rating.method for rating in ratings}):
        own = [rating for rating in ratings if rating.method == method]
        rows = {}
        for name in NAMES:
            points = [rating.points[name] for rating in own if name in rating.points]
            if points:
                rows[name] = row(points)
        if rows:
            by_method[method] = {**rows, "overall": row([row.mean for row in rows.values()])}
    return by_method


def row(values: Sequence[float]) -> Row:
    """Mean and deviation.

    >>> found = row([1.5, 1.67, 2.83, 1.17, 2.25])  # table 6, Werewolf: 1.88 +- 0.59
    >>> f"{found.mean:.2f} {found.deviation:.2f}"
    '1.88 0.59'
    """
    mean = sum(values) / len(values)
    return Row(mean, sqrt(sum((x - mean) ** 2 for x in values) / len(values)), len(values))


def _check(points: Mapping[str, Any]) -> None:
    for name, value in points.items():
        check_one_of("scale", name, NAMES)
        check_one_of(name, value, POINTS)


def _records(path: Path) -> dict[str, Any]:
    try:
        stored = json_value(path.read_bytes())
        if stored["parlour_ratings"] != FORMAT:
            raise accept("parlour_ratings", stored["parlour_ratings"], [FORMAT])
        for record in stored["ratings"]:
            _check(dict(record["points"]))
            dict(record["rated"]), str(record["seat"])
        path.with_name(str(stored["transcript"]))
        str(stored["transcript"]), str(stored["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ParlourError(
            f"{str(path)!r} holds no ratings ({error}); accepted: what was stored after a game"
        ) from None
    return dict(stored)


def _is_of(transcript: Path, digest: object) -> bool:
    """Whether the transcript can be read and is the one that was rated; a file may name what no file can be called."""
    try:
        return _hash(transcript) == digest
    except (OSError, ValueError):
        return False


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
