"""What a network knows of the others, and the reward for being believed: against worked numbers."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("parlour.training.learn.selfplay.run", reason="the extra `train` is not installed")

from parlour.envs import batch
from parlour.envs.core import ParlourError
from parlour.training.learn.selfplay import pool, run
from parlour.training.learn.selfplay.collect import BeliefReward
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learner import SelfplayLearner
from parlour.training.results.progress import no_progress

TALK = {"num_players": 5, "rules": "paper", "talk": True}


def config(**changes):
    return SelfplayConfig(**({"hidden": (8,), "critic_hidden": (8,), "tables": 8, "infer": 0.1} | changes))


def test_a_head_that_has_learned_nothing_gives_every_role_the_same_chance():
    """Five roles, two evil, one Merlin: chances 0.4, 0.2, 0.4; the loss of a seat is -log 0.4 = 0.916 or -log 0.2 = 1.609."""
    tables = pool.tables_for(config(), 8, autoreset=False)
    learner = SelfplayLearner(config(), tables)
    measured = run.measure_roles(learner, tables, list(range(8)))
    assert -np.log(0.4) < measured.head.value < 0.75 * -np.log(0.4) + 0.25 * -np.log(0.2) + 1e-6
    assert measured.difference.value == pytest.approx(measured.head.value - measured.habits.value)
    assert measured.head.n == 8


def test_a_head_that_learns_from_games_knows_more_than_one_that_has_not():
    made = config(imitation_steps=60_000, tables=64, hidden=(64,), imitation_rate=3e-3)
    from parlour.training.learn.selfplay.learn import imitate

    tables = pool.tables_for(made, 64)
    held_out = pool.tables_for(made, 64, autoreset=False)
    learner = SelfplayLearner(made, tables)
    before = run.measure_roles(learner, held_out, list(range(64))).head
    imitate(learner, no_progress)
    after = run.measure_roles(learner, held_out, list(range(64))).head
    assert after.high < before.low


def test_without_a_belief_among_the_features_there_is_nothing_to_compare_with():
    made = config(features="summary")
    tables = pool.tables_for(made, 4, autoreset=False)
    with pytest.raises(ParlourError, match="hold no belief; accepted: belief"):
        run.measure_roles(SelfplayLearner(made, tables), tables, [1, 2, 3, 4])


def test_a_speech_is_rewarded_by_how_far_it_moves_an_onlooker():
    """Each table says one random thing: for good the mean change of the chance of the two evil seats, for evil less that."""
    tables = batch.make("avalon_v0", num_envs=64, features="belief", **TALK)
    turns = tables.reset(5)
    reward = BeliefReward(tables, weight=0.5)
    columns = [k for k, name in enumerate(tables.names) if name.startswith("onlooker's: evil")]

    def outside(turns):
        by_seat = np.zeros((64, 5), np.float32)
        for b in range(64):
            for place, column in enumerate(columns):
                by_seat[b, (turns.actor[b] + place) % 5] = turns.observation[b, column]
        return by_seat

    rng = np.random.default_rng(0)
    for _ in range(8):
        reward.begin(turns.observation, turns.actor)
        before, actor, sides = outside(turns), turns.actor.copy(), tables.side.copy()
        speaking = turns.observation[:, tables.names.index("phase silent")] == 1
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in turns.mask], np.int32)
        turns = tables.step(actions)
        rewards = np.zeros((64, 5), np.float32)
        reward.add(turns, actor, actions, sides, rewards)
        after = outside(turns)
        for b in range(64):
            evil = sides[b] == 1
            moved = 0.5 * float((after[b] - before[b])[evil].mean()) * (speaking[b] and not turns.terminated[b])
            assert rewards[b, actor[b]] == pytest.approx(-moved if evil[actor[b]] else moved, abs=1e-6)
            assert np.count_nonzero(np.delete(rewards[b], actor[b])) == 0


def test_tables_that_show_no_onlooker_are_refused():
    tables = batch.make("avalon_v0", num_envs=2, features="summary", **TALK)
    with pytest.raises(ParlourError, match="show no onlooker's belief"):
        BeliefReward(tables, 0.1)
