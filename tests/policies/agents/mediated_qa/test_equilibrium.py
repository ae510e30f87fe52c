"""Correlated equilibria: games whose answer is published, restricted feasible sets, and the modules of GRACE."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa import equilibrium
from parlour.policies.agents.mediated_qa.equilibrium import NormalForm, correlated, module_game, obedience
from parlour.policies.agents.mediated_qa.joint import ALL, COSTS, PUBLISHED

from tests.policies.agents.mediated_qa import nash
from tests.policies.agents.mediated_qa.nash import product_of

# Aumann (1987), figure 2: dare or chicken out; rows and columns: chicken, dare
CHICKEN = NormalForm(np.array([[[6.0, 2.0], [7.0, 0.0]], [[6.0, 7.0], [2.0, 0.0]]]))
DILEMMA = np.array([[[3.0, 0.0], [5.0, 1.0]], [[3.0, 5.0], [0.0, 1.0]]])


def three_players(cells):
    """Osborne and Rubinstein (1994), figure 48.1: player 2 picks the matrix; here with axes (row, column, matrix)."""
    payoffs = np.zeros((3, 2, 2, 3))
    for place, paid in cells.items():
        payoffs[(slice(None), *place)] = paid
    return NormalForm(payoffs)


MATRICES = three_players(
    {
        (0, 0, 0): (0, 0, 3),
        (1, 0, 0): (1, 0, 0),
        (0, 0, 1): (2, 2, 2),
        (1, 1, 1): (2, 2, 2),
        (1, 0, 2): (0, 1, 0),
        (1, 1, 2): (0, 0, 3),
    }
)


class Solved(NamedTuple):
    probabilities: np.ndarray
    welfare: float
    obedience: equilibrium.Obedience


def solved(game, welfare=None):
    """The equilibrium, its welfare, and what disobeying it gains."""
    p = correlated(game, welfare)
    aim = game.payoffs.sum(axis=0) if welfare is None else welfare
    return Solved(p, float(np.where(game.possible, p * aim, 0.0).sum()), obedience(game, p))


def test_chicken_the_best_correlated_equilibrium_is_better_than_every_nash():
    # Told to chicken out, a player expects (6 * 1/2 + 2 * 1/4) / (3/4) = 14/3 and (7 * 1/2 + 0 * 1/4) / (3/4) = 14/3 by
    # daring: just obeyed. Welfare 12/2 + 9/4 + 9/4 = 10.5.
    solution = solved(CHICKEN)
    np.testing.assert_allclose(solution.probabilities, [[0.5, 0.25], [0.25, 0.0]], atol=1e-12)
    assert solution.welfare == pytest.approx(10.5, abs=1e-12)
    assert solution.obedience.worst <= 1e-9
    profiles = nash.support_enumeration(CHICKEN)
    assert len(profiles) == 3
    assert max(nash.welfare(CHICKEN, profile) for profile in profiles) == pytest.approx(28 / 3)  # mixed (2/3, 1/3)
    assert sorted(nash.pure_nash(CHICKEN)) == [(0, 1), (1, 0)]


def test_three_players_the_mediator_keeps_the_third_in_the_dark():
    # Player 2 stays at matrix 1 as long as neither corner is likelier than 2/3; no pure Nash equilibrium pays so much.
    solution = solved(MATRICES)
    assert solution.welfare == pytest.approx(6.0, abs=1e-9)
    assert solution.probabilities[:, :, 1].sum() == pytest.approx(1.0, abs=1e-9)
    assert 1 / 3 - 1e-9 <= solution.probabilities[0, 0, 1] <= 2 / 3 + 1e-9
    assert solution.obedience.worst <= 1e-9
    assert max(MATRICES.payoffs.sum(axis=0)[place] for place in nash.pure_nash(MATRICES)) < 6


def test_obedience_regret_by_hand():
    # Told "cooperate" always, each could earn 5 for 3; a mixture of (c, c) and (d, d) leaves half of it.
    game = NormalForm(DILEMMA)
    result = obedience(game, np.array([[0.5, 0.0], [0.0, 0.5]]))
    assert result.regrets == pytest.approx((1.0, 1.0))
    assert result.worst == pytest.approx(1.0)
    np.testing.assert_allclose(result.gains[0], [[0.0, 1.0], [-0.5, 0.0]])  # told d, doing c: 0 for 1, half the time
    assert obedience(game, np.array([[0.0, 0.0], [0.0, 1.0]])).worst == 0.0
    np.testing.assert_allclose(correlated(game), [[0, 0], [0, 1]], atol=1e-12)
    # matching pennies, always matched: whoever wants to differ gains 1 on either half, and both count
    pennies = NormalForm(np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]))
    assert obedience(pennies, np.eye(2) / 2).regrets == pytest.approx((0.0, 1.0))
    assert obedience(pennies, np.eye(2) / 2).worst == pytest.approx(0.5)


def test_a_deviation_that_leads_to_an_infeasible_joint_action_cannot_be_made():
    together = NormalForm(DILEMMA, np.eye(2, dtype=bool))
    assert solved(together).welfare == pytest.approx(6.0)
    assert solved(together).obedience.regrets == (0.0, 0.0)
    with pytest.raises(ParlourError, match="infeasible joint action has a probability"):
        obedience(together, np.full((2, 2), 0.25))


def test_no_equilibrium_is_told():
    # Six feasible cells in a ring; whoever can move on gains 1, so that no cell may be recommended.
    ring = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0)]
    feasible, payoffs = np.zeros((3, 3), dtype=bool), np.zeros((2, 3, 3))
    for k, place in enumerate(ring):
        feasible[place] = True
        mover = (k + 1) % 2  # from even cells player 1 moves on, along its row
        payoffs[(mover, *place)], payoffs[(1 - mover, *place)] = 0.0, 1.0
    with pytest.raises(ParlourError, match="no correlated equilibrium exists on this feasible set"):
        correlated(NormalForm(payoffs, feasible))


@pytest.mark.parametrize(
    ("payoffs", "feasible", "message"),
    [
        (np.zeros((2, 2)), None, "shape of payoffs"),
        (np.zeros((2, 2, 2)), np.ones((2, 3), bool), "shape of feasible"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2), bool), "without a feasible joint action"),
        (np.full((1, 2), np.nan), None, "not finite"),
    ],
)
def test_games_that_are_none_are_refused(payoffs, feasible, message):
    with pytest.raises(ParlourError, match=message):
        NormalForm(payoffs, feasible)


def test_shapes_and_distributions_that_do_not_fit_are_refused():
    with pytest.raises(ParlourError, match="shape of welfare"):
        correlated(CHICKEN, np.zeros(2))
    with pytest.raises(ParlourError, match="not finite"):
        correlated(CHICKEN, np.full((2, 2), np.inf))
    with pytest.raises(ParlourError, match="sum to 2"):
        obedience(CHICKEN, np.full((2, 2), 0.5))
    with pytest.raises(ParlourError, match="none below 0"):
        obedience(CHICKEN, np.array([[1.5, -0.5], [0.0, 0.0]]))
    with pytest.raises(ParlourError, match="support enumeration takes two players"):
        nash.support_enumeration(MATRICES)


@st.composite
def games(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    payoffs = (
        rng.integers(-3, 4, size=(len(shape), *shape)) if draw(st.booleans()) else rng.normal(size=(len(shape), *shape))
    )
    return NormalForm(payoffs * draw(st.sampled_from([1.0, 1e-3, 170.0, 1e6])))


@given(games())
def test_every_obedience_constraint_holds_and_no_pure_nash_is_better(game):
    solution = solved(game)
    assert solution.probabilities.min() >= 0
    assert solution.probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert solution.obedience.worst <= 1e-9 * max(1.0, game.scale)
    total = game.payoffs.sum(axis=0)
    for place in nash.pure_nash(game):
        assert solution.welfare >= total[place] - 1e-9 * max(1.0, game.scale)
    if len(game.payoffs) == 2:
        for profile in nash.support_enumeration(game):
            assert obedience(game, product_of(profile)).worst <= 1e-8 * game.scale
            assert solution.welfare >= nash.welfare(game, profile) - 1e-8 * game.scale


# -- the modules of GRACE --------------------------------------------------------------------------------------

NLI, PLAIN, REFUSE = PUBLISHED[:3]


@pytest.mark.parametrize("own", [False, True], ids=["common payoff", "individual costs"])
def test_the_best_joint_action_is_the_equilibrium_of_a_common_payoff_and_with_individual_costs_in_full(own):
    # gross - own cost differs from net by what the others' actions cost: a deviation changes both alike
    rng = np.random.default_rng(0)
    for actions in (PUBLISHED, *[ALL] * 5, ALL[3:7], ALL[:1]):
        net = dict(zip(actions, rng.normal(0, 50, len(actions)).tolist(), strict=True))
        solution = solved(module_game(net, individual_costs=own), equilibrium.as_array(net))
        row = equilibrium.as_row(solution.probabilities, tuple(net))
        assert row[max(net, key=net.get)] == pytest.approx(1.0, abs=1e-9)
        assert solution.obedience.worst <= 1e-9


def test_individual_costs_pay_the_gross_utility_less_ones_own_action():
    # Net 53 with costs 1 + 2 + 4: gross 60. The retriever gets 59, the generator 58, the verifier 56.
    game = module_game({NLI: 53.0, PLAIN: 47.0}, individual_costs=True)
    assert game.payoffs[:, 0, 0, 0].tolist() == [59.0, 58.0, 56.0]
    assert game.payoffs[:, 0, 0, 1].tolist() == [49.0, 48.0, 50.0]
    assert game.possible.sum() == 2
    assert module_game({NLI: 53.0}).payoffs[:, 0, 0, 0].tolist() == [53.0] * 3


@pytest.mark.parametrize(("share", "best", "welfare"), [(0.3, PLAIN, 47.0), (0.5, NLI, 53.0)])
def test_a_verifier_with_a_small_share_does_not_check(share, best, welfare):
    # Checking is worth 10 in all and costs 4: the verifier obeys if 10 * share >= 4. With 0.3 it gains 15 - 14 = 1.
    net = {NLI: 53.0, PLAIN: 47.0}
    game = module_game(net, individual_costs=True, share=share)
    solution = solved(game, equilibrium.as_array(net))
    assert equilibrium.as_row(solution.probabilities, (NLI, PLAIN))[best] == pytest.approx(1.0)
    assert solution.welfare == pytest.approx(welfare)
    result = obedience(game, equilibrium.as_array({NLI: 0.5, PLAIN: 0.5}))
    assert result.regrets == pytest.approx((0.0, 0.0, 0.5))  # 1 is gained on the half where it was told the worse


def test_rows_and_arrays():
    row = {NLI: 0.25, REFUSE: 0.75}
    assert equilibrium.as_row(equilibrium.as_array(row), (NLI, REFUSE)) == row
    assert equilibrium.as_row(equilibrium.as_array(row), (REFUSE,)) == {REFUSE: 1.0}
    with pytest.raises(ParlourError, match="has a probability"):
        equilibrium.as_row(equilibrium.as_array(row), (PLAIN,))
    with pytest.raises(ParlourError, match="share -1 is not accepted"):
        module_game({NLI: 1.0}, individual_costs=True, share=-1)
    assert sum(COSTS[action] for action in NLI) == 7
