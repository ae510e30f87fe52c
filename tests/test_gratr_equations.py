"""The equations of GRATR (Zhu et al. 2024), one after the other, with known answers worked out by hand.

What the paper leaves undefined has a function of its own; each is tested where the printed equation breaks.
"""

from __future__ import annotations

import math
import pickle

import networkx as nx
import pytest
from gratr_recomputed import merged
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.equations import MODES, Parameters
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement

NUMBER = st.floats(-1, 1, allow_nan=False)
UNIT = st.floats(0, 1, allow_nan=False)


def told(graph: TrustGraph, speaker: int | None, player: int, confidence: float, weight: float | None = None) -> float:
    """The trust in a player after a statement about him."""
    intents = [] if weight is None else [(player, weight)]
    graph.observe(1, speaker, "words", intents, [GraphJudgement(player, confidence)])
    return graph.trust[player]


# -- the state at the start, and Table 1 -----------------------------------------------------------------------


def test_at_the_start_trust_is_1_in_oneself_and_0_in_others_and_there_is_no_edge():
    graph = TrustGraph(4, me=2)
    assert graph.trust == [0, 0, 1, 0]
    assert isinstance(graph.net, nx.DiGraph)
    assert list(graph.net.nodes) == [0, 1, 2, 3]
    assert list(graph.net.edges) == []
    assert graph.tau(0, 1) == 0
    assert graph.evidence(0, 1) == ()
    assert [graph.role(k) for k in range(4)] == [0, 0, 1, 0]
    assert [graph.certain(k) for k in range(4)] == [False, False, True, False]


def test_the_defaults_are_those_of_the_published_code():
    """SPEC section 1.1: epsilon 0.2, rho 0.95, gamma 0.1, three start nodes; chains of at most 4 edges (section 1.5)."""
    assert Parameters() == Parameters(rho=0.95, gamma=0.1, epsilon=0.2, width=3, length=4, prior=0.5, mode="ours")


@pytest.mark.parametrize(
    ("trust", "expected"),
    [(1, 1), (0.21, 1), (0.2, 0), (0.0, 0), (-0.2, 0), (-0.21, -1), (-1, -1)],
)
def test_table_1_role_class_with_both_bounds_indifferent(trust, expected):
    """Ally if T > eps, adversary if T < -eps; at eps itself, on either side, indifferent."""
    assert eq.role_class(trust, 0.2) == expected
    assert TrustGraph(2, 0, initial={1: trust}).role(1) == expected


def test_certain_players_are_pinned_from_the_start():
    graph = TrustGraph(3, 0, certain={1: 1, 2: -1})
    assert graph.trust == [1, 1, -1]
    assert [graph.role(k) for k in range(3)] == [1, 1, -1]
    assert all(graph.certain(k) for k in range(3))


# -- Eq. 1 -----------------------------------------------------------------------------------------------------


def test_eq_1_evidence_is_added_in_order_and_to_its_own_direction_only():
    """The published code writes the list to the reverse edge too; here j -> k and k -> j are apart."""
    graph = TrustGraph(4, 0)
    graph.observe(1, 1, "first", [(2, 0.5)])
    graph.observe(2, 1, "second", [(2, -0.25), (3, 0.75)])
    assert [(item.turn, item.text, item.weight) for item in graph.evidence(1, 2)] == [
        (1, "first", 0.5),
        (2, "second", -0.25),
    ]
    assert [item.weight for item in graph.evidence(1, 3)] == [0.75]
    assert graph.evidence(2, 1) == ()
    assert graph.tau(2, 1) == 0
    assert sorted(graph.net.edges) == [(1, 2), (1, 3)]


def test_a_statement_joins_the_observations_of_speaker_and_judged():
    graph = TrustGraph(4, 0)
    graph.observe(1, 1, "words", [(2, 0.5)], [GraphJudgement(3, 0.5)])
    assert [len(graph.net.nodes[k]["observations"]) for k in range(4)] == [0, 1, 0, 1]


# -- Eq. 2 -----------------------------------------------------------------------------------------------------


def test_eq_2_trust_in_the_speaker_times_strength_times_confidence():
    """T(j) = 0.6, w = -0.5, c = -0.8: u = 0.6 x 0.5 x (-0.8) = -0.24."""
    graph = TrustGraph(3, 0, initial={1: 0.6})
    assert told(graph, 1, 2, -0.8, -0.5) == pytest.approx(-0.24)


def test_eq_2_without_an_intent_the_strength_is_1():
    """0.6 x 1 x (-0.8) = -0.48."""
    graph = TrustGraph(3, 0, initial={1: 0.6})
    assert told(graph, 1, 2, -0.8) == pytest.approx(-0.48)


def test_eq_2_an_adversary_s_accusation_helps_the_accused():
    """T(j) = -0.9, w = -1, c = -0.5: u = -0.9 x 1 x (-0.5) = +0.45."""
    graph = TrustGraph(3, 0, initial={1: -0.9})
    assert told(graph, 1, 2, -0.5, -1) == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("trust", "expected"),
    [(0.0, 0.5), (0.2, 0.5), (-0.2, 0.5), (0.25, 0.25), (-0.25, -0.25), (1.0, 1.0)],
)
def test_eq_2_a_speaker_without_judgement_counts_by_the_prior(trust, expected):
    """Up to epsilon, in either direction, the prior 0.5 stands in for T(j), which at the start is 0 for everybody."""
    assert eq.speaker_factor(trust, epsilon=0.2, prior=0.5) == expected


def test_eq_2_with_prior_0_nothing_is_ever_learned_from_the_unknown_as_printed():
    graph = TrustGraph(3, 0, parameters=Parameters(prior=0))
    assert told(graph, 1, 2, -1.0, -1.0) == 0


@pytest.mark.parametrize(("mode", "expected"), [("ours", -0.8), ("paper", 0.7)])
def test_eq_2_who_gives_himself_away_is_not_shielded_by_trust(mode, expected):
    """T(1) = 0.7, c = -0.8 about player_1 himself: u = 1 x (-0.8); as printed 0.7 x (-0.8) = -0.56, weaker than 0.7."""
    graph = TrustGraph(3, 0, initial={1: 0.7}, parameters=Parameters(mode=mode))
    assert told(graph, 1, 1, -0.8) == pytest.approx(expected)


def test_eq_2_what_a_speaker_claims_for_himself_counts_like_any_word():
    """0.5 (prior) x 1 x 0.6 = 0.3."""
    assert told(TrustGraph(3, 0), 1, 1, 0.6) == pytest.approx(0.3)


def test_eq_2_the_moderator_s_word_counts_fully():
    graph = TrustGraph(3, 0)
    assert told(graph, None, 2, -0.8) == pytest.approx(-0.8)


def test_eq_2_all_judgements_of_a_statement_use_the_trust_in_the_speaker_before_it():
    """The speaker claims a role (c = 0.9 for himself) and accuses (c = -0.8): prior 0.5 in both,
    0.5 x 0.9 = 0.45 and 0.5 x -0.8 = -0.4, not 0.45 x -0.8 = -0.36; the order of the two does not matter."""
    for judgements in (
        [GraphJudgement(1, 0.9), GraphJudgement(2, -0.8)],
        [GraphJudgement(2, -0.8), GraphJudgement(1, 0.9)],
    ):
        graph = TrustGraph(3, 0)
        graph.observe(1, 1, "I am the seer; player_2 is a werewolf.", [], judgements)
        assert graph.trust == [1, pytest.approx(0.45), pytest.approx(-0.4)]


def test_eq_2_of_several_intents_towards_one_player_the_strongest_counts():
    """0.5 (prior) x 0.9 x 1.0 = 0.45."""
    graph = TrustGraph(3, 0)
    graph.observe(1, 1, "words", [(2, 0.3), (2, 0.9)], [GraphJudgement(2, 1.0)])
    assert graph.trust[2] == pytest.approx(0.45)


@pytest.mark.parametrize(
    ("confidence", "special", "expected"),
    [(0.6, False, 0.6), (-0.6, True, -0.72), (0.9, True, 1.0), (0.49, True, 0.0), (-0.5, False, -0.5)],
)
def test_eq_2_in_mode_code_is_the_confidence_alone(confidence, special, expected):
    """Neither T(j) nor |w|; nothing below 0.5; special roles times 1.2, at most 1 (SPEC section 1.3)."""
    graph = TrustGraph(3, 0, parameters=Parameters(mode="code"))
    graph.observe(1, 1, "words", [(2, 0.1)], [GraphJudgement(2, confidence, special)])
    assert graph.trust[2] == pytest.approx(expected)


# -- Eq. 3 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trust", "u", "expected"),
    [(0.3, 0.2, 0.3), (0.3, 0.4, 0.4), (0.3, -0.3, 0.3), (0.3, -0.31, -0.31), (0.0, 0.0, 0.0), (-0.5, 0.6, 0.6)],
)
def test_eq_3_the_stronger_one_stays_and_a_draw_changes_nothing(trust, u, expected):
    assert eq.stronger(trust, u) == expected
    graph = TrustGraph(3, 0, initial={2: trust})
    assert told(graph, None, 2, u) == expected


def test_eq_3_pinned_players_never_move():
    graph = TrustGraph(4, 0, certain={1: 1, 2: -1})
    for player, confidence in ((0, -1.0), (1, -1.0), (2, 1.0)):
        told(graph, None, player, confidence)
    assert graph.trust[:3] == [1, 1, -1]


# -- Eq. 4 -----------------------------------------------------------------------------------------------------


def test_eq_4_without_evidence_the_weight_is_0():
    assert merged([], 0.95) == 0


def test_eq_4_one_item():
    """tanh(0.5) = 0.462117; the published code takes the raw 0.5."""
    assert merged([0.5], 0.95) == pytest.approx(0.46211715726)


def test_eq_4_the_newer_counts_more():
    """rho = 0.5, weights 0.4, -0.6, 1.0 from old to new: 0.25 x 0.4 - 0.5 x 0.6 + 1.0 = 0.8, tanh(0.8) = 0.664037."""
    graph = TrustGraph(3, 0, parameters=Parameters(rho=0.5))
    for weight in (0.4, -0.6, 1.0):
        graph.observe(1, 1, "words", [(2, weight)])
    assert graph.tau(1, 2) == pytest.approx(0.66403677027)
    assert merged([0.4, -0.6, 1.0], 0.5) == pytest.approx(0.66403677027)


def test_eq_4_all_weights_zero():
    assert merged([0.0] * 9, 0.95) == 0


@given(st.lists(NUMBER, max_size=12))
def test_eq_4_rho_1_keeps_everything_equally(weights):
    """tanh of the plain sum, in whatever order."""
    assert merged(weights, 1.0) == pytest.approx(math.tanh(math.fsum(weights)), abs=1e-9)
    assert merged(weights, 1.0) == pytest.approx(merged(sorted(weights), 1.0), abs=1e-9)


@given(st.lists(NUMBER, min_size=1, max_size=12), st.floats(0, 1e-9))
def test_eq_4_rho_towards_0_keeps_the_last(weights, rho):
    assert merged(weights, rho) == pytest.approx(math.tanh(weights[-1]), abs=1e-8)


@given(st.lists(NUMBER, max_size=30), UNIT)
def test_eq_4_step_by_step_is_the_printed_sum(weights, rho):
    """The graph adds one item at a time; the paper sums over m of rho^(n-m) w_m."""
    n = len(weights)
    printed = math.tanh(math.fsum(rho ** (n - 1 - m) * weight for m, weight in enumerate(weights)))
    graph = TrustGraph(3, 0, parameters=Parameters(rho=rho))
    for weight in weights:
        graph.observe(1, 1, "words", [(2, weight)])
    assert graph.tau(1, 2) == pytest.approx(printed, abs=1e-9)
    assert merged(weights, rho) == graph.tau(1, 2)


# -- Eqs. 5 and 6 ----------------------------------------------------------------------------------------------


def test_eq_5_value_of_a_chain():
    """T(p_2) tau(p_2, p_1) + T(p_3) tau(p_3, p_2) = 0.4 x 0.5 + (-0.2) x (-0.6) = 0.32."""
    assert eq.chain_value([0.4, -0.2], [0.5, -0.6]) == pytest.approx(0.32)


def test_eq_6_trust_along_a_chain():
    """T(p_1) = 0.8, tau 0.5 and -0.6: 0.8 x 0.5 x (-0.6) = -0.24; who attacks a friend's friend is an enemy."""
    assert eq.chain_trust(0.8, [0.5, -0.6]) == pytest.approx(-0.24)


def test_eq_6_two_enmities_make_a_friend():
    """T(p_1) = -1 and tau = -0.7: who attacks a known adversary gains 0.7."""
    assert eq.chain_trust(-1, [-0.7]) == pytest.approx(0.7)


# -- Eq. 7 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "expected"),
    [
        (0.0, 0.0),  # 0 log 0
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.5, 0.5),  # -1/2 log2(1/2)
        (-0.5, 0.5),  # as printed the logarithm of a negative number
        (0.25, 0.5),  # -1/4 log2(1/4)
        (1 / math.e, 1 / (math.e * math.log(2))),  # log2(1/e) = -1/ln 2; the maximum
    ],
)
def test_eq_7_entropy_of_the_absolute_value(u, expected):
    assert eq.entropy(u) == pytest.approx(expected)


def test_eq_7_the_code_takes_the_natural_logarithm():
    """-1/e ln(1/e) = 1/e."""
    assert eq.entropy(1 / math.e, "code") == pytest.approx(1 / math.e)


@given(st.floats(-1, 1, allow_subnormal=True), st.sampled_from(MODES))
def test_eq_7_entropy_is_finite_and_not_negative(u, mode):
    assert 0 <= eq.entropy(u, mode) < 0.531


# -- Eq. 8 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("u", "expected"),
    [
        (1.0, 1.0),  # |u| - H = 1 - 0
        (-1.0, 1.0),
        (0.5, 0.025),  # 0.5 - 0.5 = 0: the floor, 0.05 x 0.5
        (0.25, 0.0125),  # 0.25 - 0.5 < 0: the floor
        (0.8, 0.5424575),  # 0.8 - 0.8 x 0.3219281 (-log2 0.8)
        (0.0, 0.0),
    ],
)
def test_eq_8_weight_of_a_chain(u, expected):
    assert eq.chain_weight(u, value=123.0) == pytest.approx(expected)


def test_eq_8_in_mode_code_the_weight_at_1_over_e_would_be_0():
    """|u| (1 + ln |u|) = 0 at 1/e: a single such chain divides by zero in the code. Here: the floor."""
    assert eq.chain_weight(1 / math.e, 0.0, "code") == pytest.approx(0.05 / math.e)


@pytest.mark.parametrize(("value", "expected"), [(0.9, 0.4), (-0.9, 0.4), (0.2, 0.025)])
def test_eq_8_in_mode_paper_the_weight_is_made_of_the_value(value, expected):
    """u = 0.5, H = 0.5: |V| - H = 0.9 - 0.5; with |V| = 0.2 it is negative, and the floor is 0.05 x 0.5."""
    assert eq.chain_weight(0.5, value, "paper") == pytest.approx(expected)


def test_eq_8_weighted_mean():
    """(0.3 x 0.8 + 0.1 x (-0.4)) / 0.4 = 0.5."""
    assert eq.weighted([0.8, -0.4], [0.3, 0.1]) == pytest.approx(0.5)


def test_eq_8_one_chain_gives_its_own_trust_exactly():
    assert eq.weighted([1 / math.e], [0.05 / math.e]) == 1 / math.e
    assert eq.weighted([-0.3], [0.0]) == -0.3


def test_eq_8_no_chain_gives_no_new_trust():
    assert eq.weighted([], []) is None
    assert eq.weighted([0.0, 0.0], [0.0, 0.0]) is None


@given(st.lists(NUMBER, min_size=1, max_size=9), st.sampled_from(MODES))
def test_eq_8_the_mean_stays_between_the_chains(us, mode):
    """The published records hold 6.93, from negative weights."""
    mean = eq.weighted(us, [eq.chain_weight(u, u, mode) for u in us])
    if mean is not None:
        assert min(us) - 1e-9 <= mean <= max(us) + 1e-9


@pytest.mark.parametrize(
    ("trust", "new", "expected"),
    [(0.5, 0.3, True), (0.5, -0.3, False), (0.5, -0.6, True), (0.0, 0.1, True), (0.0, 0.0, False), (0.5, -0.5, False)],
)
def test_eq_8_the_result_takes_over_with_the_same_sign_or_when_stronger(trust, new, expected):
    assert eq.takes_over(trust, new) is expected


# -- Eq. 9 -----------------------------------------------------------------------------------------------------


def test_eq_9_the_last_term_is_the_weight_not_a_trust():
    """gamma 0.1, T(o) = 0.4, T(o-1) = 0.8, tau = 0.5: 0.1 x 0.5 + 0.5 = 0.55; as printed 0.05 + 0.8 = 0.85."""
    assert eq.backward(0.5, 0.1, 0.4, 0.8) == pytest.approx(0.55)


def test_eq_9_opposite_signs_lower_the_weight():
    """0.1 x (-0.4 / 0.8) + 0.5 = 0.45."""
    assert eq.backward(0.5, 0.1, -0.4, 0.8) == pytest.approx(0.45)


@pytest.mark.parametrize("before", [0.0, 1e-7, -1e-7])
def test_eq_9_a_quotient_by_no_trust_is_no_update(before):
    assert eq.quotient(0.4, before) is None
    assert eq.backward(0.5, 0.1, 0.4, before) == 0.5


def test_eq_9_is_cut_off_at_1():
    """0.1 x 0.9 / 0.001 + 0.5 = 90.5."""
    assert eq.backward(0.5, 0.1, 0.9, 0.001) == 1
    assert eq.backward(-0.5, 0.1, -0.9, 0.001) == -1


@given(NUMBER, UNIT, NUMBER, NUMBER)
def test_eq_9_stays_in_bounds_for_any_numbers(tau, gamma, trust, before):
    assert -1 <= eq.backward(tau, gamma, trust, before) <= 1


# -- what is accepted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rho", -0.1),
        ("rho", 1.1),
        ("gamma", math.nan),
        ("gamma", 2.0),
        ("epsilon", 1.0),
        ("epsilon", -0.1),
        ("prior", math.inf),
        ("width", 0),
        ("width", 2.5),
        ("length", True),
        ("mode", "best"),
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


# -- any evidence ----------------------------------------------------------------------------------------------

STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from([None, 0, 1, 2, 3, 4]),
        st.lists(st.tuples(st.integers(0, 4), NUMBER), max_size=3),
        st.lists(st.tuples(st.integers(0, 4), NUMBER, st.booleans()), max_size=3),
        st.one_of(st.none(), st.integers(0, 4)),
    ),
    max_size=25,
)
GIVEN = st.builds(
    Parameters,
    rho=UNIT,
    gamma=UNIT,
    epsilon=st.floats(0, 0.99),
    width=st.integers(1, 5),
    length=st.integers(1, 6),
    prior=UNIT,
    mode=st.sampled_from(MODES),
)


def played(statements, parameters, certain=None) -> TrustGraph:
    """A graph after any sequence of statements and retrievals."""
    graph = TrustGraph(5, 0, certain=certain or {4: -1}, initial={3: -0.9}, parameters=parameters)
    for turn, (speaker, intents, judgements, target) in enumerate(statements):
        meant = [(k, w) for k, w in intents if speaker is not None and k != speaker]
        graph.observe(turn, speaker, f"statement {turn}", meant, [GraphJudgement(*one) for one in judgements])
        if target is not None:
            graph.retrieve(target, turn)
    return graph


@given(STATEMENTS, GIVEN)
def test_trust_and_weights_stay_in_bounds_and_pinned_players_where_they_are(statements, parameters):
    """No NaN, no infinity (neither satisfies the comparisons), for any evidence; own trust 1."""
    graph = played(statements, parameters)
    assert graph.trust[0] == 1
    assert graph.trust[4] == -1
    assert all(-1 <= trust <= 1 for trust in graph.trust)
    assert all(-1 <= graph.net.edges[edge]["tau"] <= 1 for edge in graph.net.edges)
    assert [eq.role_class(trust, parameters.epsilon) for trust in graph.trust] == [graph.role(k) for k in range(5)]


@given(st.permutations([(1, 2), (2, 3), (3, 1), (2, 0), (3, 2), (1, 0)]), st.lists(NUMBER, min_size=6, max_size=6))
def test_the_order_of_evidence_between_different_pairs_is_irrelevant(order, weights):
    pairs = sorted(order)
    weight = dict(zip(pairs, weights, strict=True))
    one, other = TrustGraph(4, 0), TrustGraph(4, 0)
    for graph, sequence in ((one, pairs), (other, order)):
        for j, k in sequence:
            graph.observe(1, j, "words", [(k, weight[j, k])])
            graph.observe(2, j, "more words", [(k, -weight[j, k] / 2)])
    for target in (1, 2, 3):
        assert one.retrieve(target, 3) == other.retrieve(target, 3)
    assert one.trust == other.trust


def test_a_graph_can_be_pickled_and_goes_on_as_before():
    graph = played([(1, [(2, 0.5)], [(2, 0.8, False)], 1)], Parameters())
    copy = pickle.loads(pickle.dumps(graph))
    for one in (graph, copy):
        one.observe(5, 1, "later", [(2, -0.9)], [GraphJudgement(2, -0.9)])
        one.retrieve(1, 5)
    assert copy.trust == graph.trust
    assert copy.net.edges[1, 2] == graph.net.edges[1, 2]
    assert copy.tau(1, 2) == copy.net.edges[1, 2]["tau"]
