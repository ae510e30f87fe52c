"""Who can be met: frozen snapshots of the network, and players that were there from the beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs import batch
from parlour.envs.batch.players import BatchPlayer, HeuristicSeats, RandomSeats
from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.batch.tables import SAME_STEP, Autoreset, BatchTables
from parlour.envs.core import accept
from parlour.policies import REGISTRY, TrainedSeat, make_policy, settings_of
from parlour.policies.heuristic.policy import style_in
from parlour.policies.mixture import MIXTURE, members_of
from parlour.policies.names import ZOO
from parlour.policies.registry import settings_read
from parlour.policies.trained import SUFFIX
from parlour.training.learn.batch.networks import MixedPlayer, trained
from parlour.training.learn.ppo.config import features_of
from parlour.training.learn.selfplay.config import FIXED, RANDOM, RULE, SelfplayConfig
from parlour.training.play import seeds

SNAPSHOTS: Final = "snapshots"
EXPERT: Final = "expert"


class TablesConfig(Protocol):
    """What tables are made of."""

    @property
    def game(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Any]: ...
    @property
    def features(self) -> str | None: ...


@dataclass(frozen=True)
class Member:
    """One player of the pool."""

    name: str
    source: str
    """`heuristic`, `random`, `expert`, or the path of a policy file."""
    steps: int | None = None
    """Decisions that a snapshot had learned from; None for the others."""


def tables_for(config: TablesConfig, count: int, *, autoreset: Autoreset = SAME_STEP, threads: int = 1) -> BatchTables:
    """Tables at which the network, snapshots and the heuristic can sit. Raises `ParlourError` for unusable options."""
    features = features_of(config.game, config.features)
    more: dict[str, Any] = {"beliefs": "belief" not in features, "autoreset": autoreset, "threads": threads}
    return batch.make(config.game, num_envs=count, features=features, **more, **config.options)


def batch_player(source: str, tables: BatchTables, name: str = "") -> BatchPlayer:
    """A player over arrays: `heuristic`, with a style or without, `random`, `expert`, a player of the zoo, `mixture:FOLDER`,
    another policy that is a network, or the path of a trained seat for this table.

    Raises:
        ParlourError: It is none of these, or was trained for another table.
    """
    if source == RANDOM:
        return RandomSeats()
    plain = source.partition(":")[0]
    if plain == RULE:
        return _heuristic(source, tables)
    if plain in ZOO:
        zoo: BatchPlayer = import_module("parlour.policies.zoo.policy").seats(source, tables)
        return zoo
    if plain == MIXTURE:
        files = members_of(settings_read(source).folder)
        return MixedPlayer(name or source, [batch_player(str(file), tables) for file in files])
    seat = network_of(source, tables.spec.id, tables.game.config)
    if seat is None:
        raise accept(
            "player over arrays",
            source,
            f"{', '.join((*FIXED, EXPERT, *ZOO, f'{MIXTURE}:FOLDER'))}, another policy that is a network, or a policy file ({SUFFIX})",
        )
    own = seat.features == tables.features
    names = tables.names if own else tables.encoders.of_seat(seat.features).names
    return trained(name or source, seat, names)


def _heuristic(source: str, tables: BatchTables) -> HeuristicSeats:
    """The heuristic over arrays. Raises `ParlourError` for settings that only the one of single games has."""
    words = settings_of(source)
    if words and (isinstance(tables, ScalarTables) or not {"habits", "deceit"}.isdisjoint(words)):
        raise accept(
            "heuristic over arrays",
            source,
            "heuristic, or its style at tables with kernels, where the game's heuristic has one",
        )
    return HeuristicSeats(style_in(settings_read(source, tables.spec.id)), source)


def network_of(source: str, game: str, config: Mapping[str, Any]) -> TrainedSeat | None:
    """The network behind a name, for a table of a game; None where there is none. Raises `ParlourError` if it is of another table."""
    kind = REGISTRY.get(source.partition(":")[0])
    if kind is not None:
        player = make_policy(source, game, config) if kind.group == "file" else None
        return player if isinstance(player, TrainedSeat) else None
    return TrainedSeat.load_for(source, game, config) if source.endswith(SUFFIX) else None


def seeds_of_tables(config: SelfplayConfig, phase: int) -> list[int]:
    """A training seed for each table of a phase."""
    drawn = np.random.SeedSequence((config.seed, phase, seeds.Purpose.TABLES)).generate_state(config.tables, np.uint64)
    return [int(seed) % len(seeds.TRAINING) for seed in drawn]


def snapshot_path(folder: Path, phase: int) -> Path:
    """Where the snapshot after a phase is; s000 is the network that has only imitated."""
    return folder / SNAPSHOTS / f"s{phase:03d}{SUFFIX}"


def members(config: SelfplayConfig, folder: Path, steps: Sequence[int]) -> list[Member]:
    """The fixed members, then the snapshots in order; `steps` holds the decisions that each had learned from."""
    fixed = [Member(name, name) for name in (*FIXED, *config.members)]
    paths = [snapshot_path(folder, phase) for phase in range(len(steps))]
    return fixed + [Member(path.stem, str(path), done) for path, done in zip(paths, steps, strict=True)]


def families(config: SelfplayConfig) -> list[list[str]]:
    """The players of each stranger of the population: itself, or an early, a middle and the last snapshot of a run.

    Partners of several strengths are after Strouse et al., "Collaborating with Humans without Human Data" (arXiv 2110.08176).

    Raises:
        ParlourError: A folder holds no snapshots.
    """
    families = []
    for source in config.population:
        files = sorted((Path(source) / SNAPSHOTS).glob(f"s*{SUFFIX}"))
        if Path(source).is_dir() and not files:
            raise accept("population", source, "a player, or the folder of a run of self-play with snapshots")
        chosen = sorted({max(1, len(files) // 8), len(files) // 2, len(files) - 1})
        families.append([str(files[min(k, len(files) - 1)]) for k in chosen] if files else [source])
    return families


def thinned(pool: Sequence[Member], shown: int) -> list[Member]:
    """The fixed members, and at most `shown` snapshots, evenly spaced, the first and the last among them."""
    fixed = [member for member in pool if member.steps is None]
    snapshots = [member for member in pool if member.steps is not None]
    if len(snapshots) > shown:
        snapshots = [snapshots[round(k * (len(snapshots) - 1) / (shown - 1))] for k in range(shown)]
    return fixed + snapshots
