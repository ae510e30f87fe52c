"""SuperSuit and stable-baselines3: our environments in their trainers, their checkpoints at our tables.

What is asked of SuperSuit is what its functions' docstrings say; stable-baselines3's own `predict` is the reference for
what a checkpoint does. docs/integrations/supersuit.md says in prose what is tested here.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("supersuit", reason="SuperSuit is not installed; run scripts/test-integrations supersuit")
pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed; run scripts/test-integrations supersuit")

import gymnasium
import numpy as np
import supersuit
import torch
from gymnasium import spaces
from integrations.seats import (
    FEATURES,
    MOVES,
    RANKS,
    assert_ranks_are_played,
    assert_refused,
    page_code,
    play_a_hundred_games,
    say,
    turns,
)
from parlour.envs.core import ParlourError
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.adapters.sb3 import SB3_ALGORITHMS, Sb3Seat
from parlour.training.learn import examples
from parlour.wrappers import LegalRanks, MaskInInfo, ParallelLegalRanks, ParallelMaskInInfo
from pettingzoo.utils.conversions import aec_to_parallel

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


def saying(model: Any, logits: dict[int, float], **settings: Any) -> Any:
    """A player by a PPO that says the same logits whatever it sees."""
    return say(Sb3Seat(model, **settings), lambda player: player.model.policy.action_net.parameters(), logits)


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


def test_every_reward_of_a_game_reaches_the_learner_and_ends_it():
    four, rng = tables(one_learner()), np.random.default_rng(0)
    four.venv.reset(seed=5)
    four.reset()
    ends = 0
    for _ in range(60):
        _, rewards, dones, infos = four.step(rng.integers(RANKS, size=4))
        over = dones.astype(bool)  # SuperSuit's are bytes
        assert set(np.abs(rewards[over])) <= {1.0}
        assert not rewards[~over].any()
        assert all(info["replaced"] == 0 for info in infos)
        ends += over.sum()
    assert ends > 10


def test_tables_are_copies_until_they_are_reset_with_a_seed():
    """SuperSuit copies the environment with its generator (SuperSuit #89)."""

    def deals(seed: int | None) -> list[bytes]:
        env = one_learner()
        env.reset(seed=0)
        four = tables(env)
        if seed is not None:
            four.venv.reset(seed=seed)
        return [row.tobytes() for row in four.reset()]

    assert len(set(deals(None))) == 1
    assert len(set(deals(7))) > 1
    assert deals(7) == deals(7) != deals(8)


def test_what_the_page_says_does_not_work():
    with pytest.raises(AttributeError, match="has no attribute 'seed'"):
        SB3_ALGORITHMS["PPO"]("MlpPolicy", tables(one_learner()), seed=0, device="cpu")
    with pytest.raises(AssertionError, match="update once at the end"):
        aec_to_parallel(examples.learner_env(2))
    masked = SB3_ALGORITHMS["MaskablePPO"](
        "MlpPolicy", tables(aec_to_parallel(MaskInInfo(examples.learner_env()))), device="cpu"
    )
    with pytest.raises(AttributeError, match="has no attribute 'has_attr'"):
        masked.learn(10)


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


def test_it_draws_from_the_probabilities_of_the_legal_actions():
    player = saying(network("PPO"), {0: 0.0, 1: np.log(3.0), 2: 9.0}, sample=True)
    player.reset(0, 1)
    mask = np.zeros(MOVES, dtype=np.int8)
    mask[:2] = 1
    seen = {"observation": np.zeros(FEATURES, dtype=np.float32), "action_mask": mask}
    drawn = [player.act(seen, {}) for _ in range(800)]
    assert set(drawn) == {0, 1}
    assert abs(np.mean(drawn) - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 800)
    assert player.replaced == 800  # its favourite is 2
    player.reset(0, 1)
    assert [player.act(seen, {}) for _ in range(800)] == drawn


@pytest.mark.parametrize(("rank", "sample"), [(0, False), (3, False), (9, False), (9, True)])
def test_a_rank_is_played_as_it_was_trained(rank, sample):
    assert_ranks_are_played(saying(network("PPO", RANKS), {rank: 9.0}, actions="ranks", sample=sample), rank)


def test_a_checkpoint_of_a_parallel_table_never_waits():
    """There the last action is `wait`; at our tables nobody is asked who has nothing to decide."""
    player = saying(network("PPO", MOVES + 1), {MOVES: 9.0, 4: 1.0})
    for seen in turns():
        assert seen["action_mask"][player.act(seen, {})]
        assert player.notes() == {"wanted": MOVES}


def test_a_checkpoint_may_read_the_dictionary_of_features_and_mask():
    space = five_learners().observation_space("player_0")
    assert isinstance(space, spaces.Dict)
    model = network("PPO", MOVES + 1, space)
    player, other = Sb3Seat(model), 0
    for seen in turns():
        chosen = player.act(seen, {})
        wide = {**seen, "action_mask": np.append(seen["action_mask"], np.int8(0))}
        free = int(model.predict(wide, deterministic=True)[0])
        assert chosen == free or player.notes() == {"wanted": free}
        other += chosen != free
    assert other == player.replaced


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


def test_it_leaves_the_generator_of_pytorch_alone():
    player, seen = Sb3Seat(network("RecurrentPPO"), sample=True), next(turns())
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    player.act(seen, {})
    assert torch.equal(torch.rand(3), expected)


def test_it_can_be_pickled(tmp_path):
    network("PPO").save(tmp_path / "model.zip")
    player = make_policy(f"sb3:file={tmp_path / 'model.zip'},features=table,sample=true", examples.GAME, {})
    player.reset(3, 8)
    copied = pickle.loads(pickle.dumps(player))
    assert [copied.act(turn, {}) for turn in turns(3, 1)] == [player.act(turn, {}) for turn in turns(3, 1)]


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "sb3 needs a checkpoint; accepted: sb3:file=PATH"),
        ("file=nowhere.zip", r"there is no checkpoint 'nowhere\.zip'"),
        ("file=model.zip,algorithm=SAC", "algorithm 'SAC' is not accepted; accepted: PPO, A2C, "),
        ("file=model.zip,sample=yes", "sample 'yes' is not accepted; accepted: true, false"),
        ("file=model.zip,actions=all", "actions 'all' is not accepted; accepted: moves, ranks"),
        ("file=model.zip,colour=red", "setting of sb3 'colour' is not accepted; accepted: file, algorithm, sample"),
        ("file=model.zip,algorithm=DQN", r"algorithm of 'model\.zip' 'DQN' is not accepted; accepted: PPO$"),
        ("file=model.zip", r"accepted: sb3:file=model\.zip,features=KIND"),
        ("file=text.zip", r"'text\.zip' is not a checkpoint of stable-baselines3; accepted: "),
        ("file=dqn.zip,features=table,sample=true", "sample=true is not accepted with DQN"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network("PPO").save("model.zip")
    network("DQN").save("dqn.zip")
    Path("text.zip").write_text("no checkpoint")
    assert_refused(f"sb3:{settings}", message)


@pytest.mark.parametrize("actions", [MOVES - 1, MOVES + 2, RANKS])
def test_a_table_with_other_actions_is_refused(actions):
    with pytest.raises(ParlourError, match=rf"a table with 99 features and 30 actions; accepted: .* {actions} actions"):
        Sb3Seat(network("PPO", actions)).act(next(turns()), {})


@pytest.mark.parametrize("kind", ["moves", "ranks"])
def test_a_table_with_other_features_is_refused(kind):
    seen = next(turns())
    with pytest.raises(ParlourError, match="a table with 98 features"):
        Sb3Seat(network("PPO"), actions=kind).act({**seen, "observation": seen["observation"][:-1]}, {})
