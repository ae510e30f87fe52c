"""Trust at every judgement: its log loss on worked numbers, and a reader at the moments of the village."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from parlour.policies import make_policy
from parlour.training.learn.reliability.judgements import TrustJudgement, certain, judgements, log_loss
from parlour.training.play import rollout

GAME = "werewolf_v0"


@pytest.fixture
def eight():
    return rollout.table(GAME, num_players=8, rules="paper")


def judged(eight, seed=5):
    config = eight.game_env.game.config
    player, reader = (partial(make_policy, name, GAME, config) for name in ("werewolf_window", "gratr"))
    return judgements(eight, seed, player, reader)


def test_the_log_loss_of_certainty_of_a_coin_and_of_an_error():
    judged = [TrustJudgement(0, 1, ally, trust) for trust, ally in ((0.0, True), (0.8, True), (0.8, False))]
    # -ln 0.5, -ln 0.9, -ln 0.1
    assert log_loss(judged) == pytest.approx([0.6931, 0.1054, 2.3026], abs=1e-4)
    # certainty that is wrong counts as a chance of 0.02
    assert log_loss([TrustJudgement(0, 1, False, 1.0)]) == pytest.approx([-np.log(0.02)])


def test_it_judges_the_living_players_whom_the_observer_does_not_know(eight):
    rows = judged(eight)
    assert len(rows) > 50
    assert all(-1 <= row.trust <= 1 for row in rows)
    views = [eight.game_env.view(seat) for seat in range(8)]
    assert all(row.ally == (views[row.target].side != "werewolf") for row in rows)
    assert all(views[row.observer].side != "werewolf" and row.observer != row.target for row in rows)
    seer = next(view for view in views if view.role == "Seer")
    assert {seer.seat, *(seat for seat, _ in seer.checks)} <= certain(seer)


def test_the_reader_changes_nothing_in_the_game_and_a_seed_repeats_it(eight):
    assert judged(eight, 7) == judged(eight, 7)
    config = eight.game_env.game.config
    played = eight.game_env.moves[:]
    rollout.play(eight, [make_policy("werewolf_window", GAME, config) for _ in range(8)], 7)
    assert eight.game_env.moves == played
