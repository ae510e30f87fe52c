"""The equations of GRATR (Zhu et al. 2024), one after the other, with known answers worked out by hand.

What the paper leaves undefined has a function of its own; each is tested where the printed equation breaks.
"""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement

from tests.policies.agents.werewolf.gratr.recomputed import merged

NUMBER = st.floats(-1, 1, allow_nan=False)
UNIT = st.floats(0, 1, allow_nan=False)


def trust_after(
    graph: TrustGraph, speaker: int | None, player: int, confidence: float, weight: float | None = None
) -> float:
    """The trust in a player after a statement about him."""
    intents = [] if weight is None else [(player, weight)]
    graph.observe(1, speaker, "words", intents, [GraphJudgement(player, confidence)])
    return graph.trust[player]


# -- the functions of single equations ---------------------------------------------------------------------------------

KNOWN = {
    "Eq. 2: up to epsilon, in either direction, the prior stands in for T(j)": [
        (eq.speaker_factor, (trust, 0.2, 0.5), expected)
        for trust, expected in ((0.0, 0.5), (0.2, 0.5), (-0.2, 0.5), (0.25, 0.25), (-0.25, -0.25), (1.0, 1.0))
    ],
    "Eq. 3: the stronger one stays, a draw changes nothing": [
        (eq.stronger, (trust, u), expected)
        for trust, u, expected in (
            (0.3, 0.2, 0.3), (0.3, 0.4, 0.4), (0.3, -0.3, 0.3), (0.3, -0.31, -0.31), (0.0, 0.0, 0.0), (-0.5, 0.6, 0.6),
        )
    ],
    "Eq. 4: 0.25 x 0.4 - 0.5 x 0.6 + 1.0 = 0.8, tanh(0.8); the published code takes a single raw weight": [
        (merged, ([], 0.95), 0), (merged, ([0.0] * 9, 0.95), 0), (merged, ([0.5], 0.95), 0.46211715726),
        (merged, ([0.4, -0.6, 1.0], 0.5), 0.66403677027),
    ],
    "Eq. 5: T(p_2) tau(p_2, p_1) + T(p_3) tau(p_3, p_2) = 0.4 x 0.5 + (-0.2) x (-0.6)": [
        (eq.chain_value, ([0.4, -0.2], [0.5, -0.6]), 0.32)
    ],
    "Eq. 6: who attacks a friend's friend is an enemy, and who attacks a known adversary gains": [
        (eq.chain_trust, (0.8, [0.5, -0.6]), -0.24), (eq.chain_trust, (-1, [-0.7]), 0.7),
    ],
    "Eq. 7: of the absolute value, 0 at 0, the maximum 1 / (e ln 2) at 1/e; the code has the natural logarithm": [
        *((eq.entropy, (u,), expected) for u, expected in ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.5, 0.5), (-0.5, 0.5))),
        (eq.entropy, (0.25,), 0.5), (eq.entropy, (1 / math.e,), 1 / (math.e * math.log(2))),
        (eq.entropy, (1 / math.e, "code"), 1 / math.e),
    ],
    "Eq. 8: |u| - H, at least the floor of 0.05 |u|; the code's weight would be 0 at 1/e; V - H in mode paper": [
        *(
            (eq.chain_weight, (u, 123.0, Parameters()), expected)
            for u, expected in ((1.0, 1.0), (-1.0, 1.0), (0.5, 0.025), (0.25, 0.0125), (0.8, 0.5424575), (0.0, 0.0))
        ),
        (eq.chain_weight, (1 / math.e, 0.0, Parameters(mode="code")), 0.05 / math.e),
        (eq.chain_weight, (1 / math.e, 0.0, Parameters(floor="code")), 0.0),
        (eq.chain_weight, (0.25, 9.0, Parameters(floor="none")), -0.25),
        (eq.chain_weight, (0.25, 0.1, Parameters(mode="paper", floor="none")), -0.4),
        *((eq.chain_weight, (0.5, value, Parameters(mode="paper")), expected) for value, expected in ((0.9, 0.4), (-0.9, 0.025), (0.2, 0.025))),
    ],
    "Eq. 8: (0.3 x 0.8 + 0.1 x (-0.4)) / 0.4; one chain gives its own trust; none gives no new trust": [
        (eq.weighted, ([0.8, -0.4], [0.3, 0.1]), 0.5), (eq.weighted, ([1 / math.e], [0.05 / math.e]), 1 / math.e),
        (eq.weighted, ([-0.3], [0.0]), -0.3), (eq.weighted, ([], []), None), (eq.weighted, ([0.0, 0.0], [0.0, 0.0]), None),
        (eq.weighted, ([0.5, -0.5], [0.3, -0.3]), None), (eq.weighted, ([0.9, -0.5], [0.3, -0.2]), 1),
    ],
    "Eq. 8: the result takes over with the same sign or when stronger": [
        (eq.takes_over, (trust, new), expected)
        for trust, new, expected in (
            (0.5, 0.3, True), (0.5, -0.3, False), (0.5, -0.6, True), (0.0, 0.1, True), (0.0, 0.0, False), (0.5, -0.5, False),
        )
    ],
    "Eq. 9: 0.1 x 0.4 / 0.8 + 0.5, where the paper prints a trust for the last term; no quotient by no trust; cut off at 1": [
        (eq.backward, (0.5, 0.1, 0.4, 0.8), 0.55), (eq.backward, (0.5, 0.1, -0.4, 0.8), 0.45),
        *((eq.quotient, (0.4, before), None) for before in (0.0, 1e-7, -1e-7)),
        *((eq.backward, (0.5, 0.1, 0.4, before), 0.5) for before in (0.0, 1e-7, -1e-7)),
        (eq.backward, (0.5, 0.1, 0.9, 0.001), 1), (eq.backward, (-0.5, 0.1, -0.9, 0.001), -1),
    ],
}  # fmt: skip


@pytest.mark.parametrize("what", KNOWN)
def test_an_equation_has_the_value_worked_out_by_hand(what):
    for function, arguments, expected in KNOWN[what]:
        assert function(*arguments) == (expected if expected is None else pytest.approx(expected)), (
            arguments,
            expected,
        )


@given(st.lists(NUMBER, max_size=30), UNIT)
def test_eq_4_step_by_step_is_the_printed_sum(weights, rho):
    """The graph adds one item at a time; the paper sums over m of rho^(n-m) w_m. With rho = 1 the order says nothing."""
    n = len(weights)
    printed = math.tanh(math.fsum(rho ** (n - 1 - m) * weight for m, weight in enumerate(weights)))
    graph = TrustGraph(3, 0, parameters=Parameters(rho=rho))
    for weight in weights:
        graph.observe(1, 1, "words", [(2, weight)])
    assert graph.tau(1, 2) == pytest.approx(printed, abs=1e-9)
    assert merged(weights, rho) == graph.tau(1, 2)
    assert merged(weights, 1.0) == pytest.approx(math.tanh(math.fsum(weights)), abs=1e-9)
    assert merged(weights, 0.0) == pytest.approx(math.tanh(weights[-1]) if weights else 0)


# -- the graph: its start, Table 1, Eqs. 1 to 3 ------------------------------------------------------------------------


def test_at_the_start_trust_is_1_in_oneself_and_0_in_others_and_there_is_no_edge():
    graph = TrustGraph(4, me=2)
    assert graph.trust == [0, 0, 1, 0]
    assert isinstance(graph.net, nx.DiGraph)
    assert (list(graph.net.nodes), list(graph.net.edges)) == ([0, 1, 2, 3], [])
    assert (graph.tau(0, 1), graph.evidence(0, 1)) == (0, ())
    assert [graph.role(k) for k in range(4)] == [0, 0, 1, 0]
    assert [graph.certain(k) for k in range(4)] == [False, False, True, False]
    assert Parameters() == Parameters(
        rho=0.95, gamma=0.1, epsilon=0.2, width=3, length=4, prior=0.5, mode="grounded", floor=0.05
    )


@pytest.mark.parametrize(
    ("trust", "expected"), [(1, 1), (0.21, 1), (0.2, 0), (0.0, 0), (-0.2, 0), (-0.21, -1), (-1, -1)]
)
def test_table_1_role_class_with_both_bounds_indifferent(trust, expected):
    assert eq.role_class(trust, 0.2) == TrustGraph(2, 0, initial={1: trust}).role(1) == expected


def test_certain_players_are_pinned_from_the_start_and_never_move():
    graph = TrustGraph(4, 0)
    graph.pin(1, 1, 0, "known from the start")
    graph.pin(2, -1, 0, "known from the start")
    for player, confidence in ((0, -1.0), (1, -1.0), (2, 1.0)):
        trust_after(graph, None, player, confidence)
    assert graph.trust[:3] == [1, 1, -1]
    assert [graph.role(k) for k in range(3)] == [1, 1, -1]
    assert all(graph.certain(k) for k in range(3))


def test_eq_1_evidence_is_added_in_order_and_to_its_own_direction_only():
    """The published code writes the list to the reverse edge too; here j -> k and k -> j are apart."""
    graph = TrustGraph(4, 0)
    graph.observe(1, 1, "first", [(2, 0.5)], [GraphJudgement(3, 0.5)])
    graph.observe(2, 1, "second", [(2, -0.25), (3, 0.75)])
    items = [(item.turn, item.text, item.weight) for item in graph.evidence(1, 2)]
    assert items == [(1, "first", 0.5), (2, "second", -0.25)]
    assert [item.weight for item in graph.evidence(1, 3)] == [0.75]
    assert (graph.evidence(2, 1), graph.tau(2, 1)) == ((), 0)
    assert sorted(graph.net.edges) == [(1, 2), (1, 3)]
    assert [len(graph.net.nodes[k]["observations"]) for k in range(4)] == [0, 2, 0, 1]  # of speaker and judged


@pytest.mark.parametrize(
    ("initial", "settings", "statement", "expected"),
    [
        ({1: 0.6}, {}, (1, 2, -0.8, -0.5), -0.24),  # T x |w| x c
        ({1: 0.6}, {}, (1, 2, -0.8), -0.48),  # without an intent the strength is 1
        ({1: -0.9}, {}, (1, 2, -0.5, -1), 0.45),  # an adversary's accusation helps the accused
        ({}, {"prior": 0}, (1, 2, -1.0, -1.0), 0),  # as printed: from the unknown nothing is ever learned
        ({1: 0.7}, {}, (1, 1, -0.8), -0.8),  # who gives himself away is not shielded by trust
        ({1: 0.7}, {"mode": "paper"}, (1, 1, -0.8), 0.7),  # as printed -0.56, weaker than 0.7
        ({}, {}, (1, 1, 0.6), 0.3),  # a claim for oneself counts like any word, by the prior
        ({}, {}, (None, 2, -0.8), -0.8),  # the moderator's word counts fully
        *(({2: t}, {}, (None, 2, u), e) for t, u, e in ((0.3, 0.2, 0.3), (0.3, -0.31, -0.31), (0.3, -0.3, 0.3))),
    ],
)
def test_eqs_2_and_3_trust_after_a_statement(initial, settings, statement, expected):
    graph = TrustGraph(3, 0, initial=initial, parameters=Parameters(**settings))
    assert trust_after(graph, *statement) == pytest.approx(expected)


def test_eq_2_all_judgements_of_a_statement_use_the_trust_in_the_speaker_before_it():
    """Prior 0.5 in both: 0.5 x 0.9 = 0.45 and 0.5 x -0.8 = -0.4, not 0.45 x -0.8 = -0.36; in any order."""
    claim, accusation = GraphJudgement(1, 0.9), GraphJudgement(2, -0.8)
    for judgements in ([claim, accusation], [accusation, claim]):
        graph = TrustGraph(3, 0)
        graph.observe(1, 1, "I am the seer; player_2 is a werewolf.", [], judgements)
        assert graph.trust == [1, pytest.approx(0.45), pytest.approx(-0.4)]
    graph = TrustGraph(3, 0)
    graph.observe(1, 1, "words", [(2, 0.3), (2, 0.9)], [GraphJudgement(2, 1.0)])  # the strongest intent counts
    assert graph.trust[2] == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("confidence", "special", "expected"),
    [(0.6, False, 0.6), (-0.6, True, -0.72), (0.9, True, 1.0), (0.49, True, 0.0), (-0.5, False, -0.5)],
)
def test_eq_2_in_mode_code_is_the_confidence_alone(confidence, special, expected):
    """Neither T(j) nor |w|; nothing below 0.5; special roles times 1.2, at most 1 (decisions 1.3)."""
    graph = TrustGraph(3, 0, parameters=Parameters(mode="code"))
    graph.observe(1, 1, "words", [(2, 0.1)], [GraphJudgement(2, confidence, special)])
    assert graph.trust[2] == pytest.approx(expected)


# -- what is accepted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("rho", value) for value in (-0.1, 1.1)),
        *(("gamma", value) for value in (math.nan, 2.0)),
        *(("epsilon", value) for value in (1.0, -0.1)),
        *(
            ("prior", math.inf),
            ("width", 0),
            ("width", 2.5),
            ("length", True),
            ("mode", "best"),
            ("floor", "all"),
            ("floor", -0.1),
        ),
    ],
)
def test_parameters_that_are_none_are_refused_with_what_is_accepted(name, value):
    with pytest.raises(ParlourError, match=rf"{name} .* is not accepted; accepted: "):
        Parameters(**{name: value})


@pytest.mark.parametrize("weight", [math.nan, math.inf, -math.inf, 1.01, -1.01])
def test_numbers_outside_are_refused_and_nothing_changes(weight):
    graph = TrustGraph(3, 0)
    with pytest.raises(ParlourError, match="weight"):
        graph.observe(1, 1, "words", [(2, 0.5), (2, weight)])
    with pytest.raises(ParlourError, match="confidence"):
        graph.observe(1, 1, "words", [(2, 0.5)], [GraphJudgement(2, weight)])
    assert graph.evidence(1, 2) == ()
    assert graph.trust == [1, 0, 0]


def test_players_who_do_not_exist_and_edges_to_oneself_are_refused():
    graph = TrustGraph(3, 0)
    for speaker, target in ((3, 1), (-1, 1), (1, 3)):
        with pytest.raises(ParlourError, match=r"player .* accepted: 0\.\.2"):
            graph.observe(1, speaker, "words", [(target, 0.5)])
    with pytest.raises(ParlourError, match="towards himself"):
        graph.observe(1, 1, "words", [(1, 0.5)])
    with pytest.raises(ParlourError, match="the moderator takes no side"):
        graph.observe(1, None, "words", [(1, 0.5)])
    with pytest.raises(ParlourError, match="player 7"):
        graph.retrieve(7, 1)
    with pytest.raises(ParlourError, match="players 1 "):
        TrustGraph(1, 0)


def test_what_is_certain_cannot_become_its_opposite():
    graph = TrustGraph(3, 0)
    graph.pin(1, -1, 1, "the moderator said so")
    graph.pin(1, -1, 2, "again")
    assert graph.belief(1).reason == "the moderator said so"
    with pytest.raises(ParlourError, match="player_1 is known to be on the other side; accepted: -1"):
        graph.pin(1, 1, 3, "no")
    with pytest.raises(ParlourError, match="player_0 is known"):
        graph.pin(0, -1, 3, "no")
    with pytest.raises(ParlourError, match="side 0 "):
        graph.pin(2, 0, 3, "no")
