"""Environments: the suites of PettingZoo and Gymnasium as they are, and transcripts."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from gymnasium.utils.env_checker import check_env, data_equivalence
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.testing.table import ConfiguredGame, follow
from parlour.wrappers import Recorder, SeatEnv


def pettingzoo_tests(table: ConfiguredGame) -> None:
    """PettingZoo's tests of the API, seeds, rendering and parallel play pass, with numbers and with words as actions."""
    try:
        with warnings.catch_warnings():  # it imports one of its games in a deprecated way
            warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
            from pettingzoo import test
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[dev]'") from None
    test.render_test(table.env)
    for action in ("index", "text"):  # few cycles, because a cycle is a whole round
        env, parallel = partial(table.env, action=action), partial(table.parallel_env, action=action)
        test.api_test(env(), num_cycles=15)
        test.seed_test(env, num_cycles=8)
        test.parallel_api_test(parallel(), num_cycles=12)
        test.parallel_seed_test(parallel, num_cycles=3)


class RandomPlayer:
    """Any legal action."""

    wants = "view"

    def reset(self, seat: int, seed: int) -> None:
        self._rng = np.random.default_rng((seed, seat))

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        return int(self._rng.choice(info["legal"]))


def gymnasium_check_env(table: ConfiguredGame) -> None:
    """Gymnasium's `check_env` passes for a single seat among random players."""
    for observation in ("features", "text"):
        env = table.raw_env(info="full")
        check_env(SeatEnv(env, lambda _: RandomPlayer(), seat=0, observation=observation), skip_render_check=True)


def replays(table: ConfiguredGame) -> None:
    """The transcript of a game is replayed to the same moves, outcome, and observations of every seat."""
    env = table.raw_env(observation="both")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.jsonl"
        seen = [observations(env) for _ in follow(Recorder(env, path), table.playouts[0].moves)]
        opened = table.spec.opens(env.game.config)
        transcript = replay.read(path, table.spec, folders=[] if opened is None else [opened])
    steps = list(replay.reenact(transcript, "both"))
    assert data_equivalence([dict(step.observations) for step in steps], seen, exact=True)
    assert (transcript.outcome, transcript.moves) == (env.outcome, tuple(env.moves))


def observations(env: Any) -> dict[str, Any]:
    """What every agent observes."""
    return {agent: env.observe(agent) for agent in env.possible_agents}
