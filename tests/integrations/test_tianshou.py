"""Tianshou: our environments in its collectors and algorithms, our policies among them, its policies at our tables."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("tianshou", reason="Tianshou is not installed; run scripts/test-integrations tianshou")

import torch
from gymnasium import spaces
from integrations.pages import page_code
from integrations.seats import assert_refused
from parlour.envs import make
from parlour.envs.core import ParlourError
from parlour.policies import ChatPlayer, HeuristicPolicy, Policy, RandomPolicy, TrainedSeat, make_policy
from parlour.policies.adapters.tianshou import SeatedOffPolicy, SeatedOnPolicy, TianshouSeat, save_weights
from parlour.training.cli import run
from parlour.training.learn import examples
from parlour.training.play import rollout
from parlour.wrappers import SealedTurn
from tianshou.algorithm import DQN
from tianshou.algorithm.algorithm_base import Policy as TheirPolicy
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm, MultiAgentOnPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm as RandomAlgorithm
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv, SubprocVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor
from tianshou.utils.torch_utils import policy_within_training_step

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


def sealed_env(kind=SealedTurn, **settings):
    return PettingZooEnv(kind(make(TABLE[0], info="full", observation="features", **TABLE[1]), **settings))


def q_network(features, actions, **settings):
    return Net(state_shape=features, action_shape=actions, hidden_sizes=[16, 16], **settings)


def q_algorithm(env, horizon=40, explore=0.0):
    net = q_network(env.observation_space["observation"].shape[0], int(env.action_space.n))
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=1.0, eps_inference=explore)
    return DQN(policy=policy, optim=AdamOptimizerFactory(), gamma=1.0, n_step_return_horizon=horizon)


def all_seats(env, player):
    """Our policies at every seat."""
    seated = [SeatedOffPolicy(player, env.action_space) for _ in env.agents]
    return MultiAgentOffPolicyAlgorithm(algorithms=seated, env=env)


def our_games(player):
    """The games that were kept are those of our own loop."""
    ours = rollout.table(TABLE[0], **TABLE[1])
    for seed, moves in Kept.games_kept:
        rollout.play(ours, [player() for _ in range(5)], seed)
        assert tuple(ours.game_env.moves) == moves


def five(make_seat, seed):
    """The moves of a game with five players at our table."""
    ours = rollout.table(TABLE[0], **TABLE[1])
    rollout.play(ours, [make_seat() for _ in range(5)], seed)
    return tuple(ours.game_env.moves)


def chosen_legally(buffer):
    moves = buffer[:]
    return bool(moves.obs.mask[np.arange(len(moves)), moves.act].all())


# -- our environments in Tianshou ------------------------------------------------------------------------------


def test_the_example_of_the_page_trains_and_its_network_sits_down_by_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = page_code("tianshou", n_60_000="320")
    assert sum(not line.startswith("from ") for line in block.split("\n") if line) <= 13
    names: dict[str, object] = {}
    exec(block, names)
    assert names["collector"].collect_step == 320
    assert chosen_legally(names["collector"].buffer)
    words = ["evaluate", examples.GAME, "--players", "5", "--rules", "official", "--set", "talk=false"]
    assert run([*words, "--policy", "tianshou:policy.pt", "--against", "random", "--games", "2"]) == 0


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


@pytest.mark.parametrize(("horizon", "own_end"), [(1, False), (80, True)])
def test_with_several_learners_a_horizon_beyond_the_game_gives_each_move_the_end_of_its_own_game(horizon, own_end):
    def make_env():
        return PettingZooEnv(examples.learner_env(2))

    env = make_env()
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[q_algorithm(env, horizon) for _ in env.agents], env=env)
    sampler = collector(algorithm, make_env, 2)
    sampler.collect(n_episode=6)
    batch, indices = sampler.buffer.sample(0)
    ends = np.flatnonzero(batch.done)
    after = ends[np.searchsorted(ends, np.arange(len(batch)))]
    learned = algorithm._preprocess_batch(batch, sampler.buffer, indices)
    right = []
    for number, agent in enumerate(env.agents):
        rows = batch.obs.agent_id == agent
        end = batch.rew[after[rows], number]
        right += list(np.isclose(learned[agent].returns.numpy().ravel(), end))
    assert all(right) == own_end


def test_the_trainer_changes_the_learner_and_leaves_our_policies_as_they_are():
    env = sealed_env()
    seated = [SeatedOffPolicy(HeuristicPolicy, env.action_space) for _ in env.agents[1:]]
    learner = q_algorithm(env, horizon=100, explore=0.2)
    before = [weights.clone() for weights in learner.policy.model.parameters()]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *seated], env=env)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector(algorithm, sealed_env, 2, exploration_noise=True),
            max_epochs=1,
            epoch_num_steps=200,
            collection_step_num_env_steps=200,
            update_step_num_gradient_steps_per_sample=0.05,
            batch_size=128,
            show_progress=False,
        )
    )
    after = learner.policy.model.parameters()
    assert not any(torch.equal(tensor, other) for tensor, other in zip(before, after, strict=True))
    assert not [*seated[0].parameters()]


# -- ours in Tianshou ------------------------------------------------------------------------------------------


class Kept(SealedTurn):
    """Keeps the games that were played: seed and moves."""

    games_kept: ClassVar[list[tuple[int, tuple[object, ...]]]] = []

    def step(self, action):
        super().step(action)
        if self.game_env.outcome is not None:
            Kept.games_kept.append((self.seed_now, tuple(self.game_env.moves)))


def trained():
    game = make(TABLE[0], **TABLE[1]).game
    rng = np.random.default_rng(7)
    layers = [(rng.normal(size=(30, 99)).astype(np.float32), np.zeros(30, np.float32))]
    return TrainedSeat(TABLE[0], game.config, layers, sample=True)


@pytest.mark.parametrize(("player", "reads"), [(HeuristicPolicy, "view"), (ChatPlayer, "text"), (trained, "features")])
def test_games_side_by_side_are_those_of_our_own_loop(player, reads, monkeypatch):
    monkeypatch.setattr(Kept, "games_kept", [])

    def make_env():
        return sealed_env(Kept, observation=reads)

    env = make_env()
    algorithm = all_seats(env, player)
    sampler = collector(algorithm, make_env, 3, seed=5)
    sampler.collect(n_episode=9)
    assert len(Kept.games_kept) == 9
    assert len({seed for seed, _ in Kept.games_kept}) == 9
    our_games(player)
    assert not any(turn._sealed for turn in sampler.buffer[:].info.turn)  # the buffer keeps no game


def test_they_play_in_other_processes_too():
    env = sealed_env()
    algorithm = all_seats(env, HeuristicPolicy)
    here = collector(algorithm, sealed_env, 2).collect(n_episode=4)
    sampler = collector(algorithm, sealed_env, 2, vector=SubprocVectorEnv)
    there = sampler.collect(n_episode=4)
    sampler.close()
    assert not any(turn._sealed for turn in sampler.buffer[:].info.turn)
    np.testing.assert_array_equal(here.returns, there.returns)


def test_they_sit_among_on_policy_algorithms():
    env = sealed_env()
    algorithm = MultiAgentOnPolicyAlgorithm(
        algorithms=[SeatedOnPolicy(RandomPolicy, env.action_space) for _ in env.agents], env=env
    )
    sampler = collector(algorithm, sealed_env, 2)
    sampler.collect(n_episode=2)
    assert chosen_legally(sampler.buffer)
    with policy_within_training_step(algorithm.policy):
        assert algorithm.update(sampler.buffer, 64, 1).get_loss_stats_dict() == {}


class InOtherWords(Policy):
    name = "wordy"
    wants = "view"

    def act(self, observation, info):
        return "I would rather not say."


REFUSED = {
    "no turn in the infos; accepted: environments in parlour.wrappers.SealedTurn": (HeuristicPolicy, None),
    "'chat' reads text; accepted: SealedTurn(env, 'text')": (ChatPlayer, {}),
    "'wordy' answers 'I would rather not say.'; accepted here: a number, or the words of an option": (InOtherWords, {}),
    "there is nothing to read for seat": (HeuristicPolicy, {"seats": []}),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_they_cannot_play_by_is_refused(said):
    player, sealed = REFUSED[said]

    def make_env():
        if sealed is None:
            return PettingZooEnv(make(TABLE[0], observation="features", **TABLE[1]))
        return sealed_env(**sealed)

    env = make_env()
    algorithm = all_seats(env, player)
    with pytest.raises(ParlourError, match=re.escape(said)):
        collector(algorithm, make_env, 1).collect(n_episode=1)


# -- theirs at our tables --------------------------------------------------------------------------------------


def q_policy(features=99, actions=30):
    torch.manual_seed(3)
    return DiscreteQLearningPolicy(model=q_network(features, actions), action_space=spaces.Discrete(actions))


def actor_policy(softmax=True):
    torch.manual_seed(3)
    actor = DiscreteActor(
        preprocess_net=Net(state_shape=99, hidden_sizes=[16]), action_shape=30, softmax_output=softmax
    )
    as_distribution = torch.distributions.Categorical if softmax else None
    settings = {"dist_fn": as_distribution} if softmax else {}
    return DiscreteActorPolicy(actor=actor, action_space=spaces.Discrete(30), **settings)


class Drawing(TheirPolicy):
    """Draws from the generator of PyTorch, and tells no logits."""

    def forward(self, batch, state=None, **kwargs):
        return Batch(act=torch.multinomial(torch.as_tensor(batch.obs.mask, dtype=torch.float32), 1)[:, 0])


SEATS = {
    "DQN": lambda: TianshouSeat(q_policy()),
    "actor": lambda: TianshouSeat(actor_policy(), mask=False),
    "actor-logits": lambda: TianshouSeat(actor_policy(softmax=False), mask=False),
    "actor-sampled": lambda: TianshouSeat(actor_policy(), mask=False, sample=True),
    "drawing": lambda: TianshouSeat(Drawing(spaces.Discrete(30))),
    "random": lambda: TianshouSeat(RandomAlgorithm(spaces.Discrete(30))),
}


@pytest.mark.parametrize(
    ("name", "games"),
    [("DQN", 100), ("actor", 10), ("actor-logits", 10), ("actor-sampled", 100), ("drawing", 10), ("random", 10)],
)
def test_they_play_at_every_seat_of_our_table_without_an_illegal_move(name, games):
    table = rollout.table(*TABLE[:1], **TABLE[1])
    seats = [SEATS[name](), *(RandomPolicy() for _ in range(4))]
    won: Counter[str] = Counter()
    for seed in range(games):
        turned = [*seats[seed % 5 :], *seats[: seed % 5]]
        episode = rollout.play(table, turned, seed)  # an illegal number is an error
        won[episode.outcome.winner] += 1
    assert won.total() == games
    assert len(won) == 2


@pytest.mark.parametrize("name", ["DQN", "actor-sampled", "drawing"])
def test_the_same_seed_gives_the_same_game_whatever_was_drawn_before(name):
    before = torch.get_rng_state()
    first = five(SEATS[name], 11)
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(1)
    assert five(SEATS[name], 11) == first


def test_what_cannot_sit_down_is_refused():
    env = PettingZooEnv(examples.learner_env(2))
    several = MultiAgentOffPolicyAlgorithm(algorithms=[q_algorithm(env), q_algorithm(env)], env=env)
    with pytest.raises(ParlourError, match="a policy of several agents; accepted: one of learner_0, learner_1"):
        TianshouSeat(several)
    TianshouSeat(several.get_algorithm("learner_1"))
    with pytest.raises(ParlourError, match="no distribution to draw from; accepted: sample=False"):
        five(lambda: TianshouSeat(q_policy(), sample=True), 1)
    with pytest.raises(ParlourError, match=r"a table with 30 actions; accepted: 12, as the policy has"):
        five(lambda: TianshouSeat(q_policy(99, 12)), 1)


# -- files -----------------------------------------------------------------------------------------------------


CONFIG = make(TABLE[0], **TABLE[1]).game.config


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "policy.pt"
    save_weights(q_policy().model, path, TABLE[0], CONFIG)
    return path


def test_a_saved_network_plays_in_the_features_and_the_frame_it_was_trained_on(tmp_path):
    game = make(TABLE[0], features="belief", observation="features", **TABLE[1])
    size, actions = game.observation_space("player_0")["observation"].shape[0], len(game.game.catalogue)
    net = Net(state_shape=size, action_shape=actions, hidden_sizes=[8])
    save_weights(net, tmp_path / "own.pt", TABLE[0], CONFIG, "belief")
    assert five(lambda: make_policy(f"tianshou:{tmp_path / 'own.pt'}", TABLE[0], CONFIG), 3)


def test_a_saved_policy_plays_the_same_game(file):
    stored = five(lambda: make_policy(f"tianshou:file={file}", TABLE[0], CONFIG), 11)
    assert five(lambda: TianshouSeat(q_policy()), 11) == stored


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tianshou", "tianshou needs a file; accepted: tianshou:file=PATH, as save_weights wrote it"),
        ("tianshou:file=nowhere.pt", "there is no policy file 'nowhere.pt'"),
        ("tianshou:path=nowhere.pt", "setting of tianshou 'path' is not accepted; accepted: file"),
    ],
)
def test_other_settings_are_refused(name, said):
    assert_refused(name, re.escape(said))


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path("sprung"),))


@pytest.mark.parametrize("how", ["pickle", "torch", "text", "weights"])
def test_a_file_of_another_kind_is_refused_and_its_code_is_not_run(how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "policy.pt"
    if how == "pickle":
        path.write_bytes(pickle.dumps(Trap()))
    elif how == "torch":
        torch.save({"parlour_tianshou": {}, "weights": Trap()}, path)
    elif how == "weights":
        torch.save(q_policy().model.state_dict(), path)
    else:
        path.write_text("no policy")
    with pytest.raises(ParlourError, match="is not accepted; accepted: a file that save_weights wrote"):
        TianshouSeat.load(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "settings",
    [{"activation": torch.nn.Tanh}, {"softmax": True}, {"norm_layer": torch.nn.LayerNorm}, {"dueling_param": ({}, {})}],
)
def test_a_network_that_its_sizes_do_not_describe_is_not_saved(settings, tmp_path):
    with pytest.raises(ParlourError, match="accepted: Net of state_shape, action_shape and hidden_sizes alone"):
        save_weights(q_network(99, 30, **settings), tmp_path / "policy.pt", TABLE[0], CONFIG)
    assert not (tmp_path / "policy.pt").exists()
