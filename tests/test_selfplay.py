"""Self-play: whom the learner meets, what a killed run leaves, and that a run taken up is the run that was not cut."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, TrainedSeat, make_policy
from parlour.training import cli, seeds

pytest.importorskip("parlour.training.ppo.seat", reason="the extra `train` is not installed")
pytest.importorskip("openskill", reason="the extra `train` is not installed")

from parlour.training.selfplay import learn, pool, run, sampling
from parlour.training.selfplay.config import SelfplayConfig
from parlour.training.selfplay.pool import Member
from parlour.training.selfplay.sampling import Lineup, MemberScore
from parlour.training.selfplay.table import MakePoolSeat

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")

SMALL = {
    "steps": 512,
    "phase_steps": 256,
    "envs": 8,
    "processes": 1,
    "rollout": 128,
    "batch": 64,
    "epochs": 1,
    "hidden": (8,),
    "deals": 3,
    "test_deals": 4,
}
RANDOM, RULE, FIRST, LAST = (
    Member("random", "random"),
    Member("heuristic", "heuristic"),
    Member("s01", "?", 9),
    Member("s02", "?", 9),
)


def config(**changes):
    return SelfplayConfig(**(SMALL | changes))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never cut."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, run.selfplay(config(), folder)


def results(folder):
    """Everything a run leaves but pictures and the checkpoint, whose archive holds times."""
    kinds = (".npz", ".json", ".jsonl", ".csv", ".md")
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.suffix in kinds}


# -- prioritised sampling ----------------------------------------------------------------------------------------


def test_who_is_never_beaten_is_met_most_and_who_always_is_keeps_the_floor():
    assert [sampling.hard(p, 2.0, 0.02) for p in (0.0, 0.2, 0.5, 0.9, 1.0)] == pytest.approx(
        [1, 0.64, 0.25, 0.02, 0.02]
    )
    assert sampling.hard(0.5, 0.0, 0.02) == 1  # power 0: everybody alike


def test_the_other_weighting_meets_equals_most():
    """4 p (1 - p), at least the floor."""
    assert [sampling.near(p, 0.02) for p in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([0.02, 0.75, 1, 0.02])
    counted = [MemberScore("random", "good", "Merlin", 98, 98), MemberScore("heuristic", "good", "Merlin", 2, 0)]
    found = sampling.lineup(config(weighting="near"), [RANDOM, RULE, FIRST], ("good",), [counted])
    weights = np.array([4 * 0.99 * 0.01, 0.75, 1.0])
    assert found.chances["good"] == pytest.approx(weights / weights.sum())


def test_wins_are_estimated_by_side_and_older_games_count_less():
    one = [MemberScore("heuristic", "good", "Merlin", 8, 8), MemberScore("heuristic", "evil", "Minion", 4, 0)]
    two = [
        MemberScore("heuristic", "good", "Percival", 2, 0),
        MemberScore("heuristic", "good", "Merlin", 2, 0),
        MemberScore("x", "good", "y", 9, 9),
    ]
    assert sampling.win_rate([], "heuristic", "good", 0.5) == 0.5
    assert sampling.win_rate([one], "heuristic", "good", 0.5) == 9 / 10
    assert sampling.win_rate([one], "heuristic", "evil", 0.5) == 1 / 6
    assert sampling.win_rate([one, two], "heuristic", "good", 0.5) == (4 + 1) / (4 + 4 + 2)
    assert sampling.win_rate([one, two], "heuristic", "good", 0.0) == 1 / 6
    assert sampling.win_rate([one, two], "heuristic", "good", 1.0) == 9 / 14


def test_the_chances_of_a_lineup_are_the_weights_made_to_sum_to_one():
    counted = [MemberScore("random", "good", "Merlin", 98, 98), MemberScore("heuristic", "good", "Merlin", 98, 0)]
    found = sampling.lineup(config(), [RANDOM, RULE, FIRST], ("evil", "good"), [counted])
    weights = np.array([0.02, 0.99**2, 0.25])
    assert found.chances["good"] == pytest.approx(weights / weights.sum())
    assert found.chances["evil"] == pytest.approx([1 / 3] * 3)
    assert found.latest == FIRST
    assert sampling.lineup(config(), [RANDOM, RULE], ("evil", "good"), []).latest is None


def test_opponents_and_mates_are_drawn_with_the_shares_that_were_asked_for():
    lineup = Lineup(
        (RANDOM, RULE, FIRST, LAST), {"good": (0.1, 0.6, 0.3, 0.0), "evil": (1.0, 0, 0, 0)}, LAST, 0.25, 0.5
    )
    n = 4000
    drawn = Counter(lineup.drawn(seed, "good") for seed in range(n))
    opponents = {one: sum(c for (who, _), c in drawn.items() if who == one) / n for one in lineup.members}
    assert opponents[LAST] == pytest.approx(0.25, abs=0.03)  # 4 standard deviations
    assert opponents[RULE] == pytest.approx(0.75 * 0.6, abs=0.03)
    assert opponents[RANDOM] == pytest.approx(0.75 * 0.1, abs=0.02)
    with_self = sum(c for (who, mate), c in drawn.items() if who == RULE and mate == LAST)
    assert with_self / (n * opponents[RULE]) == pytest.approx(0.5, abs=0.05)
    assert {mate for who, mate in drawn if who == RULE} == {RULE, LAST}
    assert {lineup.drawn(seed, "evil")[0] for seed in range(50)} == {RANDOM, LAST}
    assert lineup.drawn(7, "good") == lineup.drawn(7, "good")
    first = replace(lineup, latest=None)
    assert all(who == mate and who != LAST for who, mate in (first.drawn(seed, "good") for seed in range(50)))


def test_games_are_counted_by_opponent_side_and_role():
    games = [
        {"member": "heuristic", "side": "good", "role": "Merlin", "return": 1.0},
        {"member": "heuristic", "side": "good", "role": "Merlin", "return": -1.0},
        {"member": "random", "side": "evil", "role": "Minion", "return": 0.0},
    ]
    assert sampling.member_scores(games) == [
        MemberScore("heuristic", "good", "Merlin", 2, 1),
        MemberScore("random", "evil", "Minion", 1, 0),
    ]


# -- the learner's table -----------------------------------------------------------------------------------------


def test_the_opponent_plays_the_other_side_and_the_mates_the_learners_own(whole):
    folder, _ = whole
    members = pool.members(config(), folder, 2)
    lineup = Lineup(tuple(members), {"good": (0, 1.0, 0, 0), "evil": (0, 1.0, 0, 0)}, members[-1], 0.0, 1.0)
    env = MakePoolSeat("avalon_v0", config().options, lineup)()
    for seed in range(5):
        env.reset(seed=seed)
        own = env.game_env.view(env.seat).side
        for seat in set(range(5)) - {env.seat}:
            mate = env.game_env.view(seat).side == own
            assert env.member_at(seat, seed).name == ("s02" if mate else "heuristic")
            assert type(env.learners._players[seat]._now) is (TrainedSeat if mate else HeuristicPolicy)
        over = False
        while not over:
            _, _, over, _, info = env.step(int(np.flatnonzero(env.action_masks())[0]))
            assert ("member" in info) == over
        assert (info["member"], info["side"], info["role"]) == ("heuristic", own, env.game_env.view(env.seat).role)


def test_a_snapshot_in_the_pool_draws_its_actions_and_a_snapshot_of_another_table_is_refused(whole):
    folder, _ = whole
    one = pool.members(config(), folder, 1)[-1]
    rules = TrainedSeat.load(one.source).config
    assert one.seat("avalon_v0", rules).sample
    with pytest.raises(ParlourError, match="was trained on avalon_v0"):
        one.seat("avalon_v0", {**rules, "num_players": 6})


def test_many_snapshots_are_thinned_evenly_with_the_first_and_the_last():
    snapshots = [Member(f"s{k:02d}", "?", k) for k in range(1, 22)]
    shown = pool.thinned([RANDOM, RULE, *snapshots], 5)
    assert [one.name for one in shown] == ["random", "heuristic", "s01", "s06", "s11", "s16", "s21"]
    assert pool.thinned([RANDOM, RULE, *snapshots[:5]], 5) == [RANDOM, RULE, *snapshots[:5]]


# -- a run and its folder ----------------------------------------------------------------------------------------


def test_a_run_leaves_its_snapshots_tables_and_pictures(whole):
    folder, found = whole
    assert {"config.json", "checkpoint.zip", "policy.npz", "report.md", "summary.json"} <= {
        f.name for f in folder.iterdir()
    }
    assert [f.name for f in sorted((folder / "snapshots").iterdir())] == ["s01.npz", "s02.npz"]
    assert (folder / "policy.npz").read_bytes() == (folder / "snapshots" / "s02.npz").read_bytes()
    for picture in ("crossplay.png", "curve.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    policy = make_policy(str(folder / "policy.npz"), "avalon_v0", TrainedSeat.load(folder / "policy.npz").config)
    assert isinstance(policy, TrainedSeat)
    assert (found.first, found.last) == ("s01", "s02")


def test_all_games_of_a_phase_are_tallied_and_the_tables_by_role_count_them_all(whole):
    folder, found = whole
    roles = [row.split(",") for row in (folder / "roles.csv").read_text().splitlines()[1:]]
    training = [row.split(",") for row in (folder / "training.csv").read_text().splitlines()[1:]]
    for phase in found.phases:
        steps = str(256 * (phase.number + 1))
        n = sum(one.n for one in phase.tallies)
        assert n > 0
        assert n == sum(int(row[3]) for row in roles if row[0] == steps)
        assert n == sum(int(row[4]) for row in training if row[0] == steps)
        for side in ("good", "evil"):
            assert sum(phase.chances[side].values()) == pytest.approx(1)
    assert {row[2] for row in roles} == {"Merlin", "Percival", "Loyal Servant", "Assassin", "Morgana"}
    assert {one.member for one in found.phases[0].tallies} == {"random", "heuristic"}
    assert "s01" in {one.member for one in found.phases[1].tallies}


KILLED = """
import os, signal

done = dict()

def progress(stage, more, total, note):
    done[stage] = done.get(stage, 0) + more
    if stage == {stage!r} and done[stage] >= {at}:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":  # not in the processes that play for this one
    from parlour.training.selfplay import run
    from parlour.training.selfplay.config import SelfplayConfig

    run.selfplay(SelfplayConfig(**{settings!r}), {folder!r}, progress)
"""


def kill(folder, tmp_path, stage, at, **changes):
    """Run in a process of its own until it kills itself."""
    script = tmp_path / "killed.py"
    words = {"stage": stage, "at": at, "settings": SMALL | changes, "folder": str(folder)}
    script.write_text(KILLED.format(**words))
    assert subprocess.run([sys.executable, "-W", "ignore", str(script)]).returncode == -signal.SIGKILL


@pytest.mark.slow
def test_a_run_killed_while_it_learns_and_while_it_measures_in_any_number_of_processes_equals_one_that_was_not(
    whole, tmp_path
):
    folder = tmp_path / "cut"
    kill(folder, tmp_path, "learning", 400, processes=2)
    assert (folder / "phases" / "phase01.json").exists()
    assert not (folder / "phases" / "phase02.json").exists()
    kill(folder, tmp_path, "cross-play", 20)
    assert 2 < len((folder / "crossplay.jsonl").read_text().splitlines()) < 7
    assert not (folder / "report.md").exists()
    with (folder / "crossplay.jsonl").open("a") as file:
        file.write("[[2147483648, ")  # what a kill may leave of a line
    run.selfplay(config(processes=2), folder)
    told, expected = results(folder), results(whole[0])
    settings = json.loads(told.pop("config.json")), json.loads(expected.pop("config.json"))
    assert {key for key in settings[0] if settings[0][key] != settings[1][key]} == {"processes"}
    assert told == expected


@pytest.mark.slow
def test_a_run_that_ended_between_the_files_of_a_phase_and_its_checkpoint_equals_one_that_did_not(
    whole, tmp_path, monkeypatch
):
    class EndedError(Exception):
        pass

    def end(model, folder):
        if model.num_timesteps > 256:
            raise EndedError
        save(model, folder)

    save = learn.learning.save_model
    monkeypatch.setattr(learn.learning, "save_model", end)
    with pytest.raises(EndedError):
        run.selfplay(config(), tmp_path)
    assert (tmp_path / "phases" / "phase02.json").exists()
    (tmp_path / "phases" / "phase02.json").write_text("half")
    monkeypatch.undo()
    run.selfplay(config(), tmp_path)
    assert results(tmp_path) == results(whole[0])


def test_another_seed_gives_another_run(whole, tmp_path):
    found = learn.learn(config(seed=1, steps=256), ("evil", "good"), tmp_path, lambda _steps, _note: None)
    assert found[0].tallies != whole[1].phases[0].tallies
    assert (tmp_path / "snapshots/s01.npz").read_bytes() != (whole[0] / "snapshots/s01.npz").read_bytes()


def test_a_finished_run_is_left_as_it_is_and_another_configuration_is_refused(whole):
    folder, _ = whole
    before = results(folder)
    games = []
    run.selfplay(config(), folder, lambda stage, done, total, note: games.append((stage, done)))
    assert games == [("learning", 512), *(("cross-play", n) for stage, n in games if stage == "cross-play")]
    assert results(folder) == before
    with pytest.raises(ParlourError, match=r"another configuration \(seed 0\); accepted: the same, or a new folder"):
        run.selfplay(config(seed=1), folder)


@pytest.mark.slow
def test_werewolf_is_learned_as_well(tmp_path):
    found = run.selfplay(config(game="werewolf_v0", options={}, steps=256, deals=1, test_deals=2), tmp_path)
    assert found.sides == ("village", "werewolf")
    assert {one.side for one in found.phases[0].tallies} <= {"village", "werewolf"}
    assert found.crossplay.rate("heuristic", "random").n == 2


def test_learned_from_are_training_seeds_and_measured_is_on_held_out_ones(whole, tmp_path, monkeypatch):
    seen = []
    drawn = Lineup.drawn

    def spy(self, seed, side):
        seen.append(seed)
        return drawn(self, seed, side)

    monkeypatch.setattr(Lineup, "drawn", spy)
    lineup = sampling.lineup(config(), [RANDOM, RULE], ("evil", "good"), [])
    env = MakePoolSeat("avalon_v0", config().options, lineup)()
    env.reset(seed=seeds.TRAINING[-1])
    for _ in range(3):
        env.reset()
    assert all(seed in seeds.TRAINING for seed in seen)
    assert len(set(seen)) == 4
    measured = {game.seed for games in whole[1].crossplay.games.values() for game in games}
    measured |= {game.seed for game in whole[1].seat.games}
    assert measured == set(seeds.HELD_OUT[:4])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "mediated_qa_v0", "options": {}}, "this game has no sides"),
        ({"members": ("nobody",)}, "policy 'nobody' is not accepted"),
        ({"members": ("heuristic",)}, "members 'heuristic' is not accepted"),
        ({"self_share": 1.5}, "self_share 1.5 is not accepted; accepted: a number from 0 to 1"),
        ({"weighting": "soft"}, "weighting 'soft' is not accepted; accepted: hard, near"),
        ({"floor": 0.0}, "accepted: a power from 0, a floor above 0"),
        ({"test_deals": 2}, "test_deals 2 is not accepted"),
        ({"shown": 1}, "shown 1 is not accepted"),
        ({"envs": 0}, "envs 0 is not accepted"),
        ({"options": {"num_players": 99}}, "99"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(changes, message, tmp_path):
    with pytest.raises(ParlourError, match=message):
        run.selfplay(config(**changes), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_broken_file_of_a_phase_is_refused(whole, tmp_path):
    import shutil

    shutil.copytree(whole[0], tmp_path / "run")
    path = tmp_path / "run" / "phases" / "phase02.json"
    path.write_text(json.dumps({"number": 1}))
    with pytest.raises(ParlourError, match="accepted: what `train selfplay` left"):
        run.selfplay(config(), tmp_path / "run")


# -- the command -------------------------------------------------------------------------------------------------


def test_the_command_hands_its_options_on_and_cuts_the_run_into_as_many_snapshots_as_asked(tmp_path, monkeypatch):
    asked = []

    def stop(config, out, progress):
        asked.append((config, out))
        raise ParlourError("enough")

    monkeypatch.setattr(run, "selfplay", stop)
    words = ["--steps", "100000", "--snapshots", "4", "--member", "x.npz", "--set", "talk=true", "--seed", "3"]
    assert cli.run(["train", "selfplay", "--out", str(tmp_path), *words]) == 2
    [(told, out)] = asked
    assert out == tmp_path
    assert told.options == {"num_players": 5, "rules": "official", "talk": True}
    assert (told.phases, told.phase_steps % told.rollout, told.members, told.seed) == (4, 0, ("x.npz",), 3)
    assert told.phases * told.phase_steps >= 100_000
    assert cli.run(["train", "selfplay", "werewolf_v0", "--players", "8"]) == 2
    assert asked[1][0].options == {"num_players": 8}
    assert (
        replace(asked[1][0], game="avalon_v0", options=SelfplayConfig().options) == SelfplayConfig()
    )  # its defaults are these


def test_the_command_refuses_a_game_without_sides_in_one_line(tmp_path, capsys):
    assert cli.run(["train", "selfplay", "mediated_qa_v0", "--out", str(tmp_path / "run")]) == 2
    [line] = [one for one in capsys.readouterr().err.splitlines() if "parlour:" in one]
    assert "this game has no sides" in line


def test_the_help_of_the_command_has_an_example(capsys):
    assert cli.run(["train", "selfplay", "--help"]) == 0
    assert "Example: parlour train selfplay" in " ".join(capsys.readouterr().out.replace("│", " ").split())
