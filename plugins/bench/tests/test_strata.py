"""The mean over strata by hand, and how often its interval is right."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from parlour_bench.strata import stratified_mean
from scipy.stats import t


def test_its_value_is_the_weighted_mean_of_the_strata():
    assert stratified_mean([[0.0, 1.0], [1.0, 2.0, 3.0]], [0.25, 0.75], (0.0, 4.0)).value == 0.125 + 1.5


def test_its_interval_has_half_a_case_more_a_quarter_of_the_range_from_the_middle():
    # four cases of 0 and half a case at 0.25 or 0.75: mean 0.25 / 4.5, variance (4 m^2 + 0.5 ((0.5 - m)^2 + 1/16)) / 4.5
    mean = 0.25 / 4.5
    variance = (4 * mean**2 + 0.5 * ((0.5 - mean) ** 2 + 1 / 16)) / 4.5
    estimate = stratified_mean([[0.0] * 4], [1.0], (0.0, 1.0))
    assert (estimate.value, estimate.low) == (0.0, 0.0)
    assert estimate.high == pytest.approx(mean + t.ppf(0.975, 3.5) * sqrt(variance / 4.5))


def test_changed_signs_test_against_zero():
    # 1, 2, 3: of the 8 ways to set the signs two have a mean as far from zero, so p = 1/4; 2,000 draws know it within 0.03
    estimate = stratified_mean([[1.0, 2.0, 3.0]], [1.0], (-4.0, 4.0), np.random.default_rng(1))
    assert estimate.p == pytest.approx(0.25, abs=0.03)


def test_strata_of_one_case_or_of_cases_that_are_all_the_same_have_an_interval():
    for strata in ([[0.0, 1.0], [1.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0], [0.0]]):
        estimate = stratified_mean(strata, [0.5, 0.5], (0.0, 1.0))
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.low < estimate.high


def test_stratified_intervals_cover_the_truth_about_as_often_as_they_say():
    """500 times two strata of 6 and 16 cases, won with chances 0.1 and 0.6: 90 of 100 is about four standard errors below 95."""
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(500):
        strata = [rng.random(6) < 0.1, rng.random(16) < 0.6]
        estimate = stratified_mean(strata, [0.5, 0.5], (0.0, 1.0))
        covered += estimate.low <= 0.35 <= estimate.high
    assert 0.9 < covered / 500 < 0.985
