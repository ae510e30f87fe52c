"""`parlour train clone --method networks`: networks learned from the earlier games of a folder, tested on the later ones.

Games are in the order of their names. A second clone learns from the later games alone: an opponent for whoever learned
from the first. Each number of players is a part of the run with a file of its own; a run that is killed begins the part again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.policies.array_files import read_arrays, write_arrays
from parlour.policies.files import reading
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run

from parlour_people.clone import networks, report
from parlour_people.clone.choices import CloneConfig
from parlour_people.clone.recorded import ReplayableGame, read_games
from parlour_people.cloned import CloneNetworks, Layers

LATER: Final = "later.npz"
"""The clone of the later games."""
PARTS: Final = "parts"
PLAYERS: Final = "players"
_META: Final = "parlour_clone_part"
_FEWEST: Final = 10
"""Games of each part that a number of players needs."""


@dataclass(frozen=True, eq=False)
class PartResult:
    """One number of players."""

    earlier: Layers
    later: Layers
    columns: Mapping[str, Any]
    """`game`, `kind`, `role`, and `log: MODEL`, `top: MODEL` of each model, one entry for each held-out decision."""

    def save(self, path: Path) -> None:
        """Write it to a file."""
        layers = {
            f"{name}.{what}{k}": array
            for name, network in (("earlier", self.earlier), ("later", self.later))
            for k, layer in enumerate(network)
            for what, array in zip("wb", layer, strict=True)
        }
        write_arrays(path, _META, {"layers": len(self.earlier)}, layers | dict(self.columns))

    @classmethod
    def load(cls, path: Path) -> PartResult:
        """Raises `ParlourError` for another file."""
        with reading(path, "part of a run", "is no part of this run; accepted: what `train clone` left"):
            meta, arrays = read_arrays(path, _META)
            earlier, later = (
                [(arrays.pop(f"{name}.w{k}"), arrays.pop(f"{name}.b{k}")) for k in range(meta["layers"])]
                for name in ("earlier", "later")
            )
            return cls(earlier, later, arrays)


@dataclass(frozen=True, eq=False)
class ClonedByDate:
    """What came out."""

    earlier: CloneNetworks
    later: CloneNetworks
    scores: Sequence[report.ChoiceScore]


def clone_networks(
    folder: str | Path,
    run: Run,
    config: CloneConfig,
) -> ClonedByDate:
    """Learn networks from a folder of transcripts and write them, with their scores, to the directory of a run; resumes.

    Args:
        folder: Transcripts of Avalon (`*.jsonl`) without talk.
        run: Gets `clone.npz` (for `--policy clone:FILE`), `later.npz`, `scores.csv`, `report.md`, `scores.png`.
        config: Settings.

    Raises:
        ParlourError: A file is no transcript of Avalon, the games are too few, or the directory cannot be used.
    """
    games = read_games(folder)
    later = len(games) - round(config.held_out * len(games))
    by_size: dict[int, list[ReplayableGame]] = {}
    for game in games:
        by_size.setdefault(int(game.config["num_players"]), []).append(game)
    sizes = [n for n in sorted(by_size) if min(_halves(by_size[n], later)) >= _FEWEST]
    if not sizes:
        raise ParlourError(f"{len(games)} games are too few; accepted: {_FEWEST} to learn from and {_FEWEST} held out")
    parts: dict[int, PartResult] = {}
    stage = Stage("Learning networks", len(sizes), "numbers of players")
    with run.opened({**config.plain(), "games": len(games)}) as directory:
        (directory / PARTS).mkdir(exist_ok=True)
        for number, n in enumerate(sizes):
            run.progress(stage, number)
            path = directory / PARTS / f"{n}.npz"
            if not path.exists():
                _part(by_size[n], later, config).save(path)
            parts[n] = PartResult.load(path)
            run.log({"eval/log_likelihood_vote": _votes(parts[n].columns)}, number + 1)
        run.progress(stage, len(sizes))
        source = {"config": config.plain(), "games": later, "players": sizes}
        cloned_by_date = ClonedByDate(
            CloneNetworks({n: part.earlier for n, part in parts.items()}, source),
            CloneNetworks({n: part.later for n, part in parts.items()}, source | {"games": len(games) - later}),
            scores_of({n: parts[n].columns for n in sizes}),
        )
        cloned_by_date.earlier.save(directory / report.PLAYER)
        cloned_by_date.later.save(directory / LATER)
        report.report_by_date(cloned_by_date.scores, cloned_by_date.earlier.told).write(directory)
    return cloned_by_date


def _halves(games: Sequence[ReplayableGame], later: int) -> tuple[int, int]:
    earlier = sum(game.number < later for game in games)
    return earlier, len(games) - earlier


def _part(games: Sequence[ReplayableGame], later: int, config: CloneConfig) -> PartResult:
    every = networks.decisions_of(games)
    learned, tested = every.where(every.game < later), every.where(every.game >= later)
    network = networks.fit_network(learned, config.seed, config.epochs)
    predicted = {
        report.CLONE: networks.by_network(network, tested),
        report.HEURISTIC: networks.by_heuristic(learned, tested),
        report.FREQUENCY: networks.by_frequency(learned, tested),
    }
    columns: dict[str, Any] = {"game": tested.game, "kind": tested.kind, "role": tested.role}
    for name, predictions in predicted.items():
        columns |= {f"log: {name}": predictions.log, f"top: {name}": predictions.top}
    return PartResult(network, networks.fit_network(tested, config.seed, config.epochs), columns)


def _votes(columns: Mapping[str, Any]) -> float:
    return float(columns[f"log: {report.CLONE}"][columns["kind"] == 0].mean())


def scores_of(parts: Mapping[int, Mapping[str, Any]]) -> list[report.ChoiceScore]:
    """By kind: over all, then by number of players, then by role; by model; intervals for games as what is drawn.

    Args:
        parts: The columns of each number of players, as `PartResult` has them.
    """
    columns = [{**part, PLAYERS: np.full(len(part["game"]), n)} for n, part in parts.items()]
    whole = {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}
    rows = []
    for kind, what in enumerate(networks.KINDS):
        for some, role, players in _groups(whole, whole["kind"] == kind):
            rows += report.scores_among(whole, some, what, role, players)
    return rows


def _groups(whole: Mapping[str, Any], of_kind: Any) -> Iterator[tuple[Any, str, int | None]]:
    """Which decisions of a kind, the role and the number of players."""
    yield of_kind, report.ALL, None
    for players in np.unique(whole[PLAYERS]):
        yield of_kind & (whole[PLAYERS] == players), report.ALL, int(players)
    for role in np.unique(whole["role"][of_kind]):
        yield of_kind & (whole["role"] == role), ROLES[role], None


def summary_by_date(cloned: ClonedByDate) -> dict[str, Any]:
    """What `--json` prints: what it was learned from, and the scores over all roles."""
    scores = [plain(score) for score in cloned.scores if score.role == report.ALL]  # over all, and by number of players
    return {"learned_from": dict(cloned.earlier.told), "scores": scores}
