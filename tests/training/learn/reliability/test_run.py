"""`parlour train gratr-trust`: episodes, the loss and its gradient, the fit, the run, and what is made of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import KINDS, WEIGHTS
from parlour.training import cli
from parlour.training.learn.reliability import run as reliability_fit
from parlour.training.learn.reliability.episodes import EpisodeTable, PlayedEpisode, TrustMoment, episode, first_seats
from parlour.training.learn.reliability.run import TrustTraining
from parlour.training.learn.tuning.gratr import GratrTuning

ROLES = ("Werewolf", "Villager", "Seer", "Werewolf", "Witch", "Villager", "Guard", "Werewolf")


@pytest.fixture(scope="module")
def played():
    return episode(EpisodeTable(5, "leaders_block", "werewolf_window", 0.1, 0.5), Parameters(), None)


def said(accused, wolves=(1, 2, 3), me=0):
    """A moment at which player 4, known to be of the village, has accused somebody."""
    acts = (("accuse", 4, accused),)
    return TrustMoment(me, acts, (), (), ((4, False),), (1, 2, 3, 5, 6, 7), (0.0,) * 8, wolves)


# -- episodes ---------------------------------------------------------------------------------------------------------


def test_the_first_method_holds_a_block_or_a_side():
    assert first_seats("wolves_block", ROLES) == [True, True, False, True, False, False, False, True]
    assert first_seats("leaders_block", ROLES) == [False, False, True, False, True, True, True, False]
    assert first_seats("all_wolves", ROLES) == [True, False, False, True, False, False, False, True]
    assert first_seats("all_village", ROLES) == [False, True, True, False, True, True, True, False]


def test_moments_are_of_the_village_about_the_living_it_does_not_know(played):
    assert len(played.moments) > 20
    for moment in played.moments:
        assert moment.me not in moment.wolves
        assert len(moment.wolves) == 3
        assert set(moment.targets).isdisjoint({moment.me, *(seat for seat, _ in moment.known)})
        assert all(bad == (seat in moment.wolves) for seat, bad in moment.known)


def test_an_episode_is_read_back_as_it_was_and_played_again_alike(played):
    assert PlayedEpisode.from_json(json.loads(json.dumps(played.as_json()))) == played
    assert episode(played.table, Parameters(), None) == played


def test_deals_are_of_the_training_seeds_and_rates_come_in_turn():
    tables = TrustTraining(episodes=6, rounds=3).tables
    assert all(table.seed < 2**30 for table in tables)
    assert len({table.seed for table in tables}) == 6
    assert [table.misread for table in tables] == [0.0, 0.1, 0.2] * 2
    assert [TrustTraining(episodes=6, rounds=3).round_of(k) for k in range(6)] == [0, 0, 1, 1, 2, 2]


# -- the fit ----------------------------------------------------------------------------------------------------------


def test_the_loss_of_weights_of_nothing_is_that_of_the_prior():
    # three werewolves among six unknown: even odds for each
    losses = reliability_fit.losses(np.zeros(WEIGHTS), reliability_fit.judged_moments([said(1), said(5)], 1.0))
    assert losses == pytest.approx([np.log(2)] * 2)


def test_the_gradient_is_that_of_the_loss(played):
    judged_moments = reliability_fit.judged_moments(played.moments[:8], 0.9)
    rng = np.random.default_rng(1)
    at = rng.normal(size=WEIGHTS)
    _, gradient = reliability_fit.loss(at, judged_moments, 0.01)
    for k in range(WEIGHTS):
        step = np.eye(WEIGHTS)[k] * 1e-5
        up, down = (reliability_fit.loss(at + sign * step, judged_moments, 0.01)[0] for sign in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-5)


def test_what_the_village_accuses_rightly_is_learned_as_often_as_it_is_right():
    # nine of ten accusations of a known villager hit a werewolf: odds 9 at even odds before
    moments = [said(1)] * 9 + [said(5)]
    weights = reliability_fit.fitted_weights(reliability_fit.judged_moments(moments, 1.0), 0.0)
    accuse = KINDS.index("accuse") * 4
    # roughly: with three werewolves in all, the chances of the other targets pull at the weight as well
    assert np.exp(weights[accuse + 1] - weights[accuse]) == pytest.approx(9, rel=0.35)


def test_the_decay_is_the_one_that_judges_the_other_half_best(played):
    again = [played] * 4
    fitted = reliability_fit.fit(again, (0.5, 1.0), 1e-3)
    assert [rho for rho, _ in fitted.grid] == [0.5, 1.0]
    assert fitted.rho == min(fitted.grid, key=lambda pair: pair[1])[0]
    assert np.mean(fitted.left_out) == pytest.approx(min(x for _, x in fitted.grid), abs=1e-5)
    # four times the same episode: taught by it, it is judged better than by the prior
    assert np.mean(fitted.left_out) < 0.69


# -- the run ----------------------------------------------------------------------------------------------------------


def test_the_command_learns_and_its_player_sits_down(tmp_path, json_of):
    out = tmp_path / "run"
    asked = ["train", "gratr-trust", "--episodes", "2", "--rounds", "1", "--rho", "1", "--out", str(out)]
    output = json_of([*asked, "--json"])
    assert output["rho"] == 1
    assert set(output["log_loss"]) == {"all", "misread=0", "misread=0.1"}
    player = f"gratr:parameters={out / 'parameters.json'}"
    assert cli.run(["play", "werewolf_v0", "--players", "8", "--policy", player, "--out", str(tmp_path / "games")]) == 0


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ({"episodes": 1}, "episodes"),
        ({"episodes": 5, "rounds": 3}, "rounds 3"),
        ({"others": ()}, "others"),
        ({"others": ("nobody",)}, "nobody"),
        ({"misread": (1.5,)}, "misread 1.5"),
        ({"rho": (-0.1,)}, "rho -0.1"),
        ({"ridge": 1.0}, "ridge"),
    ],
)
def test_settings_that_cannot_be_played_are_refused(edit, why):
    with pytest.raises(ParlourError, match=why):
        TrustTraining(**edit)


# -- the tuner that goes on from it -----------------------------------------------------------------------------------


def test_the_dense_reward_is_minus_the_log_loss_of_the_graph_s_trust():
    rewards = GratrTuning(reward_by="trust").reward({"rho": 0.95, "gamma": 0.1}, [3, 4])
    assert all(-4 < reward < -0.05 for reward in rewards)
    learned = GratrTuning(reward_by="trust", start="trained").reward({"rho": 1.0, "gamma": 0.1}, [3, 4])
    assert sum(learned) > sum(rewards)


def test_the_tuner_s_start_stands_with_the_run_and_only_then():
    assert not {"start", "learned"} & set(GratrTuning().settings)
    assert GratrTuning(start="trained").settings["start"] == "trained"
    with pytest.raises(ParlourError, match="cannot be read"):
        GratrTuning(start="nowhere.json")
