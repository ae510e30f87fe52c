"""How well beliefs tell who is evil (`training/learn/habits/avalon/scores.py`), against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from parlour.envs import replay, speech
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.policies import HeuristicPolicy
from parlour.training.learn.habits.avalon import scores
from parlour.training.learn.habits.avalon.games import of_transcript
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder


def read(game, losses, chances=((0.5,),), evil=((1,),)):
    return [
        scores.QuestRead(game, 5, quest, loss, chances[quest % len(chances)], evil[quest % len(evil)])
        for quest, loss in enumerate(losses)
    ]


def test_the_loss_is_the_mean_over_quests_and_its_interval_draws_games():
    found = scores.log_loss(read(0, (1.0, 1.0, 1.0)) + read(1, (0.0,)))
    assert found.mean == pytest.approx(0.75)
    assert found.n == 2
    assert (found.low, found.high) == (0.0, 1.0)  # both draws of one game have a chance of a quarter each


def test_differences_are_paired_by_quest():
    found = scores.difference(read(0, (2.0, 1.0)) + read(1, (5.0,)), read(0, (1.5, 0.5)) + read(1, (4.5,)))
    assert (found.mean, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="different games"):
        scores.difference(read(0, (1.0,)), read(1, (1.0,)))


def test_auc_counts_pairs_of_an_evil_and_a_good_seat():
    # evil 0.9 and 0.4 against good 0.4 and 0.1: 0.9 beats both, 0.4 beats one and ties with one: 3.5 of 4
    reads = read(0, (0.0,), ((0.9, 0.4, 0.4, 0.1),), ((1, 1, 0, 0),))
    assert scores.auc(reads) == pytest.approx(3.5 / 4)


def test_the_calibration_error_weighs_each_part_by_its_seats():
    # 0.1 - 0.2: mean 0.15, none evil; 0.9 - 1: mean 0.95, half evil: (2 (0.15) + 2 (0.45)) / 4
    reads = read(0, (0.0,), ((0.1, 0.1999999, 0.9, 1.0),), ((0, 0, 1, 0),))
    assert scores.calibration_error(reads) == pytest.approx(0.3, abs=1e-6)
    assert [(one.low, one.n) for one in scores.calibration(reads)] == [(0.1, 2), (0.9, 2)]


def test_chance_thinks_all_sides_alike():
    assert scores.chance_loss(5, 2) == pytest.approx(math.log(10))


def test_an_onlooker_is_asked_after_every_quest_and_sees_no_secret(tmp_path):
    path = tmp_path / "game.jsonl"
    env = Recorder(table("avalon_v0", num_players=5, rules="official"), path)
    play(env, [HeuristicPolicy() for _ in range(5)], seed=3)
    found = replay.read(path)
    reads = scores.onlooker([found], lambda _: AvalonHabits())
    record = of_transcript(found)
    assert len(reads) == sum(event.move.kind == "score" for event in record.events)
    belief = AvalonBelief(record.key().roles, -1, "", ())
    asked = iter(reads)
    for seat, move, _ in record.events:
        assert move.kind not in ("card", "deal")
        if move.kind in speech.ACTS:  # an onlooker without habits of words hears none
            continue
        belief.see(seat, move.kind, move.args)
        if move.kind == "score":
            assert next(asked).chances == pytest.approx(tuple(belief.evil_chance()))
