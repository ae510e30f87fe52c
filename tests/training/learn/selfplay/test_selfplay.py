"""Self-play: who is met, what is learned from, what a killed run leaves, and that a resumed run is the run that was not cut."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat, make_policy
from parlour.training import cli
from parlour.training.play import seeds

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")

from parlour.training.learn.selfplay import best_response, collect, learn, pool, run, seating
from parlour.training.learn.selfplay.config import BestResponseConfig, SelfplayConfig
from parlour.training.learn.selfplay.learner import SelfplayLearner, rates
from parlour.training.learn.selfplay.pool import Member
from parlour.training.learn.selfplay.seating import ALONE, WHOLE_SIDE, MemberScore, Seating
from parlour.training.runs.run import Run

SIDES = ("good", "evil")
SMALL = {
    "options": {"num_players": 5, "rules": "official", "talk": False},
    "steps": 3000,
    "tables": 16,
    "turns": 40,
    "updates": 2,
    "imitation_steps": 1000,
    "batch": 256,
    "epochs": 1,
    "hidden": (8,),
    "critic_hidden": (8,),
    "validation_deals": 8,
    "deals": 3,
    "test_deals": 4,
}
RANDOM, RULE = Member("random", "random"), Member("heuristic", "heuristic")


def config(**changes):
    return SelfplayConfig(**(SMALL | changes))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never cut."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run.selfplay(config(), Run(folder))


MEASURED = ("seconds",)
"""What two runs of the same seed do not share: processor time."""


def results(folder):
    """Everything a run leaves but pictures; processor time is blanked."""
    files = {}
    for file in sorted(folder.rglob("*")):
        if file.suffix in (".npz", ".jsonl"):
            files[str(file.relative_to(folder))] = file.read_bytes()
        if file.suffix == ".json":
            data = json.loads(file.read_text())
            files[str(file.relative_to(folder))] = {key: data[key] for key in data if key not in MEASURED}
        if file.suffix == ".csv":
            files[str(file.relative_to(folder))] = file.read_text()
    return files


# -- who is met --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weighting", "power", "weights"),
    [
        ("hard", 2.0, [1, 0.5625, 0.25, 0.02]),  # who always wins is met most
        ("hard", 0.0, [1, 1, 1, 1]),  # everybody alike
        ("near", 2.0, [0.02, 0.75, 1, 0.02]),  # equals are met most
    ],
)
def test_a_member_is_drawn_by_how_often_the_network_beats_it_and_keeps_the_floor(weighting, power, weights):
    made = config(weighting=weighting, power=power, floor=0.02)
    assert [seating.weight(made, p) for p in (0.0, 0.25, 0.5, 1.0)] == pytest.approx(weights)


def test_wins_are_estimated_by_side_and_older_games_count_less():
    scores = [MemberScore("s001", "good", 8, 8), MemberScore("s001", "evil", 4, 0)]
    two = [MemberScore("s001", "good", 4, 0), MemberScore("x", "good", 9, 9)]
    assert seating.win_rate([], "s001", "good", 0.5) == 0.5
    assert seating.win_rate([scores], "s001", "good", 0.5) == 9 / 10
    assert seating.win_rate([scores], "s001", "evil", 0.5) == 1 / 6
    assert seating.win_rate([scores, two], "s001", "good", 0.5) == (4 + 1) / (4 + 4 + 2)
    assert seating.win_rate([scores, two], "s001", "good", 0.0) == 1 / 6
    assert seating.win_rate([scores, two], "s001", "good", 1.0) == 9 / 14


def seated(snapshots=("s000", "s001"), phases=(), **changes):
    made = config(tables=1000, fixed_share=0.5, pool_share=0.2, one_seat=0.2, **changes)
    return seating.seating(made, 5, SIDES, ("heuristic",), snapshots, phases, np.random.default_rng(0))


def test_tables_are_shared_out_as_configured_and_half_of_each_share_is_on_each_side():
    """500 against the heuristic, 100 of them in one seat; 200 against snapshots; 300 alone."""
    drawn = seated()
    assert drawn.opponents == ("heuristic", "s000", "s001")
    assert [(drawn.opponent == k).sum() for k in (ALONE, 0)] == [300, 500]
    assert (drawn.seat != WHOLE_SIDE).sum() == 100
    assert [((drawn.seat == seat) & (drawn.opponent == 0)).sum() for seat in range(5)] == [20] * 5
    for number in (0, 1):
        assert ((drawn.opponent == 0) & (drawn.side == number)).sum() == 250
        assert ((drawn.opponent > 0) & (drawn.side == number)).sum() == 100


def test_without_snapshots_their_share_is_played_alone_and_without_fixed_players_so_is_theirs():
    assert (seated(snapshots=()).opponent == ALONE).sum() == 500
    drawn = seating.seating(config(tables=10), 5, SIDES, (), (), (), np.random.default_rng(0))
    assert (drawn.opponent == ALONE).all()


def test_strangers_have_their_share_of_the_games_families_alike_and_the_network_one_seat_in_turn():
    """Of 1000 games 200 among strangers: 100 of each family, of the second 50 for each of its two players."""
    made = config(tables=1000, fixed_share=0.5, pool_share=0.2, population=("a", "b"), population_share=0.2)
    rng = np.random.default_rng(0)
    drawn = seating.seating(made, 5, SIDES, ("heuristic",), ("s000",), (), rng, [["a"], ["b1", "b2"]])
    assert drawn.opponents == ("heuristic", "s000", "a", "b1", "b2")
    assert [(drawn.opponent == k).sum() for k in (ALONE, 0, 1, 2, 3, 4)] == [100, 500, 200, 100, 50, 50]
    assert [((drawn.seat == seat) & (drawn.opponent >= 2)).sum() for seat in range(5)] == [40] * 5
    assert not np.any(drawn.extra_seats)  # strangers hold all other seats


def test_among_strangers_the_network_holds_the_share_of_the_other_seats_that_is_left():
    made = config(tables=1000, fixed_share=0, pool_share=0, population=("a",), population_share=1.0, stranger_seats=0.7)
    drawn = seating.seating(made, 5, SIDES, (), (), (), np.random.default_rng(0), [["a"]])
    own = np.stack([drawn.own(np.full(1000, seat), np.zeros((1000, 5), np.int8)) for seat in range(5)])
    assert own[drawn.seat, np.arange(1000)].all()
    # 1000 seats of its own, and of 4000 others three tenths; five standard errors are 0.036
    assert (own.sum() - 1000) / 4000 == pytest.approx(0.3, abs=0.036)


def test_a_run_s_folder_in_the_population_is_its_early_middle_and_last_snapshot(tmp_path):
    (tmp_path / "snapshots").mkdir()
    for k in range(17):
        (tmp_path / "snapshots" / f"s{k:03d}.npz").touch()
    [alone, run_] = pool.families(config(population=("logic", str(tmp_path))))
    assert alone == ["logic"]
    assert [path[-8:-4] for path in run_] == ["s002", "s008", "s016"]  # an eighth, half, all
    with pytest.raises(ParlourError, match="the folder of a run of self-play with snapshots"):
        pool.families(config(population=(str(tmp_path / "snapshots"),)))


def test_the_network_moves_for_its_side_for_its_seat_or_for_everybody():
    sides = np.array([[0, 0, 0, 1, 1]] * 4, np.int8)
    drawn = Seating(
        ("x",),
        np.array([ALONE, 0, 0, 0], np.int32),
        np.array([-1, 1, 0, 0], np.int8),
        np.array([-1, -1, -1, 3], np.int8),
    )
    by_actor = [drawn.own(np.full(4, actor, np.int32), sides).tolist() for actor in (0, 3, 4)]
    assert by_actor == [[True, False, True, False], [True, True, False, True], [True, True, False, False]]


# -- what changes while a run goes on ----------------------------------------------------------------------------


def test_the_learning_rate_falls_linearly_to_a_tenth_and_coefficients_by_equal_factors():
    made = config(learning_rate=1e-3, entropy=0.04, last_entropy=0.01, kl=0.09, last_kl=0.0)
    assert vars(rates(made, 0.0)) == pytest.approx({"learning_rate": 1e-3, "entropy": 0.04, "kl": 0.09})
    middle = rates(made, 0.5)
    assert middle.learning_rate == pytest.approx(5e-4)
    assert middle.entropy == pytest.approx(0.02)  # the geometric mean of 0.04 and 0.01
    assert middle.kl == pytest.approx(0.045)  # linearly, where one end is zero
    assert rates(made, 1.0).learning_rate == pytest.approx(1e-4)


def session_of(learner, seated, players=None):
    return learn.Session(learner, seated, players or {}, pool.seeds_of_tables(learner.config, 0))


def test_from_so_few_turns_that_no_seat_moves_twice_nothing_is_learned():
    made = config(turns=1, infer=0.3)
    tables = pool.tables_for(made, 16)
    learner = SelfplayLearner(made, tables)
    learner.begin()
    before = [weights.clone() for weights in learner.policy.parameters()]
    session = session_of(learner, Seating.alone(16))
    assert session.update(rates(made, 0.0)) == {}
    own = learn.NetworkPlayer("x", learner.policy, tables.names)
    own.reset(tables, pool.seeds_of_tables(made, 0), 0)
    assert learner.imitate(session.collector.collect(own)) == 0.0
    assert all(map(torch.equal, learner.policy.parameters(), before))


@pytest.mark.slow
def test_an_anchor_holds_the_policy_where_it_was():
    """With a divergence that weighs much more than the gain, the policy stays at its anchor."""
    tables = pool.tables_for(config(), 16)
    moved = {}
    for kl in (0.0, 100.0):
        learner = SelfplayLearner(config(kl=kl, last_kl=kl, learning_rate=3e-3), tables)
        learner.begin()
        session = session_of(learner, Seating.alone(16))
        losses = [session.update(rates(learner.config, 0.0)) for _ in range(10)][-1]
        seen = torch.from_numpy(tables.reset(1).observation)
        moved[kl] = float((learner.anchor(seen) - learner.policy(seen)).abs().mean().detach())
        assert (losses["divergence"] > 0) == (kl > 0)
    assert moved[100.0] < moved[0.0] / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "seated",
    [
        Seating(("x",), np.zeros(16, np.int32), np.arange(16, dtype=np.int8) % 2, np.full(16, WHOLE_SIDE, np.int8)),
        Seating.against("x", 16, side=1),
        Seating.against("x", 16, seat=np.arange(16) % 5),
        Seating.against("x", 16, seat=3),
    ],
    ids=["both sides", "one side", "a seat of each table", "one seat"],
)
def test_kept_of_decisions_among_opponents_are_the_policys_own_log_probs(seated):
    """For every seating: the network moves where it is seated, whoever plays the others."""
    made = config()
    tables = pool.tables_for(made, 16)
    learner = SelfplayLearner(made, tables)
    dealt = pool.seeds_of_tables(made, 0)
    collector = collect.RolloutCollector(tables, seated, {"x": pool.batch_player("heuristic", tables)}, dealt, 40)
    own = learn.NetworkPlayer("x", learner.policy, tables.names)
    own.reset(tables, dealt, 0)
    experience = collector.collect(own)
    with torch.no_grad():
        logits = learner.policy(torch.from_numpy(experience.observation))
        logits = logits.masked_fill(torch.from_numpy(experience.mask) == 0, -1e9)
    logs = torch.log_softmax(logits, dim=1).numpy()
    assert experience.log_prob == pytest.approx(logs[np.arange(len(logs)), experience.action], abs=1e-4)
    moved = np.argwhere(experience.row >= 0)
    assert len(moved) == len(logs) > 0
    for turn, table in moved:
        if seated.seat[table] != WHOLE_SIDE:
            assert experience.actor[turn, table] == seated.seat[table]
    assert sum(score.n for score in collector.scores()) == collector.games


PRICED = {
    "false_claim": (
        {"game": "werewolf_v0", "options": {"num_players": 6}},
        {"accuse", "claim_role", "defend", "report"},
    ),
    "bad_approval": ({}, {"vote"}),
}
"""A price -> a table, and the kinds of moves that can have it."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PRICED)
def test_a_price_is_paid_by_seats_of_the_network_and_counts_nowhere_else(name):
    """The same games with and without the price: rewards differ by it where it is due, returns and scores do not."""
    changes, priced_kinds = PRICED[name]
    tables = pool.tables_for(config(**changes), 16)
    learner = SelfplayLearner(config(), tables)
    dealt, seated = pool.seeds_of_tables(config(), 0), Seating.against("x", 16, side=0)
    played = {}
    for price in (0.0, 0.25):
        opponents = {"x": pool.batch_player("heuristic", tables)}
        prices = collect.judges({name: price}, tables)
        collector = collect.RolloutCollector(tables, seated, opponents, dealt, 60, prices=prices)
        own = learn.NetworkPlayer("x", learner.policy, tables.names)
        own.reset(tables, dealt, 0)
        played[price] = collector.collect(own), collector.scores(), collector.returned
    (free, scores, returned), (priced, same_scores, same_returned) = played.values()
    assert (scores, returned) == (same_scores, same_returned)
    assert priced.action.tolist() == free.action.tolist()
    paid = free.rewards - priced.rewards
    turn, table, seat = np.nonzero(paid)
    assert len(turn) > 20  # the network has learned nothing: it invents checks, and approves any team
    assert set(paid[turn, table, seat].tolist()) == {0.25}
    assert (seat == priced.actor[turn, table]).all()
    rows = priced.row[turn, table]
    assert (rows >= 0).all()  # the opponent pays nothing
    kinds = [move.kind for move in tables.game.catalogue]
    assert {kinds[action] for action in priced.action[rows]} <= priced_kinds


def test_settings_without_a_price_are_those_of_before():
    assert "false_claim" not in config().plain()
    assert config(false_claim=0.1).plain()["false_claim"] == 0.1


def test_recorded_games_are_imitated_decision_by_decision(tmp_path):
    """Ten games of heuristics, written by `play` and read back: what the scalar games showed, and what it led to."""
    words = ["play", "avalon_v0", "--players", "5", "--rules", "official", "--set", "talk=false", "--games", "10"]
    assert cli.run([*words, "--policy", "heuristic", "--out", str(tmp_path)]) == 0
    tables = pool.tables_for(config(), 1)
    decisions, games = collect.decisions(tmp_path, tables)
    assert games == 10 == decisions.terminated.sum()
    rows = np.arange(len(decisions.action))
    assert decisions.mask[rows, decisions.action].all()
    assert decisions.hidden.reshape(len(rows), 5, 5).sum(axis=2).min() == 1
    assert set(decisions.rewards[decisions.terminated != 0].ravel().tolist()) == {1.0, -1.0}
    learner = SelfplayLearner(config(hidden=(64,), batch=64, imitation_rate=3e-3), tables)
    losses = [learner.imitate(decisions) for _ in range(20)]
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(ParlourError, match="holds no finished game"):
        collect.decisions(tmp_path, pool.tables_for(config(options={"num_players": 6}), 1))


# -- a run and its folder ----------------------------------------------------------------------------------------


def test_a_run_leaves_its_snapshots_tables_and_pictures(whole):
    folder, result = whole
    names = {f.name for f in folder.iterdir()}
    assert {"config.json", "checkpoint.npz", "policy.npz", "report.md", "summary.json", "progress.csv"} <= names
    snapshots = [f.name for f in sorted((folder / "snapshots").iterdir())]
    assert snapshots == [f"s{k:03d}.npz" for k in range(len(result.phases))]
    assert (folder / "policy.npz").read_bytes() == (folder / "snapshots" / snapshots[-1]).read_bytes()
    assert (folder / "crossplay.png").read_bytes().startswith(b"\x89PNG")
    policy = make_policy(str(folder / "policy.npz"), "avalon_v0", TrainedSeat.load(folder / "policy.npz").config)
    assert isinstance(policy, TrainedSeat)
    assert policy.sample
    assert result.phases[-1].share == 1
    assert result.phases[-1].steps >= 3000 > result.phases[-2].steps


def test_the_first_phase_imitates_and_learns_from_no_decision_of_its_own(whole):
    first = whole[1].phases[0]
    assert (first.steps, first.scores) == (0, ())
    assert 0 < first.losses["imitation"] < np.log(32)  # less than an even choice among all actions


def test_all_games_against_others_are_counted_by_opponent_and_side(whole):
    folder, result = whole
    rows = [row.split(",") for row in (folder / "training.csv").read_text().splitlines()[1:]]
    for phase in result.phases[1:]:
        counted = [row for row in rows if row[0] == str(phase.steps)]
        assert sum(int(row[3]) for row in counted) == sum(score.n for score in phase.scores) <= phase.games
        assert {score.member for score in phase.scores} <= {"heuristic", *(f"s{k:03d}" for k in range(phase.number))}


@pytest.mark.slow
def test_a_run_against_its_own_beginning_never_meets_the_heuristic(tmp_path):
    """Half of 16 tables against the imitation, s000, and the others alone."""
    result = run.selfplay(config(fixed="start", pool_share=0.0), Run(tmp_path))
    assert all({score.member for score in phase.scores} == {"s000"} for phase in result.phases[1:])
    assert all(sum(score.n for score in phase.scores) > phase.games / 4 for phase in result.phases[1:])


def test_learned_from_are_training_seeds_and_measured_is_on_held_out_ones(whole):
    assert all(seed in seeds.TRAINING for phase in range(3) for seed in pool.seeds_of_tables(config(), phase))
    measured = {game.seed for games in whole[1].crossplay.games.values() for game in games}
    assert measured == set(seeds.HELD_OUT[:4])


def test_a_finished_run_is_left_as_it_is_and_another_configuration_is_refused(whole):
    folder, _ = whole
    before = results(folder)
    run.selfplay(config(), Run(folder))
    assert results(folder) == before
    with pytest.raises(ParlourError, match=r"another configuration \(seed 0\); accepted: the same, or a new folder"):
        run.selfplay(config(seed=1), Run(folder))


def test_a_checkpoint_holds_weights_and_no_code(whole):
    with np.load(whole[0] / "checkpoint.npz", allow_pickle=False) as stored:
        kinds = {stored[name].dtype.kind for name in stored.files}
    assert kinds <= {"f", "U"}  # numbers, and plain values as JSON


def test_a_run_of_version_0_3_is_opened_if_what_it_did_can_be_done_today(whole, tmp_path):
    folder = Path(shutil.copytree(whole[0], tmp_path / "run"))
    stored = json.loads((folder / "config.json").read_text())
    more = {"anchor": "start", "anchor_every": 4, "believed": 0.0, "exploit_every": 0, "exploit_updates": 48}
    (folder / "config.json").write_text(json.dumps(stored | more))
    assert run.selfplay(config(), Run(folder)).phases == whole[1].phases
    assert json.loads((folder / "config.json").read_text()) == stored
    (folder / "config.json").write_text(json.dumps(stored | more | {"exploit_every": 4}))
    with pytest.raises(ParlourError, match=r"another configuration \(exploit_every 4\)"):
        run.selfplay(config(), Run(folder))


def test_a_broken_checkpoint_or_phase_is_refused_in_one_line(whole, tmp_path):
    for name, message in (
        ("checkpoint.npz", "not a checkpoint of this run"),
        ("phases/phase001.json", "train selfplay"),
    ):
        shutil.copytree(whole[0], tmp_path / name.replace("/", "-"))
        (tmp_path / name.replace("/", "-") / name).write_text("{}")
        (tmp_path / name.replace("/", "-") / "checkpoint.before.npz").unlink()  # which would be used
        with pytest.raises(ParlourError, match=message):
            run.selfplay(config(), Run(tmp_path / name.replace("/", "-")))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "mediated_qa_v0", "options": {}}, "this game has no sides"),
        ({"members": ("nobody",)}, "player over arrays 'nobody' is not accepted"),
        ({"members": ("heuristic",)}, "members 'heuristic' is not accepted"),
        ({"fixed_share": 1.5}, "fixed_share 1.5 is not accepted; accepted: a number from 0 to 1"),
        ({"fixed_share": 0.8, "pool_share": 0.4}, "accepted: at most 1 together"),
        ({"weighting": "soft"}, "weighting 'soft' is not accepted; accepted: hard, near"),
        ({"fixed": "random"}, "fixed 'random' is not accepted; accepted: heuristic, start"),
        ({"floor": 0.0}, "floor 0.0 is not accepted"),
        ({"minutes": 0}, "minutes 0 is not accepted"),
        ({"test_deals": 2}, "test_deals 2 is not accepted"),
        ({"population": ("logic",), "population_share": 0.5}, "population_share 0.5 are not accepted"),
        ({"population": ("logic", "logic")}, "accepted: different players or folders"),
        ({"population": ("no such",), "fixed_share": 0.0}, "player over arrays 'no such'"),
        ({"shown": 1}, "shown 1 is not accepted"),
        ({"tables": 0}, "tables 0 is not accepted"),
        ({"false_claim": 0.1}, "false_claim"),  # nobody speaks
        ({"false_claim": 0.1, "options": {"num_players": 5}}, "false_claim"),  # nobody judges claims of Avalon
        ({"bad_approval": 0.1, "game": "werewolf_v0", "options": {}}, "bad_approval"),  # its votes are for no teams
        ({"features": "smell"}, "features"),
        ({"device": "tpu"}, "device 'tpu' is not available here; accepted: cpu"),
        ({"options": {"num_players": 99}}, "99"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(changes, message, tmp_path):
    with pytest.raises(ParlourError, match=message):
        run.selfplay(config(**changes), Run(tmp_path / "new"))
    assert not (tmp_path / "new").exists()


# -- best responses ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_best_response_to_random_play_gains_and_its_interval_says_so():
    """Random play as good hardly passes three quests; evil, which wins most games anyway, learns to win nearly all."""
    options = {"num_players": 5, "rules": "official", "talk": False}
    made = BestResponseConfig(options=options, against="random", side="evil", steps=120_000, deals=200)
    result = best_response.best_response(made)
    assert result.gain.low > 0.1
    assert result.response.value > 0.85
    assert result.response.value - result.player.value == pytest.approx(result.gain.value)


@pytest.mark.parametrize(("sees", "learns_from"), [("record", "record"), ("belief", None)])
def test_a_best_response_to_a_network_of_the_record_sees_the_record_too(tmp_path, sees, learns_from):
    """Tables that show beliefs do not show the record, and the network could not play there."""
    env = registry["avalon_v0"].raw_env(features=sees, **SMALL["options"])
    layers = [(np.zeros((len(env.game.catalogue), env.encoder.size)), np.zeros(len(env.game.catalogue)))]
    path = tmp_path / "policy.npz"
    TrainedSeat("avalon_v0", env.game.config, layers, features=sees).save(path)
    settings = BestResponseConfig(options=SMALL["options"], against=str(path), side="good")
    assert best_response.learning_of(settings).features == learns_from


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_hands_its_options_on(tmp_path, monkeypatch):
    asked = []

    def stop(config, run):
        asked.append((config, run.path))
        raise ParlourError("enough")

    monkeypatch.setattr(run, "selfplay", stop)
    words = ["--steps", "100000", "--tables", "64", "--set", "talk=false", "--seed", "3"]
    assert cli.run(["train", "selfplay", "--out", str(tmp_path), *words]) == 2
    [(settings, out)] = asked
    assert out == tmp_path
    assert settings.options == {"talk": False}  # what is not named is the game's own
    assert (settings.steps, settings.tables, settings.seed) == (100_000, 64, 3)
    assert cli.run(["train", "selfplay", "werewolf_v0", "--players", "8"]) == 2
    assert asked[1][0].options == {"num_players": 8}
    assert asked[1][0].replace(game="avalon_v0", options={}) == SelfplayConfig()


@pytest.mark.nightly
def test_several_seeds_are_trained_and_told_together(tmp_path, capsys):
    numbers = {name: value for name, value in SMALL.items() if isinstance(value, int)} | {"steps": 1}
    words = ["--players", "5", "--rules", "official", "--set", "talk=false"]
    words += [f"--{name.replace('_', '-')}={value}" for name, value in numbers.items()]
    words += ["--hidden", "8", "--critic-hidden", "8", "--seeds", "2", "--workers", "2", "--out", str(tmp_path)]
    assert cli.run(["train", "selfplay", *words]) == 0
    data = json.loads((tmp_path / "summary.json").read_text())
    assert [seed["seed"] for seed in data["seeds"]] == [0, 1]
    means = [seed["whole_sides"]["mean"] for seed in data["seeds"]]
    assert data["whole_sides"]["mean"] == pytest.approx(np.mean(means))
    assert {"seed-0", "seed-1", "report.md"} <= {file.name for file in tmp_path.iterdir()}
