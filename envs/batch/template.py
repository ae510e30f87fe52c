"""Coin by the thousand: kernels of `parlour.envs._template`, the smallest example of tables for `parlour.envs.batch`.

What a game needs: a record of one game; kernels that begin it, play a move and show it, one game at a time; loops over all
games; and a class that puts them behind the interface. `tests/test_batch_template.py` holds them to the scalar rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs._template.encode import SUMMARY
from parlour.envs._template.vocabulary import GUESSER, GUESSES, KEEPER, SPEECHES
from parlour.envs.batch.compiled import kernel, loop, use_threads
from parlour.envs.batch.streams import advance, below, started
from parlour.envs.batch.tables import ILLEGAL, NOBODY, Array, BatchTables, Turns, seeds_of
from parlour.envs.core import GameSpec, ParlourError

_GAME: Final = np.dtype(
    [
        ("nature", np.uint64),  # state of the stream that tosses
        ("players", np.uint64),  # of the one that plays at random
        ("coin", np.int8),  # the face that lies up
        ("said", np.int8),  # what the keeper said of it; -1: nothing
        ("actor", np.int8),  # the seat to move; -1 when the game is over
    ],
    align=True,
)
_SAYINGS: Final = len(SPEECHES)
"""Actions below it are speeches (silent, heads, tails), the others guesses (heads, tails)."""
_ACTIONS: Final = _SAYINGS + len(GUESSES)


class CoinTables(BatchTables):
    """See `BatchTables`. Keeper and guesser differ by their place: both number actions as the table does."""

    kinds = (SUMMARY,)

    def __init__(
        self,
        spec: GameSpec,
        *,
        num_envs: int,
        features: str = SUMMARY,
        beliefs: bool = False,
        autoreset: bool = True,
        threads: int = 1,
        **config: Any,
    ) -> None:
        super().__init__(spec, config, num_envs=num_envs, features=features, autoreset=autoreset, threads=threads)
        encoder = spec.seat_encoder(self.game, features)
        self.size, self.names = encoder.size, tuple(encoder.names)
        self.hidden_size = self.seats * len(spec.sides)
        self.games: Any = np.zeros(self.num_envs, _GAME).view(np.recarray)
        self._sides = np.tile(np.array([KEEPER, GUESSER], np.int8), (self.num_envs, 1))
        self._allocate()

    def reset(self, seed: int | Sequence[int]) -> Turns:
        seeds = seeds_of(seed, self.num_envs)
        self.games.nature, self.games.players = started(seeds, 0), started(seeds, 1)
        _toss_all(self.games)
        return self._anew()

    def deal(self, moves: Array) -> Turns:
        tossed = np.asarray(moves)
        if tossed.shape != (self.num_envs, 1) or not np.isin(tossed, (0, 1)).all():
            raise ParlourError(f"deals are not accepted; accepted: 0 or 1 for each game, shape {(self.num_envs, 1)}")
        self.games.coin, self.games.said, self.games.actor = tossed[:, 0], -1, KEEPER
        return self._anew()

    def observe(self) -> Turns:
        use_threads(self.threads)
        _look_all(self.games, *self._turns[:3])
        return self._turns

    @property
    def roles(self) -> Array:
        return self._sides

    @property
    def side(self) -> Array:
        return self._sides

    def hidden(self, out: Array | None = None) -> Array:
        shown = np.empty((self.num_envs, self.hidden_size), np.float32) if out is None else out
        shown[:] = np.eye(self.seats, dtype=np.float32).ravel()  # seat j is on side j
        return shown

    def state(self) -> Array:
        return self.games.view(np.uint8).reshape(self.num_envs, -1).copy()

    def restore(self, state: Array) -> Turns:
        if state.shape != (self.num_envs, _GAME.itemsize) or state.dtype != np.uint8:
            raise ParlourError("this state is not accepted; accepted: one of tables made with the same arguments")
        self.games = np.ascontiguousarray(state).copy().view(_GAME)[:, 0].view(np.recarray)
        return self._anew()

    def _play(self, actions: Array) -> None:
        use_threads(self.threads)
        _play_all(self.games, self.autoreset, actions, *self._turns, self.winner)

    def _play_random(self) -> None:
        use_threads(self.threads)
        _draw_all(self.games, self._chosen)
        self._play(self._chosen)

    def _anew(self) -> Turns:
        """The turns before the first step."""
        self._turns.rewards[:], self._turns.terminated[:], self.winner[:] = 0, 0, NOBODY
        return self.observe()


# -- one game ----------------------------------------------------------------------------------------------------


@kernel
def toss(g: Any) -> None:
    """A new game, from the stream of nature."""
    g.nature = advance(g.nature)
    g.coin = below(g.nature, 2)
    g.said, g.actor = -1, KEEPER


@kernel
def play(g: Any, action: int) -> int:
    """The side that has won; -1 while the game goes on."""
    if g.actor == KEEPER:
        g.said, g.actor = action - 1, GUESSER
        return NOBODY
    return GUESSER if action - _SAYINGS == g.coin else KEEPER


@kernel
def legal(g: Any, action: int) -> bool:
    """Whether the seat to move may do it: the keeper speaks, the guesser guesses."""
    if g.actor == KEEPER:
        return 0 <= action < _SAYINGS
    return _SAYINGS <= action < _ACTIONS


@kernel
def look(g: Any, b: int, actor: Any, mask: Any, observation: Any) -> None:
    """Write who moves in game b, what it may do and what it sees (`parlour.envs._template.encode`)."""
    actor[b] = g.actor
    for action in range(_ACTIONS):
        mask[b, action] = g.actor >= 0 and legal(g, action)
    observation[b, 0] = max(g.actor, 0)
    observation[b, 1] = 2 * g.coin - 1 if g.actor == KEEPER else 0
    observation[b, 2] = 2 * g.said - 1 if g.said >= 0 and g.actor >= 0 else 0


# -- all games ---------------------------------------------------------------------------------------------------


@loop
def _toss_all(games: Any) -> None:
    for b in prange(len(games)):
        toss(games[b])


@loop
def _look_all(games: Any, actor: Any, mask: Any, observation: Any) -> None:
    for b in prange(len(games)):
        look(games[b], b, actor, mask, observation)


@loop
def _draw_all(games: Any, actions: Any) -> None:
    for b in prange(len(games)):
        g = games[b]
        g.players = advance(g.players)
        actions[b] = below(g.players, _SAYINGS) if g.actor == KEEPER else _SAYINGS + below(g.players, 2)


@loop
def _play_all(
    games: Any,
    autoreset: bool,
    actions: Any,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    for b in prange(len(games)):
        g = games[b]
        rewards[b, :] = 0
        terminated[b], winner[b] = 0, NOBODY
        if g.actor < 0:
            continue
        if not legal(g, actions[b]):
            winner[b] = ILLEGAL
            continue
        winner[b] = play(g, actions[b])
        if winner[b] != NOBODY:
            terminated[b] = 1
            for j in range(rewards.shape[1]):
                rewards[b, j] = 1 if j == winner[b] else -1
            if autoreset:
                toss(g)
            else:
                g.actor = -1
        look(g, b, actor, mask, observation)
