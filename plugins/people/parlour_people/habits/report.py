"""How well an onlooker's belief identifies evil players, after every round of recorded games (a quest of Avalon, a day of
Werewolf): scores, tables, data and picture, beside today's fixed rates and chance.

The loss is -log of the chance of the true evil side, in nats; the chances of single seats are compared with the truth by AUC (of
all seats after all rounds) and by the expected calibration error. The unit of every interval is the game.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import cycle
from math import comb
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from parlour.training.measure.calibration import Calibration
from parlour.training.play.extras import import_extra
from parlour.training.report import plots
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import DifferenceScale
from parlour.training.statistics import Estimate

LOG_LOSS: Final = DifferenceScale("nats of log loss", "+.3f", cases="games")

MARKERS: Final = "os^DvPX"
REFERENCE: Final = "0.35"
_COLOURS: Final = ("#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


class SourceGame(Protocol):
    """A recorded game with the roles that the record tells."""

    @property
    def name(self) -> str:
        """Where it is from."""
        ...

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles of the seats."""
        ...

    @property
    def players(self) -> int:
        """How many."""
        ...


PICTURE: Final = "calibration.png"
RESAMPLES = 2000
"""Resamples of a bootstrap over games."""


@dataclass(frozen=True)
class BeliefRead:
    """What an onlooker believes after one round."""

    game: int
    """Number of the game among those read."""
    players: int
    round: int
    """From 0."""
    loss: float
    """-log of the chance of the true evil side."""
    chances: tuple[float, ...]
    """That each seat is evil."""
    evil: tuple[int, ...]
    """1 for each seat that is."""
    merlin: float = 0.0
    """The chance of the seat that is Merlin to be; Avalon only."""


def side_loss(chance: float) -> float:
    """The loss of who gives the true evil side this chance."""
    return -float(np.log(max(chance, 1e-300)))


def log_loss(reads: Sequence[BeliefRead], seed: int = 0) -> Estimate:
    """Mean loss over all rounds."""
    return _over_games([read.loss for read in reads], reads, seed)


def difference(a: Sequence[BeliefRead], b: Sequence[BeliefRead], seed: int = 0) -> Estimate:
    """Mean loss of `a` minus mean loss of `b` on the same rounds, paired by game."""
    if [(read.game, read.round) for read in a] != [(read.game, read.round) for read in b]:
        raise ValueError("two readings are of different games")
    return _over_games([read.loss - other.loss for read, other in zip(a, b, strict=True)], a, seed)


def auc(reads: Sequence[BeliefRead]) -> float:
    """Chance that a random evil seat is thought more evil than a random good one; all rounds and games together.

    Raises:
        ParlourError: scikit-learn is not installed.
    """
    chances, evil = seats(reads)
    if not 0 < evil.sum() < len(evil):
        return float("nan")
    return float(import_extra("sklearn.metrics", "train").roc_auc_score(evil, chances))


def seats(reads: Sequence[BeliefRead]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Chance and truth of every seat after every round."""
    chances = np.array([chance for read in reads for chance in read.chances])
    return chances, np.array([evil for read in reads for evil in read.evil], dtype=np.float64)


def calibration(reads: Sequence[BeliefRead]) -> Calibration:
    """Chances of seats against how many of them are evil."""
    return Calibration.by_range(*seats(reads))


def calibration_error(reads: Sequence[BeliefRead]) -> float:
    """Expected calibration error of the seats' chances."""
    return calibration(reads).error


def _over_games(values: Sequence[float], reads: Sequence[BeliefRead], seed: int) -> Estimate:
    """Mean over values; games are drawn with all their values."""
    numbers, which = np.unique(np.array([read.game for read in reads]), return_inverse=True)
    sums = np.bincount(which, weights=np.array(values))
    counts = np.bincount(which).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(len(numbers), size=(RESAMPLES, len(numbers)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high), len(numbers))


Readings = Mapping[str, Sequence[BeliefRead]]
"""Name of the habits -> what was believed by them, all of the same rounds."""
Groups = Mapping[str, Collection[int]]
"""Name of some tables -> their numbers of players."""
_ALL: Final = "all"
"""The group of all tables."""
DEFAULT: Final = "default"
"""The name of today's fixed rates; the first of the readings."""
COLUMNS: Final = (
    *map(Column, ("players", "habits", "games")),
    Column("reads", key="quests"),
    Column("log loss", ".3f", key="log_loss"),
    Column("less than default", ".3f", key="less_than_default"),
    Column("less than before", ".3f", key="less_than_before"),
    *(Column("AUC", ".3f", key="auc"), Column("ECE", ".3f", key="ece")),
    Column("loss of Merlin", ".3f", key="merlin"),
)


def summary(readings: Readings, seed: int, groups: Groups) -> list[dict[str, Any]]:
    """One entry for each group of tables and each habits: what `COLUMNS` name; chance by itself."""
    return [entry for group, numbers in groups.items() for entry in _of_group(readings, seed, group, numbers)]


def _of_group(readings: Readings, seed: int, group: str, numbers: Collection[int]) -> Iterator[dict[str, Any]]:
    chosen = {name: [read for read in reads if read.players in numbers] for name, reads in readings.items()}
    default, before = chosen[DEFAULT], None
    for place, (name, reads) in enumerate((name, reads) for name, reads in chosen.items() if reads):
        counts = {"games": len({read.game for read in reads}), "quests": len(reads)}
        if name == DEFAULT:
            mean = float(np.mean([float(np.log(comb(read.players, sum(read.evil)))) for read in reads]))
            by_chance = {"log_loss": Estimate(mean, mean, mean, counts["games"]), "auc": 0.5, "ece": 0.0}
            yield {"players": group, "habits": "chance", **counts, **by_chance}
        yield {
            "players": group,
            "habits": name,
            **counts,
            "log_loss": log_loss(reads, seed),
            "less_than_default": None if name == DEFAULT else difference(reads, default, seed),
            "less_than_before": difference(reads, before, seed) if before and place > 1 else None,
            "auc": auc(reads),
            "ece": calibration_error(reads),
            "merlin": _over_games([side_loss(read.merlin) for read in reads], reads, seed)
            if any(read.merlin for read in reads)
            else None,
        }
        before = reads


def plain(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A summary as plain values."""
    return [
        {
            key: {"mean": value.value, "low": value.low, "high": value.high, "n": value.n}
            if isinstance(value, Estimate)
            else value
            for key, value in entry.items()
        }
        for entry in entries
    ]


def verdict(entries: Sequence[Mapping[str, Any]], games: str) -> str:
    """The habits learned with all evidence, next to today's fixed rates, on held-out games."""
    learned = [entry for entry in entries if entry["players"] == _ALL and entry.get("less_than_default") is not None]
    if not learned:
        return "Nothing was compared with the fixed rates."
    name, gain = f"belief by {learned[-1]['habits']!r}", -learned[-1]["less_than_default"]
    return LOG_LOSS.of(games).compared(name, "belief by the fixed rates", gain)


def score_table(title: str, entries: Sequence[Mapping[str, Any]], file: str = "") -> ResultTable:
    """A row for each entry of a summary."""
    rows = tuple(tuple(entry.get(column.name) for column in COLUMNS) for entry in entries)
    return ResultTable(title, COLUMNS, rows, file=file)


# -- files -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Section:
    """What a run found of some games."""

    entries: list[dict[str, Any]]
    """The summary."""
    scores: ResultTable
    calibration: ResultTable
    draw: Callable[[Path], None]
    """Draws the curve of calibration."""


@dataclass(frozen=True)
class Writer:
    """Draws what a run found into its folder, and makes the sections of its report."""

    folder: Path
    seed: int
    groups: Groups
    panels: Sequence[str]
    """Groups that the picture shows."""

    def write(self, prefix: str, title: str, readings: Readings) -> Section:
        """The summary and the curve as tables, and the curve as a picture."""
        entries = summary(readings, self.seed, self.groups)
        headings = ("habits", "players", "low", "high", "seats", "mean", "evil")
        panels = {panel: self.groups[panel] for panel in self.panels}
        draws = partial(draw, readings, panels)
        if prefix and find_spec("matplotlib") is not None:  # the report draws the first
            draws(self.folder / f"{prefix}{PICTURE}")
        bins = ResultTable.plain("Calibration", headings, self._bins(readings), file=f"{prefix}calibration.csv")
        return Section(entries, score_table(title, entries, f"{prefix}scores.csv"), bins, draws)

    def _bins(self, readings: Readings) -> Iterator[tuple[Any, ...]]:
        for name, every in readings.items():
            for group in dict.fromkeys((_ALL, *self.panels)):
                for part in calibration([read for read in every if read.players in self.groups[group]]).bins:
                    yield (name, group, part.low, part.high, part.n, part.chance, part.share)


def draw(readings: Readings, groups: Groups, path: Path) -> None:
    """One panel for each group: predicted probability against the share of evil seats; the diagonal is calibrated."""
    shown = [read for read in readings[DEFAULT] if any(read.players in numbers for numbers in groups.values())]
    with plots.picture(
        path,
        5 * len(groups) + 0.5,
        5,
        title="How often seats are evil by the chance that an onlooker gives them, after every quest",
        who=f"Recorded games not learned from, read by: {', '.join(readings)}",
        n=f"n = {len({read.game for read in shown}):,} games, {len(shown):,} quests; bands: 95 % of a part's seats, as if independent",
    ) as made:
        colours = dict(zip(readings, cycle(_COLOURS), strict=False))
        for axes, group in zip(made.subplots(1, len(groups), sharey=True, squeeze=False)[0], groups, strict=True):
            axes.plot((0, 1), (0, 1), ":", color=REFERENCE, label="calibrated")
            for number, (name, every) in enumerate(readings.items()):
                reads = [read for read in every if read.players in groups[group]]
                if not reads:
                    continue
                mark = MARKERS[number % len(MARKERS)]
                label = f"{name} (error {calibration_error(reads):.3f})"
                parts = [(part, Estimate.rate(round(part.share * part.n), part.n)) for part in calibration(reads).bins]
                at = [part.chance for part, _ in parts]
                axes.plot(at, [part.share for part, _ in parts], marker=mark, label=label, color=colours[name])
                band = [(part.chance, *seen.ends) for part, seen in parts if seen]
                axes.fill_between(*zip(*band, strict=True), color=colours[name], alpha=0.2, linewidth=0)
            games = len({read.game for read in readings[DEFAULT] if read.players in groups[group]})
            plots.label(axes, "chance of evil", "share that is evil", f"{group} players, n = {games} games")
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            plots.key(axes)
