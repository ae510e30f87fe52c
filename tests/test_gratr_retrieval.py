"""Retrieval in the trust graph: Algorithm 2 made to end, Eqs. 4-9 together, on graphs small enough to be done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.policies.agents.werewolf.gratr.equations import MODES, Parameters
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph, starts
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement

ATANH_HALF = math.atanh(0.5)
"""Weights that sum to this make an edge of tau = 0.5."""


def graph_of(edges: dict[tuple[int, int], float], trust: dict[int, float], players: int = 5, **given) -> TrustGraph:
    """A graph of player_0 with edges of the given tau, made by two equal items each (rho 1), and trust that may move."""
    graph = TrustGraph(players, 0, initial=trust, parameters=Parameters(rho=1, **given))
    for (source, target), tau in edges.items():
        for _ in range(2):
            graph.observe(1, source, f"{source} on {target}", [(target, math.atanh(tau) / 2)])
        assert graph.tau(source, target) == pytest.approx(tau)
    return graph


def paths(graph: TrustGraph, target: int) -> list[tuple[int, ...]]:
    return [chain.players for chain in graph.retrieve(target, 2)]


# -- nothing to find -------------------------------------------------------------------------------------------


def test_without_evidence_there_are_no_chains_and_trust_stays():
    graph = TrustGraph(4, 0, initial={1: 0.4})
    assert graph.retrieve(1, 1) == ()
    assert graph.trust == [1, 0.4, 0, 0]
    assert graph.belief(1).origin == "start"


def test_a_target_that_cannot_be_reached_keeps_its_trust():
    """There is evidence about others, and even of what others did to it; but it did nothing itself."""
    graph = graph_of({(1, 2): 0.5, (2, 3): 0.5}, {1: 0.9, 3: -0.4})
    assert paths(graph, 3) == []
    assert graph.trust[3] == -0.4


def test_evidence_whose_weights_are_all_zero_makes_no_chain():
    graph = TrustGraph(3, 0)
    for _ in range(5):
        graph.observe(1, 1, "words", [(0, 0.0)])
    assert graph.net.has_edge(1, 0)
    assert paths(graph, 1) == []


def test_a_chain_that_carries_less_than_a_millionth_is_dropped():
    graph = TrustGraph(3, 0)
    graph.observe(1, 1, "words", [(0, 9e-7)])
    assert paths(graph, 1) == []
    graph.observe(1, 1, "words", [(0, 9e-7)])
    assert paths(graph, 1) == [(1, 0)]


# -- one chain -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.5, -0.5, 1 / math.e, -0.9, 0.001])
def test_with_one_chain_trust_is_exactly_what_the_chain_carries(tau):
    """Eq. 8 with m = 1: omega u / omega = u; at |u| = 1/e the published code divides by zero here."""
    graph = graph_of({(1, 0): tau}, {})
    (chain,) = graph.retrieve(1, 2)
    assert chain.players == (1, 0)
    assert graph.trust[1] == chain.u == pytest.approx(tau)


def test_eq_6_along_three_players():
    """T(2) = 0.8, tau(1, 2) = 0.5, tau(3, 1) = -0.6: player_3 attacks the friend of a trusted one.
    u = 0.8 x 0.5 x (-0.6) = -0.24. Eq. 5: T(1) tau(1,2) + T(3) tau(3,1), where T(1) = 0 becomes 0.4 on the way
    (Eq. 3 with 0.8 x 0.5) and T(3) = 0: 0.4 x 0.5 = 0.2. Eq. 7: 0.24 x 2.058894 = 0.494134."""
    graph = graph_of({(1, 2): 0.5, (3, 1): -0.6}, {2: 0.8})
    (chain,) = graph.retrieve(3, 2)
    assert chain.players == (3, 1, 2)
    assert chain.u == pytest.approx(-0.24)
    assert chain.value == pytest.approx(0.2)
    assert chain.entropy == pytest.approx(0.494134, abs=1e-6)
    assert chain.weight == pytest.approx(0.05 * 0.24)
    assert graph.trust[3] == pytest.approx(-0.24)
    assert graph.trust[1] == 0, "what a chain makes of those on the way is forgotten"


def test_who_attacks_a_known_adversary_is_trusted():
    """T(2) = -1 (certain), tau(1, 2) = -0.7: u = 0.7."""
    graph = TrustGraph(3, 0, certain={2: -1})
    graph.observe(1, 1, "words", [(2, math.atanh(-0.7))])
    graph.retrieve(1, 2)
    assert graph.trust[1] == pytest.approx(0.7)


# -- several chains --------------------------------------------------------------------------------------------


def test_eq_8_two_chains():
    """Player_1 supports me (tau 0.8) and attacks player_2 whom I trust with 0.9 (tau -0.6).
    u = 0.8 and 0.9 x (-0.6) = -0.54. |u| - H: 0.8 - 0.8 x 0.321928 = 0.542458;
    0.54 - 0.54 x 0.888969 = 0.059957. (0.542458 x 0.8 - 0.059957 x 0.54) / 0.602415 = 0.666633."""
    graph = graph_of({(1, 0): 0.8, (1, 2): -0.6}, {2: 0.9})
    chains = graph.retrieve(1, 2)
    assert [chain.players for chain in chains] == [(1, 0), (1, 2)]
    assert [chain.weight for chain in chains] == pytest.approx([0.542458, 0.059957], abs=1e-6)
    assert graph.trust[1] == pytest.approx(0.666633, abs=1e-6)


def test_eq_8_in_mode_paper_weighs_by_the_value():
    """The same with V. T(1) = 0.5 stands in Eq. 5: V = 0.5 x 0.8 = 0.4 and 0.5 x (-0.6) = -0.3.
    |V| - H = 0.4 - 0.257542 = 0.142458, and 0.3 - 0.480043 < 0, so 0.05 x 0.54 = 0.027.
    (0.142458 x 0.8 - 0.027 x 0.54) / 0.169458 = 0.586496."""
    graph = graph_of({(1, 0): 0.8, (1, 2): -0.6}, {1: 0.5, 2: 0.9}, mode="paper")
    chains = graph.retrieve(1, 2)
    assert [chain.weight for chain in chains] == pytest.approx([0.142458, 0.027], abs=1e-6)
    assert graph.trust[1] == pytest.approx(0.586496, abs=1e-6)


def test_a_result_of_the_other_sign_takes_over_only_when_stronger():
    weak = graph_of({(1, 0): -0.4}, {1: 0.5})
    weak.retrieve(1, 2)
    assert weak.trust[1] == 0.5
    strong = graph_of({(1, 0): -0.6}, {1: 0.5})
    strong.retrieve(1, 2)
    assert strong.trust[1] == pytest.approx(-0.6)


def test_a_weaker_result_of_the_same_sign_takes_over():
    graph = graph_of({(1, 0): 0.4}, {1: 0.5})
    graph.retrieve(1, 2)
    assert graph.trust[1] == pytest.approx(0.4)


# -- the search ------------------------------------------------------------------------------------------------


def test_chains_start_at_the_strongest_trust_in_either_direction():
    trust = [1.0, 0.1, -0.9, 0.0, 0.5, -0.5]
    assert starts(trust, target=5, width=3) == [0, 2, 4]
    assert starts(trust, target=0, width=3) == [2, 4, 5], "of equals the lower seat first"
    assert starts(trust, target=5, width=9) == [0, 2, 4, 1], "nobody without trust"


def test_width_limits_the_starts():
    edges = {(1, 0): 0.5, (1, 2): 0.5, (1, 3): 0.5}
    trust = {2: 0.9, 3: 0.8}
    assert paths(graph_of(edges, trust, width=1), 1) == [(1, 0)]
    assert paths(graph_of(edges, trust, width=2), 1) == [(1, 0), (1, 2)]
    assert paths(graph_of(edges, trust, width=3), 1) == [(1, 0), (1, 2), (1, 3)]


def test_a_chain_goes_on_by_the_strongest_edge():
    """Both 2 and 3 act towards me; |tau| of 3 is larger, so the chain to 1 runs through 3."""
    graph = graph_of({(2, 0): 0.5, (3, 0): -0.6, (1, 2): 0.9, (1, 3): 0.2}, {})
    assert paths(graph, 1) == [(1, 3, 0)]


def test_of_equally_strong_edges_the_lower_seat_whenever_it_spoke():
    for order in ((2, 3), (3, 2)):
        graph = graph_of({(k, 0): 0.5 for k in order} | {(1, 2): 0.9, (1, 3): 0.2}, {})
        assert paths(graph, 1) == [(1, 2, 0)]


def test_the_target_is_recorded_in_passing_and_ends_the_chain_when_it_is_the_strongest():
    passing = graph_of({(1, 0): 0.3, (2, 0): 0.6, (1, 2): 0.5}, {})
    assert paths(passing, 1) == [(1, 0), (1, 2, 0)]
    ending = graph_of({(1, 0): 0.7, (2, 0): 0.6, (1, 2): 0.5}, {})
    assert paths(ending, 1) == [(1, 0)]


def test_a_cycle_is_walked_once():
    """0 <- 2 <- 3 <- 2 ... would never end; the target hangs on 3."""
    graph = graph_of({(2, 0): 0.5, (2, 3): 0.9, (3, 2): 0.9, (1, 3): 0.5}, {})
    assert paths(graph, 1) == [(1, 3, 2, 0)]


@pytest.mark.parametrize(("length", "expected"), [(1, []), (2, []), (3, [(1, 3, 2, 0)])])
def test_a_chain_has_at_most_so_many_edges(length, expected):
    graph = graph_of({(2, 0): 0.5, (3, 2): 0.5, (1, 3): 0.5}, {}, length=length)
    assert paths(graph, 1) == expected


def test_a_chain_that_has_faded_is_followed_no_further():
    """0.03 x 0.03 = 0.0009 < 0.001: the next edge is not looked at."""
    assert paths(graph_of({(2, 0): 0.03, (3, 2): 0.03, (1, 3): 0.9}, {}), 1) == []
    assert paths(graph_of({(2, 0): 0.04, (3, 2): 0.03, (1, 3): 0.9}, {}), 1) == [(1, 3, 2, 0)]


# -- Eq. 9 -----------------------------------------------------------------------------------------------------


def test_eq_9_updates_the_edge_by_which_the_chain_leaves_the_target():
    """T(1) = 0.5 from the chain, T(0) = 1: tau(1, 0) = 0.1 x 0.5 / 1 + 0.5 = 0.55."""
    graph = graph_of({(1, 0): 0.5}, {})
    graph.retrieve(1, 2)
    assert graph.tau(1, 0) == pytest.approx(0.55)
    assert graph.net.edges[1, 0]["tau"] == graph.tau(1, 0)


def test_eq_9_leaves_the_other_edges_alone():
    """Chain 3 -> 1 -> 2: T(3) = -0.24, but T(1) = 0, a quotient by zero trust: nothing changes at all.
    With T(1) = 0.5 and Eq. 6 as before: tau(3, 1) = 0.1 x (-0.24) / 0.5 - 0.6 = -0.648; tau(1, 2) stays."""
    graph = graph_of({(1, 2): 0.5, (3, 1): -0.6}, {2: 0.8})
    graph.retrieve(3, 2)
    assert graph.tau(3, 1) == pytest.approx(-0.6)
    graph = graph_of({(1, 2): 0.5, (3, 1): -0.6}, {1: 0.5, 2: 0.8}, width=2)  # from 0 and 2
    graph.retrieve(3, 2)
    assert graph.trust[3] == pytest.approx(-0.24)
    assert graph.tau(3, 1) == pytest.approx(-0.648)
    assert graph.tau(1, 2) == pytest.approx(0.5)


def test_eq_9_an_edge_of_several_chains_is_updated_once():
    """Two chains leave player_1 by the edge to 2: one from 2 itself, one from me through 2."""
    graph = graph_of({(2, 0): 0.5, (1, 2): 0.5}, {2: 0.4})
    assert paths(graph, 1) == [(1, 2, 0), (1, 2)]
    assert len(graph.net.edges[1, 2]["backward"]) == 1


def test_eq_9_with_gamma_0_changes_nothing():
    graph = graph_of({(1, 0): 0.5}, {}, gamma=0)
    graph.retrieve(1, 2)
    assert graph.tau(1, 0) == pytest.approx(0.5)


def test_eq_9_holds_until_the_next_evidence_of_the_edge():
    """Eq. 4 makes tau of the evidence alone: as much evidence again, rho = 1: tanh(2 atanh(1/2)) = 0.8."""
    graph = graph_of({(1, 0): 0.5}, {})
    graph.retrieve(1, 2)
    graph.observe(2, 1, "again", [(0, ATANH_HALF)])
    assert graph.tau(1, 0) == pytest.approx(0.8)


def test_eq_9_only_follows_a_change_of_trust():
    """A retrieval whose result is not taken over, or is what was held already, updates no edge."""
    refused = graph_of({(1, 0): -0.4}, {1: 0.5})
    refused.retrieve(1, 2)
    assert refused.tau(1, 0) == pytest.approx(-0.4)
    same = graph_of({(1, 0): 0.5}, {1: 0.5})
    same.retrieve(1, 2)
    assert same.tau(1, 0) == pytest.approx(0.5)


def test_who_asks_again_and_again_learns_no_more():
    """Eq. 9 confirms the edge by a tenth, once; the next search sets out from the evidence, not from its own result."""
    graph = graph_of({(1, 0): 0.5}, {})
    held = []
    for turn in range(20):
        graph.retrieve(1, turn)
        held.append(graph.trust[1])
    assert held[:3] == pytest.approx([0.5, 0.55, 0.55])
    assert held[-1] == held[2]
    assert len(graph.beliefs) == 6 + 2  # at the start 5 and the observer's own


def test_as_printed_each_retrieval_confirms_the_one_before_up_to_the_bound():
    graph = graph_of({(1, 0): 0.5}, {}, mode="paper")
    held = []
    for turn in range(20):
        graph.retrieve(1, turn)
        held.append(graph.trust[1])
    assert held[:3] == pytest.approx([0.5, 0.55, 0.605])
    assert held[-1] == 1
    assert len(graph.beliefs) == 6 + 9  # 0.5 x 1.1^8 = 1.07 is the 9th


def test_what_was_retrieved_starts_no_chain():
    # the observer's trust of 1 in himself gives 0.8 for player_1 and 1 x 0.8 x -0.5 = -0.4 for player_2, by two edges; from
    # player_1 alone, whose 0.8 is a result, a second chain to player_2 starts only as printed
    edges = {(1, 0): 0.8, (2, 1): -0.5}
    for mode, chains in (("ours", [(2, 1, 0)]), ("paper", [(2, 1, 0), (2, 1)])):
        graph = graph_of(edges, {}, mode=mode, gamma=0.0)
        graph.retrieve(1, 1)
        assert sorted(chain.players for chain in graph.retrieve(2, 1)) == sorted(chains)


@given(st.permutations(range(1, 5)), st.lists(st.floats(-0.9, 0.9), min_size=12, max_size=12))
def test_the_order_of_asking_is_irrelevant_without_eq_9(order, weights):
    pairs = [(j, k) for j in range(1, 5) for k in range(5) if j != k][:12]
    found = []
    for asked in (sorted(order), order):
        graph = graph_of(dict(zip(pairs, weights, strict=True)), {}, gamma=0.0)
        for target in asked:
            graph.retrieve(target, 1)
        found.append(list(graph.trust))
    assert found[0] == found[1]


def test_eq_9_in_mode_code_takes_all_edges_of_a_target_with_two_chains():
    one = graph_of({(1, 0): 0.5, (1, 3): 0.4}, {3: 0.1}, width=1, mode="code")
    one.retrieve(1, 2)
    assert (one.tau(1, 0), one.tau(1, 3)) == (pytest.approx(0.5), pytest.approx(0.4))
    two = graph_of({(1, 0): 0.5, (1, 2): 0.5, (1, 3): 0.4}, {2: 1.0, 3: 0.1}, width=2, mode="code")
    assert paths(two, 1) == [(1, 0), (1, 2)]
    # T(1) = 0.5; 0.1 x 0.5 / 1 + 0.5 = 0.55, and towards 3: 0.1 x 0.5 / 0.1 + 0.4 = 0.9
    assert (two.tau(1, 0), two.tau(1, 3)) == (pytest.approx(0.55), pytest.approx(0.9))


# -- pinned players --------------------------------------------------------------------------------------------


def test_a_pinned_target_keeps_trust_and_edges_but_its_chains_are_found():
    graph = TrustGraph(3, 0, certain={1: -1})
    graph.observe(1, 1, "flattery", [(0, 0.9)])
    assert paths(graph, 1) == [(1, 0)]
    assert graph.trust[1] == -1
    assert graph.tau(1, 0) == pytest.approx(math.tanh(0.9))


def test_retrieval_for_oneself_moves_nothing():
    graph = graph_of({(0, 1): -0.5}, {1: 0.9})
    assert paths(graph, 0) == [(0, 1)]
    assert graph.trust[0] == 1


# -- any graph -------------------------------------------------------------------------------------------------

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(-1, 1)), max_size=40)


@given(EDGES, st.integers(1, 8), st.integers(1, 7), st.sampled_from(MODES))
def test_chains_are_acyclic_end_in_time_and_consist_of_edges(edges, width, length, mode):
    graph = TrustGraph(7, 0, parameters=Parameters(width=width, length=length, mode=mode))
    for turn, (source, target, weight) in enumerate(edges):
        if source != target:
            graph.observe(turn, source, "words", [(target, weight)], [GraphJudgement(target, weight)])
    for target in range(7):
        trust = list(graph.trust)
        for chain in graph.retrieve(target, 99):
            assert chain.players[0] == target
            assert len(set(chain.players)) == len(chain.players)
            assert 2 <= len(chain.players) <= length + 1
            assert [(link.source, link.target) for link in chain.links] == list(
                zip(chain.players, chain.players[1:], strict=False)
            )
            assert all(link.tau and link.items for link in chain.links)
            assert chain.start == trust[chain.players[-1]]
            assert chain.players[-1] in starts(trust, target, width)
            assert chain.weight > 0
            assert 1e-6 <= abs(chain.u) <= 1
