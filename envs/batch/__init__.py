"""The games by the thousand, as arrays: `parlour.envs.batch.make("avalon_v0", num_envs=4096)`.

    tables = batch.make("avalon_v0", num_envs=4096, num_players=5, rules="official", talk=False)
    turns = tables.reset(seed=7)
    while learning:
        turns = tables.step(choose(turns.observation, turns.mask))

`Turns` holds whose turn it is at each table, its mask and observation, and the rewards of the step before. The kernels
are Numba's (extra `batch`); the scalar game is the truth that tests hold them to.
"""

from __future__ import annotations

from typing import Any

from parlour.envs import dotted
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup

__all__ = ["BatchTables", "Turns", "make"]


def make(game: str, *, num_envs: int, features: str = "summary", **options: Any) -> BatchTables:
    """Tables of a game.

    Args:
        game: Registry name, such as `"avalon_v0"`.
        num_envs: How many games.
        features: What seats see; see `GameSpec.features`.
        **options: `autoreset`, `threads` (see `BatchTables`), what the tables of the game take besides, and the options
            of the game.

    Raises:
        ParlourError: An argument is not accepted, the game has no kernels, or Numba is missing.
    """
    spec = lookup(game).spec
    if not spec.batch:
        raise ParlourError(f"{game} has no kernels; accepted: a game that names its tables in `GameSpec.batch`")
    try:
        made = dotted.load(spec.batch, "tables of games")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise
        raise ParlourError(
            "parlour.envs.batch needs Numba; accepted: parlour installed with the extra 'batch'"
        ) from error
    tables: BatchTables = made(spec, num_envs=num_envs, features=features, **options)
    return tables
