"""RLlib: the page's code runs; their modules learn at our tables and play there; ours play in their loop."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib is not installed; run scripts/test-integrations rllib")

import torch
from gymnasium import VectorizeMode
from parlour.envs.batch import ScalarTables
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import RandomPolicy, TrainedSeat, make_policy
from parlour.policies.adapters.rllib import InfosToModules, PolicyRLModule, RLlibPolicy, policy_spec
from parlour.policies.base import Policy
from parlour.training.learn.examples import GAME, OPTIONS
from parlour.training.measure import evaluate
from parlour.training.play import seeds
from parlour.training.play.rollout import table
from parlour.wrappers import (
    BatchObservationsKey,
    BatchSeatEnv,
    LegalRanks,
    MaskInInfo,
    ObservationsKey,
    ParallelObservationsKey,
    TurnInInfo,
)
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.ppo_catalog import PPOCatalog
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from tests.integrations.pages import run_page
from tests.integrations.seats import run_commands
from tests.policies.networks import moves_of

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment rllib-multi-agent-env-v0:UserWarning")


NETWORK = {"fcnet_hiddens": [16], "head_fcnet_hiddens": []}
CONFIG = lookup(GAME).raw_env(**OPTIONS).game.config


def bare() -> Any:
    return lookup(GAME).raw_env(info="full", observation="features", **OPTIONS)


class Reader(Policy):
    """Reads prose and nothing else, and goes by its length."""

    name, wants = "reader", "text"

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        assert set(observation) == {"text", "action_mask"}
        return int(info["legal"][len(observation["text"]) % len(info["legal"])])


def trained() -> TrainedSeat:
    rng = np.random.default_rng(3)
    return TrainedSeat(GAME, CONFIG, [(rng.normal(size=(30, 99)).astype(np.float32), np.zeros(30, np.float32))])


def untrained(module: Any, env: Any, **model: Any) -> Any:
    torch.manual_seed(0)
    return module(
        observation_space=env.observation_space("player_0"),
        action_space=env.action_space("player_0"),
        model_config=NETWORK | model,
        catalog_class=PPOCatalog,
    )


def masked_module() -> Any:
    return untrained(ActionMaskingTorchRLModule, ObservationsKey(bare()))


def bare_module(**model: Any) -> Any:
    return untrained(DefaultPPOTorchRLModule, MaskInInfo(bare()), **model)


def parallel_module() -> Any:
    env = lookup(GAME).parallel_env(observation="features", **OPTIONS)
    return untrained(ActionMaskingTorchRLModule, ParallelObservationsKey(env))


def rank_module() -> Any:
    return untrained(DefaultPPOTorchRLModule, LegalRanks(bare(), 10))


def saved(module: Any, path: Path) -> str:
    module.save_to_path(str(path))
    return str(path)


# -- theirs at our tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "settings", "games"),
    [
        (masked_module, "", 100),
        (bare_module, ",sample=true", 100),
        (parallel_module, "", 20),
        (rank_module, ",actions=ranks", 20),
    ],
    ids=["masked", "maskless", "of the parallel environment", "of LegalRanks"],
)
def test_every_move_of_their_module_is_legal(tmp_path, make, settings, games):
    """`rollout.table` raises for a number that is not legal."""
    name = f"rllib:file={saved(make(), tmp_path / 'module')},features=table{settings}"
    report = evaluate.single(
        table(GAME, **OPTIONS),
        {"rllib": lambda: make_policy(name, GAME, CONFIG)},
        ("random", RandomPolicy),
        seeds.VALIDATION[:games],
    )
    assert len(report.games) == games


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("", "file is missing"),
        ("{},colour=red", "setting 'colour' is not accepted"),
        ("{},module=other", "module 'other' is not accepted; accepted: module"),
        ("{}", ",features=KIND"),
        ("{}/nowhere", "there is no checkpoint"),
    ],
)
def test_settings_that_are_not_accepted_are_one_line(tmp_path, settings, said):
    file = saved(masked_module(), tmp_path / "module")
    with pytest.raises(ParlourError, match=re.escape(said)) as caught:
        make_policy(f"rllib:{settings.format(file)}", GAME, CONFIG)
    assert "\n" not in str(caught.value)


def test_modules_that_cannot_play_are_refused(tmp_path):
    with pytest.raises(ParlourError, match="with a state"):
        RLlibPolicy(saved(bare_module(use_lstm=True), tmp_path / "lstm"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/class_and_ctor_args.pkl").write_bytes(b"no pickle")
    with pytest.raises(ParlourError, match="cannot be loaded as an RLModule"):
        RLlibPolicy(str(tmp_path / "broken"))
    policy = RLlibPolicy(saved(masked_module(), tmp_path / "module"))
    werewolf = lookup("werewolf_v0").raw_env(observation="features")
    werewolf.reset(seed=1)
    with pytest.raises(ParlourError, match="30 actions, as the checkpoint was trained with"):
        policy.act(werewolf.observe(werewolf.agent_selection), {})


# -- ours in their loop ----------------------------------------------------------------------------------------


def loop(
    make: Any, form: str = "view", tell: bool = True, games: int = 1, wrap: Any = TurnInInfo, env: Any = None
) -> Any:
    """An EnvRunner at so many tables, all seats of which are played by `make`."""
    register_env("tables", lambda _: PettingZooEnv(wrap(ObservationsKey(env or bare()), form)))
    config = PPOConfig().environment("tables", disable_env_checking=True).debugging(seed=5)
    connector = (lambda *_, **__: InfosToModules()) if tell else None
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=games, env_to_module_connector=connector)
    config.multi_agent(policies=["ours"], policy_mapping_fn=lambda agent, episode, **_: "ours")
    config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"ours": policy_spec(make, seed=7)}))
    return MultiAgentEnvRunner(config=config, worker_index=0)


@pytest.mark.parametrize(
    ("make", "form"),
    [
        (partial(make_policy, "random", GAME, CONFIG), "view"),
        (partial(make_policy, "heuristic", GAME, CONFIG), "view"),
        (partial(make_policy, "avalon_agent", GAME, CONFIG), "view"),
        (partial(make_policy, "chat", GAME, CONFIG), "text"),
        (trained, "features"),
        (Reader, "text"),
    ],
    ids=["random", "heuristic", "avalon_agent", "chat", "trained", "text"],
)
def test_ours_play_in_their_loop_as_at_our_tables(make, form):
    """The same deal, the same seed of the players: the same game, move for move."""
    runner = loop(make, form)
    (episode,) = runner.sample(num_episodes=1)
    theirs = runner.env.envs[0].unwrapped.env.game_env
    env = table(GAME, **OPTIONS)
    seed = int(np.random.SeedSequence((7, 0)).generate_state(1)[0])
    plain = [(move.kind, move.args) for move in moves_of(env, [make() for _ in range(5)], seed, deal=5)]
    assert [(move.kind, move.args) for move in theirs.moves] == plain
    assert episode.get_return() == sum(env.game_env.outcome.returns)


def test_every_game_in_their_loop_has_players_of_its_own(monkeypatch):
    """A player gets up when the game is over, and may sit down in another one."""
    made: list[RandomPolicy] = []
    seated: list[tuple[int, int]] = []
    reset = RandomPolicy.reset
    monkeypatch.setattr(RandomPolicy, "reset", lambda self, *a: (seated.append(a), reset(self, *a))[1])
    runner = loop(lambda: made.append(RandomPolicy()) or made[-1], games=3)
    runner.sample(num_timesteps=600)
    module = runner.module["ours"]
    assert len(seated) == len(set(seated)) > 30
    assert len({seed for _, seed in seated}) == module._dealt
    assert len(module._games) <= 3
    assert len(module._seated) <= len(made) <= 15


def test_ours_say_in_one_line_what_they_miss():
    def act(runner: Any) -> None:
        runner.sample(num_timesteps=300)

    with pytest.raises(ParlourError, match="accepted: env_to_module_connector with InfosToModules"):
        act(loop(RandomPolicy, tell=False))
    with pytest.raises(ParlourError, match="accepted: an environment in TurnInInfo, outermost"):
        act(loop(RandomPolicy, wrap=lambda env, _: env))
    with pytest.raises(ParlourError, match=r"'trained' reads observation; accepted: TurnInInfo\(env, 'features'\)"):
        act(loop(trained))
    with pytest.raises(ParlourError, match="'babbler' answers 'hm'; accepted here: a number, or the words"):
        act(loop(Babbler))
    module = PolicyRLModule(model_config=policy_spec(RandomPolicy).model_config)
    with pytest.raises(ParlourError, match="accepted: policies_to_train without it"):
        module.forward_train({})


class Babbler(Policy):
    name, wants = "babbler", "view"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        return "hm"


# -- their algorithm at our tables -----------------------------------------------------------------------------


def test_the_page_s_commands_train_a_seat_and_compare_it_with_the_expert(tmp_path, monkeypatch, capsys):
    names = run_commands("rllib", 1000, tmp_path, monkeypatch, capsys)
    assert names["algorithm"].iteration == 1
    policy = make_policy(f"rllib:file={names['checkpoint']}", GAME, CONFIG).player
    assert policy.settings()["module"] == "learner"
    live, env = names["algorithm"].get_module("learner"), bare()
    env.reset(seed=1)
    seen = env.observe(env.agent_selection)
    batch = {"observations": seen["observation"], "action_mask": seen["action_mask"]}
    with torch.no_grad():
        out = live.forward_inference({"obs": {key: torch.from_numpy(value)[None] for key, value in batch.items()}})
    assert np.allclose(policy.scores(seen), out["action_dist_inputs"][0].numpy())


def test_the_page_s_configuration_seats_a_player_of_ours_beside_theirs():
    names = run_page("rllib")
    assert set(names["config"].policies) == {"ours", "theirs"}
    assert names["config"].policies_to_train == ["theirs"]


# -- theirs at many tables at once ------------------------------------------------------------------------------


def coins(config: Any) -> BatchObservationsKey:
    """Coin's guesser at as many tables as the EnvRunner steps; the keeper says anything."""
    tables = ScalarTables(lookup("template_v0").spec, num_envs=config.get("num_envs", 1), features="summary")
    return BatchObservationsKey(BatchSeatEnv(tables, "random", seat=1, autoreset="next_step"))


def test_an_env_runner_steps_all_its_tables_in_one_call():
    register_env("coins", coins)
    config = PPOConfig().environment("coins")
    config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=NETWORK))
    vectorised = {"num_envs_per_env_runner": 16, "gym_env_vectorize_mode": VectorizeMode.VECTOR_ENTRY_POINT}
    runner = SingleAgentEnvRunner(config=config.env_runners(num_env_runners=0, **vectorised))
    assert isinstance(runner.env.unwrapped, BatchObservationsKey)
    for episode in runner.sample(num_episodes=40, explore=True):
        seen = episode.get_observations()["observations"]
        assert episode.get_actions().tolist()[0] in (3, 4)  # the guesses alone are legal
        assert abs(episode.get_return()) == 1
        assert seen.shape == (2, 3)
        assert seen[0, 0] == 1  # the guesser's place; nobody sees more when the game is over
        assert not seen[1].any()
    runner.stop()
