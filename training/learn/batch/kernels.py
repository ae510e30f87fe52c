"""Numba kernels of learning over arrays: advantages and returns of seats that take turns."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from parlour.envs.batch.compiled import loop

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@partial(loop, parallel=False)
def advantages(
    row: Ints,
    actor: Ints,
    rewards: Floats,
    terminated: NDArray[np.uint8],
    values: Floats,
    gae_lambda: float,
    advantage: Floats,
    usable: NDArray[np.bool_],
) -> None:
    """Generalised advantage estimation (Schulman et al., arXiv 1506.02438) without discount, for seats that take turns.

    The next state of a decision is the next decision of the same seat, or the end of the game. The last decision of a seat
    in a game that has not ended has neither and is not usable; it still is the next state of the one before it.

    Args:
        row: Number of the learner's decision at turn t of table b, or -1; shape (T, B).
        actor: The seat that moved, shape (T, B).
        rewards: Rewards of the turn, by seat, shape (T, B, n).
        terminated: Whether the turn ended the game, shape (T, B).
        values: Values of the decisions, shape (N,).
        gae_lambda: Weight of longer returns.
        advantage: Out, shape (N,).
        usable: Out, shape (N,).
    """
    turns, tables = row.shape
    seats = rewards.shape[2]
    next_value = np.empty(seats, np.float32)
    next_advantage = np.empty(seats, np.float32)
    reward = np.empty(seats, np.float32)
    known = np.empty(seats, np.bool_)
    for b in range(tables):
        next_value[:] = 0
        next_advantage[:] = 0
        reward[:] = 0
        known[:] = False
        for t in range(turns - 1, -1, -1):
            if terminated[t, b]:
                next_value[:] = 0
                next_advantage[:] = 0
                reward[:] = 0
                known[:] = True
            for j in range(seats):
                reward[j] += rewards[t, b, j]
            k = row[t, b]
            if k < 0:
                continue
            i = actor[t, b]
            usable[k] = known[i]
            gae = reward[i] + next_value[i] - values[k] + gae_lambda * next_advantage[i]
            advantage[k] = gae
            next_value[i] = values[k]
            next_advantage[i] = gae if known[i] else np.float32(0)
            reward[i] = 0
            known[i] = True


@partial(loop, parallel=False)
def returns(
    row: Ints,
    actor: Ints,
    rewards: Floats,
    terminated: NDArray[np.uint8],
    total_return: Floats,
    usable: NDArray[np.bool_],
) -> None:
    """What each decision led to: the sum of its seat's rewards to the end of the game.

    Args: as for `advantages`; decisions of games that have not ended are not usable.
    """
    turns, tables = row.shape
    seats = rewards.shape[2]
    total = np.empty(seats, np.float32)
    for b in range(tables):
        total[:] = 0
        ended = False
        for t in range(turns - 1, -1, -1):
            if terminated[t, b]:
                total[:] = 0
                ended = True
            for j in range(seats):
                total[j] += rewards[t, b, j]
            k = row[t, b]
            if k >= 0:
                total_return[k] = total[actor[t, b]]
                usable[k] = ended
