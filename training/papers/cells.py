"""What a reproduced table consists of: cells with the paper's figure and ours, and the setting it was played in."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, NamedTuple, Self

from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import COMMON, Settings
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.play import seeds
from parlour.training.play.failures import RULE, Failures
from parlour.training.play.parallel.executor import Pool
from parlour.training.play.runner import GameRunner
from parlour.training.report.report import Picture
from parlour.training.report.result_table import ResultTable
from parlour.training.runs.progress import StageProgress, no_progress
from parlour.training.statistics import Estimate
from pydantic import Field, SkipValidation, model_validator

_PAPERS: Final = ("avalon", "grace", "gratr", "questum", "player")


class ReproductionSetting(Settings):
    """How a table is played, whatever the paper; a paper that has options of its own has a subclass."""

    games: int = 200
    """Number of held-out deals for each row and side; GRACE: held-out questions; GRATR: mixed games with each opponent;
    murder mysteries: held-out cases."""
    practice: int = 60
    """Number of practice games on each side, if a row has experience; GRACE: calibration questions."""
    model: Model = Field(default_factory=OfflineModel)
    """Who answers the agents' questions, and the judge's."""
    pool: Annotated[Pool | None, SkipValidation] = None
    """Processes that play, for example with Ray."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
    """Number of the first held-out deal, and seed of the practice."""
    out: Annotated[Path | None, COMMON] = None
    """Run directory, for transcripts, the report and its picture; resumes if it exists; None: nothing is stored."""
    progress: Annotated[StageProgress, SkipValidation] = no_progress
    """Called with what is done."""
    quick: Annotated[bool, COMMON] = False
    """A small run to see the table in under 30 seconds; its figures are not compared with the paper's."""
    failures: Failures = RULE
    """What follows when a player fails; tables compare the same deals, so that no game can be skipped."""

    @property
    def runner(self) -> GameRunner:
        """Plays as many games at once as the model answers; games whose transcripts are there are taken from these."""
        return GameRunner(self.model.concurrency, self.pool, self.progress, self.failures, resume=True)

    @model_validator(mode="after")
    def _skips_no_game(self) -> Self:
        if self.failures.skips:
            raise ParlourError(
                "on_failure 'skip-game' is not accepted for a table of common deals; accepted: rule, stop"
            )
        return self

    @contextmanager
    def folder(self, name: str = "") -> Iterator[Path]:
        """Where files go: the folder of the run or the folder `name` within it; without a run, a temporary folder."""
        if self.out is not None:
            yield self.out / name
            return
        with TemporaryDirectory() as made:
            yield Path(made)


class OpponentSetting(ReproductionSetting):
    """A table of games against others: Avalon's."""

    against: Annotated[str, COMMON] = "baseline"
    """Other side; Avalon: `baseline`, `agent` for the six-module agent with all modules, or `expert`; GRATR: `baseline` for all
    opponents, or the policy of one of them."""


class StudySetting(ReproductionSetting):
    """A study of published data: the tables of plugins."""

    data: Path | None = None
    """Folder with published data that a table studies."""
    workers: int = Field(default=1, ge=1)
    """Number of processes. The result does not depend on it."""


def deals_of(setting: ReproductionSetting, count: int) -> range:
    """The held-out deals of a table. Raises `ParlourError` if the seed leaves too few."""
    last = len(seeds.HELD_OUT) - count
    if setting.seed > last:
        raise accept("seed", setting.seed, range(last + 1))
    return seeds.HELD_OUT[setting.seed : setting.seed + count]


def folder_name(*parts: str) -> str:
    """A name for a folder, of words."""
    return re.sub(r"[^\w*.-]+", "-", "-".join(parts))


@dataclass(frozen=True)
class TableCell:
    """One figure of a table."""

    row: str
    of: str
    """A side or a role."""
    measure: str
    paper: float | None
    """In percent, or in its unit where it is no share; None where the paper prints none."""
    ours: Estimate | None
    """None where there was nothing to count."""
    difference: Estimate | None = None
    """From the first row, on the same cases."""
    note: str = ""
    """About the paper's figure."""
    share: bool = True
    """Whether it is a share, and is shown in percent; else it has a unit of its own."""
    deviation: float | None = None
    """Our standard deviation, where the paper prints one; by its formula."""

    @property
    def drawn(self) -> tuple[float, float | None, float | None] | None:
        """Ours with the ends of its interval in the unit of the papers: shares in percent; None where nothing was counted.

        >>> TableCell("full", "good", "wins", None, Estimate(0.1, 0.05, 0.15)).drawn
        (10.0, 5.0, 15.0)
        """
        if self.ours is None:
            return None
        times = 100 if self.share else 1
        low, high = (None if end is None else times * end for end in (self.ours.low, self.ours.high))
        return times * self.ours.value, low, high

    @property
    def inside(self) -> bool | None:
        """Whether the paper's figure lies in our interval; None where there is none."""
        if self.paper is None or self.ours is None or self.ours.low is None or self.ours.high is None:
            return None
        return self.ours.low <= (self.paper / 100 if self.share else self.paper) <= self.ours.high


@dataclass(frozen=True)
class Reproduction:
    """A table, with what is to be known about it."""

    name: str
    title: str
    model: str
    cells: tuple[TableCell, ...]
    remarks: tuple[str, ...]
    players: Mapping[str, Decisions] = field(default_factory=dict)
    """Row -> whose the decisions of its player were, where games of players were played."""
    measures_shown: frozenset[str] = frozenset()
    """What a terminal shows of a long table; empty: all. Reports and JSON have every figure."""
    data: tuple[ResultTable, ...] = ()
    """Tables that are left as CSV files."""
    picture: Picture | None = None
    written: tuple[str, ...] = ()
    """What else lies in the folder: sentences of the report."""
    quick: bool = False
    """Whether too few games were played to compare it."""

    def as_quick(self, games: int) -> Reproduction:
        """The same without the paper's figures, named as the result of a quick run."""
        cells = tuple(replace(entry, paper=None, note="") for entry in self.cells)
        return replace(self, title=f"{self.title} (quick run: {games} games)", cells=cells, quick=True)

    def rests_on(self, row: str) -> tuple[str, int, int]:
        """A row, the own decisions of its player and all of them."""
        of = self.players.get(row, Decisions())
        return row, of.own, of.decisions

    @property
    def cells_shown(self) -> tuple[TableCell, ...]:
        """What a terminal shows."""
        return tuple(entry for entry in self.cells if not self.measures_shown or entry.measure in self.measures_shown)


class PaperTable(NamedTuple):
    """A table or figure of a paper."""

    about: str
    make: Callable[[str, Any], Reproduction] | None = None
    """Makes it again, from its name and a setting of its kind; None: that cannot be done."""
    sizes: tuple[int, int] = (ReproductionSetting().games, ReproductionSetting().practice)
    """Games and practice, if no numbers are given."""
    setting: type[ReproductionSetting] = ReproductionSetting
    """Kind of its setting."""
    games: str = ""
    """What is played, for the caption of a picture, with the setting as `{0}`."""
    quick: tuple[int, int] = (2, 1)
    """Games and practice of a quick run."""
    needs: str = ""
    """"a model" or "data", and of what, where it is not made, or its cells stay empty offline; empty where nothing is made: it
    shows no result."""
    item: str = ""
    """What it is in the paper, such as "figure 6", where its name does not say it."""


def lines_of(name: str) -> Iterator[dict[str, str]]:
    """The lines of a CSV file of `data`, each by its columns."""
    yield from csv.DictReader(_data(f"{name}.csv").splitlines())


def _data(file: str) -> str:
    return resources.files(__package__).joinpath("data", file).read_text("utf-8")


@cache
def printed() -> dict[tuple[str, str, str, str], tuple[float, str]]:
    """What the papers print: (table, row, side or role, measure) -> percent or points, note."""
    rows = [row for paper in _PAPERS for row in lines_of(paper)]
    return {(r["table"], r["row"], r["side"], r["measure"]): (float(r["value"]), r["note"]) for r in rows}


@cache
def _remarks() -> dict[str, str]:
    return tomllib.loads(_data("remarks.toml"))


def remark(name: str) -> str:
    """A remark of `data/remarks.toml`."""
    return _remarks()[name]


def cell(
    table: str,
    row: str,
    of: str,
    measure: str,
    ours: Estimate | None,
    difference: Estimate | None = None,
    *,
    share: bool = True,
    deviation: float | None = None,
) -> TableCell:
    """A cell with the paper's figure, if it prints one."""
    paper, note = printed().get((table, row, of, measure), (None, ""))
    return TableCell(row, of, measure, paper, ours, difference, note, share, deviation)


def unprinted(table: str, rows: Iterable[str]) -> tuple[TableCell, ...]:
    """The paper's cells in rows that cannot be played: results of models that are not here."""
    return tuple(
        TableCell(row, of, measure, paper, None, None, note)
        for (name, row, of, measure), (paper, note) in printed().items()
        if name == table and row in set(rows)
    )
