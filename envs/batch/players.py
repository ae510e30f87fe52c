"""Players that choose for many tables at once: what they are asked, the game's heuristic, and a random one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.batch.tables import Array, BatchTables, Turns
from parlour.envs.common import dotted
from parlour.envs.core import ParlourError


class BatchPlayer(Protocol):
    """Chooses actions for the seats to move at some tables."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        """New games begin at all tables; all chance comes from the seeds, one for each table, and the player's number."""

    def choose(self, turns: Turns, rows: Array, actions: Array) -> None:
        """Write to `actions`, (B,), what is done at the tables `rows`, int32 (m,): numbers in the frame of the seat."""


class KernelSeats:
    """A player that acts on the records of the games; it draws from the tables' own streams.

    Args:
        name: What it is called.
        play: `choose(tables, where, actions)`: writes actions where `where`, (B,) uint8, is nonzero.
    """

    def __init__(self, name: str, play: Callable[[Any, Any, Any], None]) -> None:
        self.name, self._choose = name, play

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        self._where = np.zeros(tables.num_envs, np.uint8)
        self._tables = tables

    def choose(self, turns: Turns, rows: Array, actions: Array) -> None:
        self._where[:] = 0
        self._where[rows] = 1
        self._choose(self._tables, self._where, actions)


class HeuristicSeats(KernelSeats):
    """The game's scripted player over arrays.

    For games with kernels it is another program than the scalar player, with the same probabilities in the same state.

    Args:
        style: How it behaves where no belief decides; empty: the usual way.
        name: What it is called.
    """

    name = "heuristic"

    def __init__(self, style: Any = None, name: str = "heuristic") -> None:
        super().__init__(name, _of_no_table)
        self._style = {} if style is None else {"style": style}

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        """Raises `ParlourError` where the game has no heuristic for such tables."""
        super().reset(tables, seeds, number)
        self._choose = partial(_heuristic(tables), **self._style)


class RandomSeats:
    """Any legal action, each as likely as the others; every table has a stream of its own."""

    name: ClassVar[str] = "random"

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        self._streams = [np.random.default_rng((seed, number)) for seed in seeds]

    def choose(self, turns: Turns, rows: Array, actions: Array) -> None:
        for b in rows:
            legal = np.flatnonzero(turns.mask[b])
            actions[b] = legal[self._streams[b].integers(len(legal))]


def drawn(mask: Array, rng: np.random.Generator) -> Array:
    """A legal action of each row of masks (m, A), each as likely as the others; int64 (m,)."""
    after = mask.cumsum(axis=1, dtype=np.int32)
    return (after > rng.integers(after[:, -1])[:, None]).argmax(axis=1)


def _of_no_table(tables: Any, where: Any, actions: Any) -> None:
    raise ParlourError("a player that has no table yet cannot choose; accepted: after reset")


def _heuristic(tables: BatchTables) -> Any:
    """`choose(tables, where, actions)` of the game."""
    if isinstance(tables, ScalarTables):
        return ScalarTables.choose_by_heuristic
    if not tables.heuristic:
        raise ParlourError(f"{tables.spec.id} has no heuristic over arrays; accepted: tables that name one")
    return dotted.load(tables.heuristic, "heuristic over arrays")
