"""Speed, as ratios measured in one run: what `scripts/bench/all.py` prints.

Every environment plays the same prerecorded random legal games back, asking `last()` at every turn, so that choosing
actions costs nothing. A turn is one action of a live agent. As in Python's timeit, the garbage collector is off while
the clock runs. Rounds go through all candidates in turn, and the median
over rounds is quoted: what slows the machine for a while slows all of them.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from parlour.envs.core import NATURE, OVER, Game
from parlour.envs.registry import lookup
from parlour.policies import HeuristicPolicy
from parlour.wrappers import SeatEnv

GAME = "avalon_v0"


@dataclass(frozen=True)
class Rate:
    """Turns a second of one candidate: over all rounds the lowest, the median and the highest."""

    name: str
    low: float
    median: float
    high: float


@dataclass(frozen=True)
class SeatCost:
    """What a step of `SeatEnv` costs with opponents by heuristic."""

    players: int
    steps_per_second: float
    turns_per_step: float
    thinking: float
    """Share of the time in the opponents' `act`."""
    environment: float
    """Share in stepping the environment for all seats, views included."""
    features: float
    """Share in encoding the learner's observation."""


def machine() -> str:
    """The machine in one line."""
    return (
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    )


def compare(rounds: int, games: int) -> list[Rate]:
    """Turns a second of PettingZoo's tictactoe and of Avalon for 5 and 10 players."""
    candidates = dict(_candidates(games))
    measured: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            gc.collect()
            gc.disable()
            try:
                measured[name].append(run())
            finally:
                gc.enable()
    return [Rate(name, min(of), statistics.median(of), max(of)) for name, of in measured.items()]


def _candidates(games: int) -> Sequence[tuple[str, Callable[[], float]]]:
    from pettingzoo.classic import tictactoe_v3

    found = []
    for kind in ("raw_env", "env"):
        make = getattr(tictactoe_v3, kind)
        found.append((f"tictactoe_v3.{kind}", partial(_play_back, make, _record(make(), games * 10))))
    for players in (5, 10):
        module = lookup(GAME)
        options = {"num_players": players, "rules": "official"}
        record = _record(module.raw_env(**options), games)
        found += [
            (
                f"{GAME}.{kind}, {players} players",
                partial(_play_back, partial(getattr(module, kind), **options), record),
            )
            for kind in ("raw_env", "env")
        ]
        game = module.raw_env(**options).game
        moves = [_moves(game, seed) for seed in range(games)]
        found.append((f"rules alone, {players} players", partial(_fold, game, moves)))
    return found


def _record(env: Any, games: int) -> list[list[int]]:
    """Random legal games: the actions of each; game k is dealt with seed k."""
    rng = np.random.default_rng(0)
    recorded = []
    for seed in range(games):
        env.reset(seed=seed)
        actions: list[int] = []
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            actions.append(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
            env.step(actions[-1])
        recorded.append(actions)
    return recorded


def _play_back(make: Callable[[], Any], recorded: Sequence[Sequence[int]]) -> float:
    """Turns a second of a new environment that plays recorded games back."""
    env = make()
    started = perf_counter()
    for seed, actions in enumerate(recorded):
        env.reset(seed=seed)
        following = iter(actions)
        for _ in env.agent_iter():
            _, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else next(following))
    return sum(map(len, recorded)) / (perf_counter() - started)


def _moves(game: Game[Any], seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    state, moves = game.initial(), []
    while game.actor(state) != OVER:
        legal = game.legal(state)
        move = game.nature(state, rng) if game.actor(state) == NATURE else legal[int(rng.integers(len(legal)))]
        moves.append(move)
        state = game.apply(state, move)
    return moves


def _fold(game: Game[Any], recorded: Sequence[Sequence[Any]]) -> float:
    """Moves a second of `legal` and `apply` alone."""
    started = perf_counter()
    for moves in recorded:
        state = game.initial()
        for move in moves:
            game.legal(state)
            state = game.apply(state, move)
    return sum(map(len, recorded)) / (perf_counter() - started)


# -- the learner's seat ----------------------------------------------------------------------------------------


class _Timed:
    """Adds up the time spent in a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0
        self.calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        started = perf_counter()
        try:
            return self._function(*args, **kwargs)
        finally:
            self.seconds += perf_counter() - started
            self.calls += 1


def seat_cost(players: int, steps: int) -> SeatCost:
    """Measure `SeatEnv` with a learner that plays at random."""
    inner = lookup(GAME).raw_env(num_players=players, rules="official", info="full", observation="features")
    opponents = [HeuristicPolicy() for _ in range(players)]
    env = SeatEnv(inner, opponents)
    thinking = [_Timed(opponent.act) for opponent in opponents]
    for opponent, timed in zip(opponents, thinking, strict=True):
        opponent.act = timed  # type: ignore[method-assign]
    stepping, encoding = _Timed(inner.step), _Timed(inner.encoder)
    inner.step, inner.encoder = stepping, encoding  # type: ignore[method-assign, assignment]
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for counter in (*thinking, stepping, encoding):
        counter.seconds, counter.calls = 0.0, 0
    started = perf_counter()
    for _ in range(steps):
        over = env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))[2]
        if over:
            env.reset()
    total = perf_counter() - started
    return SeatCost(
        players,
        steps / total,
        stepping.calls / steps,
        sum(timed.seconds for timed in thinking) / total,
        stepping.seconds / total,
        encoding.seconds / total,
    )
