"""The games of a suite: a player holds each side of the same deals against each opponent, by `parlour.training.measure.evaluate`.

Every game has a transcript, and a run resumes with the missing games.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.evaluate import team
from parlour.training.play import rollout
from parlour.training.play.runner import GameRunner
from parlour.training.runs.progress import Stage, no_progress
from parlour.wrappers.text_actions import TextActions

from parlour_bench.measured import GameClock
from parlour_bench.suite import SIDES, BenchmarkTable, Suite, opponent_at

ONE_AT_A_TIME: Final = GameRunner()

FOLDER: Final = "games"
"""Folder of the transcripts, with a folder for each table and opponent."""
WON: Final = 100.0
"""Points of a game that was won; a draw is half."""

SidePoints = Mapping[str, tuple[float, ...]]
"""Side of the player -> points, deal by deal."""


@dataclass(frozen=True)
class Candidate:
    """The player that is measured."""

    policy: str
    """As `make_policy` takes it."""
    otherwise: str | None = None
    """The player of the tables that `policy` does not fit; None: it has to fit all."""
    model: Any = field(default_factory=OfflineModel)
    """Who answers the questions of agents."""

    def seated(self, suite: Suite) -> tuple[str, ...]:
        """Who sits at each table of a suite. Raises `ParlourError` where nobody fits, or `policy` fits no table."""
        policies, misfits = [], []
        for table in suite.tables:
            at = table.configured()
            try:
                make_policy(self.policy, *at, self.model)
                policies.append(self.policy)
            except ParlourError as error:
                if self.otherwise is None:
                    raise
                make_policy(self.otherwise, *at, self.model)
                policies.append(self.otherwise)
                misfits.append(error)
        if len(misfits) == len(policies):
            raise misfits[0]
        return tuple(policies)


@dataclass(frozen=True)
class PlayedTable:
    """The games of one table."""

    table: BenchmarkTable
    player: str
    """Who sat there."""
    points: Mapping[str, SidePoints]
    """By opponent: 100 for a game won, 50 for a draw, else 0."""
    decisions: Decisions
    """The player's."""


def play_suite(
    suite: Suite,
    candidate: Candidate,
    folder: Path | None = None,
    runner: GameRunner = ONE_AT_A_TIME,
    progress: Callable[..., None] = no_progress,
) -> list[PlayedTable]:
    """Play all games of a suite, or those that are missing in the folder.

    Args:
        suite: Tables, opponents and deals.
        candidate: Who is measured.
        folder: The directory of the run; None: nothing is stored.
        runner: How games are played; its progress does not count.
        progress: Counts the games of each table that are finished.

    Raises:
        ParlourError: The player does not fit a table, or a game ended the run (see `GameRunner.play_each`).
    """
    return [
        _play(table, player, candidate.model, folder, progress, runner)
        for table, player in zip(suite.tables, candidate.seated(suite), strict=True)
    ]


class TableProgress:
    """Counts the games of all evaluations of a table together; games that were there count too. Satisfies `StageProgress`."""

    def __init__(self, table: BenchmarkTable, progress: Callable[..., None]) -> None:
        self._stage, self._told, self._before = Stage(table.name, table.games, "games"), progress, 0

    def __call__(self, _stage: Stage, done: float, note: str = "", /) -> None:
        self._told(self._stage, self._before + done, note)

    @contextmanager
    def games(self, number: int) -> Iterator[None]:
        """So many more are done when the block ends."""
        yield
        self._before += number
        self._told(self._stage, self._before)


def _play(
    table: BenchmarkTable,
    player: str,
    model: Any,
    folder: Path | None,
    progress: Callable[..., None],
    runner: GameRunner,
) -> PlayedTable:
    """All games of a table."""
    counted = TableProgress(table, progress)
    decisions, points = Decisions(), dict[str, SidePoints]()
    for opponent in table.opponents:
        out = None if folder is None else folder / FOLDER / table.name / folder_name(opponent)
        seats = (player, opponent)
        playing = replace(runner, out=out, resume=out is not None, progress=counted)
        if folder is not None:
            playing = replace(playing, finished=GameClock(folder, table.name, player))
        reports = []
        for options, deals in table.sittings():
            with counted.games(SIDES * len(deals)):
                reports.append(_report(rollout.table(table.game, **options), deals, seats, model, playing))
        rows = [row for report in reports for row in report.games if row.policy == player]
        sides = sorted({row.side for row in rows})
        points[opponent] = {side: tuple(_points(row, sides) for row in rows if row.side == side) for side in sides}
        decisions = sum((report.players[player] for report in reports), decisions)
    return PlayedTable(table, player, points, decisions)


def folder_name(opponent: str) -> str:
    """The folder of the games against an opponent: its name, with what some file systems refuse replaced.

    >>> folder_name("expert:style=selfplay")
    'expert-style-selfplay'
    """
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", opponent)


def _report(env: TextActions, deals: Sequence[int], players: tuple[str, str], model: Any, runner: GameRunner) -> Any:
    """Both sides of some deals, against one opponent."""
    at = env.game_env.spec.id, env.game_env.game.config
    seated = players[0], opponent_at(players[1], *at)
    own, other = (partial(make_policy, name, *at, model) for name in seated)
    return team(env, (players[0], own), (f"{players[1]} (opponent)", other), deals, runner)


def _points(row: Any, sides: Collection[str]) -> float:
    if row.won:
        return WON
    return 0.0 if row.winner in sides else WON / 2
