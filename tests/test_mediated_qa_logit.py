"""The logit equilibrium: known ends, the fixed point itself, and another solver."""

from __future__ import annotations

import math

import nash
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.equilibrium import NormalForm, product_of
from parlour.training.learn.mediators.quantal import LogitEquilibrium, logit
from scipy.optimize import brentq

PENNIES = NormalForm(np.array([[[4.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]))
DILEMMA = NormalForm(np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]]))
CHICKEN = NormalForm(np.array([[[6.0, 2.0], [7.0, 0.0]], [[6.0, 7.0], [2.0, 0.0]]]))


def far_from_response(game: NormalForm, found: LogitEquilibrium) -> float:
    """The same as `error`, reckoned in another way: by sums over all joint actions."""
    worst = 0.0
    for i in range(game.players):
        others = [np.ones(n) if k == i else found.profile[k] for k, n in enumerate(game.shape)]
        weighted = game.payoffs[i] * product_of(tuple(others))
        value = weighted.sum(axis=tuple(k for k in range(game.players) if k != i)) / found.temperature
        p = np.exp(value - value.max())
        worst = max(worst, float(np.abs(p / p.sum() - found.profile[i]).max()))
    return worst


def test_one_player_is_softmax():
    # exp(1) / (1 + exp(1)) = 0.7310585786300049
    found = logit(NormalForm(np.array([[0.0, 2.0]])), 2.0)
    assert found.profile[0][1] == pytest.approx(0.7310585786300049, abs=1e-12)


def test_a_symmetric_game_by_bisection():
    # In chicken at equal p: p = 1 / (1 + exp(((7 p + 0 q) - (6 p + 2 q)) / tau)) = 1 / (1 + exp((3 p - 2) / tau))
    for temperature in (5.0, 1.0, 0.2):
        p = brentq(lambda x, t=temperature: x - 1 / (1 + math.exp((3 * x - 2) / t)), 0.0, 1.0, xtol=1e-15)
        found = logit(CHICKEN, temperature)
        assert found.profile[0][0] == pytest.approx(p, abs=1e-10)
        assert found.profile[1][0] == pytest.approx(p, abs=1e-10)


@pytest.mark.parametrize("game", [PENNIES, DILEMMA, CHICKEN])
def test_it_tends_to_uniform_play(game):
    for p in logit(game, 1e7).profile:
        np.testing.assert_allclose(p, 0.5, atol=1e-6)


def test_it_tends_to_nash():
    # Matching pennies with a prize of 4: the matcher plays 1/2 each, the other one 1/5 the prized side.
    found = logit(PENNIES, 1e-6)
    np.testing.assert_allclose(found.profile[0], [0.5, 0.5], atol=1e-5)
    np.testing.assert_allclose(found.profile[1], [0.2, 0.8], atol=1e-5)
    (mixed,) = nash.support_enumeration(PENNIES)
    np.testing.assert_allclose(mixed[1], [0.2, 0.8], atol=1e-12)
    for p in logit(DILEMMA, 1e-3).profile:
        np.testing.assert_allclose(p, [0.0, 1.0], atol=1e-12)


@st.composite
def games(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    payoffs = rng.integers(-3, 4, size=(len(shape), *shape)) * draw(st.sampled_from([0.01, 1.0, 40.0]))
    return NormalForm(payoffs.astype(float))


@given(games(), st.sampled_from([10.0, 1.0, 0.2, 0.03]))
def test_it_is_a_fixed_point_with_the_regret_that_the_temperature_allows(game, share):
    temperature = share * game.scale
    found = logit(game, temperature)
    assert found.error <= 1e-10
    assert far_from_response(game, found) <= 1e-9
    for i, own in enumerate(found.profile):
        others = [np.ones(n) if k == i else found.profile[k] for k, n in enumerate(game.shape)]
        value = (game.payoffs[i] * product_of(tuple(others))).sum(axis=tuple(k for k in range(game.players) if k != i))
        # the entropy term: what is given up is at most tau ln(actions)
        assert value.max() - own @ value <= temperature * math.log(len(own)) + 1e-9 * game.scale


def test_what_cannot_be_used_is_refused():
    holes = NormalForm(DILEMMA.payoffs, np.array([[True, False], [True, True]]))
    with pytest.raises(ParlourError, match="a payoff for every joint action"):
        logit(holes, 1.0)
    assert logit(holes.completed(-9.0), 1.0).error <= 1e-10
    for temperature in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ParlourError, match=r"temperature .* is not accepted"):
            logit(DILEMMA, temperature)


def against_gambit() -> list[NormalForm]:
    """Twelve games without symmetry, of two and three players."""
    rng = np.random.default_rng(7)
    shapes = [(2, 2), (3, 3), (4, 2), (2, 2, 2), (3, 2, 2), (2, 3, 3)]
    drawn = [NormalForm(rng.integers(-5, 6, size=(len(s), *s)).astype(float)) for s in shapes for _ in range(2)]
    return [PENNIES, DILEMMA, *drawn]


@pytest.mark.parametrize("number", range(14))
def test_gambit_finds_the_same(number):
    gambit = pytest.importorskip("pygambit", reason="PYGAMBIT IS NOT INSTALLED: the other solver of logit equilibria")
    game = against_gambit()[number]
    theirs = gambit.Game.from_arrays(*game.payoffs)
    for strength in (0.2, 1.0, 4.0):
        (point,) = gambit.qre.logit_solve_lambda(theirs, [strength])
        for player, own in zip(theirs.players, logit(game, 1 / point.lam).profile, strict=True):
            told = [point.profile[strategy] for strategy in player.strategies]
            np.testing.assert_allclose(own, told, atol=1e-6)
