"""Tables, data and picture of how well habits tell the evil side, beside today's fixed rates and chance."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.training.learn.habits import scores
from parlour.training.learn.habits.scores import BeliefRead
from parlour.training.measure.calibration import CalibrationBin
from parlour.training.measure.statistics import Estimate, rate, show_interval
from parlour.training.results import plots
from parlour.training.results.plots import REFERENCE, Curve, CurvePoint
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import write_csv
from parlour.training.results.verdicts import LOG_LOSS, compared, saved

Readings = Mapping[str, Sequence[BeliefRead]]
"""Name of the habits -> what was believed by them, all of the same rounds."""
Groups = Mapping[str, Collection[int]]
"""Name of some tables -> their numbers of players."""
_ALL: Final = "all"
"""The group of all tables."""
DEFAULT: Final = "default"
"""The name of today's fixed rates; the first of the readings."""
HEADINGS: Final = (
    *(
        "players",
        "habits",
        "games",
        "reads",
        "log loss",
        "less than default",
        "less than before",
        "AUC",
        "ECE",
        "loss of Merlin",
    ),
)
ROLE_HEADINGS: Final = ("role", "seats", "habits", "log loss of the seat", "chance of evil")


class DealtGame(Protocol):
    """A recorded game."""

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles of the seats."""


def summary(readings: Readings, seed: int, groups: Groups) -> list[dict[str, Any]]:
    """One entry for each group of tables and each habits: what `HEADINGS` name, as plain values; chance by itself."""
    return [entry for group, numbers in groups.items() for entry in _of_group(readings, seed, group, numbers)]


def _of_group(readings: Readings, seed: int, group: str, numbers: Collection[int]) -> Iterator[dict[str, Any]]:
    chosen = {name: [read for read in reads if read.players in numbers] for name, reads in readings.items()}
    default, before = chosen[DEFAULT], None
    for place, (name, reads) in enumerate((name, reads) for name, reads in chosen.items() if reads):
        counts = {"games": len({read.game for read in reads}), "quests": len(reads)}
        if name == DEFAULT:
            yield {"players": group, "habits": "chance", **counts, **_of_chance(reads)}
        yield {
            "players": group,
            "habits": name,
            **counts,
            "log_loss": scores.log_loss(reads, seed),
            "less_than_default": None if name == DEFAULT else scores.difference(reads, default, seed),
            "less_than_before": scores.difference(reads, before, seed) if before and place > 1 else None,
            "auc": scores.auc(reads),
            "ece": scores.calibration_error(reads),
            "merlin": scores.merlin_loss(reads, seed),
        }
        before = reads


def _of_chance(reads: Sequence[BeliefRead]) -> dict[str, Any]:
    mean = float(np.mean([scores.chance_loss(read.players, sum(read.evil)) for read in reads]))
    return {"log_loss": Estimate(mean, mean, mean, len({read.game for read in reads})), "auc": 0.5, "ece": 0.0}


def plain(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A summary as plain values."""
    return [{key: _written(value) for key, value in entry.items()} for entry in entries]


def verdict(entries: Sequence[Mapping[str, Any]], games: str) -> str:
    """The habits learned with all evidence, next to today's fixed rates, on held-out games."""
    learned = [entry for entry in entries if entry["players"] == _ALL and entry.get("less_than_default") is not None]
    if not learned:
        return "Nothing was compared with the fixed rates."
    last = learned[-1]
    return compared(
        f"belief by {last['habits']!r}",
        "belief by the fixed rates",
        saved(last["less_than_default"]),
        LOG_LOSS.of(games),
    )


def _written(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {"mean": value.value, "low": value.low, "high": value.high, "n": value.n}
    return value


def rows(entries: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The cells under `HEADINGS`."""
    return [
        (
            *(entry["players"], entry["habits"], str(entry["games"]), str(entry["quests"])),
            f"{entry['log_loss'].value:.3f}" if entry["habits"] == "chance" else _shown(entry["log_loss"]),
            *(_shown(entry.get("less_than_default")), _shown(entry.get("less_than_before"))),
            *(f"{entry['auc']:.3f}", f"{entry['ece']:.3f}", _shown(entry.get("merlin"))),
        )
        for entry in entries
    ]


def _shown(loss: Estimate | None) -> str:
    return "" if loss is None else f"{loss.value:.3f} {show_interval(loss, '.3f')}"


def by_role(readings: Readings, games: Sequence[DealtGame]) -> list[dict[str, Any]]:
    """For each role and habits: -log of the chance given to the side of its seats, and the mean chance that they are evil."""
    entries: list[dict[str, Any]] = []
    for role in sorted({role for game in games for role in game.roles}):
        for name, reads in readings.items():
            seats = [
                (read.chances[seat], read.evil[seat])
                for read in reads
                for seat, dealt in enumerate(games[read.game].roles)
                if dealt == role
            ]
            chances, evil = np.array(seats).T
            right = np.where(evil == 1, chances, 1 - chances)
            loss = float(-np.log(np.maximum(right, 1e-12)).mean())
            entry = {"role": role, "seats": len(seats), "habits": name, "loss": loss, "evil": float(chances.mean())}
            entries.append(entry)
    return entries


def in_words(title: str, entries: Sequence[Mapping[str, Any]], roles: Sequence[Mapping[str, Any]]) -> str:
    """One section of the report in Markdown."""
    of_roles = [
        (role["role"], str(role["seats"]), role["habits"], f"{role['loss']:.3f}", f"{role['evil']:.3f}")
        for role in roles
    ]
    tables = markdown_table(HEADINGS, rows(entries)), markdown_table(ROLE_HEADINGS, of_roles)
    return "\n\n".join((f"## {title}", *tables, ""))


# -- files -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Writer:
    """Writes what a run found into its folder."""

    folder: Path
    seed: int
    groups: Groups
    panels: Sequence[str]
    """Groups that the picture shows."""

    def write(
        self, prefix: str, title: str, readings: Readings, games: Sequence[DealtGame]
    ) -> tuple[list[dict[str, Any]], str]:
        """The tables and the curve as data and as a picture; returns the summary, and a section of the report."""
        entries, roles = summary(readings, self.seed, self.groups), by_role(readings, games)
        heading = ("players", "habits", "games", "quests", "log_loss", "low", "high", "less_than_default", "low", "high",
                   "less_than_before", "low", "high", "auc", "ece")  # fmt: skip
        write_csv(self._file(prefix, "scores.csv"), heading, [_flat(entry) for entry in entries])
        of_roles = [[*role.values()] for role in roles]
        write_csv(self._file(prefix, "roles.csv"), ("role", "seats", "habits", "loss", "evil"), of_roles)
        of_bins = ("habits", "players", "low", "high", "seats", "mean", "evil")
        write_csv(self._file(prefix, "calibration.csv"), of_bins, [*self._bins(readings)])
        draw(self._file(prefix, "calibration.png"), readings, {panel: self.groups[panel] for panel in self.panels})
        return entries, in_words(title, entries, roles)

    def _file(self, prefix: str, name: str) -> Path:
        return self.folder / f"{prefix}{name}"

    def _bins(self, readings: Readings) -> Iterator[list[Any]]:
        for name, every in readings.items():
            for group in dict.fromkeys((_ALL, *self.panels)):
                for part in scores.calibration([read for read in every if read.players in self.groups[group]]):
                    yield [name, group, part.low, part.high, part.n, part.chance, part.share]


def _flat(entry: Mapping[str, Any]) -> list[Any]:
    losses = (entry["log_loss"], entry.get("less_than_default"), entry.get("less_than_before"))
    ends = [value for loss in losses for value in ((loss.value, loss.low, loss.high) if loss else (None,) * 3)]
    return [*(entry[key] for key in ("players", "habits", "games", "quests")), *ends, entry["auc"], entry["ece"]]


def draw(path: Path, readings: Readings, groups: Groups) -> None:
    """One panel for each group: predicted probability against the share of evil seats; the diagonal is calibrated."""
    if not plots.available():
        return
    shown = [read for read in readings[DEFAULT] if any(read.players in numbers for numbers in groups.values())]
    with plots.picture(
        path,
        5 * len(groups) + 0.5,
        5,
        title="How often seats are evil by the chance that an onlooker gives them, after every quest",
        who=f"Recorded games not learned from, read by: {', '.join(readings)}",
        n=f"n = {len({read.game for read in shown}):,} games, {len(shown):,} quests; bands: 95 % of a part's seats, as if independent",
    ) as made:
        colours = plots.colours(list(readings))
        for axes, group in zip(made.subplots(1, len(groups), sharey=True, squeeze=False)[0], groups, strict=True):
            axes.plot((0, 1), (0, 1), ":", color=REFERENCE, label="calibrated")
            for number, (name, every) in enumerate(readings.items()):
                reads = [read for read in every if read.players in groups[group]]
                if not reads:
                    continue
                mark = plots.MARKERS[number % len(plots.MARKERS)]
                label = f"{name} (error {scores.calibration_error(reads):.3f})"
                curve = Curve(label, [_point(part) for part in scores.calibration(reads)], marker=mark, interval="")
                plots.draw(axes, curve, color=colours[name])
            games = len({read.game for read in readings[DEFAULT] if read.players in groups[group]})
            plots.label(axes, "chance of evil", "share that is evil", f"{group} players, n = {games} games")
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            plots.key(axes)


def _point(part: CalibrationBin) -> CurvePoint:
    share = rate(round(part.share * part.n), part.n)
    assert share is not None, "a part has seats"
    return CurvePoint(part.chance, part.share, share.low, share.high)
