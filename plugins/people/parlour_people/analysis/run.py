"""`parlour analyse`: a folder of transcripts of Avalon becomes a report with pictures and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript
from parlour.envs.settings import Settings
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.play.parallel.executor import carry_out
from parlour.training.runs.progress import Stage, no_progress
from parlour.training.runs.run import Run
from pydantic import Field

from parlour_people.analysis import pictures, report as reports, tables
from parlour_people.analysis.compare import DecidedGame, compared_guesses
from parlour_people.analysis.decisions import Decision, decisions_of
from parlour_people.analysis.report import AnalysedFolder
from parlour_people.habits.model import PeopleHabits, PeopleHabitsFile, read_people_habits
from parlour_people.habits.run import FOLDS, HABITS

REPORT: Final = "report.md"
USUAL: Final = "usual habits"
UNHEARD: Final = "words left out"
"""Name of the habits that are compared with the analysis's own."""


class AnalysisSettings(Settings):
    """How games are analysed."""

    habits: Path | None = None
    """Habits behind the beliefs: a file, or the folder of a run of `parlour train habits`, which has for each of its
    games habits that were not learned from it; None: the usual ones."""
    pictures: bool = True
    """Draw pictures, where matplotlib is installed."""
    workers: int = Field(default=1, ge=1)
    """Number of processes. The result does not depend on it."""
    seed: int = Field(default=0, ge=0)
    """The same seed gives the same result."""


class GameResult(NamedTuple):
    """What a process returns for a game."""

    decisions: tuple[Decision, ...]
    beside: dict[str, tuple[Decision, ...]]
    """Under other habits, by their name: the usual ones, and the same without words, where those are others."""


@dataclass(frozen=True)
class Analysis:
    """What was found in a folder."""

    folder: AnalysedFolder
    figures: dict[str, Any]
    """Plain values: the content of `summary.json`, the verdict aside."""
    out: Path


def analyse(
    folder: str | Path,
    out: str | Path,
    settings: AnalysisSettings | None = None,
    progress: Callable[..., None] = no_progress,
) -> Analysis:
    """Analyse all transcripts (`*.jsonl`) of a folder.

    Args:
        folder: Transcripts of Avalon, whoever played.
        out: Where the report goes.
        settings: How.
        progress: Called with the number of games done.

    Raises:
        ParlourError: There is no transcript, one cannot be used, or `out` holds an analysis of something else.
    """
    settings = settings or AnalysisSettings()
    files = Transcript.files(folder)
    games = [AnalysedGame.read(path) for path in files]
    habits_of = None if settings.habits is None else chosen_habits(settings.habits)
    chosen = [None if habits_of is None else habits_of(game) for game in games]
    named = {"folder": str(folder), "habits": None if settings.habits is None else str(settings.habits)}
    stored = {**named, "seed": settings.seed}
    with Run(out).opened(stored) as target:
        drawn = settings.pictures and find_spec("matplotlib") is not None
        calls = [(path, habits, settings) for path, habits in zip(files, chosen, strict=True)]
        stage = Stage("Analysing games", len(calls), "games")
        finished = stage.counted(carry_out(settings.workers, analyse_game, calls), progress)
        results = [result for _, result in sorted(finished, key=itemgetter(0))]
        result_folder = _folder(games, results, _how(settings), drawn=drawn)
        figures = _figures(result_folder)
        guesses = list(compared_guesses(result_folder.games))
        if drawn and guesses:
            pictures.guesses(guesses, result_folder.theirs, target / reports.GUESSES_PICTURE)
        reports.report_of(result_folder, figures).write(target)
    return Analysis(result_folder, figures, Path(out))


def chosen_habits(path: str | Path) -> Callable[[AnalysedGame], AvalonHabits]:
    """Which habits are used for a game: the file's, or, of a run, the habits of the fold that leaves the game out.

    Nobody is measured by habits learned from himself. A game of no fold gets the habits of the whole run.

    Args:
        path: A file of habits, or the folder of a run that learned them.

    Raises:
        ParlourError: There is no such file, or it holds something else; also of the function, for a table without habits.
    """
    source = Path(path)
    every = read_people_habits(source / HABITS if source.is_dir() else source)
    unseen: dict[str, PeopleHabitsFile] = {}
    for file in sorted((source / FOLDS).glob("*.json")) if source.is_dir() else ():
        habits = read_people_habits(file)
        held_out = habits.notes.get("held_out")
        if not isinstance(held_out, list) or not all(isinstance(game, str) for game in held_out):
            raise ParlourError(f"{str(file)!r} does not say which games it was not learned from; accepted: held_out")
        unseen |= dict.fromkeys(held_out, habits)

    def habits_of(game: AnalysedGame) -> AvalonHabits:
        return unseen.get(game.name, every).of(game.seats)

    return habits_of


def without_words(habits: AvalonHabits) -> AvalonHabits:
    """Habits to which words tell nothing; the same if they are such."""
    if isinstance(habits, PeopleHabits) and habits.words is not None:
        return replace(habits, words=None)
    return habits


def analyse_game(path: Path, habits: AvalonHabits | None, settings: AnalysisSettings) -> GameResult:
    """Analyse one game."""
    game, used = AnalysedGame.read(path), habits or AvalonHabits()
    decisions = decisions_of(game, used, settings.seed)
    others = {} if habits is None else {USUAL: AvalonHabits(), UNHEARD: without_words(used)}
    beside = {name: decisions_of(game, other, settings.seed) for name, other in others.items() if other is not used}
    return GameResult(decisions, beside)


def _folder(
    games: Sequence[AnalysedGame], results: Sequence[GameResult], how: Sequence[str], *, drawn: bool
) -> AnalysedFolder:
    both = list(zip(games, results, strict=True))
    names = [name for name in (USUAL, UNHEARD) if any(name in result.beside for result in results)]
    beside = {name: [(game, result.beside.get(name, result.decisions)) for game, result in both] for name in names}
    decided: list[DecidedGame] = [(game, result.decisions) for game, result in both]
    return AnalysedFolder(reports.players_of(games), decided, beside, how, drawn)


def _how(settings: AnalysisSettings) -> list[str]:
    habits = "the usual ones" if settings.habits is None else f"habits of {reports.plain(settings.habits.name)}"
    of_folds = settings.habits is not None and settings.habits.is_dir()
    unseen = ", each game by those that were not learned from it" if of_folds else ""
    return [
        f"Habits: {habits}{unseen}. Beliefs are exact posteriors under them; what they say is in `parlour.envs.avalon.belief`."
    ]


def _figures(folder: AnalysedFolder) -> dict[str, Any]:
    return {
        "games": len(folder.games),
        "players": folder.theirs,
        **tables.figures(folder.games),
        "beside": {name: tables.figures(games) for name, games in folder.beside.items()},
        "how": list(folder.how),
    }
