"""Tables, data and picture of how well habits tell the evil side, beside today's fixed rates and chance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.training.learn.habits.avalon import scores
from parlour.training.learn.habits.avalon.scores import Interval, QuestRead
from parlour.training.results import plots
from parlour.training.results.plots import REFERENCE, Curve, CurvePoint
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import write_csv

Readings = Mapping[str, Sequence[QuestRead]]
"""Name of the habits -> what was believed by them, all of the same quests."""


class Recorded(Protocol):
    """A recorded game."""

    @property
    def roles(self) -> tuple[str, ...]:
        """Of each seat."""


DEFAULT: Final = "default"
"""The name of today's fixed rates; the first of the readings."""
HEADINGS: Final = (
    "players",
    "habits",
    "games",
    "quests",
    "log loss",
    "less than default",
    "less than before",
    "AUC",
    "ECE",
)
ROLE_HEADINGS: Final = ("role", "seats", "habits", "log loss of the seat", "chance of evil")
Groups = Mapping[str, Collection[int]]
"""Name of some tables -> their numbers of players."""
AVALON: Final[Groups] = {"all": range(5, 11), "5": (5,), "6-10": range(6, 11), **{str(n): (n,) for n in range(6, 11)}}
AVALON_PANELS: Final = ("5", "6-10")
_SCORES, _ROLES, _CURVE, _PICTURE = "scores.csv", "roles.csv", "calibration.csv", "calibration.png"


def summary(readings: Readings, seed: int, groups: Groups = AVALON) -> list[dict[str, Any]]:
    """One entry for each group of tables and each habits: what `HEADINGS` name, as plain values; chance by itself."""
    found = []
    for group, numbers in groups.items():
        before: list[QuestRead] = []
        for name, every in readings.items():
            reads = [one for one in every if one.players in numbers]
            if not reads:
                continue
            default = [one for one in readings[DEFAULT] if one.players in numbers]
            if name == DEFAULT:
                found.append({"players": group, "habits": "chance", **_of_chance(reads)})
            found.append(
                {
                    "players": group,
                    "habits": name,
                    "games": len({one.game for one in reads}),
                    "quests": len(reads),
                    "log_loss": scores.log_loss(reads, seed),
                    "less_than_default": None if name == DEFAULT else scores.difference(reads, default, seed),
                    "less_than_before": scores.difference(reads, before, seed) if len(before) and name != _second(readings) else None,
                    "auc": scores.auc(reads),
                    "ece": scores.calibration_error(reads),
                }
            )  # fmt: skip
            before = reads
    return found


def _second(readings: Readings) -> str:
    """The habits that come after the default: less than before is less than the default there."""
    return [*readings, "", ""][1]


def _of_chance(reads: Sequence[QuestRead]) -> dict[str, Any]:
    losses = [scores.chance_loss(one.players, sum(one.evil)) for one in reads]
    mean = float(np.mean(losses))
    games = len({one.game for one in reads})
    return {"games": games, "quests": len(reads), "log_loss": Interval(mean, mean, mean, games), "auc": 0.5, "ece": 0.0}


def plain(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A summary as plain values."""
    return [
        {key: asdict(value) if isinstance(value, Interval) else value for key, value in one.items()} for one in found
    ]


def rows(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The cells under `HEADINGS`."""
    return [
        (
            one["players"],
            one["habits"],
            str(one["games"]),
            str(one["quests"]),
            f"{one['log_loss'].mean:.3f}" if one["habits"] == "chance" else _shown(one["log_loss"]),
            _shown(one.get("less_than_default")),
            _shown(one.get("less_than_before")),
            f"{one['auc']:.3f}",
            f"{one['ece']:.3f}",
        )
        for one in found
    ]


def _shown(found: Interval | None) -> str:
    return "" if found is None else f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def by_role(readings: Readings, games: Sequence[Recorded]) -> list[dict[str, Any]]:
    """For each role and habits: -log of the chance given to the side of its seats, and the mean chance that they are evil."""
    roles = sorted({role for one in games for role in one.roles})
    found: list[dict[str, Any]] = []
    for role in roles:
        for name, reads in readings.items():
            seats = [
                (one.chances[seat], one.evil[seat])
                for one in reads
                for seat, held in enumerate(games[one.game].roles)
                if held == role
            ]
            chances, evil = np.array(seats).T
            right = np.where(evil == 1, chances, 1 - chances)
            loss = float(-np.log(np.maximum(right, 1e-12)).mean())
            found.append(
                {"role": role, "seats": len(seats), "habits": name, "loss": loss, "evil": float(chances.mean())}
            )
    return found


def role_rows(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """The cells under `ROLE_HEADINGS`."""
    return [
        (one["role"], str(one["seats"]), one["habits"], f"{one['loss']:.3f}", f"{one['evil']:.3f}") for one in found
    ]


def write(
    folder: Path,
    prefix: str,
    readings: Readings,
    games: Sequence[Recorded],
    seed: int,
    groups: Groups = AVALON,
    panels: Sequence[str] = AVALON_PANELS,
) -> list[dict[str, Any]]:
    """Write the tables and the curve as data and as a picture; returns the summary. The picture needs the extra `train`."""
    found = summary(readings, seed, groups)
    heading = ("players", "habits", "games", "quests", "log_loss", "low", "high", "less_than_default", "low", "high",
               "less_than_before", "low", "high", "auc", "ece")  # fmt: skip
    write_csv(folder / f"{prefix}{_SCORES}", heading, [_flat(one) for one in found])
    roles = by_role(readings, games)
    write_csv(
        folder / f"{prefix}{_ROLES}", ("role", "seats", "habits", "loss", "evil"), [[*one.values()] for one in roles]
    )
    write_csv(
        folder / f"{prefix}{_CURVE}",
        ("habits", "players", "low", "high", "seats", "mean", "evil"),
        [*_bins(readings, groups, dict.fromkeys(("all", *panels)))],
    )
    _draw(folder / f"{prefix}{_PICTURE}", readings, {panel: groups[panel] for panel in panels})
    return found


def _flat(one: Mapping[str, Any]) -> list[Any]:
    intervals = (one["log_loss"], one.get("less_than_default"), one.get("less_than_before"))
    told = [value for found in intervals for value in ((found.mean, found.low, found.high) if found else (None,) * 3)]
    return [one["players"], one["habits"], one["games"], one["quests"], *told, one["auc"], one["ece"]]


def _bins(readings: Readings, groups: Groups, shown: Iterable[str]) -> Iterator[list[Any]]:
    for name, every in readings.items():
        for group in shown:
            reads = [one for one in every if one.players in groups[group]]
            for part in scores.calibration(reads):
                yield [name, group, part.low, part.high, part.n, part.mean, part.share]


def _draw(path: Path, readings: Readings, groups: Groups) -> None:
    """One panel for five and one for six to ten: of the seats with a chance, how many are evil; the diagonal is calibrated."""
    if not plots.available():
        return
    told = [one for one in readings[DEFAULT] if any(one.players in numbers for numbers in groups.values())]
    with plots.picture(
        path,
        5 * len(groups) + 0.5,
        5,
        title="How often seats are evil by the chance that an onlooker gives them, after every quest",
        who=f"Recorded games not learned from, read by: {', '.join(readings)}",
        n=f"n = {len({one.game for one in told}):,} games, {len(told):,} quests; bands: 95 % of a part's seats, as if independent",
    ) as made:
        panels = made.subplots(1, len(groups), sharey=True, squeeze=False)[0]
        colours, shown = plots.colours(list(readings)), [*readings]
        for axes, group in zip(panels, groups, strict=True):
            axes.plot((0, 1), (0, 1), ":", color=REFERENCE, label="calibrated")
            for name, every in readings.items():
                reads = [one for one in every if one.players in groups[group]]
                if not reads:
                    continue
                points = [CurvePoint(part.mean, part.share, *_wilson(part)) for part in scores.calibration(reads)]
                error, mark = scores.calibration_error(reads), plots.MARKERS[shown.index(name) % len(plots.MARKERS)]
                curve = Curve(f"{name} (error {error:.3f})", points, marker=mark, interval="")
                plots.draw(axes, curve, color=colours[name])
            games = len({one.game for one in readings[DEFAULT] if one.players in groups[group]})
            plots.label(axes, "chance of evil", "share that is evil", f"{group} players, n = {games} games")
            axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
            plots.key(axes)


def _wilson(part: scores.Bin) -> tuple[float, float]:
    """Interval at 95 % of the share."""
    z, n, p = 1.96, part.n, part.share
    middle, half = (
        (p + z * z / (2 * n)) / (1 + z * z / n),
        z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)),
    )
    return float(middle - half), float(middle + half)


def in_words(title: str, found: Sequence[Mapping[str, Any]], roles: Sequence[Mapping[str, Any]]) -> str:
    """One section of the report in Markdown."""
    return "\n\n".join(
        (f"## {title}", markdown_table(HEADINGS, rows(found)), markdown_table(ROLE_HEADINGS, role_rows(roles)), "")
    )
