"""TorchRL: our environments in its wrapper and collector, and the example, whose network sits down at our table."""

from __future__ import annotations

import pytest

pytest.importorskip("torchrl", reason="TorchRL is not installed; run scripts/test-integrations torchrl")
import torch
from parlour.envs import avalon_v0
from parlour.training.learn import examples
from parlour.wrappers import MaskInInfo, ParallelMaskInInfo
from torchrl.envs import PettingZooWrapper, check_env_specs

from tests.integrations.seats import run_commands

SMALL = {"num_players": 5, "rules": "official"}
pytestmark = [
    pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using:UserWarning"),
    pytest.mark.filterwarnings("ignore:Creating .* which inherits from WeightUpdaterBase:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*missing transforms required by the policy:FutureWarning"),
]


@pytest.fixture(autouse=True)
def one_thread_and_torch_as_it_was():
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def full(**options):
    return avalon_v0.env(observation="features", **(SMALL | options))


def wrapped(env, **options):
    made = PettingZooWrapper(MaskInInfo(env), use_mask=True, **options)
    made.set_seed(7)
    return made


def parallel():
    made = PettingZooWrapper(ParallelMaskInInfo(avalon_v0.parallel_env(observation="features", **SMALL)))
    made.set_seed(7)
    return made


# -- our environments in TorchRL -------------------------------------------------------------------------------


@pytest.mark.parametrize("learners", [1, 3])
def test_learner_seats_roll_out_in_torchrl_and_only_legal_actions_are_drawn(learners):
    env = wrapped(examples.learner_env(learners))
    check_env_specs(env)
    played = env.rollout(60 * learners, break_when_any_done=False)
    assert played["next", "done"].sum() > 2  # games ended and the next one was dealt
    acting = torch.stack([played[agent, "mask"][:, 0] for agent in env.group_map])
    assert (acting.sum(0) == 1).all()
    for agent in env.group_map:
        assert (played["next", agent, "info", "replaced"] == 0).all()
        over = played["next", agent, "done"]
        assert (played["next", agent, "reward"][over].abs() == 1).all()
        assert (played["next", agent, "reward"][~over] == 0).all()


def test_the_whole_table_rolls_out_in_torchrl_and_everybody_gets_the_return_of_his_side():
    env = wrapped(full())
    check_env_specs(env)
    assert list(env.group_map) == [f"player_{k}" for k in range(5)]
    played = env.rollout(200, break_when_any_done=False)
    over = played["next", "done"][:, 0]
    assert over.sum() >= 1
    returns = torch.stack([played["next", agent, "reward"][over].flatten() for agent in env.group_map])
    assert (returns.abs() == 1).all()
    assert (returns.sum(0).abs() == 1).all()  # three good, two evil


def test_the_parallel_table_rolls_out_in_torchrl():
    env = parallel()
    check_env_specs(env)
    played = env.rollout(120, break_when_any_done=False)
    assert played["next", "done"].sum() >= 1
    assert (played["next", "player", "info", "replaced"] == 0).all()
    assert played["player", "action_mask"].any(-1).all()  # everybody always has an action


def test_the_page_s_commands_train_a_seat_and_compare_it_with_the_expert(tmp_path, monkeypatch, capsys):
    run_commands("torchrl", 2048, tmp_path, monkeypatch, capsys)
