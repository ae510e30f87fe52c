"""Single seats under Gymnasium's ids: every game of the registry passes `check_env`, also many at once, by seed.

What an id is, and who makes the environments: `parlour.envs.registry`, `parlour.training.play.single_seat`.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.envs.registry import gymnasium_id
from parlour.wrappers import SeatEnv

SMALL = {"num_players": 5, "rules": "official", "talk": False}
ASYNC_PROSE = {"vectorization_mode": "async", "observation": "text", "vector_kwargs": {"shared_memory": False}}


def first_legal(mask: np.ndarray[Any, Any]) -> int:
    return int(np.flatnonzero(mask)[0])


def steps(env: Any, seed: int, turns: int) -> list[Any]:
    """Many episodes at once, by the first legal action: all that is told, as comparable values."""
    seen, info = env.reset(seed=seed)
    told = [(np.array(seen).tolist(), info["action_mask"].tolist())]
    for _ in range(turns):
        actions = np.array([first_legal(mask) for mask in info["action_mask"]])
        seen, rewards, over, cut, info = env.step(actions)
        told.append((np.array(seen).tolist(), rewards.tolist(), over.tolist(), info["action_mask"].tolist()))
        assert not cut.any()
    env.close()
    return told


# -- the registry ----------------------------------------------------------------------------------------------


def test_every_game_has_an_id():
    assert gymnasium_id("avalon_v0") == "parlour/avalon-v0"
    for name in registry:
        spec = gymnasium.spec(gymnasium_id(name))
        assert (spec.namespace, f"{spec.name}_v{spec.version}") == ("parlour", name)


def test_gymnasium_imports_the_games_by_the_id_itself():
    """No import of parlour: Gymnasium takes `module:id`."""
    code = (
        "import gymnasium; print(gymnasium.make('parlour.envs:parlour/template-v0').reset(seed=1)[1]['seat'] in (0, 1))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "True\n"


# -- one environment -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["features", "text"])
@pytest.mark.parametrize("name", list(registry))
def test_every_game_passes_check_env(name, observation):
    """With its spec, so that determinism and all render modes are checked as well; without a single warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(gymnasium_id(name), observation=observation)
        check_env(env.unwrapped)


def test_settings_reach_the_seat_and_the_game():
    env = gymnasium.make("parlour/avalon-v0", opponents="random", seat=3, render_mode="ansi", **SMALL)
    _, info = env.reset(seed=1)
    inner = env.unwrapped
    assert isinstance(inner, SeatEnv)
    assert (info["seat"], inner.seat) == (3, 3)
    assert {key: inner.game_env.game.config[key] for key in SMALL} == SMALL
    assert "Quest 1" in env.render()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponents": "nobody"}, "policy 'nobody' is not accepted"),
        ({"players": 5}, "option of avalon_v0 'players' is not accepted"),
        ({"seat": 9, "num_players": 5}, "seat 9 is not accepted"),
        ({"observation": "both"}, "observation 'both' is not accepted; accepted: features, text"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        gymnasium.make("parlour/avalon-v0", **settings)


# -- many at once ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(registry))
def test_every_game_can_be_made_many_times(name):
    env = gymnasium.make_vec(gymnasium_id(name), num_envs=4, opponents="random")
    seen, info = env.reset(seed=1)
    actions = env.single_action_space.n
    assert seen.shape == (4, *env.single_observation_space.shape)
    assert (info["action_mask"].shape, info["action_mask"].dtype) == ((4, actions), np.int8)
    _, rewards, _, _, info = env.step(np.array([first_legal(mask) for mask in info["action_mask"]]))
    assert rewards.shape == info["seat"].shape == (4,)


@pytest.mark.parametrize("observation", ["features", "text"])
def test_many_at_once_are_the_same_in_one_process_and_in_four(observation):
    """Long enough for each to begin new games, which are dealt by chance of its own; then by another seed."""
    prose = ASYNC_PROSE if observation == "text" else {"vectorization_mode": "async"}
    common = {"num_envs": 4, "opponents": "random", **SMALL}
    one = steps(gymnasium.make_vec("parlour/avalon-v0", observation=observation, **common), 5, 40)
    four = steps(gymnasium.make_vec("parlour/avalon-v0", **common, **prose), 5, 40)
    assert one == four
    assert all(any(turn[2][k] for turn in one[1:]) for k in range(4))  # each has ended a game, and gone on
    assert one != steps(gymnasium.make_vec("parlour/avalon-v0", observation=observation, **common), 6, 40)


def test_prose_is_refused_in_shared_memory():
    """Gymnasium would store only the characters that its Text space samples."""
    with pytest.raises(ValueError, match="shared_memory=False"):
        gymnasium.make_vec("parlour/template-v0", num_envs=2, vectorization_mode="async", observation="text")
