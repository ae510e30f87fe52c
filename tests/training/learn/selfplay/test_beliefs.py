"""What a network knows of the others, and what a decision weighs off belief: against worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")

from parlour.envs.core import ParlourError
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.learn.selfplay import pool, run
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learn import Session
from parlour.training.learn.selfplay.learner import SelfplayLearner, off_belief_weights, rates
from parlour.training.learn.selfplay.seating import Seating
from parlour.training.runs.progress import no_progress
from parlour.training.runs.run import Run


def config(**changes):
    return SelfplayConfig(**({"hidden": (8,), "critic_hidden": (8,), "tables": 8, "infer": 0.1} | changes))


def test_a_head_that_has_learned_nothing_gives_every_role_the_same_chance():
    """Five roles, two evil, one Merlin: chances 0.4, 0.2, 0.4; the loss of a seat is -log 0.4 = 0.916 or -log 0.2 = 1.609."""
    tables = pool.tables_for(config(), 8, autoreset=None)
    learner = SelfplayLearner(config(), tables)
    measured = run.measure_roles(learner, tables, list(range(8)))
    assert -np.log(0.4) < measured.head.value < 0.75 * -np.log(0.4) + 0.25 * -np.log(0.2) + 1e-6
    assert measured.difference.value == pytest.approx(measured.head.value - measured.habits.value)
    assert measured.head.n == 8


def test_a_head_that_learns_from_games_knows_more_than_one_that_has_not():
    made = config(imitation_steps=60_000, tables=64, hidden=(64,), imitation_rate=3e-3)
    from parlour.training.learn.selfplay.learn import imitate

    tables = pool.tables_for(made, 64)
    held_out = pool.tables_for(made, 64, autoreset=None)
    learner = SelfplayLearner(made, tables)
    before = run.measure_roles(learner, held_out, list(range(64))).head
    imitate(learner, no_progress)
    after = run.measure_roles(learner, held_out, list(range(64))).head
    assert after.high < before.low


def test_without_a_belief_among_the_features_there_is_nothing_to_compare_with():
    made = config(features="summary")
    tables = pool.tables_for(made, 4, autoreset=None)
    with pytest.raises(ParlourError, match="hold no belief; accepted: belief"):
        run.measure_roles(SelfplayLearner(made, tables), tables, [1, 2, 3, 4])


# -- off-belief learning -----------------------------------------------------------------------------------------


def test_a_decision_weighs_the_literal_chance_of_the_truth_over_that_of_the_population():
    """Two hidden states, literally even. The population makes the first three times as likely: 3/4 and 1/4.

    Weights 0.5 / 0.75 = 2/3 and 0.5 / 0.25 = 2; their mean over games of the population is 3/4 x 2/3 + 1/4 x 2 = 1.
    """
    ratio, literal = torch.log(torch.tensor([[3.0, 1.0]] * 2)), torch.full((2, 2), 0.5)
    weights = off_belief_weights(ratio, literal, torch.tensor([0, 1]), 1.0)
    assert weights.tolist() == pytest.approx([2 / 3, 2.0])
    assert off_belief_weights(ratio, literal, torch.tensor([0, 1]), 0.5).tolist() == pytest.approx(
        [0.8165, 1.4142], abs=1e-4
    )


def test_where_both_posteriors_agree_all_decisions_weigh_1():
    literal = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])
    agree = torch.zeros(2, 3)
    assert off_belief_weights(agree, literal, torch.tensor([1, 2]), 1.0).tolist() == pytest.approx([1.0, 1.0])


def test_a_weight_has_limits():
    """The population holds the truth for e^-9 as likely: 8,103 would be its weight, but it is 5; the other way 1/5."""
    ratio, literal = torch.tensor([[9.0, 0.0], [0.0, 9.0]]), torch.full((2, 2), 0.5)
    weights = off_belief_weights(ratio, literal, torch.tensor([1, 1]), 1.0)
    assert weights.tolist() == pytest.approx([5.0, 0.5], abs=1e-3)


def off_belief(**changes):
    options = {"num_players": 5, "rules": "official", "talk": False}
    few = {"steps": 2000, "turns": 40, "updates": 2, "imitation_steps": 500, "epochs": 1, "batch": 64}
    measured = {"validation_deals": 2, "deals": 2, "test_deals": 2}
    return config(options=options, infer=0.0, off_belief=1.0, **few | measured | changes)


def test_the_population_s_posterior_is_the_literal_one_until_it_has_learned():
    made = off_belief()
    tables = pool.tables_for(made, 8)
    learner = SelfplayLearner(made, tables)
    session = Session(learner, Seating.alone(8), {}, pool.seeds_of_tables(made, 0))
    player = NetworkPlayer("x", learner.playing(), tables.names)
    player.reset(tables, pool.seeds_of_tables(made, 0), 0)
    experience = session.collector.collect(player)
    assert experience.literal.shape == (len(experience.action), 50)
    assert experience.literal.sum(axis=1) == pytest.approx(1, abs=1e-5)
    usable = np.ones(len(experience.action), np.bool_)
    weights = learner._weights(torch.from_numpy(experience.observation), experience, usable)
    assert weights.tolist() == pytest.approx([1.0] * len(weights), abs=1e-5)
    session.update(rates(made, 0.0))
    changed = learner._weights(torch.from_numpy(experience.observation), experience, usable)
    assert changed.std() > 0
    assert float(changed.mean()) == pytest.approx(1.0, abs=1e-5)


def test_off_belief_a_run_that_was_killed_goes_on_to_the_same_bytes(tmp_path, monkeypatch):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run.selfplay(off_belief(), Run(whole))
    checkpoint = Run.checkpoint

    def kill(self, state, *more):
        checkpoint(self, state, *more)
        if state["told"]["phases"] == 2:
            raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(Run, "checkpoint", kill)
        with pytest.raises(RuntimeError, match="killed"):
            run.selfplay(off_belief(), Run(cut))
    run.selfplay(off_belief(), Run(cut))
    assert (cut / "policy.npz").read_bytes() == (whole / "policy.npz").read_bytes()
    assert (cut / "checkpoint.npz").read_bytes() == (whole / "checkpoint.npz").read_bytes()


def test_a_game_without_a_literal_posterior_is_refused():
    made = config(game="werewolf_v0", off_belief=1.0)
    with pytest.raises(ParlourError, match="no literal posterior"):
        SelfplayLearner(made, pool.tables_for(made, 8))
