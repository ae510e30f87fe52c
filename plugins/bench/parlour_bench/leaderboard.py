"""A leaderboard: results files of one suite, checked on entry and ranked by score, each compared with the first on the same deals.

A file may come from anybody. `read_result` checks its suite and points; here its size, its name, its counts, and that the scores in
it follow from its points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.statistics import Estimate

from parlour_bench.ratings import Ratings, ratings
from parlour_bench.result import OVERALL, plain, scores
from parlour_bench.results_file import RESULTS, BenchmarkResult, read_result, references
from parlour_bench.suite import Suite

MOST_BYTES: Final = 5_000_000
"""Size of a results file, at most."""
LONGEST_NAME: Final = 100
_NEVER_IN_NAMES: Final = "<>&\"'`\\"
SHIPPED: Final = " (comes with parlour)"
"""Behind the names of the reference players."""


@dataclass(frozen=True)
class Entry:
    """A player of the leaderboard."""

    result: BenchmarkResult
    score: Estimate | None
    """Points of 100; None for a player without a score."""
    below_first: Estimate | None
    """Points minus the points of the first player, on the same deals; None for the first, and for a player without a score."""
    tokens: float | None
    """Read and written, a game; None if a server did not report them, and for a player that comes with parlour."""
    dollars: float | None
    """A game; None likewise, or if a price is unknown."""


@dataclass(frozen=True)
class Leaderboard:
    """The players of one suite, the best first; those without a score are last."""

    suite: Suite
    entries: tuple[Entry, ...]

    @cached_property
    def ratings(self) -> Ratings:
        """The players with a score at the tables with an expert."""
        return ratings(self.suite, {entry.result.name: entry.result.points for entry in self.entries if entry.score})

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "suite": str(self.suite),
            "sha256": self.suite.digest,
            "tables": [table.name for table in self.suite.tables],
            "players": [
                {
                    "player": entry.result.name,
                    "score": entry.score and entry.score.as_json(),
                    "below_first": entry.below_first and entry.below_first.as_json(),
                    "ratings": {
                        table: of[entry.result.name].as_json()
                        for table, of in self.ratings.items()
                        if entry.result.name in of
                    },
                    "own": entry.result.own,
                    "tokens": entry.tokens,
                    "dollars": entry.dollars,
                }
                for entry in self.entries
            ],
        }


def leaderboard(paths: Sequence[Path]) -> Leaderboard:
    """Rank results files, or the files of run directories, with the players that come with parlour.

    Raises:
        ParlourError: A file is refused, two are of different suites, or two players have one name.
    """
    submitted = [_submitted(path) for path in paths]
    suite = submitted[0].result.suite
    for path, entry in zip(paths, submitted, strict=True):
        if entry.result.suite != suite:
            raise ParlourError(f"{str(path)!r} is of suite {entry.result.suite}; accepted: {suite}, as the first file")
    shipped = [
        Entry(BenchmarkResult(f"{reference.name}{SHIPPED}", suite, reference.points), None, None, None, None)
        for reference in references(suite)
    ]
    entries = [*submitted, *shipped]
    names = [entry.result.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise ParlourError(f"two players are called {name!r}; accepted: a name of its own for each")
    return Leaderboard(suite, _ranked(suite, entries))


def _ranked(suite: Suite, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """With scores and comparisons, the best first."""
    overall = {id(entry): scores(suite, entry.result.points)[OVERALL] for entry in entries if not entry.result.no_score}
    ranked = sorted((entry for entry in entries if id(entry) in overall), key=lambda entry: -overall[id(entry)].value)
    rest = [entry for entry in entries if id(entry) not in overall]
    compared = []
    for number, entry in enumerate(ranked):
        first = ranked[0].result.points
        below = None if number == 0 else scores(suite, entry.result.points, first)[OVERALL]
        compared.append(Entry(entry.result, overall[id(entry)], below, entry.tokens, entry.dollars))
    return (*compared, *rest)


def _submitted(path: Path) -> Entry:
    """A file that passed all checks, not yet ranked. Raises `ParlourError`."""
    file = path / RESULTS if path.is_dir() else path
    if file.exists() and file.stat().st_size > MOST_BYTES:
        raise ParlourError(f"{str(file)!r} has {file.stat().st_size:,} bytes; accepted: at most {MOST_BYTES:,}")
    result = read_result(path)
    stored = read_json(file)
    _check_name(file, result.name)
    made = stored.get("all decisions")
    if made is None or not _is_sound(made) or result.own is None or not 0 <= result.own[0] <= result.own[1]:
        raise ParlourError(
            f"{str(file)!r} has impossible counts of decisions; accepted: what `parlour benchmark` wrote"
        )
    stated = stored.get("scores")
    computed = None if result.no_score else plain(scores(result.suite, result.points))
    if stated != computed:
        raise ParlourError(
            f"the scores in {str(file)!r} do not follow from its points; accepted: what `parlour benchmark` wrote"
        )
    games = result.suite.games_played
    return Entry(result, None, None, *(None if amount is None else amount / games for amount in taken(made)))


def taken(made: Mapping[str, Any]) -> tuple[int | None, float | None]:
    """Tokens and dollars of all decisions, as `Decisions.as_json` stores them; None where they are unknown.

    >>> taken({"prompt": 10, "completion": 2}), taken({"prompt": 10, "completion": None, "dollars": None})
    ((12, 0.0), (None, None))
    """
    read, written = made.get("prompt", 0), made.get("completion", 0)
    return None if read is None or written is None else read + written, made.get("dollars", 0.0)


def _is_sound(made: Any) -> bool:
    """Whether these can be counts of tokens and dollars."""
    if not isinstance(made, dict):
        return False
    tokens, dollars = (made.get("prompt", 0), made.get("completion", 0)), made.get("dollars", 0.0)
    sound = dollars is None or (isinstance(dollars, int | float) and dollars >= 0)
    return sound and all(count is None or (type(count) is int and count >= 0) for count in tokens)


def _check_name(file: Path, name: str) -> None:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable() or set(name) & set(_NEVER_IN_NAMES):
        raise ParlourError(
            f"the player of {str(file)!r} has a name that is not accepted; accepted: one line of at most {LONGEST_NAME} "
            f"characters without {' '.join(_NEVER_IN_NAMES)}"
        )
