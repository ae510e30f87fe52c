"""Tables that are played by kernels: an array of records, one of each game, and loops over all of them.

A game gives the records, what its kernels read besides, and two loops: the first shows all games, the second plays them. Seeds,
deals, states, roles and all else of the interface are the same for all games, and here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numba import prange
from parlour.envs.batch.compiled import kernel, loop, use_threads
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import NOBODY, SAME_STEP, Array, Autoreset, BatchTables, Turns, seeds_of
from parlour.envs.core import ParlourError
from parlour.envs.spec import GameSpec


class Task(IntEnum):
    """What a loop does before it shows all games: nothing, deal them, begin those that are dealt, or play."""

    SHOW_ONLY = 0
    DEAL = 1
    START = 2
    PLAY = 3
    PLAY_AT_RANDOM = 4


class KernelTables(BatchTables):
    """See `BatchTables`.

    Args:
        spec: The game.
        num_envs: B, the number of games.
        features: One of `kinds`.
        beliefs: Whether the games keep beliefs though no feature shows them, because a heuristic will sit.
        habits: How seats behave, as the beliefs suppose; None: the usual rates.
        autoreset: See `BatchTables`.
        threads: See `BatchTables`.
        **config: The options of the game.
    """

    deal_holds: ClassVar[str]
    """What a row of `deal` holds, in words."""
    deal_size: int
    """How many numbers that are."""
    heuristic_believes: ClassVar[bool] = True
    """Whether the heuristic needs the beliefs."""
    games: Any
    """(B,) records of games."""

    def __init__(
        self,
        spec: GameSpec,
        *,
        num_envs: int,
        features: str = "summary",
        beliefs: bool = False,
        habits: Any = None,
        autoreset: Autoreset = SAME_STEP,
        threads: int = 1,
        **config: Any,
    ) -> None:
        super().__init__(spec, config, num_envs=num_envs, features=features, autoreset=autoreset, threads=threads)
        encoder = self.encoders.of_seat(features)
        self.size, self.names = encoder.size, tuple(encoder.names)
        self._labels = len(self.game.role_names or spec.sides)
        self.hidden_size = self.seats * self._labels
        self.weights: Array = np.zeros((self.num_envs, 0))
        """(B, ...) float64: weights of beliefs that do not fit into a record of fixed size."""
        self._believes = beliefs or "belief" in features
        self._prepare(habits, believes=self._believes)
        self._hidden = np.zeros((self.num_envs, self.hidden_size), np.float32)
        self._allocate()

    def reset(self, seed: int | Sequence[int]) -> Turns:
        seeds = seeds_of(seed, self.num_envs)
        self.games.nature, self.games.players = started(seeds, 0), started(seeds, 1)
        return self._anew(Task.DEAL)

    def deal(self, moves: Array) -> Turns:
        dealt = np.asarray(moves)
        if dealt.shape != (accepted := (self.num_envs, self.deal_size)):
            raise ParlourError(f"deals of shape {dealt.shape} are not accepted; accepted: {accepted}")
        if not self._take_deal(dealt):
            raise ParlourError(f"some deal is not accepted; accepted: {self.deal_holds}")
        return self._anew(Task.START)

    def observe(self) -> Turns:
        return self._loop(Task.SHOW_ONLY)

    def hidden(self, out: Array | None = None) -> Array:
        target = self._hidden if out is None else out
        use_threads(self.threads)
        _show_roles(self.roles, self._turns.actor, target)
        return target

    def acting(self, where: Array) -> Array:
        """Where a heuristic is to act, (B,) uint8, in the threads of these tables. Raises `ParlourError` without beliefs."""
        if self.heuristic_believes and not self._believes:
            raise ParlourError(
                "the heuristic needs tables with beliefs; accepted: beliefs=True, or features with belief"
            )
        use_threads(self.threads)
        return np.asarray(where, np.uint8)

    @property
    def roles(self) -> Array:
        return self.games.roles[:, : self.seats]

    def state(self) -> Array:
        b = self.num_envs
        parts = (self.games.view(np.uint8).reshape(b, -1), self.weights.reshape(b, -1).view(np.uint8))
        return np.concatenate(parts, axis=1)

    def restore(self, state: Array) -> Turns:
        own = self.games.dtype.itemsize
        if state.shape != (self.num_envs, own + self.weights[0].nbytes) or state.dtype != np.uint8:
            raise ParlourError("this state is not accepted; accepted: one of tables made with the same arguments")
        self.games = state[:, :own].copy().view(self.games.dtype)[:, 0].view(np.recarray)
        self.weights = state[:, own:].copy().view(np.float64).reshape(self.weights.shape)
        return self._anew(Task.SHOW_ONLY)

    # -- what a game gives -------------------------------------------------------------------------------------

    @abstractmethod
    def _prepare(self, habits: Any, *, believes: bool) -> None:
        """Make `games`, and what the loops take besides."""

    @abstractmethod
    def _take_deal(self, dealt: Array) -> bool:
        """Write deals, (B, ...), to the records; False if some are none."""

    @abstractmethod
    def _run(self, task: int) -> None:
        """Run the loop over all games: `PLAY` the actions `_chosen`, or what is drawn from the streams of the players, or show
        the games after a deal, at the start of dealt games, or in their course. One loop does it all, because Numba compiles what
        two loops share twice.
        """

    def dealt(self, b: int) -> tuple[int, ...]:
        """The `args` of the deal of table b, as a row of `deal` has them."""
        raise NotImplementedError

    def drawn(self, b: int) -> tuple[int, ...]:
        """The `args` of nature's last move after the deal at table b, in games that have such moves."""
        raise NotImplementedError

    # -- inside ------------------------------------------------------------------------------------------------

    def _anew(self, begins: int) -> Turns:
        """The turns before the first step."""
        self._turns.rewards[:], self._turns.terminated[:], self.winner[:] = 0, 0, NOBODY
        return self._loop(begins)

    def _loop(self, task: int) -> Turns:
        use_threads(self.threads)
        self._run(int(task))
        return self._turns

    def _play(self, actions: Array) -> None:
        self._loop(Task.PLAY)

    def _play_random(self) -> None:
        self._loop(Task.PLAY_AT_RANDOM)


# -- what kernels of all games write to row b of the buffers of `Turns` ---------------------------------------------------


@kernel
def blank(b: int, mask: Any, observation: Any) -> None:
    """Nobody moves at a table that is over: its mask and features are zeros."""
    mask[b, :] = 0
    observation[b, :] = 0


@kernel
def rest(b: int, rewards: Any, terminated: Any, winner: Any, nobody: int) -> None:
    """Nothing happens at a table that is over."""
    rewards[b, :] = 0
    terminated[b] = 0
    winner[b] = nobody


@loop
def _show_roles(roles: Any, actors: Any, target: Any) -> None:
    """The role of each seat, one-hot, in the frame of the seat to move; in that of seat 0 at a table that is over."""
    n = roles.shape[1]
    kinds = target.shape[1] // n
    for b in prange(len(roles)):
        me = max(actors[b], 0)
        target[b, :] = 0
        for place in range(n):
            target[b, place * kinds + roles[b, (me + place) % n]] = 1
