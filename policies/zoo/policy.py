"""A zoo of players that differ in how they were made: rule players and searches as kernels, for tables of Avalon without talk.

    logic                 never against what is proven, else at random (`kernels/logic.py`)
    mcts:rollouts=200     information-set Monte Carlo tree search (`kernels/tree_search.py`)

Over arrays they act on the records of the games. At a single table they play the seat's View again on an array table: a history that
the seat holds possible, whichever it is, because they look at nothing that the seat does not know.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs import batch
from parlour.envs.batch.players import KernelSeats
from parlour.envs.batch.tables import BatchTables
from parlour.envs.common import dotted
from parlour.envs.core import Move, ParlourError
from parlour.envs.registry import build, known
from parlour.envs.settings import Settings
from parlour.policies.base import TablePolicy
from parlour.policies.histories import HISTORIES
from parlour.policies.names import LOGIC, MCTS, ZOO
from parlour.policies.registry import settings_read
from parlour.policies.seating import Seating
from parlour.policies.zoo.kernels import logic, tree_search
from pydantic import Field

__all__ = ["LogicPolicy", "MctsPolicy", "ZooPolicy", "seats"]

_GAME: Final = "avalon_v0"


class MctsSettings(Settings):
    """What can be set for `mcts`."""

    rollouts: int = Field(default=200, ge=1)
    """Iterations of the search at each decision."""


def plays(game: str, config: Mapping[str, Any]) -> bool:
    """Whether the zoo plays a table: Avalon without talk, with kernels."""
    return game == _GAME and not config.get("talk") and batch.have_kernels(known(game).spec, config)


def check_table(game: str, config: Mapping[str, Any]) -> None:
    """Raise `ParlourError` for a table that the zoo does not play."""
    if not plays(game, config):
        raise ParlourError(f"{' and '.join(ZOO)} do not play this table of {game}; accepted: {_GAME} with talk=false")


def seats(name: str, tables: BatchTables) -> KernelSeats:
    """A player of the zoo over arrays, by its name with settings. Raises `ParlourError` if they or the table are not accepted."""
    check_table(tables.spec.id, tables.game.config)
    return kernel_seats(name)


def kernel_seats(name: str) -> KernelSeats:
    """The same, for a table that is checked."""
    plain = name.partition(":")[0]
    return KernelSeats(plain, _PLAYERS[plain].choice(settings_read(name)))


class ZooPolicy(TablePolicy):
    """A player of the zoo in one seat of a single table. Needs `info="full"`, and Numba (extra `batch`).

    Args:
        chosen: Its settings.
        game: Registry name of the game.
        config: Its configuration.

    Raises:
        ParlourError: The table is not accepted.
    """

    wants: ClassVar[str] = "view"

    def __init__(self, chosen: Any, game: str, config: Mapping[str, Any]) -> None:
        super().__init__()
        check_table(game, config)
        self.chosen: Settings = chosen
        self.table = game, dict(config)
        self._choose = self.choice(chosen)
        spec = known(game).spec
        self._game: Any = build(spec, dict(config))
        self._histories = dotted.load(HISTORIES[spec.id], "histories")
        self._own = spec.encoder(self._game).frame().own
        self._number = {move: number for number, move in enumerate(self._game.catalogue)}
        self._tables = batch.make(game, num_envs=1, beliefs=True, autoreset=None, **config)

    @staticmethod
    @abstractmethod
    def choice(chosen: Any) -> Callable[[Any, Any, Any], None]:
        """What it does over arrays: `choose(tables, where, actions)`."""

    @classmethod
    def make(cls, settings: Any, at: Seating) -> Self:
        return cls(settings, at.game, at.config)

    def __getstate__(self) -> dict[str, Any]:
        return {"arguments": (self.chosen, *(self.table or ())), "seat": self.seat, "rng": self.rng}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(*state["arguments"])  # type: ignore[misc]
        self.seat, self.rng = state["seat"], state["rng"]

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if `info` holds no View, or nature has moved after the deal."""
        view = info.get("view")
        if view is None:
            raise ParlourError(f"{self.name} reads info['view']; accepted: an environment with info='full'")
        history = next(iter(self._histories(self._game, view)))
        self._play(history.deal, history.moves, view.seat)
        self._tables.games.players[0] = self.rng.integers(2**63)  # type: ignore[attr-defined]
        actions = np.zeros(1, np.int32)
        self._choose(self._tables, np.ones(1, np.uint8), actions)
        own = [int(self._own[view.seat, self._number[Move(move.kind, move.args)]]) for move in view.legal]
        return int(info["legal"][own.index(int(actions[0]))])

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    def _play(self, deal: Sequence[int], moves: Sequence[tuple[int, Move]], seat: int) -> None:
        """Play a history on the array table, and what others did unseen in this round as any legal move."""
        self._tables.reset(0)
        turns = self._tables.deal(np.array([deal]))
        for actor, move in moves:
            if actor < 0:
                raise ParlourError("nature has moved after the deal; accepted: a game in which it has not")
            turns = self._tables.step(np.array([self._own[actor, self._number[Move(move.kind, move.args)]]]))
        while turns.actor[0] != seat:
            turns = self._tables.step(turns.mask.argmax(axis=1))


class LogicPolicy(ZooPolicy):
    """Never plays against what is proven, else at random. Needs `info="full"`, and Numba (extra `batch`)."""

    name: ClassVar[str] = LOGIC

    @staticmethod
    def choice(chosen: Settings) -> Callable[[Any, Any, Any], None]:
        return logic.choose


class MctsPolicy(ZooPolicy):
    """Information-set Monte Carlo tree search. Needs `info="full"`, and Numba (extra `batch`)."""

    name: ClassVar[str] = MCTS
    settings_type: ClassVar[type[Settings]] = MctsSettings

    @staticmethod
    def choice(chosen: MctsSettings) -> Callable[[Any, Any, Any], None]:
        return partial(tree_search.choose, rollouts=chosen.rollouts)


_PLAYERS: Final[Mapping[str, type[ZooPolicy]]] = {LOGIC: LogicPolicy, MCTS: MctsPolicy}
