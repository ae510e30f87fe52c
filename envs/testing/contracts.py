"""The suites of PettingZoo and Gymnasium, run as they are: `api_test`, `seed_test`, the parallel ones, `check_env`.

Cycles are few, because each is a whole round.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Final

import numpy as np
from gymnasium.utils.env_checker import check_env
from parlour.envs.testing.table import Table
from parlour.wrappers.seat import SeatEnv

with warnings.catch_warnings():  # PettingZoo's tests import one of its games in a way that it warns of itself
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test

ACTIONS: Final = ("index", "text")


class RandomPlayer:
    """Any legal action."""

    wants = "view"

    def reset(self, seat: int, seed: int) -> None:
        self._rng = np.random.default_rng((seed, seat))

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        return int(self._rng.choice(info["legal"]))


def pettingzoo_api_test(table: Table) -> None:
    """PettingZoo's `api_test` passes, with numbers and with words as actions."""
    for action in ACTIONS:
        api_test(table.env(action=action), num_cycles=15)


def pettingzoo_seed_test(table: Table) -> None:
    """PettingZoo's `seed_test` passes: the same seed gives the same game."""
    for action in ACTIONS:
        seed_test(partial(table.env, action=action), num_cycles=8)


def pettingzoo_parallel_tests(table: Table) -> None:
    """PettingZoo's `parallel_api_test` and `parallel_seed_test` pass."""
    for action in ACTIONS:
        parallel_api_test(table.parallel_env(action=action), num_cycles=12)
        parallel_seed_test(partial(table.parallel_env, action=action), num_cycles=3)


def pettingzoo_render_test(table: Table) -> None:
    """PettingZoo's `render_test` passes."""
    render_test(table.env)


def gymnasium_check_env(table: Table) -> None:
    """Gymnasium's `check_env` passes for a single seat among random players."""
    for observation in ("features", "text"):
        env = table.raw_env(info="full")
        check_env(SeatEnv(env, lambda _: RandomPlayer(), seat=0, observation=observation), skip_render_check=True)


CHECKS: Final = (
    pettingzoo_api_test,
    pettingzoo_seed_test,
    pettingzoo_parallel_tests,
    pettingzoo_render_test,
    gymnasium_check_env,
)
