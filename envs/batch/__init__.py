"""The games by the thousand, as arrays: `parlour.envs.batch.make("avalon_v0", num_envs=4096)`.

    tables = batch.make("avalon_v0", num_envs=4096, num_players=5, rules="official", talk=False)
    turns = tables.reset(seed=7)
    while learning:
        turns = tables.step(choose(turns.observation, turns.mask))

`Turns` holds whose turn it is at each table, its mask and observation, and the rewards of the step before. The kernels
are Numba's (extra `batch`); the scalar game is the truth that tests hold them to. A game without kernels, or a table whose
rules they do not have, is played by its scalar rules in a loop, behind the same interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.common import dotted
from parlour.envs.common.extras import not_installed
from parlour.envs.core import TABLE
from parlour.envs.plugins import Places
from parlour.envs.registry import build, kinds_of, lookup
from parlour.envs.spec import GameSpec

__all__ = ["KERNELS", "BatchTables", "ScalarTables", "Turns", "make"]

SUMMARY: Final = "summary"
"""The kind of features that tables show by default."""
KERNELS: Final = Places(
    "parlour.batch",
    {
        "avalon_v0": "parlour.envs.batch.avalon:AvalonTables",
        "werewolf_v0": "parlour.envs.batch.werewolf:WerewolfTables",
    },
)
"""Game -> dotted name of its tables with kernels."""


def make(game: str, *, num_envs: int, features: str | None = None, **options: Any) -> BatchTables:
    """Tables of a game: with its kernels, or with scalar games in a loop if it has none.

    Args:
        game: Registry name, such as `"avalon_v0"`, or `module:ATTRIBUTE` of a spec.
        num_envs: How many games.
        features: What seats see; see `Encoders.kinds`. None: `"summary"`, or `"table"` where the game has no summary.
        **options: `autoreset`, `threads` (see `BatchTables`), `beliefs` (whether tables keep beliefs that no feature shows,
            because a heuristic will sit), what the tables of the game take besides, and the options of the game.

    Raises:
        ParlourError: An argument is not accepted, or Numba is missing.
    """
    spec = lookup(game).spec
    if features is None:
        features = SUMMARY if SUMMARY in kinds_of(spec, _own(spec, options)) else TABLE
    table_class: Any = kernels_for(spec, options, features) or ScalarTables
    return table_class(spec, num_envs=num_envs, features=features, **options)


def have_kernels(spec: GameSpec, options: Mapping[str, Any], features: str | None = None) -> bool:
    """Whether a game has kernels for a table; see `kernels_for`."""
    return kernels_for(spec, options, features) is not None


def kernels_for(spec: GameSpec, options: Mapping[str, Any], features: str | None = None) -> type[BatchTables] | None:
    """The class of tables that has the rules of this table, and these features (None: any); None without one.

    Only options of the game count.

    Raises:
        ParlourError: An option is not accepted, or Numba is missing.
    """
    if spec.id not in KERNELS or features == TABLE:
        return None
    game = build(spec, _own(spec, options))
    kernels = kernels_of(spec)
    table_class = kernels if kernels.plays(game) else None
    kind = "" if features is None else features.partition(":")[0]
    lacking = table_class is None or (kind in spec.encoder(game).kinds and kind not in table_class.kinds)
    return None if lacking else table_class


def _own(spec: GameSpec, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the game among those of its tables."""
    return {name: value for name, value in options.items() if name in spec.options.model_fields}


def kernels_of(spec: GameSpec) -> Any:
    """The class of a game's tables that has kernels. Raises `ParlourError` without Numba."""
    try:
        return dotted.load(KERNELS[spec.id], "tables of games")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise not_installed("numba", "batch") from error
