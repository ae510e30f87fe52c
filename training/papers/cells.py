"""What a reproduced table consists of: cells with the paper's figure and ours, and the setting it was played in."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, Self

from numpy.typing import ArrayLike
from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import Settings
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.play import seeds
from parlour.training.play.failures import RULE, Failures
from parlour.training.play.parallel.executor import Pool
from parlour.training.play.runner import GameRunner
from parlour.training.runs.folder import run_directory
from parlour.training.runs.progress import StageProgress, no_progress
from parlour.training.statistics import (
    SHARE,
    SHARE_DIFFERENCE,
    UNBOUNDED,
    Bounds,
    Estimate,
    mean_estimate,
    plain,
)
from pydantic import Field, SkipValidation, model_validator

_PAPERS: Final = ("avalon", "grace", "gratr", "questum", "player")


class ReproductionSetting(Settings):
    """How a table is played."""

    games: int = 200
    """Number of held-out deals for each row and side; GRACE: held-out questions; GRATR: mixed games with each opponent;
    murder mysteries: held-out cases."""
    practice: int = 60
    """Number of practice games on each side, if a row has experience; GRACE: calibration questions."""
    model: Model = Field(default_factory=OfflineModel)
    """Who answers the agents' questions, and the judge's."""
    workers: int = Field(default=1, ge=1)
    """Number of processes that play, where no language model is asked: murder mysteries. The result does not depend on it."""
    pool: Annotated[Pool | None, SkipValidation] = None
    """Processes that play, for example with Ray."""
    seed: int = Field(default=0, ge=0)
    """Number of the first held-out deal, and seed of the practice."""
    against: str = "baseline"
    """Other side; Avalon: `baseline`, `agent` for the six-module agent with all modules, or `expert`; GRATR: `baseline` for all
    opponents, or the policy of one of them."""
    ours: str = ""
    """GRATR's tables: GRATR with settings, such as gratr:gamma=0.02, by the paper's procedure unless they mean another one; None: gratr:mode=paper."""
    out: Path | None = None
    """Run directory, for transcripts, or for pictures and their data; resumes if it exists; None: nothing is stored."""
    progress: Annotated[StageProgress, SkipValidation] = no_progress
    """Called with what is done."""
    failures: Failures = RULE
    """What follows when a player fails; tables compare the same deals, so that no game can be skipped."""
    cases: str = "en"
    """Murder mysteries: `en` or `zh` (generated, held out), or a directory of WellPlay scripts or cases."""
    data: Path | None = None
    """Folder with published data that a table studies."""
    repetitions: int = Field(default=3, ge=1)
    """Murder mysteries: number of repetitions of the quiz."""
    level: int = 0
    """Murder mysteries: difficulty of the generated cases, 0 to 4; from level 1, innocents lie, too."""

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


def locked_folder(setting: ReproductionSetting) -> AbstractContextManager[object]:
    """Hold the setting's folder, if it has one, as the directory of a run."""
    return nullcontext() if setting.out is None else run_directory(setting.out)


@contextmanager
def kept(out: Path | None, name: str = "") -> Iterator[Path]:
    """Where files go: the folder of the run or the folder `name` within it; without a run, a temporary folder."""
    if out is not None:
        yield out / name
        return
    with TemporaryDirectory() as made:
        yield Path(made)


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
class Value:
    """A figure that is no rate: a mean in a unit of its own, or a probability that a policy holds."""

    value: float
    n: int
    """Cases that it is the mean of; for a probability, those that it was learned from."""
    low: float | None = None
    """Interval at 95 %; None for a probability, and where `Estimate` has none."""
    high: float | None = None
    share: bool = False
    """Whether it is shown in percent."""
    deviation: float | None = None
    """Standard deviation, where the paper prints one; by its formula."""

    @property
    def drawn(self) -> tuple[float, float | None, float | None]:
        """The figure and the ends of its interval in the unit of the papers: shares in percent.

        >>> Value(0.1, 5, 0.05, 0.15, share=True).drawn
        (10.0, 5.0, 15.0)
        """
        times = 100 if self.share else 1
        low, high = (None if end is None else times * end for end in (self.low, self.high))
        return times * self.value, low, high


@dataclass(frozen=True)
class TableCell:
    """One figure of a table."""

    row: str
    of: str
    """A side or a role."""
    measure: str
    paper: float | None
    """In percent, or where `value` is no share in its unit; None where the paper prints none."""
    ours: Estimate | None
    """None where there was nothing to count."""
    difference: Estimate | None = None
    """From the first row, on the same deals."""
    note: str = ""
    """About the paper's figure."""
    value: Value | None = None
    """Ours where the measure is no rate; `ours` is None then."""
    value_difference: Value | None = None
    """The mean difference from the first row, on the same cases."""

    @property
    def figure(self) -> Value | None:
        """Ours, whichever it is; a rate as a share."""
        if self.value is not None or self.ours is None:
            return self.value
        return valued(self.ours, share=True)

    @property
    def apart(self) -> Value | None:
        """The difference from the first row, whichever it is."""
        if self.value_difference is not None or self.difference is None:
            return self.value_difference
        return valued(self.difference, share=True)


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

    def rests_on(self, row: str) -> tuple[str, int, int]:
        """A row, the own decisions of its player and all of them."""
        of = self.players.get(row, Decisions())
        return row, of.own, of.decisions

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        fields = {name: value for name, value in plain(self).items() if name != "measures_shown"}
        return {**fields, "players": {row: player.as_json() for row, player in self.players.items()}}

    @property
    def cells_shown(self) -> tuple[TableCell, ...]:
        """What a terminal shows."""
        return tuple(entry for entry in self.cells if not self.measures_shown or entry.measure in self.measures_shown)


def mean(values: ArrayLike, bounds: Bounds = UNBOUNDED) -> Value:
    """A mean with its interval; shown in percent if its bounds fit shares or their differences.

    >>> mean([1.0, 2.0, 3.0]).value
    2.0
    """
    return valued(mean_estimate(values, bounds), share=bounds in (SHARE, SHARE_DIFFERENCE))


def valued(estimate: Estimate, *, share: bool, deviation: float | None = None) -> Value:
    """An estimate as it is shown."""
    return Value(estimate.value, estimate.n, estimate.low, estimate.high, share, deviation)


def opposite(estimate: Estimate, *, share: bool = True) -> Value:
    """A difference the other way round."""
    low, high = (None if end is None else -end for end in (estimate.high, estimate.low))
    return Value(-estimate.value, estimate.n, low, high, share)


@cache
def printed() -> dict[tuple[str, str, str, str], tuple[float, str]]:
    """What the papers print: (table, row, side or role, measure) -> percent or points, note."""
    folder = resources.files(__package__).joinpath("data")
    texts = [folder.joinpath(f"{paper}.csv").read_text("utf-8") for paper in _PAPERS]
    rows = [row for text in texts for row in csv.DictReader(text.splitlines())]
    return {(r["table"], r["row"], r["side"], r["measure"]): (float(r["value"]), r["note"]) for r in rows}


@cache
def _remarks() -> dict[str, str]:
    return tomllib.loads(resources.files(__package__).joinpath("data/remarks.toml").read_text("utf-8"))


def remark(name: str) -> str:
    """A remark of `data/remarks.toml`."""
    return _remarks()[name]


def cell(
    table: str,
    row: str,
    of: str,
    measure: str,
    ours: Estimate | Value | None,
    difference: Estimate | Value | None = None,
) -> TableCell:
    """A cell with the paper's figure, if it prints one."""
    paper, note = printed().get((table, row, of, measure), (None, ""))
    return TableCell(
        row,
        of,
        measure,
        paper,
        ours if isinstance(ours, Estimate) else None,
        difference if isinstance(difference, Estimate) else None,
        note,
        ours if isinstance(ours, Value) else None,
        difference if isinstance(difference, Value) else None,
    )


def unprinted(table: str, rows: Iterable[str]) -> tuple[TableCell, ...]:
    """The paper's cells in rows that cannot be played: results of models that are not here."""
    return tuple(
        TableCell(row, of, measure, paper, None, None, note)
        for (name, row, of, measure), (paper, note) in printed().items()
        if name == table and row in set(rows)
    )
