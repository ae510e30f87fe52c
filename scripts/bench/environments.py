"""How fast environments are: turns a second as ratios to PettingZoo's tictactoe, and the cost of a step of `SeatEnv`.

Every environment replays the same random legal games and asks `last()` at every turn, so that choosing actions costs
nothing. A turn is one action of a live agent.

python scripts/bench/environments.py
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from parlour.envs.registry import lookup
from parlour.policies import HeuristicPolicy
from parlour.wrappers import SeatEnv
from pettingzoo.classic import tictactoe_v3
from timing import in_rounds, seconds, show_table

GAME = "avalon_v0"
KINDS = ("raw_env", "env")


def main(rounds: int = 9, games: int = 300) -> None:
    """Measure and print."""
    bases = {f"tictactoe_v3.{kind}": "" for kind in KINDS}
    candidates = {f"tictactoe_v3.{kind}": _replayed(getattr(tictactoe_v3, kind), games * 10) for kind in KINDS}
    for players in (5, 10):
        for kind in KINDS:
            name = f"{GAME}.{kind}, {players} players"
            make = partial(getattr(lookup(GAME), kind), num_players=players, rules="official")
            candidates[name], bases[name] = _replayed(make, games), f"tictactoe_v3.{kind}"
        name = f"rules alone, {players} players"
        candidates[name], bases[name] = _rules_alone(players, games), f"{GAME}.raw_env, {players} players"
    rates = in_rounds(candidates, range(rounds))
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    show_table(
        f"Turns a second, median of {rounds} rounds, lowest .. highest; {machine}",
        ("what", "turns/s", "range", "ratio", "to"),
        [
            (
                name,
                *rate.texts,
                f"{rate.median / rates[bases[name]].median:.2f}" if bases[name] else "",
                bases[name],
            )
            for name, rate in rates.items()
        ],
    )
    headings = ("players", "steps/s", "turns a step", "opponents", "environment", "features", "rest")
    show_table("SeatEnv, the other seats by heuristic", headings, [seat_cost(5, 10 * games), seat_cost(10, 3 * games)])


def _replayed(make: Callable[[], Any], games: int) -> Callable[[], float]:
    """Turns a second of a new environment that replays random games."""
    recorded = list(random_games(make(), range(games)))
    return lambda: sum(map(len, recorded)) / seconds(replay, make(), range(games), recorded)


def random_games(env: Any, seeds: range) -> Iterator[list[int]]:
    """The actions of random legal games, dealt with these seeds."""
    rng = np.random.default_rng(seeds.start)
    for seed in seeds:
        env.reset(seed=seed)
        actions: list[int] = []
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            actions.append(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
            env.step(actions[-1])
        yield actions


def replay(env: Any, seeds: range, recorded: Sequence[Sequence[int]]) -> None:
    """Play recorded games again, and observe at every turn."""
    for seed, actions in zip(seeds, recorded, strict=True):
        env.reset(seed=seed)
        following = iter(actions)
        for _ in env.agent_iter():
            _, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else next(following))


def _rules_alone(players: int, games: int) -> Callable[[], float]:
    """Moves a second of `legal` and `apply` in such games."""
    env = lookup(GAME).raw_env(num_players=players, rules="official")
    recorded = [env.moves for _ in random_games(env, range(games))]
    return lambda: sum(map(len, recorded)) / seconds(_fold, env.game, recorded)


def _fold(game: Any, recorded: Sequence[Sequence[Any]]) -> None:
    for moves in recorded:
        state = game.initial()
        for move in moves:
            game.legal(state)
            state = game.apply(state, move)


class _Timed:
    """Adds up the time spent in a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function, self.seconds, self.calls = function, 0.0, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        started = perf_counter()
        try:
            return self._function(*args, **kwargs)
        finally:
            self.seconds += perf_counter() - started
            self.calls += 1


def seat_cost(players: int, steps: int) -> list[str]:
    """Steps a second of a learner that plays at random, turns in a step, and shares of the time.

    The shares: the opponents' `act`; stepping the environment for all seats, views included; encoding the learner's
    observation; the rest.
    """
    inner = lookup(GAME).raw_env(num_players=players, rules="official", info="full", observation="features")
    opponents: list[Any] = [HeuristicPolicy() for _ in range(players)]
    env = SeatEnv(inner, opponents)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    thinking = [_Timed(opponent.act) for opponent in opponents]
    for opponent, timed in zip(opponents, thinking, strict=True):
        opponent.act = timed
    inner.step, inner.encoder = _Timed(inner.step), _Timed(inner.encoder)
    started = perf_counter()
    for _ in range(steps):
        if env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))[2]:
            env.reset()
    total = perf_counter() - started
    times = [sum(timed.seconds for timed in thinking), inner.step.seconds, inner.encoder.seconds]
    shares = [f"{share:.0%}" for share in (*(time / total for time in times), 1 - sum(times) / total)]
    return [str(players), f"{steps / total:,.0f}", f"{inner.step.calls / steps:.1f}", *shares]


if __name__ == "__main__":
    main()
