"""Trained seats that have learned nothing, and games of players that a test seats itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.core import Move
from parlour.policies import TrainedSeat, make_policy


def untrained(game: str, options: dict[str, Any], features: str, seed: int = 0, **settings: Any) -> TrainedSeat:
    """Random weights, from which no two actions have the same score."""
    env, rng = registry[game].raw_env(features=features, **options), np.random.default_rng(seed)
    sizes = (env.encoder.size, 8, len(env.game.catalogue))
    layers = [(rng.normal(size=(b, a)).astype(np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    return TrainedSeat(game, env.game.config, layers, features=features, **settings)


def indifferent(game: str, options: dict[str, Any], hidden: int = 4) -> TrainedSeat:
    """A network that takes every legal move equally often."""
    env = registry[game].raw_env(features="belief", **options)
    sizes = (env.encoder.size, hidden, len(env.game.catalogue))
    layers = [(np.zeros((b, a), np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    return TrainedSeat(game, env.game.config, layers, features="belief", sample=True)


def moves_of(env: Any, players: Sequence[Any], seed: int, deal: int | None = None) -> list[Move]:
    """One game of these players; `deal`: a seed of the game itself."""
    base = env.unwrapped
    env.reset(seed=seed if deal is None else deal)
    for seat, player in enumerate(players):
        player.reset(seat, seed)
    while base.outcome is None:
        take_turn(env, players[base.seat])
    return base.moves


def moves_beside_heuristics(player: Any, game: str, options: dict[str, Any]) -> list[Move]:
    """A game of a player on seat 0; the heuristics of the others begin anew at every move."""
    env = registry[game].raw_env(info="full", features="belief", **options)
    env.reset(seed=3)
    player.reset(0, 3)
    others = make_policy("heuristic", game, env.game.config)
    while env.outcome is None:
        others.reset(env.seat, 3 + len(env.moves))
        take_turn(env, player if env.seat == 0 else others)
    return env.moves
