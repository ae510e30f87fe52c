"""Questum, section 2.2: entropy, gain (Eq. 1 to 3), the epsilon-greedy choice, and what a pruner can do to a list."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.murder_mystery.questum import gain
from scipy.stats import chisquare


def test_entropy_of_n_suspects_is_ln_n_and_zero_for_one():
    # H = -ln(1/n): ln 1 = 0, ln 2 = 0.693147, ln 8 = 2.079442
    assert [gain.entropy(n) for n in (1, 2, 8)] == pytest.approx([0, 0.693147, 2.079442], abs=1e-6)
    with pytest.raises(ParlourError, match="number of suspects 0"):
        gain.entropy(0)


def test_gain_is_positive_when_the_list_shrinks_and_negative_when_it_grows():
    assert gain.gain(4, 2) == pytest.approx(math.log(2))
    assert gain.gain(2, 3) == pytest.approx(math.log(2 / 3))  # -0.405
    assert gain.gain(3, 3) == 0


def test_equation_1_weighs_the_latest_gain_with_one_and_the_kth_of_i_with_e_to_the_k_minus_i():
    # w = (e^-2, e^-1, 1) = (0.135335, 0.367879, 1); (0.135335*0.7 + 0.367879*0 + 1*(-0.4)) / 1.503215 = -0.203075
    assert gain.weighted_gain([0.7, 0.0, -0.4]) == pytest.approx(-0.203075, abs=1e-6)
    assert gain.weighted_gain([0.0, 1.0]) == pytest.approx(math.e / (1 + math.e))
    assert gain.weighted_gain([0.31]) == pytest.approx(0.31)
    assert gain.weighted_gain([]) == 0


@pytest.mark.parametrize(
    ("word", "value"),
    [("high", 1), (" HIGH ", 1), ("medium", 0), ("Low", -1), ("hgih", 0)],
)
def test_equation_2_in_letters_of_any_case_and_zero_for_unknown_words(word, value):
    assert gain.expected_gain(word) == value


def test_equation_3_by_hand():
    # 0.2 * ln 2 + 0.8 * (-1) = 0.138629 - 0.8
    assert gain.score([math.log(2)], -1.0, 0.2) == pytest.approx(-0.661371, abs=1e-6)
    assert gain.score([math.log(2)], -1.0) == gain.score([math.log(2)], -1.0, 0.2)  # the paper's beta
    assert [gain.score([0.3], -1.0, beta) for beta in (0.0, 1.0)] == pytest.approx([-1.0, 0.3])


SCORES = {4: 0.1, 2: 0.7, 0: 0.7, 3: -0.8}


def test_epsilon_zero_asks_the_best():
    rng = np.random.default_rng(0)
    assert {gain.choose({**SCORES, 0: 0.6}, 0.0, rng) for _ in range(200)} == {2}
    with pytest.raises(ParlourError):
        gain.choose({}, 0.5, rng)


def test_a_draw_among_equals_takes_each_of_the_best_alike_and_nobody_else():
    # 0.7 twice: 2000 of 4000 each, two standard deviations of a share are 0.016
    rng = np.random.default_rng(3)
    drawn = Counter(gain.choose(SCORES, 0.0, rng) for _ in range(4000))
    assert set(drawn) == {2, 0}
    assert drawn[2] / 4000 == pytest.approx(0.5, abs=0.025)
    drew, alone = np.random.default_rng(4), np.random.default_rng(4)
    assert gain.choose({1: 0.1 + 0.2, 5: 0.3}, 0.0, drew) in (1, 5)  # equal but for rounding
    assert gain.choose({1: 0.4, 5: 0.3}, 0.0, alone) == 1  # the best alone draws nothing more
    alone.integers(2)
    assert drew.random() == alone.random()


def test_epsilon_one_asks_uniformly():
    rng = np.random.default_rng(1)
    drawn = Counter(gain.choose(SCORES, 1.0, rng) for _ in range(4000))
    assert chisquare([drawn[seat] for seat in SCORES]).pvalue > 0.001  # 3 degrees of freedom


def test_epsilon_one_tenth_asks_the_best_in_all_but_three_of_forty():
    # 0.9 + 0.1 / 4 = 0.925; three standard deviations of a share in 4000 are 0.0125
    rng = np.random.default_rng(2)
    asked = [gain.choose({**SCORES, 0: 0.6}, 0.1, rng) for _ in range(4000)]
    assert asked.count(2) / 4000 == pytest.approx(0.925, abs=0.0125)


@given(st.lists(st.integers(-2, 9)), st.lists(st.integers(0, 5), min_size=1, unique=True), st.integers(2, 9))
def test_a_pruner_never_empties_the_list_and_names_each_player_once(proposed, before, players):
    others = range(players)
    kept = gain.pruned(proposed, before, others)
    assert kept
    assert len(set(kept)) == len(kept)
    named = [seat for seat in proposed if seat in others]
    assert set(kept) == (set(named) or set(before))


def test_a_pruner_may_bring_back_and_keeps_its_own_order():
    assert gain.pruned([3, 1, 3], [1, 2], [1, 2, 3]) == (3, 1)
    assert gain.pruned([], [2, 1], [1, 2, 3]) == (2, 1)
    assert gain.pruned([7, -1], [2], [1, 2, 3]) == (2,)
