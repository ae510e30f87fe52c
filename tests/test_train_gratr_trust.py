"""`parlour train gratr-trust`: episodes, the loss and its gradient, the fit, the logistic model, the run, and what is made of it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import KINDS, WEIGHTS, LearnedEvidence, read_parameters
from parlour.training import cli
from parlour.training.learn.reliability import run as reliability_fit
from parlour.training.learn.reliability.episodes import EpisodeTable, PlayedEpisode, TrustMoment, episode, first_seats
from parlour.training.learn.reliability.run import TrustTraining, learn_trust
from parlour.training.learn.tuning.gratr import GratrTuning
from parlour.training.papers import gratr_surface, logistic
from parlour.training.papers.gratr_trust_readers import read_readers

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


# -- the logistic model -----------------------------------------------------------------------------------------------


def test_terms_count_acts_by_what_is_known_of_the_other_end():
    evidence = LearnedEvidence(logistic.NOTHING, 1.0)
    for statement in (("accuse", 4, 1), ("accuse", 4, 1), ("vote", 1, 0), ("vote", 0, 1), ("defend", 1, 6)):
        evidence.act(*statement)
    evidence.claim(1)
    terms = logistic.terms(1, 0, 3, {4: False, 6: True}, [0.25] * 8, evidence)
    kinds = len(KINDS)
    expected = np.zeros(logistic.TERMS)
    expected[0 * kinds + KINDS.index("vote")] = np.log(2)  # by it, towards the village: the observer
    expected[1 * kinds + KINDS.index("defend")] = np.log(2)  # by it, towards a werewolf
    expected[3 * kinds + KINDS.index("accuse")] = np.log(3)  # towards it, twice by the village
    # two werewolves left among the five others: odds 2 to 3
    expected[-4:] = 1.0, 0.25, np.log(2 / 3), 1.0
    assert terms == pytest.approx(expected)


def test_the_logistic_model_learns_from_episodes(played):
    weights = np.array(logistic.fitted_terms([played]))
    rows = [
        (
            logistic.terms(target, moment.me, 3, dict(moment.known), moment.graph, moment.heard()),
            target in moment.wolves,
        )
        for moment in played.moments
        for target in moment.targets
    ]
    chance = 1 / (1 + np.exp(-np.array([x for x, _ in rows]) @ weights))
    bad = np.array([y for _, y in rows])
    assert chance[bad].mean() > chance[~bad].mean() + 0.1


# -- the run ----------------------------------------------------------------------------------------------------------

SMALL = TrustTraining(episodes=4, rounds=2, rho=(0.95,))


@pytest.mark.slow
def test_a_run_that_was_cut_off_ends_with_the_same_files(tmp_path):
    learn_trust(SMALL, tmp_path / "whole")
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    assert set(whole) == {
        "config.json",
        "episodes.jsonl",
        "parameters.json",
        "progress.csv",
        "readers.json",
        "report.html",
        "report.md",
    }
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "config.json").write_bytes(whole["config.json"])
    lines = whole["episodes.jsonl"].splitlines(keepends=True)
    (cut / "episodes.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:50])  # a head, two episodes, and part of one
    learn_trust(SMALL, cut)
    assert {path.name: path.read_bytes() for path in cut.iterdir()} == whole
    assert read_parameters(tmp_path / "whole" / "parameters.json").parameters == {"rho": 0.95}
    assert len(read_readers(tmp_path / "whole" / "readers.json").logistic) == logistic.TERMS
    with pytest.raises(ParlourError, match="another configuration"):
        learn_trust(TrustTraining(episodes=4, rounds=1, rho=(0.95,)), cut)


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


@pytest.mark.parametrize("data", [{}, {"habits": {}, "logistic": []}, {"habits": 3}, []])
def test_other_readers_are_refused(tmp_path, data):
    path = tmp_path / "readers.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ParlourError, match="cannot be read"):
        read_readers(path)


# -- the tuner that goes on from it -----------------------------------------------------------------------------------


def test_the_dense_reward_is_minus_the_log_loss_of_the_graph_s_trust():
    rewards = GratrTuning(reward_by="trust").reward({"rho": 0.95, "gamma": 0.1}, [3, 4])
    assert all(-4 < reward < -0.05 for reward in rewards)
    learned = GratrTuning(reward_by="trust", start="trained").reward({"rho": 1.0, "gamma": 0.1}, [3, 4])
    assert sum(learned) > sum(rewards)


def test_the_tuner_s_start_and_noise_stand_with_the_run_and_only_then():
    assert not {"start", "misread", "learned"} & set(GratrTuning().settings)
    settings = GratrTuning(start="trained", misread=0.1).settings
    assert (settings["start"], settings["misread"]) == ("trained", 0.1)
    with pytest.raises(ParlourError, match="cannot be read"):
        GratrTuning(start="nowhere.json")
    with pytest.raises(ParlourError, match="misread"):
        GratrTuning(misread=2.0)


# -- the tables -------------------------------------------------------------------------------------------------------


@pytest.fixture
def cells_of(json_of):
    return lambda *asked: json_of(["reproduce", *asked, "--json"])["cells"]


@pytest.mark.slow
def test_readers_add_rows_and_the_share_right_where_the_window_dares(cells_of):
    asked = ["gratr-trust", "--games", "2", "--ours", "gratr:parameters=trained", "--against", "werewolf_window"]
    cells = cells_of(*asked, "--readers", "trained")
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    assert rows == [
        *("GRATR", "GRATR, mode=paper", "GRATR, doubt=0.1", "history window", "logistic model"),
        *("Bayes, noise known", "Bayes, noise known, habits learned"),
    ]
    dared = [cell for cell in cells if cell["measure"].startswith("right, as many as the history window dares")]
    assert len(dared) == len(rows)
    assert dared[0]["value_difference"] is None
    assert all(cell["value_difference"] is not None for cell in dared[1:])
    plain = cells_of(*asked)
    # without readers the rows are as they were, and the numbers of those that are in both tables are the same
    assert {cell["row"] for cell in plain} == {"GRATR", "history window", "Bayes, noise known"}
    both = {(cell["row"], cell["measure"]): cell["value"] for cell in cells}
    assert all(both[cell["row"], cell["measure"]] == cell["value"] for cell in plain)


def test_both_designs_seat_every_method_on_both_sides(cells_of):
    cells = cells_of("gratr-designs", "--games", "2", "--against", "werewolf_window")
    assert {cell["of"] for cell in cells} == {"mixed blocks", "whole sides"}
    assert {cell["measure"] for cell in cells} == {
        "TWR, difference", "wins as werewolves", "wins as village", "werewolves win",
    }  # fmt: skip
    total = {cell["of"]: cell["ours"] for cell in cells if cell["measure"] == "TWR, difference"}
    for design, rate in total.items():
        parts = [cell["ours"] for cell in cells if cell["of"] == design and cell["measure"].startswith("wins as")]
        assert rate["hits"] == sum(part["hits"] for part in parts)
        assert rate["n"] == 2


@pytest.mark.slow
def test_the_surface_has_both_scores_in_every_cell_with_the_defaults_first(cells_of, monkeypatch):
    monkeypatch.setattr(gratr_surface, "RHOS", (0.5, 0.95))
    monkeypatch.setattr(gratr_surface, "GAMMAS", (0.1,))
    cells = cells_of("gratr-surface", "--games", "2", "--ours", "gratr:mode=paper")
    rows = list(dict.fromkeys(cell["row"] for cell in cells))
    assert rows == ["rho 0.95, gamma 0.1", "rho 0.5, gamma 0.1"]
    for measure in ("log loss", "TWR"):
        own = [cell for cell in cells if cell["measure"] == measure]
        assert [cell["row"] for cell in own] == rows
        assert [cell["value_difference"] is None for cell in own] == [True, False]
