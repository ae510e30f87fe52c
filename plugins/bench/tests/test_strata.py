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


def test_its_test_against_zero_agrees_with_its_interval():
    # 1, 2, 3 and half a case at -2 or 2: mean 6 / 3.5, variance (5/7 ^2 + 2/7 ^2 + 9/7 ^2 + 0.5 (12/7 ^2 + 4)) / 3.5
    mean, variance = 6 / 3.5, ((25 + 4 + 81) / 49 + 0.5 * (144 / 49 + 4)) / 3.5
    estimate = stratified_mean([[1.0, 2.0, 3.0]], [1.0], (-4.0, 4.0))
    assert estimate.p == pytest.approx(2 * t.sf(mean / sqrt(variance / 3.5), 2.5))
    rng = np.random.default_rng(3)
    for _ in range(200):
        estimate = stratified_mean([rng.normal(0.5, 1, 6), rng.normal(0.5, 1, 16)], [0.5, 0.5], (-9.0, 9.0))
        assert (estimate.p < 0.05) == estimate.clear
    assert stratified_mean([[1.0, 2.0]], [1.0], (0.0, 4.0)).p is None  # nothing below zero is possible


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
