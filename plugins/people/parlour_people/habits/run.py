"""`parlour train habits`: habits learned from a folder of recorded games, and how well they tell games not learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Self

from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings
from parlour.policies.files import write_json
from parlour.training.report.report import Picture, Report
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from pydantic import Field, model_validator

from parlour_people.habits import learner, report
from parlour_people.habits.avalon_fit import AVALON
from parlour_people.habits.werewolf import WEREWOLF

HABITS, REPORT, FOLDS = "habits.json", "report.md", "folds"
LAST: Final = (0.01, 0.9)
"""Shares of games to hold out."""
_MOMENTS: Final = (("", "Last games, after each round"), ("often-", "Last games, after each vote"))
"""Prefix of the files and title of the scores on the last games."""
WIDTHS: Final = (0.01, 10.0)
"""Widths of priors: below the first nothing is learned; above the second they have no effect."""


class HabitsConfig(Settings):
    """One run."""

    source: str = "runs/records"
    """Folder with transcripts of Avalon or Werewolf to learn from."""
    test: str | None = None
    """Folder with transcripts to test the habits on; None: cross-validation alone."""
    words: bool = True
    """Whether to learn habits of words, too, if free words of Avalon are recorded; compares both."""
    reader: bool = False
    """Learn what events tell about the evil side, not how likely they are: better with a thousand games or more. Avalon without
    words only."""
    last: float | None = Field(default=None, ge=LAST[0], le=LAST[1])
    """Share of the games, the last by name, to hold out instead of cross-validating; None: cross-validation."""
    folds: int = Field(default=5, ge=2)
    """Number of folds of the cross-validation."""
    shared_width: float = Field(default=1.5, ge=WIDTHS[0], le=WIDTHS[1])
    """Standard deviation of the prior of the part shared by all numbers of players, in log-odds."""
    own_width: float = Field(default=0.5, ge=WIDTHS[0], le=WIDTHS[1])
    """Standard deviation of the prior of the separate part of each number of players, in log-odds."""
    seed: int = Field(default=0, ge=0)
    """Seed of the folds and the intervals: the same seed gives the same result."""

    @model_validator(mode="after")
    def _tests_in_one_way(self) -> Self:
        if self.last is not None and self.test is not None:
            raise ParlourError("--last and --test are not accepted together; accepted: one of them")
        return self

    @property
    def learning(self) -> learner.Learning:
        """How habits are learned."""
        widths = learner.Widths(self.shared_width, self.own_width)
        return learner.Learning(widths, words=self.words, folds=self.folds, seed=self.seed, reader=self.reader)


@dataclass(frozen=True)
class LearnedFrom:
    """What a run found."""

    habits: Any
    """Learned from all games."""
    folds: tuple[learner.Fold, ...]
    """With words where there are any."""
    scores: Sequence[Mapping[str, Any]]
    """By cross-validation; see `report.summary`."""
    tested: Sequence[Mapping[str, Any]] = ()
    """On the other folder, or on the last games; empty without either."""
    often: Sequence[Mapping[str, Any]] = ()
    """On the last games, at more moments."""

    @property
    def verdict(self) -> str:
        """How the habits do on the last games, on the other folder, or by cross-validation."""
        if self.often:
            return report.verdict(self.tested, "the last games")
        if self.tested:
            return report.verdict(self.tested, "games of the other folder")
        return report.verdict(self.scores, "games left out")

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "games": self.habits.notes["learned_from"]["games"],
            "scores": report.plain(self.scores),
            "tested": report.plain(self.tested),
            **({"often": report.plain(self.often)} if self.often else {}),
        }


def learn_habits(config: HabitsConfig, run: Run) -> LearnedFrom:
    """Learn from `config.source` and write habits, folds, scores and report; its first file tells the game.

    Raises:
        ParlourError: A folder holds no games, games of another sort, or too few for the folds, or the directory holds a run
            with other settings.
    """
    first = str(replay.Transcript.read(replay.Transcript.files(config.source)[0]).header["game"])
    of_game: learner.HabitsOfGame[Any] = WEREWOLF if first == WEREWOLF.id else AVALON
    if config.reader and of_game is not AVALON:
        raise ParlourError("--reader of Werewolf is not accepted; accepted: games of Avalon")
    if config.last is not None:
        return _learn_by_date(of_game, config, run)
    return _learn_of(of_game, config, run)


def _learn_of(of_game: learner.HabitsOfGame[learner.G], config: HabitsConfig, run: Run) -> LearnedFrom:
    games = of_game.games_in(config.source)
    if len(games) < config.folds:
        raise ParlourError(f"--folds {config.folds} of {len(games)} games is not accepted; accepted: 2 to {len(games)}")
    others = [] if config.test is None else of_game.games_in(config.test)
    with run.opened(config.plain()) as folder:
        step = 0
        ways = of_game.variants(games, config.learning)
        readings = {report.DEFAULT: of_game.read_by_default(games)}
        for name, how in ways.items():
            more = name.removeprefix(learner.LEARNED).strip(", ")  # habits of words have a metric of their own
            metric, folded = f"eval/log_loss_{more}" if more else "eval/log_loss", []
            for fold in learner.cross_validate(of_game, games, how, run.progress, name):
                folded.append(fold)
                run.log({metric: fmean(read.loss for read in fold.reads)}, step := step + 1)
            readings[name] = learner.reads_of(folded)
        notes = {"learned_from": {"games": len(games), "seed": config.seed}}
        habits = replace(of_game.learn(games, how), notes=notes)
        write_json(folder / HABITS, habits.as_json())
        for number, fold in enumerate(folded):
            held_out = {"held_out": [games[k].name for k in fold.held_out]}
            write_json(folder / FOLDS / f"{number}.json", replace(fold.habits, notes=held_out).as_json())
        writer = report.Writer(folder, config.seed, of_game.groups(games), of_game.panels)
        sections = [writer.write("", "Cross-validation by game", readings)]
        if others:
            learned = {name: of_game.learn(games, how) for name, how in list(ways.items())[:-1]} | {name: habits}
            on_others = {name: of_game.read_all(others, fitted.of) for name, fitted in learned.items()}
            on_others = {report.DEFAULT: of_game.read_by_default(others), **on_others}
            writer = replace(writer, groups=of_game.groups(others))
            sections.append(writer.write("test-", "On the games of the other folder", on_others))
        learned_from = LearnedFrom(habits, tuple(folded), *(section.entries for section in sections))
        _write_report(folder, of_game.title, learned_from.verdict, sections)
    return learned_from


def _learn_by_date(of_game: learner.HabitsOfGame[learner.G], config: HabitsConfig, run: Run) -> LearnedFrom:
    """Learn from the first games, by name, and read the last ones."""
    games = of_game.games_in(config.source)
    cut = len(games) - round(len(games) * (config.last or 0.0))
    if not config.folds <= cut < len(games):
        raise ParlourError(f"--last {config.last} of {len(games)} games is not accepted: one part is too small")
    first, last = games[:cut], games[cut:]
    with run.opened(config.plain()) as folder:
        ways = of_game.variants(first, config.learning)
        learned = {name: of_game.learn(first, how) for name, how in ways.items()}
        notes = {"learned_from": {"games": cut, "seed": config.seed}}
        habits = replace(list(learned.values())[-1], notes=notes)
        write_json(folder / HABITS, habits.as_json())
        reads = {report.DEFAULT: of_game.read_all_often(last, lambda _: of_game.fixed)}
        for name, fitted in Stage("Reading the last games", len(learned), "habits").counted(
            learned.items(), run.progress
        ):
            reads[name] = of_game.read_all_often(last, fitted.of)
        run.log({"eval/log_loss": fmean(read.loss for read in reads[name][0])}, 1)
        writer = report.Writer(folder, config.seed, of_game.groups(last), of_game.panels)
        sections = [
            writer.write(prefix, title, {name: some[number] for name, some in reads.items()})
            for number, (prefix, title) in enumerate(_MOMENTS[: len(reads[name])])
        ]
        result = LearnedFrom(habits, (), (), sections[0].entries, sections[-1].entries)
        _write_report(folder, of_game.title, result.verdict, sections)
    return result


def _write_report(folder: Path, title: str, verdict: str, sections: Sequence[report.Section]) -> None:
    parts = tuple(section.scores for section in sections)
    data = tuple(section.calibration for section in sections)
    picture = Picture(sections[0].draw, "Calibration", report.PICTURE)
    Report(title, verdict, parts, data=data, picture=picture).write(folder)
