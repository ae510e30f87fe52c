"""TorchRL: our environments in its wrapper and collector, its actors at our tables, our policies in its rollouts."""

from __future__ import annotations

import json
import pickle
import runpy
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="TorchRL is not installed; run scripts/test-integrations torchrl")
import torch
from integrations.pages import page_code
from integrations.seats import assert_refused, play_a_hundred_games
from networks import moves_of
from parlour.envs import avalon_v0
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import ChatPlayer, HeuristicPolicy, RandomPolicy, make_policy
from parlour.policies.adapters import torchrl as bridge
from parlour.policies.adapters.torchrl import (
    LEARNER,
    ActorConfig,
    PolicyTensorDictModule,
    TorchRLPlayer,
    make_actor,
    save_actor,
)
from parlour.training.cli import run
from parlour.training.learn import examples
from parlour.training.play import rollout
from parlour.wrappers import LearnerSeats, MaskInInfo, ParallelMaskInInfo
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch.distributions import Categorical
from torchrl.envs import PettingZooWrapper, SerialEnv, check_env_specs
from torchrl.modules import MaskedOneHotCategorical, ProbabilisticActor

ROOT = Path(__file__).parents[2]
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


def config():
    return ActorConfig.of(examples.learner_env())


def player(actor=None, **options):
    return TorchRLPlayer(actor or make_actor(config()), **options)


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


def test_the_same_seed_gives_the_same_rollout():
    played = []
    for _ in range(2):
        env = wrapped(examples.learner_env())
        env.set_seed(5)
        torch.manual_seed(5)
        played.append(env.rollout(40, make_actor(config()), break_when_any_done=False))
    assert (played[0] == played[1]).all()


def test_the_example_trains_saves_and_measures(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(examples, "against_random", partial(examples.against_random, deals=5))
    monkeypatch.setattr(sys, "argv", ["train_torchrl.py", "--steps", "2048", "--seed", "3", "--out", str(tmp_path)])
    run = runpy.run_path(str(ROOT / "scripts" / "train_torchrl.py"))
    output = capsys.readouterr().out
    assert "2048 decisions" in output
    assert "torchrl - random" in output
    assert json.loads((tmp_path / "report.json").read_text())["games"] == 10
    torch.manual_seed(3)
    before = make_actor(run["config"]).state_dict()
    after = TorchRLPlayer.load(tmp_path / "actor.pt").actor.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before)


def test_the_code_on_the_page_trains_and_its_actor_sits_down_by_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(page_code("torchrl"), {})
    words = ["evaluate", examples.GAME, "--players", "5", "--rules", "official", "--policy", "torchrl:actor.pt"]
    assert run([*words, "--against", "random", "--games", "2"]) == 0


def test_an_actor_plays_in_the_features_and_the_frame_it_was_trained_on(tmp_path):
    game = lookup(examples.GAME).raw_env(info="full", features="belief", **examples.OPTIONS)
    described = ActorConfig.of(MaskInInfo(LearnerSeats(game, RandomPolicy.name)))
    assert described.kind == "belief"
    save_actor(tmp_path / "actor.pt", make_actor(described), described)
    assert play_a_hundred_games(f"torchrl:{tmp_path / 'actor.pt'}").replaced == 0


# -- their players at our tables -------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["true", "false"])
def test_a_torchrl_actor_plays_100_games_at_our_tables_without_an_illegal_move(sample, tmp_path):
    save_actor(tmp_path / "actor.pt", make_actor(config()), config())
    assert play_a_hundred_games(f"torchrl:file={tmp_path / 'actor.pt'},sample={sample}").replaced == 0


def test_a_saved_actor_is_found_by_name_and_plays_like_the_one_that_was_saved(tmp_path):
    actor, file = make_actor(config()), tmp_path / "actor.pt"
    save_actor(file, actor, config())
    env = rollout.table(examples.GAME, **examples.OPTIONS)
    table = (examples.GAME, env.game_env.game.config)
    moves = []
    for make in (lambda: player(actor), lambda: make_policy(f"torchrl:file={file}", *table)):
        rollout.play(env, [make() for _ in range(5)], 7)
        moves.append(env.game_env.moves)
    assert moves[0] == moves[1]
    copy = pickle.loads(pickle.dumps(make_policy(f"torchrl:file={file},sample=true", *table)))
    assert copy.player.sample
    copy.save(tmp_path / "again.pt")
    assert TorchRLPlayer.load(tmp_path / "again.pt").config == copy.player.config


def test_a_player_draws_from_its_own_generator_and_leaves_that_of_torch_alone():
    env = rollout.table(examples.GAME, **examples.OPTIONS)
    actor, before, moves = make_actor(config()), torch.random.get_rng_state(), []
    for sample in (True, True, False):
        rollout.play(env, [player(actor, sample=sample) for _ in range(5)], 11)
        moves.append(env.game_env.moves)
        assert torch.equal(torch.random.get_rng_state(), before)
        torch.rand(3)
        before = torch.random.get_rng_state()
    assert moves[0] == moves[1] != moves[2]


def seen(legal=(1, 3), features=4, actions=5):
    mask = np.zeros(actions, dtype=np.int8)
    mask[list(legal)] = 1
    return {"observation": np.ones(features, dtype=np.float32), "action_mask": mask}


def scores(values, in_keys, out_key):
    """A module that gives always the same scores."""
    return TensorDictModule(lambda *_: torch.tensor(values), in_keys=in_keys, out_keys=[out_key])


def test_the_most_probable_legal_action_is_played_even_if_the_actor_knows_no_mask():
    logits = scores([[9.0, 1.0, 9.0, 2.0, 9.0]], [("a", "observation")], ("a", "logits"))
    actor = ProbabilisticActor(
        logits, in_keys=[("a", "logits")], out_keys=[("a", "action")], distribution_class=Categorical
    )
    player = TorchRLPlayer(actor, group="a")
    assert player.act(seen(), {}) == 3
    drawn = TorchRLPlayer(actor, group="a", sample=True)
    drawn.reset(0, 1)
    actions = [drawn.act(seen(), {}) for _ in range(300)]
    assert set(actions) == {1, 3}
    assert 0.63 < actions.count(3) / 300 < 0.83  # 0.731 of what the mask leaves


def test_actors_with_bare_keys_nested_observations_and_one_hot_actions_play_as_well():
    bare = ProbabilisticActor(
        scores([0.0, 1.0, 9.0, 2.0, 0.0], ["observation"], "logits"),
        in_keys={"logits": "logits", "mask": "action_mask"},
        out_keys=["action"],
        distribution_class=MaskedOneHotCategorical,
    )
    assert TorchRLPlayer(bare, group=None).act(seen(), {}) == 3
    nested = TensorDictModule(
        lambda x: x.sum(-1).long() - 3, in_keys=[("a", "observation", "observation")], out_keys=[("a", "action")]
    )
    assert TorchRLPlayer(nested, group="a").act(seen(), {}) == 1
    one_hot = scores([[0, 0, 0, 1, 0]], [("a", "observation")], ("a", "action"))
    assert TorchRLPlayer(one_hot, group="a").act(seen(), {}) == 3


def test_an_illegal_action_of_an_actor_without_probabilities_is_replaced_and_counted():
    stubborn = TorchRLPlayer(scores([2], [("a", "observation")], ("a", "action")), group="a")
    assert {stubborn.act(seen(), {}) for _ in range(40)} == {1, 3}
    assert stubborn.replaced == 40
    assert stubborn.act(seen(legal=(0, 2)), {}) == 2
    assert stubborn.replaced == 40


def test_an_actor_that_cannot_be_seated_is_refused_in_one_line():
    state = TensorDictModule(lambda x: x, in_keys=["state"], out_keys=["action"])
    with pytest.raises(ParlourError, match=r"key that the actor reads 'state' is not accepted; accepted: "):
        TorchRLPlayer(state)
    with pytest.raises(ParlourError, match="sample=True is not accepted with this actor"):
        player(scores([2], [(LEARNER, "observation")], (LEARNER, "action")), sample=True)
    with pytest.raises(ParlourError, match="does not take a table with 4 features and 5 actions"):
        player().act(seen(), {})
    with pytest.raises(ParlourError, match="saved by TorchRL's own means"):
        player().save("nowhere")


class Code:
    def __reduce__(self):
        return (print, ("this was run",))


def test_files_that_are_no_actors_are_refused_and_no_code_in_them_is_run(tmp_path, capsys):
    good = tmp_path / "good.pt"
    save_actor(good, make_actor(config()), config())
    stored = torch.load(good, weights_only=True)
    torch.save(stored | {"more": Code()}, tmp_path / "code.pt")
    torch.save(stored | {"state": {}}, tmp_path / "empty.pt")
    torch.save([1, 2], tmp_path / "list.pt")
    (tmp_path / "cut.pt").write_bytes(good.read_bytes()[:1000])
    (tmp_path / "text.pt").write_text("no actor")
    for name in ("code", "empty", "list", "cut", "text"):
        with pytest.raises(ParlourError, match=f"{name}.pt' is not a saved actor; accepted: a file of `save_actor`"):
            TorchRLPlayer.load(tmp_path / f"{name}.pt")
    with pytest.raises(ParlourError, match="there is no actor file"):
        TorchRLPlayer.load(tmp_path / "none.pt")
    assert capsys.readouterr().out == ""


def test_settings_and_tables_that_do_not_fit_are_refused(tmp_path):
    file = tmp_path / "actor.pt"
    save_actor(file, make_actor(config()), config())
    game, own = examples.GAME, config().config
    for settings, why in (
        ("", "torchrl needs an actor"),
        (f"file={file},net=x", "setting of torchrl 'net' is not accepted; accepted: file, sample"),
        (f"file={file},sample=yes", "sample 'yes' is not accepted; accepted: true, false"),
    ):
        assert_refused(f"torchrl:{settings}", why)
    assert isinstance(bridge.from_settings({"file": str(file)}, game, own).player, TorchRLPlayer)


# -- our players in their code ---------------------------------------------------------------------------------


class WithSeed(HeuristicPolicy):
    """Draws from a given seed, whatever it is told, and remembers where it sat."""

    def __init__(self, seed):
        super().__init__()
        self.own, self.seats = seed, []

    def reset(self, seat, seed):
        self.seats.append((seat, seed))
        super().reset(seat, self.own)


def test_rules_of_thumb_play_the_same_game_in_a_rollout_as_at_our_table():
    table = full()
    env = wrapped(table)
    actors = TensorDictSequential(*(PolicyTensorDictModule([WithSeed(3)], agent, env=table) for agent in env.group_map))
    played = env.rollout(500, actors, auto_reset=False, tensordict=env.reset(seed=21))
    assert played["next", "done"][-1]
    ours = rollout.table("avalon_v0", **SMALL)
    rollout.play(ours, [WithSeed(3) for _ in range(5)], 21)
    assert table.moves == ours.game_env.moves
    assert table.outcome == ours.game_env.outcome


def test_players_are_told_of_each_new_game_and_of_the_learners_seat_in_it():
    table = examples.learner_env()
    env, player = wrapped(table), WithSeed(0)
    module = PolicyTensorDictModule([player], env=table, seed=4)
    played = env.rollout(80, module, break_when_any_done=False)
    starts = [0, *(played["next", "done"][:-1, 0].nonzero().flatten() + 1).tolist()]
    seats = [int(played[LEARNER, "info", "seat"][start, 0]) for start in starts]
    assert len(seats) > 3
    assert [seat for seat, _ in player.seats] == seats
    assert len({seed for _, seed in player.seats}) == len(seats)


def our_game(config, deal, seed):
    """The moves of a game at our table with the expert at every seat."""
    players = [make_policy("expert", "avalon_v0", config) for _ in range(5)]
    return moves_of(rollout.table("avalon_v0", **SMALL), players, seed, deal)


@pytest.mark.parametrize("features", ["table", "belief"])
def test_an_expert_that_looks_at_the_table_plays_as_at_ours_whatever_features_it_has(features, small_expert):
    config = small_expert("avalon_v0", **SMALL)
    table = full(features=features)
    env = wrapped(table)
    experts = [make_policy("expert", "avalon_v0", config) for _ in env.group_map]
    modules = [
        PolicyTensorDictModule([expert], agent, env=table, seed=4)
        for expert, agent in zip(experts, env.group_map, strict=True)
    ]
    actors = TensorDictSequential(*modules)
    played = env.rollout(500, actors, auto_reset=False, tensordict=env.reset(seed=21))
    assert played["next", "done"][-1]
    assert table.moves == our_game(config, 21, int(np.random.default_rng(4).integers(2**30)))
    assert not any(module.replaced for module in modules)


def test_an_expert_plays_by_the_tensordict_alone_where_the_features_are_its_own_and_refuses_others(small_expert):
    config = small_expert("avalon_v0", **SMALL)

    def actors(env):
        experts = [make_policy("expert", "avalon_v0", config) for _ in env.group_map]
        modules = [PolicyTensorDictModule([seat], agent) for seat, agent in zip(experts, env.group_map, strict=True)]
        for seat, expert in enumerate(experts):  # without `env` a module cannot tell the seat and that a game begins
            expert.reset(seat, 9)
        return TensorDictSequential(*modules)

    table = full(features="belief")
    env = wrapped(table)
    env.rollout(500, actors(env), auto_reset=False, tensordict=env.reset(seed=21))
    assert table.moves == our_game(config, 21, 9)
    env = wrapped(full())
    with pytest.raises(ParlourError, match="has with features='belief'"):
        env.rollout(5, actors(env))


def test_players_play_in_collectors():
    from torchrl.collectors import Collector  # here, where the warnings of its import are ignored

    table = examples.learner_env()
    env = wrapped(table)
    collector = Collector(
        env, PolicyTensorDictModule([HeuristicPolicy()], env=table), frames_per_batch=30, total_frames=90
    )
    games = sum(int(batch["next", "done"].sum()) for batch in collector)
    assert games > 2
    assert (env.rollout(1)[LEARNER, "info", "replaced"] == 0).all()


def test_players_who_answer_in_words_play_in_rollouts():
    table = LearnerSeats(avalon_v0.env(info="full", **SMALL), lambda _: RandomPolicy(), observation="features")
    env, module = wrapped(table), PolicyTensorDictModule([ChatPlayer()], env=table)
    played = env.rollout(60, module, break_when_any_done=False)
    assert played["next", "done"].sum() >= 1
    assert module.replaced == 0
    assert len(set(played[LEARNER, "action"].flatten().tolist())) > 5
    assert (played["next", LEARNER, "info", "replaced"] == 0).all()


class Nonsense(RandomPolicy):
    def act(self, observation, info):
        return "fish\n fish"


def test_words_that_cannot_be_used_become_the_move_that_the_rules_prescribe_and_are_counted():
    table = examples.learner_env()
    module = PolicyTensorDictModule([Nonsense()], env=table)
    played = wrapped(table).rollout(20, module, break_when_any_done=False)
    assert module.replaced == 20
    assert (played["next", LEARNER, "info", "replaced"] == 0).all()


def test_players_who_read_features_play_in_a_batch_of_environments():
    actor = make_actor(config())
    env = SerialEnv(2, lambda: wrapped(examples.learner_env()))
    module = PolicyTensorDictModule([player(actor), player(actor)])
    with torch.no_grad():
        played = env.rollout(20, module, break_when_any_done=False)
        best = actor.get_dist(played.clone()).probs.argmax(-1)
    assert played[LEARNER, "action"].shape == (2, 20, 1)
    assert torch.equal(played[LEARNER, "action"], best)
    env.close()


def test_several_agents_of_one_group_each_have_their_player():
    table = full()
    env = wrapped(table, group_map={"all": table.possible_agents})
    seated = [WithSeed(k) for k in range(5)]
    module = PolicyTensorDictModule(seated, "all", env=table, agents=env.group_map["all"])
    assert env.rollout(200, module)["next", "done"][-1]
    assert [policy.seats[0][0] for policy in seated] == [0, 1, 2, 3, 4]

    class ByMask(RandomPolicy):
        wants = "features"

    module = PolicyTensorDictModule([ByMask() for _ in range(5)], "player")
    assert (parallel().rollout(50, module)["next", "player", "info", "replaced"] == 0).all()


def test_a_module_that_cannot_play_is_refused_in_one_line():
    with pytest.raises(ParlourError, match="'heuristic' reads 'view', which TorchRL does not hand on; accepted: env="):
        PolicyTensorDictModule([HeuristicPolicy()])
    with pytest.raises(ParlourError, match="2 players; accepted: one for each of learner_0"):
        PolicyTensorDictModule([RandomPolicy(), RandomPolicy()], env=examples.learner_env())
    with pytest.raises(ParlourError, match="env 'GameParallelEnv' is not accepted; accepted: an AEC environment"):
        PolicyTensorDictModule([RandomPolicy()], env=avalon_v0.parallel_env(**SMALL))
    with pytest.raises(ParlourError, match="2 players; accepted: 1"):
        wrapped(examples.learner_env()).rollout(3, PolicyTensorDictModule([player(), player()]))
