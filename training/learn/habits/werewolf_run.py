"""`parlour train habits` on a folder of Werewolf: habits, cross-validated by game, beside today's rates and chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.habits import WerewolfHabitsFile
from parlour.policies.files import write_json
from parlour.training.learn.habits.avalon import report
from parlour.training.learn.habits.avalon.config import HabitsConfig
from parlour.training.learn.habits.avalon.priors import Widths
from parlour.training.learn.habits.avalon.scores import QuestRead
from parlour.training.learn.habits.avalon.validate import folds
from parlour.training.learn.habits.werewolf import WolfRecord, fit_rates, wolf_games_in, wolf_reads
from parlour.training.results.pages.report import write_report
from parlour.training.results.runs import StageProgress, no_stage_progress, run_directory

_LEARNED: Final = "learned"


@dataclass(frozen=True)
class LearnedRates:
    """What a run found."""

    habits: WerewolfHabitsFile
    """Learned from all games."""
    scores: Sequence[Mapping[str, Any]]
    """By cross-validation; see `report.summary`."""
    tested: Sequence[Mapping[str, Any]]
    """On the other folder; empty without one."""

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"scores": report.plain(self.scores), "tested": report.plain(self.tested)}


def learn_rates(config: HabitsConfig, out: Path, progress: StageProgress = no_stage_progress) -> LearnedRates:
    """Learn from `config.source` and write habits, scores and report into `out`.

    Raises:
        ParlourError: A folder holds no games, or too few for the folds, or the directory holds a run with other settings.
    """
    games = wolf_games_in(config.source)
    if len(games) < config.folds:
        raise ParlourError(f"--folds {config.folds} of {len(games)} games is not accepted; accepted: 2 to {len(games)}")
    others = [] if config.test is None else wolf_games_in(config.test)
    widths = Widths(config.shared_width, config.own_width)
    with run_directory(out, asdict(config)) as folder:
        habits = replace(fit_rates(games, widths), notes={"learned_from": {"games": len(games), "seed": config.seed}})
        write_json(folder / "habits.json", habits.as_json())
        learned = _cross_validated(games, config, widths, progress)
        readings = {report.DEFAULT: _by_default(games), _LEARNED: learned}
        found, text = _written(folder, "", "Cross-validation by game", readings, games, config.seed)
        tested: list[dict[str, Any]] = []
        if others:
            on_others = [read for k, one in enumerate(others) for read in wolf_reads(one, habits.of(one.players), k)]
            readings = {report.DEFAULT: _by_default(others), _LEARNED: on_others}
            tested, more = _written(folder, "test-", "On the games of the other folder", readings, others, config.seed)
            text += more
        write_report(folder, "# Habits of Werewolf learned from records\n\n" + text)
    return LearnedRates(habits, found, tested)


def _cross_validated(
    games: Sequence[WolfRecord], config: HabitsConfig, widths: Widths, progress: StageProgress
) -> list[QuestRead]:
    found: list[QuestRead] = []
    done = 0
    for fold in folds(games, config.folds, config.seed):
        held = set(fold)
        habits = fit_rates([one for k, one in enumerate(games) if k not in held], widths)
        found += [read for k in fold for read in wolf_reads(games[k], habits.of(games[k].players), k)]
        done += len(fold)
        progress("cross-validation", done, len(games), _LEARNED)
    return sorted(found, key=lambda one: (one.game, one.quest))


def _by_default(games: Sequence[WolfRecord]) -> list[QuestRead]:
    return [read for k, one in enumerate(games) for read in wolf_reads(one, WerewolfHabits(), k)]


def _written(
    folder: Path, prefix: str, title: str, readings: report.Readings, games: Sequence[WolfRecord], seed: int
) -> tuple[list[dict[str, Any]], str]:
    numbers = sorted({one.players for one in games})
    groups = {"all": numbers, **{str(n): (n,) for n in numbers}}
    found = report.write(folder, prefix, readings, games, seed, groups, ("all",))
    return found, report.in_words(title, found, report.by_role(readings, games))
