"""The whole posterior of the seat to move over evil sides and Merlins, by the habits of the tables: what a literal player thinks.

The features show its margins; off-belief learning needs all of it. For tables without Mordred and Oberon, where what the night showed
leaves a seat with hypotheses that this module tests one by one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from parlour.envs.batch.avalon.layout import evil_sides
from parlour.envs.batch.tables import Array


@lru_cache(maxsize=8)
def _members(n: int) -> Array:
    """Which seats each evil side holds, shape (S, n)."""
    return np.array([[j in side for j in range(n)] for side in evil_sides(n)])


@lru_cache(maxsize=8)
def _turned(n: int) -> Array:
    """[seat to move, hypothesis in its frame] -> number of the hypothesis; a hypothesis is a side times n, plus a Merlin."""
    number = {side: s for s, side in enumerate(evil_sides(n))}
    return np.array(
        [
            [
                number[tuple(sorted((me + j) % n for j in side))] * n + (me + merlin) % n
                for side in evil_sides(n)
                for merlin in range(n)
            ]
            for me in range(n)
        ]
    )


def size_of(n: int) -> int:
    """H, the number of hypotheses; those in which Merlin is evil are always impossible."""
    return len(evil_sides(n)) * n


def posterior(games: Any, rules: Any) -> tuple[Array, Array]:
    """Chances in the frame of the seat to move, shape (B, H) float32, and the number of the true hypothesis there, shape (B,)."""
    count, n = games.roles.shape
    members, tables, me = _members(n), np.arange(count), np.maximum(games.actor, 0)
    role, shown = games.roles[tables, me], (games.shown[tables, me][:, None] >> np.arange(n)) & 1 != 0
    is_merlin, is_percival = role == rules.merlin[0], role == rules.percival[0]
    evil, own = games.side[tables, me] != 0, np.arange(n) == me[:, None]
    known = shown | (own & evil[:, None])
    whole = (members == known[:, None]).all(axis=2)
    among = (members & shown[:, None]).sum(axis=2) == (is_percival & (rules.morgana[0] >= 0))[:, None]
    sides = np.where((evil | is_merlin)[:, None], whole, among & ~members[:, me].T)
    merlins = np.where(is_merlin[:, None], own, np.where(is_percival[:, None], shown, ~own))
    mass = (games.weight * games.own[tables, me])[:, :, None] * np.where(own[:, None], 1.0, games.special)
    mass = np.where(sides[:, :, None] & merlins[:, None] & ~members, mass, 0.0).reshape(count, -1)
    mass /= mass.sum(axis=1, keepdims=True)
    side = (members == (games.side != 0)[:, None]).all(axis=2).argmax(axis=1)
    true = side * n + (games.roles == rules.merlin[0]).argmax(axis=1)
    turned = _turned(n)[me]
    return np.take_along_axis(mass, turned, axis=1).astype(np.float32), (turned == true[:, None]).argmax(axis=1)
