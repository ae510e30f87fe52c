"""Learn habits from a folder of transcripts, and measure them on games that they were not learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.avalon.habits import AvalonHabits, HabitsFile
from parlour.envs.core import ParlourError
from parlour.policies.files import write_json
from parlour.training.learn.habits.avalon import report, scores
from parlour.training.learn.habits.avalon.config import HabitsConfig
from parlour.training.learn.habits.avalon.games import PublicGame, of_transcript
from parlour.training.learn.habits.avalon.scores import QuestRead
from parlour.training.learn.habits.avalon.validate import Fold, Learning, cross_validate, learn, reads_of
from parlour.training.learn.habits.avalon.words import statements_of
from parlour.training.results.pages.report import write_report
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory

HABITS, REPORT, FOLDS = "habits.json", "report.md", "folds"
LEARNED: Final = "learned"
WORDS: Final = "learned, words"
"""The readings: by conduct alone, and by what was said, too."""


@dataclass(frozen=True)
class LearnedFrom:
    """What a run found."""

    habits: HabitsFile
    """Learned from all games."""
    folds: tuple[Fold, ...]
    """With words where there are any."""
    scores: Sequence[Mapping[str, Any]]
    """By cross-validation; see `report.summary`."""
    tested: Sequence[Mapping[str, Any]]
    """On the other folder; empty without one."""

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "games": sum(len(fold.held_out) for fold in self.folds),
            "scores": report.plain(self.scores),
            "tested": report.plain(self.tested),
        }


def recorded_game(folder: str | Path) -> str:
    """The game of the first transcript of a folder. Raises `ParlourError` where there is none."""
    return str(replay.read(replay.transcript_files(folder)[0]).header["game"])


def games_in(folder: str | Path) -> list[PublicGame]:
    """The games of a folder of transcripts, by the names of their files. Raises `ParlourError` as `of_transcript` does."""
    return [of_transcript(replay.read(path), path.stem) for path in replay.transcript_files(folder)]


def learn_habits(config: HabitsConfig, out: Path, progress: StageProgress = no_stage_progress) -> LearnedFrom:
    """Learn from `config.source` and write habits, scores and report into `out`.

    Raises:
        ParlourError: A folder holds no games, or too few for the folds, or the directory holds a run with other settings.
    """
    games = games_in(config.source)
    if len(games) < config.folds:
        raise ParlourError(f"--folds {config.folds} of {len(games)} games is not accepted; accepted: 2 to {len(games)}")
    tested = [] if config.test is None else games_in(config.test)
    with run_directory(out, asdict(config)) as folder:
        return _learn(config, games, tested, folder, progress)


def _learn(
    config: HabitsConfig, games: list[PublicGame], others: list[PublicGame], folder: Path, progress: StageProgress
) -> LearnedFrom:
    ways = _ways(config, games)
    readings = {report.DEFAULT: by_default(games)}
    for name, how in ways.items():
        folds = cross_validate(games, how, partial(_fold_told, progress, name))
        readings[name] = reads_of(folds)
    habits = replace(learn(games, how), notes={"learned_from": {"games": len(games), "seed": config.seed}})
    _write(folder, games, habits, folds)
    found = report.write(folder, "", readings, games, config.seed)
    text = [report.in_words("Cross-validation by game", found, report.by_role(readings, games))]
    tested: list[dict[str, Any]] = []
    if others:
        learned = {name: learn(games, how) for name, how in list(ways.items())[:-1]} | {list(ways)[-1]: habits}
        read = {name: scores.read_all(others, one.of) for name, one in learned.items()}
        on_others = {report.DEFAULT: by_default(others), **read}
        tested = report.write(folder, "test-", on_others, others, config.seed)
        text.append(report.in_words("On the games of the other folder", tested, report.by_role(on_others, others)))
    write_report(folder, "# Habits learned from records\n\n" + "\n".join(text))
    return LearnedFrom(habits, tuple(folds), found, tested)


def _ways(config: HabitsConfig, games: Sequence[PublicGame]) -> dict[str, Learning]:
    """Name of the reading -> how habits are learned for it; those of the last one are kept."""
    ways = {LEARNED: replace(config.learning, words=False)}
    if config.words and statements_of(games):
        ways[WORDS] = config.learning
    return ways


def _write(folder: Path, games: Sequence[PublicGame], habits: HabitsFile, folds: Sequence[Fold]) -> None:
    write_json(folder / HABITS, habits.as_json())
    for number, fold in enumerate(folds):
        held_out = [games[k].name for k in fold.held_out]
        told = replace(fold.habits, notes={"held_out": held_out}).as_json()
        write_json(folder / FOLDS / f"{number}.json", told)


def _fold_told(progress: StageProgress, name: str, done: int, every: int) -> None:
    progress("cross-validation", done, every, name)


def by_default(games: Sequence[PublicGame]) -> list[QuestRead]:
    """What an onlooker believes by today's fixed rates."""
    return scores.read_all(games, lambda _: AvalonHabits())
