"""The benchmark's pages: one player's result, also in Markdown; a leaderboard; and runs with their cost, abilities and commands.

Abilities are there for runs in which `parlour benchmark abilities` has measured them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.measure.decision_tables import amount
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import DecidedBy, DifferenceScale, together
from parlour.training.statistics import Estimate

from parlour_bench.intervals import intervals
from parlour_bench.leaderboard import Entry, Leaderboard
from parlour_bench.result import scores
from parlour_bench.results_file import ABILITIES, RESULTS, BenchmarkResult
from parlour_bench.verdict import verdict_of

POINTS: Final = DifferenceScale("points", matters=3.0)

PAGE_FILE: Final = "report.html"
SIGN: Final = "†"

_MOST = 12
"""Scores in the picture: the whole, games, sides and tables come first."""


def write_benchmark_page(folder: Path, result: BenchmarkResult, report: Report) -> None:
    """Write the page and the Markdown into the directory of a run. Raises `OSError` as writing a file does."""
    report = replace(report, title=f"Benchmark {result.suite}: {result.name}", values=None)
    report.write_page(folder / PAGE_FILE, pieces=[_picture(result)])
    report.write(folder)


def _picture(result: BenchmarkResult) -> str:
    """The scores with their intervals; nothing for a player without a score."""
    if result.no_score:
        return ""
    sign = f" {SIGN}" if result.doubt else ""
    rows = [
        (name, score, f"{score.value:.1f}{sign}, n={score.n}")
        for name, score in scores(result.suite, result.points).items()
    ]
    label = "points of 100 with their 95 % intervals; n is the number of deals"
    return intervals(label, rows[:_MOST], 0.0, 100.0)


LEADERBOARD_PAGE: Final = "leaderboard.html"
ANCHOR: Final = "Elo points above the expert of the table, whose rating is 0; intervals by resampling deals."


def leaderboard_table(board: Leaderboard) -> ResultTable:
    """A row for each player."""
    title = f"Leaderboard of {board.suite} (points of 100, 95 % interval)"
    columns = (
        *(Column("rank"), Column("player"), Column("points", ".1f"), Column("minus the first", "+.1f")),
        *(Column(f"Elo, {table}", "+.0f") for table in board.ratings),
        *(Column("own decisions", ".1f", 100, " %"), Column("tokens a game", ",.0f"), Column("dollars a game", ".4f")),
    )
    rows = tuple(_row(number, entry, board) for number, entry in enumerate(board.entries, 1))
    return ResultTable(title, columns, rows, ANCHOR if board.ratings else "")


def _row(number: int, entry: Entry, board: Leaderboard) -> tuple[Any, ...]:
    own = entry.result.own
    share = own[0] / own[1] if own is not None and own[1] else None
    sign = f" {SIGN}" if entry.result.doubt else ""
    return (
        *(number if entry.score else None, f"{entry.result.name}{sign}", entry.score, entry.below_first),
        *(ratings.get(entry.result.name) for ratings in board.ratings.values()),
        share,
        *(amount(None) if own is not None and count is None else count for count in (entry.tokens, entry.dollars)),
    )


def verdict_on(board: Leaderboard) -> str:
    """Who is first, and whether the second is behind; what throws doubt on players."""
    doubts = [entry.result.doubt for entry in board.entries]
    scored = [entry for entry in board.entries if entry.score is not None]
    if not scored:
        return together(doubts)
    first = scored[0]
    assert first.score is not None
    said = f"{first.result.name} is first of {len(board.entries)} with {first.score.value:.1f} points."
    if len(scored) == 1 or scored[1].below_first is None:
        return together([said, *doubts])
    return together([said, POINTS.compared(scored[1].result.name, first.result.name, scored[1].below_first), *doubts])


def write_leaderboard_page(folder: Path, board: Leaderboard) -> None:
    """Write it into a folder. Raises `OSError` as writing a file does."""
    rows = [(entry.result.name, entry.score, f"{entry.score.value:.1f}") for entry in board.entries if entry.score]
    picture = intervals("points of 100 with their 95 % intervals", rows, 0.0, 100.0) if rows else ""
    report = Report(f"Leaderboard: {board.suite}", verdict_on(board), (leaderboard_table(board),))
    report.write_page(folder / LEADERBOARD_PAGE, pieces=[picture])


_PLAYER: Final = "{player}"


@dataclass(frozen=True)
class AbilityPicture:
    """Measures of abilities on one scale."""

    label: str
    measures: Mapping[str, tuple[str, ...]]
    """Name -> keys in abilities.json; `{player}` is the player's name."""
    low: float = 0.0
    high: float = 1.0


PICTURES: Final = (
    AbilityPicture(
        "skill in deduction: 0 as after the night, 1 the exact posterior; n is the number of games, here and below",
        {"Avalon": ("deduction", _PLAYER, "skill"), "Werewolf": ("village", _PLAYER, "skill")},
        low=-1.0,
    ),
    AbilityPicture(
        "doubt left, as evil, to an onlooker who knows the player's habits; claims that contradict what the seat saw; guesses that name "
        "Merlin, and that miss the player's Merlin (shares)",
        {
            "doubt left": ("deception", "onlooker"),
            "false claims, Avalon": ("consistency", "avalon_v0", _PLAYER, "saw"),
            "false claims, Werewolf": ("consistency", "werewolf_v0", _PLAYER, "saw"),
            "names Merlin": ("names_merlin",),
            "is missed as Merlin": ("hides_merlin",),
        },
    ),
)
_DEDUCTION: Final = frozenset(("deduction", "village"))


StoredAbilities = Mapping[tuple[str, ...], Estimate | None]
"""The part of an abilities.json that the page shows, by the keys in the file."""


def write_runs_page(file: Path, runs: Sequence[Path], board: Leaderboard) -> str:
    """Write it.

    Args:
        file: The page.
        runs: Run directories of a benchmark, or their results files.
        board: The players of the runs, ranked.

    Returns:
        The verdict on the players of the runs.

    Raises:
        ParlourError: A file of abilities cannot be read.
    """
    folders = {_name(run): run if run.is_dir() else run.parent for run in runs}
    entries = [entry for entry in board.entries if entry.result.name in folders]
    measured = {name: abilities for name, folder in folders.items() if (abilities := _abilities(folder))}
    verdict = together([verdict_of(entry.result) for entry in entries])
    title = f"Benchmark {board.suite}: {', '.join(entry.result.name for entry in entries)}"
    commands = tuple((name, str(read_json(folder / RESULTS).get("command", ""))) for name, folder in folders.items())
    made_by = ResultTable("Commands that make the runs again", (Column("player"), Column("command")), commands)
    pictures = [_scores(board), *(_ability_picture(picture, measured) for picture in PICTURES)]
    file.parent.mkdir(parents=True, exist_ok=True)
    Report(title, verdict, (leaderboard_table(board), made_by)).write_page(file, pieces=pictures)
    return verdict


def _name(run: Path) -> str:
    return str(read_json(run / RESULTS if run.is_dir() else run)["player"])


def _scores(board: Leaderboard) -> str:
    """Strength beside cost."""
    rows = [(entry.result.name, entry.score, _cost(entry)) for entry in board.entries if entry.score]
    label = "points of 100 with their 95 % intervals; behind them tokens and dollars a game"
    return intervals(label, rows, 0.0, 100.0) if rows else ""


def _cost(entry: Entry) -> str:
    sign = f" {SIGN}" if entry.result.doubt else ""
    parts = [f"{entry.score.value:.1f}{sign}" if entry.score else ""]
    if entry.result.own is not None and entry.tokens != 0:
        parts.append(f"{amount(entry.tokens, ',.0f')} tokens")
        parts.append("dollars unknown" if entry.dollars is None else f"${entry.dollars:.4f}")
    return ", ".join(parts)


def _abilities(folder: Path) -> StoredAbilities | None:
    """What `parlour benchmark abilities` wrote for a run; None if it did not."""
    path = folder / ABILITIES
    if not path.exists():
        return None
    values = read_json(path)
    try:
        places = [place for picture in PICTURES for place in picture.measures.values()]
        return {place: _estimate(values, place) for place in places}
    except (AttributeError, KeyError, StopIteration, TypeError, ValueError):
        raise ParlourError(
            f"{str(path)!r} holds no abilities; accepted: what `parlour benchmark abilities` wrote"
        ) from None


def _estimate(abilities: Mapping[str, Any], place: tuple[str, ...]) -> Estimate | None:
    """None where it was not measured, and for deduction if most beliefs were not the player's own."""
    asked = abilities["asked"]["questions"].values()
    every = sum(kind["asked"] for kind in asked)
    foreign = sum(sum(kind.get("heuristic", {}).values()) for kind in asked)
    if place[0] in _DEDUCTION and DecidedBy(abilities["player"], every - foreign, every).no_score:
        return None
    part: Any = abilities
    for step in place:
        part = part.get(abilities["player"] if step == _PLAYER else step)
        if part is None:
            return None
    estimate = Estimate.of_json(part)
    if not all(map(isfinite, (estimate.value, *estimate.ends, estimate.n))):
        raise ValueError
    return estimate


def _ability_picture(picture: AbilityPicture, measured: Mapping[str, StoredAbilities]) -> str:
    """A row for each measure and each player that has it; the player is named if there are several."""
    rows = [
        (
            f"{measure}, {name}" if len(measured) > 1 else measure,
            estimate,
            f"{estimate.value:.2f}, n={estimate.n}",
        )
        for measure, place in picture.measures.items()
        for name, abilities in measured.items()
        if (estimate := abilities[place]) is not None
    ]
    return intervals(picture.label, rows, picture.low, picture.high) if rows else ""
