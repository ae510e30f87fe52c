"""Coin by the thousand: kernels of `parlour.envs._template`, the smallest example of tables for `parlour.envs.batch`.

What a game needs: a record of one game; kernels that begin it, play a move and show it, one game at a time; a loop over all
games; and a class that puts them behind the interface. `tests/lockstep.py` holds such kernels to the scalar rules.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs._template.vocabulary import GUESSER, GUESSES, KEEPER, SPEECHES, SUMMARY
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.kernel_tables import DEAL, PLAY, PLAY_AT_RANDOM, KernelTables, rest
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.tables import ILLEGAL, NOBODY, Array

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


class CoinTables(KernelTables):
    """See `KernelTables`. Keeper and guesser differ by their place: both number actions as the table does."""

    kinds = (SUMMARY,)
    deal_holds = "0 or 1, the face that lies up"
    deal_size = 1

    def _prepare(self, habits: Any, *, believes: bool) -> None:
        self.games = np.zeros(self.num_envs, _GAME).view(np.recarray)
        self._sides = np.tile(np.array([KEEPER, GUESSER], np.int8), (self.num_envs, 1))

    @property
    def roles(self) -> Array:
        return self._sides

    @property
    def side(self) -> Array:
        return self._sides

    def hidden(self, out: Array | None = None) -> Array:
        target = self._hidden if out is None else out
        target[:] = np.eye(self.seats, dtype=np.float32).ravel()  # seat j is on side j, in the frame of the table
        return target

    def _take_deal(self, dealt: Array) -> bool:
        if not np.isin(dealt, (0, 1)).all():
            return False
        self.games.coin, self.games.said, self.games.actor = dealt[:, 0], -1, KEEPER
        return True

    def _run(self, task: int) -> None:
        _run_all(self.games, self.autoreset, task, self._chosen, self._turns, self.winner)


# -- one game ----------------------------------------------------------------------------------------------------


@kernel
def toss(g: Any) -> None:
    """A new game, from the stream of nature."""
    g.nature = advance(g.nature)
    g.coin = below(g.nature, 2)
    g.said, g.actor = -1, KEEPER


@kernel
def play(g: Any, action: int) -> int:
    """The side that has won; -1 while the game is running."""
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
def show(g: Any, b: int, turns: Any) -> None:
    """Write who moves in game b, what it may do and what it sees (`parlour.envs._template.encode`)."""
    turns.actor[b] = g.actor
    for action in range(_ACTIONS):
        turns.mask[b, action] = g.actor >= 0 and legal(g, action)
    turns.observation[b, 0] = max(g.actor, 0)
    turns.observation[b, 1] = 2 * g.coin - 1 if g.actor == KEEPER else 0
    turns.observation[b, 2] = 2 * g.said - 1 if g.said >= 0 and g.actor >= 0 else 0


@kernel
def _drawn(g: Any) -> int:
    """A legal action, from the stream of the players."""
    g.players = advance(g.players)
    return below(g.players, _SAYINGS) if g.actor == KEEPER else _SAYINGS + below(g.players, 2)


# -- all games ---------------------------------------------------------------------------------------------------


@loop
def _run_all(games: Any, autoreset: bool, task: int, actions: Any, turns: Any, winner: Any) -> None:
    for b in prange(len(games)):
        g = games[b]
        if task == DEAL:
            toss(g)
        if task in (PLAY, PLAY_AT_RANDOM):
            action = _drawn(g) if task == PLAY_AT_RANDOM and g.actor >= 0 else actions[b]
            _turn(g, autoreset, action, b, turns, winner)
        else:
            show(g, b, turns)


@kernel
def _turn(g: Any, autoreset: bool, action: int, b: int, turns: Any, winner: Any) -> None:
    rest(b, turns.rewards, turns.terminated, winner, NOBODY)
    if g.actor < 0:
        return
    if not legal(g, action):
        winner[b] = ILLEGAL
        return
    winner[b] = play(g, action)
    if winner[b] != NOBODY:
        turns.terminated[b] = 1
        for j in range(turns.rewards.shape[1]):
            turns.rewards[b, j] = 1 if j == winner[b] else -1
        if autoreset:
            toss(g)
        else:
            g.actor = -1
    show(g, b, turns)
