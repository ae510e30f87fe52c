"""AgileRL: our environments in its training loop, its checkpoints at our tables.

The library's own `get_action` is the reference for what a checkpoint does. docs/integrations/agilerl.md says in prose
what is tested here.
"""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agilerl", reason="AgileRL is not installed; run scripts/test-integrations agilerl")

import numpy as np
import torch
from gymnasium import spaces
from integrations.pages import page_code
from integrations.seats import (
    FEATURES,
    MOVES,
    RANKS,
    assert_refused,
    play_a_hundred_games,
    turns,
)
from parlour.envs.core import ParlourError
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.adapters.agilerl import AGILERL_ALGORITHMS, AgileRLSeat
from parlour.training.learn import examples
from parlour.wrappers import LegalRanks, MaskInInfo, ParallelLegalRanks
from pettingzoo.utils.conversions import aec_to_parallel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that it imports
    from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy

pytestmark = [  # the library says or causes
    pytest.mark.filterwarnings(r"ignore:TensorDict\.to_module\(\) is replacing:FutureWarning"),
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"),
]
MANY = ("IPPO", "MADDPG", "MATD3")
BOX = spaces.Box(-1, 1, (FEATURES,), np.float32)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def network(algorithm: str, actions: int = MOVES, agents: tuple[str, ...] = ("learner_0",), **settings: Any) -> Any:
    """An algorithm as it is before it has learned anything."""
    torch.manual_seed(1)
    if algorithm not in MANY:
        settings |= {"use_rollout_buffer": True} if algorithm == "PPO" else {}
        return AGILERL_ALGORITHMS[algorithm](BOX, spaces.Discrete(actions), **settings)
    action_spaces = [spaces.Discrete(actions) for _ in agents]
    return AGILERL_ALGORITHMS[algorithm]([BOX] * len(agents), action_spaces, agent_ids=list(agents), **settings)


def saying(model: Any, logits: dict[int, float], **settings: Any) -> Any:
    """A player whose network says the same logits whatever it sees."""
    player = AgileRLSeat(model, **settings)
    *_, weight, bias = player.network.head_net.parameters()
    with torch.no_grad():
        weight.zero_()
        bias.fill_(-50.0)
        for action, logit in logits.items():
            bias[action] = logit
    return player


# -- our environments in AgileRL -------------------------------------------------------------------------------


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = page_code("agilerl", n_131_072="64", n_16_384="64")
    exec(block.replace("learn_step=2048", "learn_step=64"), {})
    player = make_policy("agilerl:file=agent.pt,features=table,actions=ranks", examples.GAME, {})
    assert isinstance(player.player, AgileRLSeat)


@pytest.mark.parametrize(
    "make",
    [
        lambda: aec_to_parallel(LegalRanks(examples.learner_env(), RANKS)),
        lambda: ParallelLegalRanks(
            registry[examples.GAME].parallel_env(observation="features", **examples.OPTIONS), RANKS
        ),
    ],
    ids=["one learner", "five learners with one network"],
)
def test_ippo_learns_in_its_own_loop(make, capsys):
    env = make()
    agents = tuple(env.possible_agents)
    model = network("IPPO", RANKS, agents, learn_step=64)
    assert len(model.actors) == 1  # learner_0; or player_0 ... player_4, whose group is `player`
    before = torch.cat([p.detach().flatten().clone() for p in model.actors.parameters()])
    train_multi_agent_on_policy(env, "avalon", "IPPO", [model], max_steps=128, evo_steps=64)
    after = torch.cat([p.detach().flatten() for p in model.actors.parameters()])
    assert model.steps[-1] >= 128
    assert not torch.equal(before, after)
    assert "Fitness" in capsys.readouterr().out


def test_masks_fail_with_ippo_and_work_with_maddpg():
    env = aec_to_parallel(MaskInInfo(examples.learner_env()))
    seen, infos = env.reset(seed=1)
    with pytest.raises(ValueError, match="truth value of an array"):
        network("IPPO").get_action(seen, infos)
    model = network("MADDPG")
    for _ in range(20):
        chosen = int(model.get_action(seen, infos)[0]["learner_0"][0])
        assert infos["learner_0"]["action_mask"][chosen]
    with pytest.raises(AssertionError, match="action masks to be defined in the information dictionary"):
        model.get_action(aec_to_parallel(examples.learner_env()).reset(seed=1)[0])


# -- its checkpoints at our tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", AGILERL_ALGORITHMS)
def test_a_checkpoint_plays_a_hundred_games_without_an_illegal_move(algorithm, tmp_path):
    network(algorithm).save_checkpoint(str(tmp_path / "agent.pt"))
    drawn = ",sample=true" if algorithm == "IPPO" else ""
    player = play_a_hundred_games(f"agilerl:file={tmp_path / 'agent.pt'},algorithm={algorithm},features=table{drawn}")
    assert player.replaced > 0  # an untrained network knows no rules


@pytest.mark.parametrize("algorithm", ["IPPO", "PPO"])
def test_its_logits_are_the_librarys(algorithm):
    """The reference: the distribution that `get_action` leaves behind."""
    model = network(algorithm)
    player = AgileRLSeat(model)
    for seen in turns(1):
        observed = seen["observation"]
        model.get_action({"learner_0": observed} if algorithm == "IPPO" else observed)
        logits = player.network.head_net.dist.logits[0].detach().numpy()
        assert np.allclose(player.scores(observed), logits, atol=1e-5)
        legal = np.flatnonzero(seen["action_mask"])
        assert player.act(seen, {}) == legal[np.argmax(logits[legal])]
        free = int(np.argmax(logits))
        assert player.notes() == ({} if free in legal else {"wanted": free})


@pytest.mark.parametrize("algorithm", ["DQN", "RainbowDQN"])
def test_it_plays_the_legal_action_of_highest_value(algorithm):
    model = network(algorithm)
    player = AgileRLSeat(model)
    settings: dict[str, Any] = {"epsilon": 0.0} if algorithm == "DQN" else {"training": False}
    for seen in turns():
        expected = model.get_action(seen["observation"], action_mask=seen["action_mask"][None], **settings)
        assert player.act(seen, {}) == int(expected[0])


@pytest.mark.parametrize("algorithm", ["MADDPG", "MATD3"])
def test_it_plays_what_the_gumbel_softmax_is_drawn_from(algorithm):
    """With sample=true moves are as frequent as those of `get_action` with the mask, which draws by its noise."""
    player = saying(network(algorithm), {3: 0.0, 4: np.log(3.0), 9: 1.0}, sample=True)
    mask = np.zeros(MOVES, dtype=np.int8)
    mask[3:5] = 1
    seen = {"observation": np.zeros(FEATURES, dtype=np.float32), "action_mask": mask}
    player.model.set_training_mode(False)
    torch.manual_seed(2)
    spoken = ({"learner_0": seen["observation"]}, {"learner_0": {"action_mask": mask}})
    theirs = [int(player.model.get_action(*spoken)[0]["learner_0"][0]) for _ in range(400)]
    ours = [player.act(seen, {}) for _ in range(400)]
    four = 4 * np.sqrt(0.75 * 0.25 / 400)
    assert set(theirs) == set(ours) == {3, 4}
    assert abs(np.mean(theirs) - 3.75) < four
    assert abs(np.mean(ours) - 3.75) < four
    assert player.replaced == 0  # its first choice is 4, of those that are legal and of all
    best = AgileRLSeat(player.model)
    assert {best.act(seen, {}) for _ in range(20)} == {4}


def test_the_agent_that_is_named_plays():
    model = network("MADDPG", agents=("learner_0", "guest_0"))
    player, other = saying(model, {0: 9.0}, agent="learner_0"), AgileRLSeat(model)
    assert player.network is not other.network
    assert other.agent == "guest_0"  # the first by the alphabet
    seen = next(turns(1))
    assert int(np.argmax(player.scores(seen["observation"]))) == 0
    with pytest.raises(ParlourError, match="agent 'player_7' is not accepted; accepted: guest_0, learner_0"):
        AgileRLSeat(model, agent="player_7")
    with pytest.raises(ParlourError, match="agent=learner_0 is not accepted with DQN"):
        AgileRLSeat(network("DQN"), agent="learner_0")


def test_agents_of_a_group_play_by_one_network():
    model = network("IPPO", agents=("player_0", "player_1"))
    player, other = AgileRLSeat(model), AgileRLSeat(model, agent="player_1")
    assert player.network is other.network
    for seen in turns(1):
        assert player.act(seen, {}) == other.act(seen, {})


def test_it_is_pickled_by_its_file(tmp_path):
    model = network("IPPO")
    model.save_checkpoint(str(tmp_path / "agent.pt"))
    seat = make_policy(f"agilerl:file={tmp_path / 'agent.pt'},features=table,sample=true", examples.GAME, {})
    seat.reset(3, 8)
    seen = list(turns(1))
    copied = pickle.loads(pickle.dumps(seat))
    assert copied.seat == 3
    assert [copied.act(observation, {}) for observation in seen] == [seat.act(observation, {}) for observation in seen]
    with pytest.raises(ParlourError, match="a network in memory cannot be pickled"):
        pickle.dumps(AgileRLSeat(model))


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "agilerl needs a checkpoint; accepted: agilerl:file=PATH"),
        ("file=text.pt,features=table", r"'text\.pt' cannot be loaded as IPPO; accepted: "),
        ("file=dqn.pt,features=table", r"'dqn\.pt' cannot be loaded as IPPO; accepted: "),
        ("file=dqn.pt,features=table,algorithm=RainbowDQN", r"'dqn\.pt' cannot be loaded as RainbowDQN; accepted: "),
        ("file=dqn.pt,algorithm=DQN", r"accepted: agilerl:file=dqn\.pt,features=KIND"),
        ("file=dqn.pt,colour=red", "setting of agilerl 'colour' is not accepted; accepted: file, .*, agent"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network("DQN").save_checkpoint("dqn.pt")
    Path("text.pt").write_text("no checkpoint")
    assert_refused(f"agilerl:{settings}", message)
