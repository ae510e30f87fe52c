"""Intervals and tests of `parlour.training.statistics` by hand: worked numbers, ends of what is possible, what has none."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest
from parlour.training.statistics import COUNT, SHARE, SHARE_DIFFERENCE, UNCLEAR, Estimate, margin

# Student's t, 97.5 % points, as tables print them
T_1, T_2, T_3 = 12.706205, 4.302653, 3.182446


NINE_TO_ONE = [True] * 9 + [False] + [True] * 40, [False] * 9 + [True] + [True] * 40
BY_HAND = {
    # Wilson: (0.75 + z^2/8 -+ z sqrt(0.75 * 0.25 / 4 + z^2/64)) / (1 + z^2/4), z = 1.96, z^2 = 3.8415
    "a rate": (Estimate.rate(3, 4), 0.75, (0.300642, 0.954413)),
    # Wald with a half case more in each cell: 10/52 - 2/52; 8/52 -+ 1.96 sqrt((12/52 - (8/52)^2) / 52) = 0.15385 -+ 0.12369
    "9 against 1 of 50": (Estimate.paired(*NINE_TO_ONE), 0.16, (0.030155, 0.277537)),
    # p_a = 3/4, p_b = 1/4; 0.5 -+ 1.96 sqrt((1 - 0.25) / 4) = 0.5 -+ 0.849, within one
    "2 of 2 against none": (Estimate.paired([True] * 2, [False] * 2), 1.0, (-0.348689, 1.0)),
    "none of 2 against 2": (Estimate.paired([False] * 2, [True] * 2), -1.0, (-1.0, 0.348689)),
    # Student: squares 4 + 1 + 0 + 9 = 14, error sqrt(14 / 3 / 4) = 1.0801
    "1, 2, 3, 6": (Estimate.mean([1.0, 2.0, 3.0, 6.0]), 3.0, (3 - T_3 * 1.080123, 3 + T_3 * 1.080123)),
    # 0 and 1: error 0.5; a mean lies within what is possible
    "two values": (Estimate.mean([0.0, 1.0]), 0.5, (0.5 - T_1 / 2, 0.5 + T_1 / 2)),
    "a share": (Estimate.mean([0.0, 1.0], SHARE), 0.5, (0.0, 1.0)),
    "a difference of shares": (Estimate.mean([0.0, 1.0], SHARE_DIFFERENCE), 0.5, (-1.0, 1.0)),
    "a count": (Estimate.mean([0.0, 1.0], COUNT), 0.5, (0.0, 0.5 + T_1 / 2)),
    # Cochran: (1 * 0 + 3 * 1) / 4; residuals 1 * -0.75, 3 * 0.25: squares 2 * 0.5625; error sqrt(2 * 1.125) / 4 = 0.375
    "weighted": (Estimate.weighted_mean([0.0, 1.0], [1.0, 3.0]), 0.75, (0.75 - 0.375 * T_1, 0.75 + 0.375 * T_1)),
    "a weighted share": (Estimate.weighted_mean([0.0, 1.0], [1.0, 3.0], SHARE), 0.75, (0.0, 1.0)),
}


@pytest.mark.parametrize("what", BY_HAND)
def test_an_estimate_by_hand(what):
    estimate, value, interval = BY_HAND[what]
    assert estimate.value == pytest.approx(value)
    if interval:
        assert (estimate.low, estimate.high) == pytest.approx(interval, abs=1e-5)


def test_the_ends_of_an_estimate_are_those_of_its_interval_or_its_value():
    assert Estimate(3.0, 1.0, 4.0, 9).ends == (1.0, 4.0)
    assert Estimate(3.0, None, None, 1).ends == (3.0, 3.0)


def test_an_estimate_has_its_cases_and_its_test_against_zero():
    assert (Estimate.rate(3, 4).hits, Estimate.rate(3, 4).n) == (3, 4)
    assert (BY_HAND["1, 2, 3, 6"][0].n, BY_HAND["weighted"][0].n) == (4, 2)
    # t = 3 / 1.0801 = 2.7775; 0.5 / sqrt((1 - 0.25) / 4) = 1.1547 standard errors; no mean below zero is possible: there is nothing to test
    for values in ([1.0, 2.0, 3.0, 6.0], [-1.0, -2.0, -3.0, -6.0]):
        assert Estimate.mean(values).p == pytest.approx(0.0691, abs=1e-4)
    assert [BY_HAND[f"{k} against {j}"][0].p for k, j in (("2 of 2", "none"), ("none of 2", "2"))] == pytest.approx(
        [0.248213] * 2, abs=1e-6
    )
    assert [BY_HAND[what][0].p is None for what in ("a share", "a count", "a difference of shares")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(("a", "b"), [([], []), ([True], [True, False]), ([True, True], [True])])
def test_pairs_are_of_one_length_and_there_is_one(a, b):
    with pytest.raises(ValueError, match=f"paired lists of {len(a)} and {len(b)} cases"):
        Estimate.paired(a, b)


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0], [2.0] * 5])
def test_one_value_or_all_alike_have_a_mean_and_nothing_else(values):
    assert Estimate.mean(values) == Estimate(2.0, n=len(values))
    assert Estimate.weighted_mean(values, [1] * len(values)) == Estimate(2.0, n=len(values))
    assert not Estimate.mean(values).clear


def test_no_values_have_no_mean():
    with pytest.raises(ValueError, match="one or more"):
        Estimate.mean([])


@pytest.mark.parametrize(
    ("estimate", "clear"),
    [
        (Estimate.mean([1.0, 1.1, 1.2]), True),
        (Estimate.mean([-1.0, -1.1, -1.2]), True),
        (Estimate.mean([-1.0, 0.5, 1.0]), False),
        (Estimate(1.0, 0.0, 2.0, 2, 0.05), False),  # zero at an end is not left out
        (Estimate(-1.0, -2.0, 0.0, 2, 0.05), False),
    ],
)
def test_an_interval_is_clear_if_it_leaves_out_zero(estimate, clear):
    assert estimate.clear is clear


def test_a_paired_verdict_and_its_p_never_contradict_each_other():
    """By an exact test, 20 against 9 of 29 had p = 0.06, where the interval leaves out zero."""
    for n in (5, 20, 60, 200):
        for only_a in range(0, n + 1, 1 + n // 30):
            for only_b in range(0, n + 1 - only_a, 1 + n // 30):
                same = [True] * (n - only_a - only_b)
                estimate = Estimate.paired(
                    [True] * only_a + [False] * only_b + same, [False] * only_a + [True] * only_b + same
                )
                assert (estimate.p < 0.05) == estimate.clear == (estimate.outcome != UNCLEAR)


def test_a_difference_takes_the_cases_that_both_have():
    # (1, 2, 5) - (0, 0, 0, 9) on the first three: the fourth case of B is left out
    assert Estimate.mean_difference([1.0, 2.0, 5.0], [0.0, 0.0, 0.0, 9.0]) == Estimate.mean([1.0, 2.0, 5.0])
    assert Estimate.mean_difference([0.0, 0.0, 0.0, 9.0], [1.0, 2.0, 5.0]) == Estimate.mean([-1.0, -2.0, -5.0])


@pytest.mark.parametrize(
    ("estimate", "name"),
    [
        (Estimate.rate(3, 4), "rate"),
        (Estimate.paired([True, True, False], [False, True, True]), "difference"),
        (Estimate.mean([1.0, 2.0, 6.0]), "mean"),
        (Estimate.mean([2.0]), "mean"),
    ],
)
def test_what_was_written_of_an_estimate_is_read_back(estimate, name):
    written = estimate.as_json()
    assert {"rate", "difference", "mean"} & written.keys() == {name}
    assert written[name] == estimate.value
    assert Estimate.of_json(written) == estimate


def test_cases_without_weight_do_not_count():
    assert Estimate.weighted_mean([0.0, 1.0, 50.0], [1.0, 3.0, 0.0]) == Estimate.weighted_mean([0.0, 1.0], [1.0, 3.0])


def test_margins_of_many_means_at_once():
    # n = 3: t with 2 degrees; one value, no value, or no error: none
    widths = margin([[2.0, 2.0], [0.0, 1.0]], [[3, 1], [3, 0]])
    assert widths[0, 0] == pytest.approx(2 * T_2, abs=1e-3)
    assert np.isnan([widths[0, 1], widths[1, 0], widths[1, 1]]).all()
    assert isnan(float(margin(1.0, 1)))
    assert float(margin(sqrt(2), 2)) == pytest.approx(sqrt(2) * T_1, abs=1e-3)


def test_no_values_have_no_margin_even_if_their_number_has_no_sign():
    # 0 - 1 of unsigned numbers would be 255 degrees of freedom
    assert np.isnan(margin([1.0, 1.0], np.array([0, 1], np.uint8))).all()


def test_an_interval_is_shown_in_its_unit_or_as_a_dash():
    estimate = Estimate(0.1, -0.05, 0.25, 9, 0.2)
    assert estimate.interval("+.1f", 100) == "[-5.0, +25.0]"
    assert estimate.interval(".2f") == "[-0.05, 0.25]"
    assert Estimate(0.1, n=1).interval(".2f") == "-"
    assert Estimate(0.1, 0.0, None, 1, None).interval(".2f") == "-"
    assert Estimate(0.1, None, 0.0, 1, None).interval(".2f") == "-"
