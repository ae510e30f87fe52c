"""What stated beliefs and claims are worth in recorded games of Avalon: log loss, skill, calibration, the effect of a claim.

Worked numbers: a seat with two others, one of them evil; prior 0.5 for both, exact posterior 0.9 for the evil one and 0.1 for the other.
loss(prior) = log 2 = .6931, loss(exact) = -log .9 = .1054, loss(.7, .3) = -log .7 = .3567, skill = (.6931 - .3567) / (.6931 - .1054) = .5725.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonHabits
from parlour.training.cli import run
from parlour.training.measure.avalon.beliefs import opening_belief
from parlour.training.measure.avalon.games import read_game
from parlour.training.measure.avalon.moments import BeliefMoment
from parlour.training.measure.avalon.persuasion import claim_effects
from parlour.training.measure.avalon.stated import LEAST, loss, stated_scores

ANYBODY = BeliefMoment(
    game="a",
    table=("avalon_v0", {}),
    by_player=True,
    opponent="heuristic",
    seat=0,
    seed=0,
    text="",
    info={},
    truth=(True, False),
    prior=(0.5, 0.5),
    exact=(0.9, 0.1),
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_log_loss_is_the_mean_of_minus_log_of_what_was_given_to_the_truth():
    """A wrong certainty costs no more than minus log of the least probability."""
    assert loss((0.7, 0.3), (True, False)) == pytest.approx(0.3567, abs=1e-4)
    assert loss((0.0, 1.0), (True, False)) == pytest.approx(-np.log(LEAST))


def test_skill_is_the_share_of_the_way_from_the_prior_to_the_exact_posterior_if_there_is_one():
    """Calibration error is the mean distance of chances and shares."""
    scores = stated_scores([ANYBODY], [(0.7, 0.3)], rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(0.5725, abs=1e-4)
    assert scores.calibration == pytest.approx(0.3)
    assert stated_scores([replace(ANYBODY, exact=ANYBODY.prior)], [(0.7, 0.3)], rng()).skill is None


def test_skill_is_a_ratio_of_sums_and_a_game_is_one_case():
    other = replace(ANYBODY, game="b", exact=(0.5, 0.5))
    scores = stated_scores([ANYBODY, ANYBODY, other], [ANYBODY.exact] * 3, rng())
    assert scores.skill is not None
    assert scores.skill.value == pytest.approx(1.5)  # 3 x .5878 gained, of 2 x .5878 to be gained
    assert scores.skill.n == scores.loss.n == 2
    assert scores.moments == 3


def test_the_first_claim_of_a_game_has_the_effect_of_leaving_it_out(tmp_path):
    """Before it nothing was said, so that a listener knows what the night showed, and with the claim one piece of evidence more."""
    assert run(["play", "avalon_v0", "-n", "6", "--games", "4", "--out", str(tmp_path)]) == 0
    for path in tmp_path.glob("*.jsonl"):
        game = read_game(path)
        first = next(event for event in game.log if event.move.kind in ("accuse", "defend", "recommend"))
        listeners = [seat for seat in range(game.seats) if seat not in game.evil and seat != first.seat]
        towards = []
        for seat in listeners:
            losses = []
            for said in ((), (first,)):
                belief = opening_belief(game, seat, AvalonHabits())
                for event in said:
                    belief.see(event.seat, *event.move)
                chances = np.delete(belief.evil_chance(), seat)
                losses.append(loss(chances, [other in game.evil for other in range(game.seats) if other != seat]))
            towards.append(losses[0] - losses[1])
        effect = next(claim_effects(game))
        assert effect.evil == (first.seat in game.evil)
        assert effect.effects == pytest.approx([-gain if effect.evil else gain for gain in towards])
