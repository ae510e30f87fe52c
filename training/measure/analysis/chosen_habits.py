"""The habits by which each game is analysed: a file of habits, or the folder of a run of `parlour train habits`.

The folder has the habits of each fold, with the games held out from it. Each game is analysed with habits that did not learn from
it, so that nobody is measured by habits learned from himself. All other games use the run's habits of all games.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from parlour.envs.avalon.habits import AvalonHabits, HabitsFile, read_habits
from parlour.envs.core import ParlourError
from parlour.training.learn.habits.run import FOLDS, HABITS
from parlour.training.measure.analysis.games import AnalysedGame

HabitsOf = Callable[[AnalysedGame], AvalonHabits]


def chosen_habits(path: str | Path) -> HabitsOf:
    """The habits for each game.

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
