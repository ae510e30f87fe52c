"""`parlour analyse`: a folder of transcripts of Avalon becomes pages, pictures, tables and a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.habits import AvalonHabits, HabitsFile, read_habits
from parlour.envs.core import ParlourError, check_from
from parlour.envs.replay import transcript_files
from parlour.policies.files import atomic_write, write_json
from parlour.training.learn.habits.run import FOLDS, HABITS
from parlour.training.measure.analysis import pages, pictures, report as reports, tables
from parlour.training.measure.analysis.beliefs import belief_lines, without_words
from parlour.training.measure.analysis.compare import DecidedGame, compared_guesses, compared_votes
from parlour.training.measure.analysis.decisions import Decision, decisions_of
from parlour.training.measure.analysis.games import AnalysedGame, read_game
from parlour.training.measure.analysis.pages import FoundGame
from parlour.training.measure.analysis.report import AnalysedFolder, Costed
from parlour.training.measure.analysis.values import (
    EXPERT,
    NONE,
    ROLLOUTS,
    DecisionValue,
    Valuing,
    players_for,
    read_values,
)
from parlour.training.play.parallel.executor import carry_out, in_order
from parlour.training.results import plots
from parlour.training.results.pages.report import write_report
from parlour.training.results.progress import Stage, StageProgress, counted, no_progress
from parlour.training.results.runs import run_directory

REPORT: Final = "report.md"
INDEX: Final = "index.md"
GAMES: Final = "games"
FIGURES: Final = "analysis.json"
USUAL: Final = "usual habits"
UNHEARD: Final = "words left out"
"""Name of the habits that are compared with the analysis's own."""


@dataclass(frozen=True)
class AnalysisSettings:
    """How games are analysed."""

    habits: Path | None = None
    """Habits behind the beliefs: a file, or the folder of a run of `parlour train habits`, which has for each of its
    games habits that were not learned from it; None: the usual ones."""
    values: str = EXPERT
    """How decisions are valued: `expert` (the table's expert continues the game if one ships, else the heuristic),
    `rollouts`
    (the heuristic), each with =N for N continuations a move (16), or `none`."""
    votes: int = 4
    """Number of votes valued in each game: the votes with the greatest surprise."""
    pictures: bool = True
    """Draw pictures, where matplotlib is installed."""
    workers: int = 1
    """Number of processes. The result does not depend on it."""
    seed: int = 0
    """The same seed gives the same result."""

    def __post_init__(self) -> None:
        read_values(self.values)
        for what, least in (("votes", 0), ("workers", 1), ("seed", 0)):
            check_from(what, getattr(self, what), least)


class GameResult(NamedTuple):
    """What a process returns for a game; it has written the rest."""

    decisions: tuple[Decision, ...]
    beside: dict[str, tuple[Decision, ...]]
    """Under other habits, by their name: the usual ones, and the same without words, where those are others."""
    values: dict[int, DecisionValue]
    played_on: str
    listed: tuple[str, ...]
    """Its row in the index."""


@dataclass(frozen=True)
class Analysis:
    """What was found in a folder."""

    folder: AnalysedFolder
    figures: dict[str, Any]
    """Plain values: the content of `analysis.json`."""
    out: Path


def analyse(
    folder: str | Path,
    out: str | Path,
    settings: AnalysisSettings | None = None,
    progress: StageProgress = no_progress,
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
    files = transcript_files(folder)
    games = [read_game(path) for path in files]
    habits_of = None if settings.habits is None else chosen_habits(settings.habits)
    chosen = [None if habits_of is None else habits_of(game) for game in games]
    named = {"folder": str(folder), "habits": None if settings.habits is None else str(settings.habits)}
    stored = {**named, "values": settings.values, "votes": settings.votes, "seed": settings.seed}
    with run_directory(out, stored) as target:
        drawn = settings.pictures and plots.available()
        calls = [(path, target, habits, settings, drawn) for path, habits in zip(files, chosen, strict=True)]
        stage = Stage("Analysing games", len(calls), "games")
        results = list(counted(in_order(carry_out(settings.workers, analyse_game, calls)), stage, progress))
        result_folder = _folder(games, results, _how(settings, results), drawn=drawn)
        figures = _figures(result_folder)
        _write(target, result_folder, figures, results)
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
    every = read_habits(source / HABITS if source.is_dir() else source)
    unseen: dict[str, HabitsFile] = {}
    for file in sorted((source / FOLDS).glob("*.json")) if source.is_dir() else ():
        habits = read_habits(file)
        held_out = habits.notes.get("held_out")
        if not isinstance(held_out, list) or not all(isinstance(game, str) for game in held_out):
            raise ParlourError(f"{str(file)!r} does not say which games it was not learned from; accepted: held_out")
        unseen |= dict.fromkeys(held_out, habits)

    def habits_of(game: AnalysedGame) -> AvalonHabits:
        return unseen.get(game.name, every).of(game.seats)

    return habits_of


def analyse_game(
    path: Path, target: Path, habits: AvalonHabits | None, settings: AnalysisSettings, drawn: bool
) -> GameResult:
    """Analyse one game and write its page, its picture and its beliefs."""
    game, used = read_game(path), habits or AvalonHabits()
    decisions = decisions_of(game, used, settings.seed)
    others = {} if habits is None else {USUAL: AvalonHabits(), UNHEARD: without_words(used)}
    beside = {name: decisions_of(game, other, settings.seed) for name, other in others.items() if other is not used}
    kind, continuations = read_values(settings.values)
    values: dict[int, DecisionValue] = {}
    played_on = ""
    if kind != NONE:
        played_on, seat = players_for(game, kind, AvalonHabits())
        valuing = Valuing(game, used, seat, continuations, settings.votes, settings.seed)
        values = {value.number: value for value in valuing.values(decisions)}
    analysed = FoundGame(game, tuple(belief_lines(game, used)), decisions, values, played_on)
    folder = target / GAMES
    picture = f"{game.name}.png" if drawn else None
    if drawn:
        pictures.beliefs(game, analysed.lines, folder / f"{game.name}.png")
    tables.write_beliefs(folder / f"{game.name}.csv", analysed.lines)
    atomic_write(folder / f"{game.name}.md", pages.page(analysed, os.path.relpath(path, folder), picture))
    return GameResult(decisions, beside, values, played_on, pages.listed(analysed))


def _folder(
    games: Sequence[AnalysedGame], results: Sequence[GameResult], how: Sequence[str], *, drawn: bool
) -> AnalysedFolder:
    both = list(zip(games, results, strict=True))
    costed = [
        Costed(game, decision, result.values[decision.number])
        for game, result in both
        for decision in result.decisions
        if decision.number in result.values
    ]
    names = [name for name in (USUAL, UNHEARD) if any(name in result.beside for result in results)]
    beside = {name: [(game, result.beside.get(name, result.decisions)) for game, result in both] for name in names}
    decided: list[DecidedGame] = [(game, result.decisions) for game, result in both]
    return AnalysedFolder(reports.players_of(games), decided, beside, costed, how, drawn)


def _how(settings: AnalysisSettings, results: Sequence[GameResult]) -> list[str]:
    kind, continuations = read_values(settings.values)
    played = sorted({result.played_on for result in results} - {""})
    habits = "the usual ones" if settings.habits is None else f"habits of {pages.plain(settings.habits.name)}"
    of_folds = settings.habits is not None and settings.habits.is_dir()
    unseen = ", each game by those that were not learned from it" if of_folds else ""
    how = [
        f"Habits: {habits}{unseen}. Beliefs are exact posteriors under them; what they say is in `parlour.envs.avalon.belief`.",
        "Guesses are valued exactly: the guesser's own probability that the one named is Merlin.",
    ]
    if kind in (EXPERT, ROLLOUTS):
        how.append(
            f"Valued by playing on: every card that was a choice of an evil seat, and in each game the {settings.votes} "
            f"votes of greatest surprise; {continuations} continuations for each move by {' or '.join(played)}, from deals "
            "drawn from the belief of the seat that decides; these players assume the usual habits; the same deals and random numbers for all moves."
        )
    return how


def _figures(folder: AnalysedFolder) -> dict[str, Any]:
    return {
        "games": len(folder.games),
        "players": folder.theirs,
        **tables.figures(folder.games),
        "beside": {name: tables.figures(games) for name, games in folder.beside.items()},
        "costs": reports.figures_of_costs(folder.costed),
        "how": list(folder.how),
    }


def _write(target: Path, folder: AnalysedFolder, figures: dict[str, Any], results: Sequence[GameResult]) -> None:
    votes, guesses = list(compared_votes(folder.games)), list(compared_guesses(folder.games))
    if folder.pictures and votes:
        pictures.votes(votes, folder.theirs, target / reports.VOTES_PICTURE)
    if folder.pictures and guesses:
        pictures.guesses(guesses, folder.theirs, target / reports.GUESSES_PICTURE)
    rows = [(*decided, result.values) for decided, result in zip(folder.games, results, strict=True)]
    tables.write_decisions(target / "decisions.csv", rows)
    write_json(target / FIGURES, figures)
    atomic_write(target / INDEX, pages.index([result.listed for result in results]))
    write_report(target, reports.report(folder))
