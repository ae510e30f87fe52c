"""What a network knows of the others: against worked numbers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")

from parlour.envs.core import ParlourError
from parlour.training.learn.selfplay import pool, run
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learner import SelfplayLearner
from parlour.training.runs.progress import no_progress


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
