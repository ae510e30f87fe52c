"""SuperSuit and stable-baselines3: our environments in their trainers, their checkpoints at our tables.

What is asked of SuperSuit is what its functions' docstrings say; stable-baselines3's own `predict` is the reference for
what a checkpoint does. docs/integrations/supersuit.md says in prose what is tested here.
"""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("supersuit", reason="SuperSuit is not installed; run scripts/test-integrations supersuit")
pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed; run scripts/test-integrations supersuit")

import gymnasium
import numpy as np
import supersuit
import torch
from gymnasium import spaces
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.adapters.sb3 import SB3_ALGORITHMS, Sb3Seat
from parlour.training.learn import examples
from parlour.wrappers import LegalRanks, MaskInInfo, ParallelLegalRanks, ParallelMaskInInfo
from pettingzoo.utils.conversions import aec_to_parallel

from tests.integrations.pages import page_code
from tests.integrations.seats import (
    FEATURES,
    MOVES,
    RANKS,
    play_a_hundred_games,
    turns,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:The `render_mode` attribute is not defined"),
    pytest.mark.filterwarnings("ignore:You have specified a mini-batch size"),
]
SCORED = ("PPO", "A2C", "MaskablePPO", "TRPO", "DQN", "QRDQN")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tables(env: Any, number: int = 4) -> Any:
    vector = supersuit.pettingzoo_env_to_vec_env_v1(env)
    return supersuit.concat_vec_envs_v1(vector, number, base_class="stable_baselines3")


def one_learner() -> Any:
    return aec_to_parallel(LegalRanks(examples.learner_env(), RANKS))


def five_learners() -> Any:
    return registry[examples.GAME].parallel_env(observation="features", **examples.OPTIONS)


class Blank(gymnasium.Env[Any, Any]):
    """Spaces to make a network for."""

    def __init__(self, actions: int, observation: spaces.Space[Any] | None = None) -> None:
        self.observation_space = observation or spaces.Box(-1, 1, (FEATURES,), np.float32)
        self.action_space = spaces.Discrete(actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return self.observation_space.sample(), {}


def network(algorithm: str, actions: int = MOVES, observation: Any = None) -> Any:
    """An algorithm as it is before it has learned anything."""
    torch.manual_seed(1)
    kind = {"ARS": "MlpPolicy", "RecurrentPPO": "MlpLstmPolicy"}.get(algorithm, "MlpPolicy")
    if isinstance(observation, spaces.Dict):
        kind = "MultiInputPolicy"
    settings = {"buffer_size": 10} if "DQN" in algorithm else {}
    return SB3_ALGORITHMS[algorithm](kind, Blank(actions, observation), device="cpu", **settings)


# -- our environments in SuperSuit and stable-baselines3 -------------------------------------------------------


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = page_code("supersuit", n_200_000="256")
    assert block.count("n_steps=256") == 1
    exec(block.replace("n_steps=256", "n_steps=16"), {})
    config = examples.learner_env().game_env.game.config
    player = make_policy("sb3:model.zip", examples.GAME, config)
    assert isinstance(player.player, Sb3Seat)
    assert (player.trained_on.features, player.trained_on.actions) == ("table", "ranks")


@pytest.mark.parametrize(
    "make",
    [
        one_learner,
        lambda: aec_to_parallel(MaskInInfo(examples.learner_env())),
        lambda: ParallelMaskInInfo(five_learners()),
        lambda: ParallelLegalRanks(five_learners(), RANKS),
    ],
    ids=["one learner, ranks", "one learner, moves", "five learners, moves", "five learners, ranks"],
)
def test_ppo_learns_in_its_own_loop(make):
    env = make()
    both = tables(env, 2)
    both.venv.reset(seed=1)
    model = SB3_ALGORITHMS["PPO"]("MlpPolicy", both, n_steps=64, batch_size=64, device="cpu")
    before = model.policy.action_net.weight.detach().clone()
    model.learn(200)
    assert both.num_envs == 2 * len(env.possible_agents)
    assert model.num_timesteps >= 200
    assert not torch.equal(before, model.policy.action_net.weight)


# -- their checkpoints at our tables ---------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", SB3_ALGORITHMS)
def test_a_checkpoint_plays_a_hundred_games_without_an_illegal_move(algorithm, tmp_path):
    network(algorithm).save(tmp_path / "model.zip")
    drawn = ",sample=true" if algorithm in ("PPO", "RecurrentPPO") else ""
    player = play_a_hundred_games(f"sb3:file={tmp_path / 'model.zip'},features=table{drawn}")
    assert (player.replaced > 0) == (algorithm != "MaskablePPO")  # an untrained network knows no rules


@pytest.mark.parametrize("algorithm", SCORED)
def test_it_plays_the_best_legal_action_of_the_network(algorithm):
    """The reference: the library's own `predict`, given the mask or where its own choice is legal."""
    model = network(algorithm)
    player = Sb3Seat(model)
    agreed = 0
    for seen in turns():
        chosen = player.act(seen, {})
        if algorithm == "MaskablePPO":
            masks = seen["action_mask"].astype(bool)
            assert chosen == model.predict(seen["observation"], action_masks=masks, deterministic=True)[0]
            assert player.notes() == {}
            continue
        free = int(model.predict(seen["observation"], deterministic=True)[0])
        legal = bool(seen["action_mask"][free])
        assert player.notes() == ({} if legal else {"wanted": free})
        assert seen["action_mask"][chosen]
        agreed += legal and chosen == free
        assert not legal or chosen == free
    assert algorithm == "MaskablePPO" or player.replaced > 0


def test_a_memory_is_kept_within_a_game_and_forgotten_after_it():
    model = network("RecurrentPPO")
    player, seen = Sb3Seat(model), list(turns())[:6]
    state, start, expected = None, np.array([True]), []
    for turn in seen:
        chosen, state = model.predict(turn["observation"], state, start, deterministic=True)
        start = np.array([False])
        expected.append(int(chosen))
    for _ in range(2):
        player.reset(0, 3)
        got = []
        for turn in seen:
            chosen = player.act(turn, {})
            got.append(player.notes().get("wanted", chosen))
        assert got == expected
