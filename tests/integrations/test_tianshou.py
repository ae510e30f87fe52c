"""Tianshou: our environments in its collectors and algorithms, and the example, whose network sits down at our table."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="Tianshou is not installed; run scripts/test-integrations tianshou")

from parlour.envs import make
from parlour.training.learn import examples
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from tests.integrations.seats import run_commands

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:tianshou")

TABLE = ("avalon_v0", dict(examples.OPTIONS))
TABLES = {
    "avalon-features": (*TABLE, "features"),
    "avalon-both": ("avalon_v0", {"num_players": 5, "rules": "official"}, "both"),
    "werewolf-both": ("werewolf_v0", {}, "both"),
}


def collector(algorithm, make_env, count, seed=1, vector=DummyVectorEnv, **settings):
    envs = vector([make_env] * count)
    envs.seed(seed)
    sampler = Collector(algorithm, envs, VectorReplayBuffer(3000 * count, count), **settings)
    sampler.reset()
    return sampler


def q_network(features, actions, **settings):
    return Net(state_shape=features, action_shape=actions, hidden_sizes=[16, 16], **settings)


def q_algorithm(env, horizon=40, explore=0.0):
    net = q_network(env.observation_space["observation"].shape[0], int(env.action_space.n))
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=1.0, eps_inference=explore)
    return DQN(policy=policy, optim=AdamOptimizerFactory(), gamma=1.0, n_step_return_horizon=horizon)


def chosen_legally(buffer):
    moves = buffer[:]
    return bool(moves.obs.mask[np.arange(len(moves)), moves.act].all())


# -- our environments in Tianshou ------------------------------------------------------------------------------


def test_the_page_s_commands_train_a_seat_and_compare_it_with_the_expert(tmp_path, monkeypatch, capsys):
    run_commands("tianshou", 320, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("name", TABLES)
def test_all_seats_of_a_game_are_collected_with_legal_moves_and_their_own_returns(name):
    game, options, observation = TABLES[name]

    def make_env():
        return PettingZooEnv(make(game, observation=observation, **options))

    env = make_env()
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[q_algorithm(env) for _ in env.agents], env=env)
    sampler = collector(algorithm, make_env, 2)
    stats = sampler.collect(n_episode=8)
    assert stats.returns.shape == (8, len(env.agents))
    assert set(np.abs(stats.returns).ravel()) <= {0.0, 1.0}
    assert all(len(set(row)) == 2 or not row.any() for row in stats.returns)  # one side won and one lost, or a draw
    assert chosen_legally(sampler.buffer)
    with policy_within_training_step(algorithm.policy):
        losses = algorithm.update(sampler.buffer, 0).get_loss_stats_dict()  # 0: all of it, so that everybody learns
    assert set(losses) == {f"{agent}/loss" for agent in env.agents}
