"""`parlour train gratr`: the paper's mixed table as a problem, its two rewards by hand, and the command."""

from __future__ import annotations

import json
import pickle
import re
from types import SimpleNamespace

import pytest
from parlour.envs.core import NATURE, Event, Move, Outcome
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.gratr import Parameters
from parlour.training import cli
from parlour.training.learn.tuning import gratr as tuning
from parlour.training.learn.tuning.gratr import GratrTuning, scored
from parlour.training.learn.tuning.problem import Problem, TuneConfig, rewards
from parlour.training.learn.tuning.report import Tuned, verdict
from parlour.training.learn.tuning.study import Trial
from parlour.training.play import rollout
from parlour.training.play.rollout import Episode
from parlour.training.statistics import Estimate

DEFAULTS = {"rho": 0.95, "gamma": 0.1}
ROLES = ("Werewolf", "Villager", "Seer", "Werewolf", "Witch", "Villager", "Guard", "Werewolf")


def test_each_deal_is_played_from_both_sides_with_every_seat_held_once(monkeypatch):
    seated, real = [], rollout.play

    def play(env, players, seed):
        seated.append(([type(player).__name__ for player in players], seed))
        return real(env, players, seed)

    monkeypatch.setattr(tuning.rollout, "play", play)
    problem = GratrTuning(against="random")
    problem.reward(DEFAULTS, [11])
    (first, seed), (second, same) = seated
    assert seed == same == 11
    assert first.count("GratrAgent") == second.count("GratrAgent") == 4
    assert all((a == "GratrAgent") != (b == "GratrAgent") for a, b in zip(first, second, strict=True))
    env = rollout.table("werewolf_v0", num_players=8, rules="paper")
    env.reset(seed=11)
    roles = [env.game_env.view(seat).role for seat in range(8)]
    assert {role for role, who in zip(roles, first, strict=True) if who == "GratrAgent"} == {"Werewolf", "Villager"}


@pytest.mark.slow
def test_a_reward_is_a_function_of_parameters_and_deal():
    problem = pickle.loads(pickle.dumps(GratrTuning()))
    assert isinstance(problem, Problem)
    together = rewards(problem, DEFAULTS, [3, 4, 5])
    assert together == [*problem.reward(DEFAULTS, [3]), *problem.reward(DEFAULTS, [4, 5])]
    assert set(together) <= {0.0, 0.5, 1.0}
    assert problem.reward(DEFAULTS, [5, 4, 3]) == together[::-1]


def test_the_parameters_reach_the_graph(monkeypatch):
    made = []
    monkeypatch.setattr(tuning, "GratrAgent", lambda parameters: made.append(parameters) or make_random())
    GratrTuning(against="random", parameters=("rho", "width"), mode="paper").reward({"rho": 0.5, "width": 2}, [1])
    assert set(made) == {Parameters(rho=0.5, width=2, mode="paper")}


def make_random():
    return make_policy("random", "werewolf_v0", {})


def episode(winner, *ballots):
    events = tuple(Event(NATURE, Move("votes", (day, *votes)), None) for day, votes in enumerate(ballots, 1))
    views = tuple(SimpleNamespace(role=role, events=events) for role in ROLES)
    return Episode(0, Outcome((0.0,) * 8, winner, "wolves_dead"), 10, {}, views)


def test_performance_by_hand():
    # Table 3: 5 for winning; a vote for the other side counts +weight, for the own side -weight, a pass nothing.
    # Witch (4), weight 1.5: for a werewolf +1.5, for the seer -1.5, pass 0, dead 0. Werewolf (0), weight 0.5: +0.5 for
    # the witch, +0.5 for the seer, -0.5 for a fellow, then dead.
    played = episode(
        "village",
        (4, -1, -1, -1, 0, -1, -1, -1),
        (2, -1, -1, -1, 2, -1, -1, -1),
        (3, -1, -2, -1, -1, -1, -1, -1),
        (-2, -1, -2, -1, 7, -1, -1, -1),
    )
    assert scored(played, 4) == pytest.approx(5 + 1.5 - 1.5 + 0 + 1.5)
    assert scored(played, 0) == pytest.approx(0 + 0.5 + 0.5 - 0.5)
    assert scored(played, 6) == 5.0


def test_rewards_are_means_over_both_games_of_wins_or_of_the_scores_of_the_special_block(monkeypatch):
    won = iter(["werewolf", "werewolf"] * 2)
    votes = (4, -1, 0, 4, 0, -1, 0, 4)  # every special seat votes for the other side
    monkeypatch.setattr(tuning.rollout, "play", lambda *_: episode(next(won), votes))
    monkeypatch.setattr(tuning, "wolves_block", lambda _roles: frozenset({0, 1, 3, 7}))
    # with the werewolves won, with the leaders lost
    assert GratrTuning(against="random").reward(DEFAULTS, [1]) == [0.5]
    # the werewolves 5.5 each; the leaders, who lost, 1.5 each: (5.5 + 1.5) / 2
    assert GratrTuning(against="random", reward_by="performance").reward(DEFAULTS, [1]) == [3.5]


# -- the command -------------------------------------------------------------------------------------------------

TINY = ["--games", "4", "--budget", "2", "--held-out", "4", "--finalists", "1"]


@pytest.mark.slow
def test_the_command_trains_tests_and_draws(tmp_path, capsys, json_of):
    out = tmp_path / "run"
    command = ["train", "gratr", *TINY, "--reward", "performance", "--against", "random"]
    command += ["--out", str(out)]
    output = json_of([*command, "--json"])
    assert output["out"] == str(out)
    assert set(output["trained"]) == {"rho", "gamma"}
    assert output["held_out"]["difference"]["n"] == 2
    assert output["verdict"] in (out / "report.md").read_text()
    config = json.loads((out / "config.json").read_text())
    assert config["settings"]["against"] == "random"
    for name in ("best.json", "curve.png", "progress.csv", "held_out.csv"):
        assert (out / name).exists()
    assert cli.run(command) == 0  # taken up: nothing is left to do
    assert "report.md" in capsys.readouterr().out


@pytest.mark.slow
def test_the_test_costs_as_much_as_the_trials_and_says_how_many_deals_show_three_points(tmp_path, json_of):
    """2 trials of 8 games: 16 games, half for each of the two parameter sets, two games a deal."""
    command = ["train", "gratr", "--games", "8", "--budget", "2", "--finalists", "0", "--against", "random"]
    output = json_of([*command, "--out", str(tmp_path / "run"), "--json"])
    assert output["held_out"]["difference"]["n"] == 2 * 8 // 2 // 2


def test_the_verdict_of_games_won_says_how_many_deals_would_show_three_points():
    # 100 deals, a mean of +1 point with a standard error of 2: too few for 3 points
    difference = Estimate(0.01, -0.0297, 0.0497, 100, 0.6)
    problem, trial = GratrTuning(), Trial(1, {"rho": 0.9, "gamma": 0.1}, (0.5,), True)
    said = verdict(Tuned(problem, TuneConfig(), trial, (trial,), {}, None, difference, {}))
    assert said.startswith("No difference between the trained parameter set and the default one was shown: +1.0 points")
    assert re.search(r"about [\d,]+ would show 3\.0 points", said)
    by_score = Tuned(problem.replace(reward_by="performance"), TuneConfig(), trial, (trial,), {}, None, difference, {})
    assert "reward a deal" in verdict(by_score)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--games", "5"], "games 5"),
        (["--held-out", "7"], "held-out 7"),
        (["--parameters", "rho,sigma"], "parameter 'sigma'"),
        (["--parameters", "rho,rho"], "each once"),
        (["--against", "nobody"], "opponent 'nobody'"),
        (["--against", "werewolf_window:k=x=y"], "is not accepted"),
        (["--against", "human"], "opponent 'human'"),
        (["--reward", "fame"], "reward_by 'fame'"),
        (["--mode", "mine"], "mode 'mine'"),
    ],
)
def test_bad_input_is_told_in_one_line(tmp_path, error_of, arguments, why):
    assert why in error_of(["train", "gratr", "--out", str(tmp_path / "run"), *arguments])
    assert not (tmp_path / "run").exists()
