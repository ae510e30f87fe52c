"""Retrieval in the trust graph: Algorithm 2 made to end, Eqs. 4-9 together, on graphs small enough to be done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st
from parlour.policies.agents.werewolf.gratr.chains import starts
from parlour.policies.agents.werewolf.gratr.equations import CLOSED, MODES, Parameters
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
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


def hear_elsewhere(graph: TrustGraph) -> None:
    """New evidence on another edge, from which on the weights of Eq. 9 hold."""
    graph.observe(3, 4, "elsewhere", [(3, 0.1)])


def paths(graph: TrustGraph, target: int) -> list[tuple[int, ...]]:
    return [chain.players for chain in graph.retrieve(target, 2)]


# -- which chains are found ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "trust", "given", "target", "expected"),
    [
        ({(1, 2): 0.5, (2, 3): 0.5}, {1: 0.9, 3: -0.4}, {}, 3, []),  # it did nothing itself
        ({(0, 1): -0.5}, {1: 0.9}, {}, 0, [(0, 1)]),  # about oneself
        *(  # width limits the starts
            ({(1, 0): 0.5, (1, 2): 0.5, (1, 3): 0.5}, {2: 0.9, 3: 0.8}, {"width": w}, 1, [(1, 0), (1, 2), (1, 3)][:w])
            for w in (1, 2, 3)
        ),
        # the strongest edge, of 3, leads on; of equally strong ones that of the lower seat, whoever spoke first
        ({(2, 0): 0.5, (3, 0): -0.6, (1, 2): 0.9, (1, 3): 0.2}, {}, {}, 1, [(1, 3, 0)]),
        ({(2, 0): 0.5, (3, 0): 0.5, (1, 2): 0.9, (1, 3): 0.2}, {}, {}, 1, [(1, 2, 0)]),
        ({(3, 0): 0.5, (2, 0): 0.5, (1, 2): 0.9, (1, 3): 0.2}, {}, {}, 1, [(1, 2, 0)]),
        # the target is recorded in passing, and ends the chain when it is the strongest
        ({(1, 0): 0.3, (2, 0): 0.6, (1, 2): 0.5}, {}, {}, 1, [(1, 0), (1, 2, 0)]),
        ({(1, 0): 0.7, (2, 0): 0.6, (1, 2): 0.5}, {}, {}, 1, [(1, 0)]),
        # 0 <- 2 <- 3 <- 2 ... would never end; the target hangs on 3
        ({(2, 0): 0.5, (2, 3): 0.9, (3, 2): 0.9, (1, 3): 0.5}, {}, {}, 1, [(1, 3, 2, 0)]),
        *(
            ({(2, 0): 0.5, (3, 2): 0.5, (1, 3): 0.5}, {}, {"length": length}, 1, [(1, 3, 2, 0)] if length == 3 else [])
            for length in (1, 2, 3)
        ),
        # 0.03 x 0.03 = 0.0009 < 0.001: the chain has faded, and the next edge is not looked at
        ({(2, 0): 0.03, (3, 2): 0.03, (1, 3): 0.9}, {}, {}, 1, []),
        ({(2, 0): 0.04, (3, 2): 0.03, (1, 3): 0.9}, {}, {}, 1, [(1, 3, 2, 0)]),
    ],
)
def test_the_chains_that_lead_to_a_player(edges, trust, given, target, expected):
    graph = graph_of(edges, trust, **given)
    assert paths(graph, target) == expected
    if not expected:
        assert graph.trust[target] == trust.get(target, 0)


def test_chains_start_at_the_strongest_trust_in_either_direction():
    trust = [1.0, 0.1, -0.9, 0.0, 0.5, -0.5]
    assert starts(trust, target=5, width=3) == [0, 2, 4]
    assert starts(trust, target=0, width=3) == [2, 4, 5], "of equals the lower seat first"
    assert starts(trust, target=5, width=9) == [0, 2, 4, 1], "nobody without trust"


def test_evidence_that_carries_less_than_a_millionth_makes_no_chain():
    graph = TrustGraph(3, 0, initial={2: 0.4})
    graph.observe(1, 1, "words", [(0, 0.0)])
    assert graph.net.has_edge(1, 0)
    assert paths(graph, 1) == paths(graph, 2) == []
    assert graph.belief(2).origin == "start"
    for weight, expected in ((9e-7, []), (9e-7, [(1, 0)])):
        graph.observe(1, 1, "words", [(0, weight)])
        assert paths(graph, 1) == expected


# -- the trust that follows ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "trust", "given", "expected"),
    [
        # Eq. 8 with one chain: omega u / omega = u; at |u| = 1/e the published code divides by zero here
        *(({(1, 0): tau}, {}, {}, tau) for tau in (0.5, -0.5, 1 / math.e, -0.9, 0.001)),
        ({(1, 0): -0.4}, {1: 0.5}, {}, 0.5),  # of the other sign: only when stronger
        ({(1, 0): -0.6}, {1: 0.5}, {}, -0.6),
        ({(1, 0): 0.4}, {1: 0.5}, {}, 0.4),  # of the same sign, weaker
        # 0.8 and 0.9 x (-0.6) = -0.54 weigh |u| - H = 0.542458 and 0.059957
        ({(1, 0): 0.8, (1, 2): -0.6}, {2: 0.9}, {}, 0.666633),
        # by V: T(1) = 0.5 stands in Eq. 5: 0.4 - H = 0.142458, and -0.3 - H < 0, so the floor 0.05 x 0.54 = 0.027
        ({(1, 0): 0.8, (1, 2): -0.6}, {1: 0.5, 2: 0.9}, {"mode": "paper"}, 0.586496),
        ({(1, 0): -0.4}, {1: 0.5}, {"mode": "paper"}, -0.4),  # as printed Eq. 8 replaces whatever trust there was
    ],
)
def test_trust_after_a_retrieval(edges, trust, given, expected):
    graph = graph_of(edges, trust, **given)
    graph.retrieve(1, 2)
    assert graph.trust[1] == pytest.approx(expected, abs=1e-6)


def test_who_attacks_a_known_adversary_is_trusted_and_a_pinned_target_keeps_trust_and_edges():
    """T(2) = -1 (certain), tau(1, 2) = -0.7: u = 0.7."""
    graph = TrustGraph(3, 0)
    graph.pin(2, -1, 0, "known from the start")
    graph.observe(1, 1, "words", [(2, math.atanh(-0.7))])
    graph.retrieve(1, 2)
    assert graph.trust[1] == pytest.approx(0.7)
    graph.observe(1, 2, "flattery", [(0, 0.9)])
    assert (2, 0) in paths(graph, 2)
    assert graph.trust[2] == -1
    assert graph.tau(2, 0) == pytest.approx(math.tanh(0.9))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"mode": "grounded"}, 0.4995),
        ({"mode": "paper"}, 0.3451),
        ({"mode": "code"}, 0.5386),
        ({"mode": "paper", "floor": "none"}, 0.1616),
        ({"mode": "grounded", "floor": "none"}, -0.8481),
        ({"mode": "code", "floor": "code"}, 1.0),
    ],
)
def test_a_worked_graph_under_each_reading(given, expected):
    """Decisions 1.4. By the moderator T(3) = 0.8 and T(2) = 0.6; player_4 acts on 3 (w = 0.9) and on 2 (w = -0.4).

    u: 0.8 tanh(0.9) = 0.5730, 0.6 tanh(-0.4) = -0.2280. V = T(4) tau = 0. H (Eq. 7): 0.4603, 0.4863.
    grounded: |u| - H = 0.1127, floor 0.05 x 0.2280 = 0.0114: (0.1127 x 0.5730 - 0.0114 x 0.2280) / 0.1241 = 0.4995
    paper: V - H < 0, floors 0.02865, 0.0114: (0.02865 x 0.5730 - 0.0114 x 0.2280) / 0.04005 = 0.3451
    code: natural logarithm, 0.5730 - 0.3191 = 0.2539, floor 0.0114: (0.2539 x 0.5730 - 0.0114 x 0.2280) / 0.2653 = 0.5386
    literal (no floor): (-0.4603 x 0.5730 + 0.4863 x 0.2280) / -0.9466 = 0.1616
    no floor by |u|: (0.1127 x 0.5730 + 0.2583 x 0.2280) / -0.1456 = -0.8481; in the code 0.2539, -0.1091: beyond 1
    """
    graph = TrustGraph(6, 0, parameters=Parameters(**given))
    graph.observe(1, None, "moderator", judgements=[GraphJudgement(3, 0.8), GraphJudgement(2, 0.6)])
    graph.observe(1, 4, "words", [(3, 0.9), (2, -0.4)])
    chains = {chain.players: chain for chain in graph.retrieve(4, 1)}
    assert {path: round(chain.u, 3) for path, chain in chains.items()} == {(4, 3): 0.573, (4, 2): -0.228}
    assert {chain.value for chain in chains.values()} == {0.0}
    assert graph.trust[4] == pytest.approx(expected, abs=5e-5)


def test_players_on_the_way_keep_the_trust_that_a_chain_gives_them_as_printed():
    """Algorithm 2, line 13, with Eq. 3: 1 x 0.8 for player_1, on the way to player_2, and weaker trust gives way."""
    for mode, kept in (("paper", 0.8), ("grounded", 0.3)):
        graph = graph_of({(1, 0): 0.8, (2, 1): -0.5}, {1: 0.3}, mode=mode)
        graph.retrieve(2, 1)
        assert graph.trust[1] == pytest.approx(kept)
        assert [graph.belief(1).origin, graph.explain(1).lines()[0][:21]] == (
            ["retrieved", "player_1: trust +0.80"] if mode == "paper" else ["start", "player_1: trust +0.30"]
        )


def test_as_printed_a_start_that_a_chain_changed_carries_its_new_trust():
    """From 0, player_1 gets 0.8 in place of 0.3; the chain that starts there then carries 0.8 x 0.5."""
    graph = graph_of({(1, 0): 0.8, (2, 1): 0.5}, {1: 0.3}, mode="paper", width=2)
    chains = {chain.players: (chain.start, round(chain.u, 6)) for chain in graph.retrieve(2, 1)}
    assert chains == {(2, 1): (pytest.approx(0.8), 0.4), (2, 1, 0): (1.0, 0.4)}


def test_as_printed_a_search_starts_and_continues_at_the_highest_trust():
    """Not at the strongest: player_3 is an adversary, and the stronger edge leads from player_2."""
    edges = {(1, 3): 0.5, (2, 0): 0.9, (4, 0): 0.3, (1, 4): 0.5, (1, 2): 0.5}
    trust = {3: -0.9, 4: 0.35, 2: -0.95}
    assert paths(graph_of(edges, trust, mode="grounded", width=2), 1) == [(1, 2, 0), (1, 2)]
    assert paths(graph_of(edges, trust, mode="paper", width=1), 1) == [(1, 4, 0)]


# -- Eq. 9 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tau", "trust", "given", "expected"),
    [
        (0.5, {}, {}, 0.55),  # T(1) = 0.5 from the chain, T(0) = 1: 0.1 x 0.5 / 1 + 0.5
        (0.5, {}, {"gamma": 0}, 0.5),
        (-0.4, {1: 0.5}, {}, -0.4),  # the result is not taken over
        (0.5, {1: 0.5}, {}, 0.5),  # ... or is what was held already
    ],
)
def test_eq_9_updates_the_edge_by_which_the_chain_leaves_the_target_where_trust_changes(tau, trust, given, expected):
    graph = graph_of({(1, 0): tau}, trust, **given)
    graph.retrieve(1, 2)
    assert graph.tau(1, 0) == pytest.approx(tau)
    hear_elsewhere(graph)
    assert graph.tau(1, 0) == graph.net.edges[1, 0]["tau"] == pytest.approx(expected)


def test_eq_9_holds_until_the_next_evidence_of_the_edge():
    """Eq. 4 makes tau of the evidence alone: as much evidence again, rho = 1: tanh(2 atanh(1/2)) = 0.8."""
    graph = graph_of({(1, 0): 0.5}, {})
    graph.retrieve(1, 2)
    graph.observe(2, 1, "again", [(0, ATANH_HALF)])
    assert graph.tau(1, 0) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("mode", "begins", "last", "beliefs"),
    [("grounded", [0.5, 0.5, 0.5], 0.5, 1), ("paper", [0.5, 0.55, 0.605], 1, 9)],
)
def test_who_asks_again_and_again_learns_no_more_but_as_printed_confirms_itself(mode, begins, last, beliefs):
    """A search sets out from the evidence, with the weights that held when it was heard. As printed it sets out from its own
    result, up to the bound: 0.5 x 1.1^8 = 1.07 is the ninth belief. At the start there are 5 and the observer's own."""
    graph = graph_of({(1, 0): 0.5}, {}, mode=mode)
    trusts = []
    for turn in range(20):
        graph.retrieve(1, turn)
        trusts.append(graph.trust[1])
    assert trusts[:3] == pytest.approx(begins)
    assert trusts[-1] == pytest.approx(last)
    assert len(graph.beliefs) == 6 + beliefs


def test_what_was_retrieved_starts_no_chain():
    # the observer's trust of 1 in himself gives 0.8 for player_1 and 1 x 0.8 x -0.5 = -0.4 for player_2, by two edges; from
    # player_1 alone, whose 0.8 is a result, a second chain to player_2 starts only as printed
    edges = {(1, 0): 0.8, (2, 1): -0.5}
    for mode, chains in (("grounded", [(2, 1, 0)]), ("paper", [(2, 1, 0), (2, 1)])):
        graph = graph_of(edges, {}, mode=mode, gamma=0.0)
        graph.retrieve(1, 1)
        assert sorted(chain.players for chain in graph.retrieve(2, 1)) == sorted(chains)


@pytest.mark.parametrize("mode", sorted(CLOSED))
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=12),
    st.lists(st.floats(-0.9, 0.9), min_size=12, max_size=12),
    st.floats(0, 1),
)
def test_trust_depends_on_neither_the_order_nor_the_number_of_the_questions(mode, asked, weights, gamma):
    """Before and after the weights of Eq. 9 have come to hold."""
    pairs = [(j, k) for j in range(1, 5) for k in range(5) if j != k][:12]
    graph = graph_of(dict(zip(pairs, weights, strict=True)), {}, mode=mode, gamma=gamma)
    for _ in range(2):
        for target in range(1, 5):
            graph.retrieve(target, 1)
        once = list(graph.trust)
        for target in asked:
            graph.retrieve(target, 1)
        assert graph.trust == once
        hear_elsewhere(graph)


def test_eq_9_in_mode_code_takes_all_edges_of_a_target_with_two_chains():
    graph = graph_of({(1, 0): 0.5, (1, 3): 0.4}, {3: 0.1}, width=1, mode="code")
    graph.retrieve(1, 2)
    assert (graph.tau(1, 0), graph.tau(1, 3)) == (pytest.approx(0.5), pytest.approx(0.4))
    two = graph_of({(1, 0): 0.5, (1, 2): 0.5, (1, 3): 0.4}, {2: 1.0, 3: 0.1}, width=2, mode="code")
    assert paths(two, 1) == [(1, 0), (1, 2)]
    # T(1) = 0.5; 0.1 x 0.5 / 1 + 0.5 = 0.55, and towards 3: 0.1 x 0.5 / 0.1 + 0.4 = 0.9
    assert (two.tau(1, 0), two.tau(1, 3)) == (pytest.approx(0.55), pytest.approx(0.9))


# -- any graph -------------------------------------------------------------------------------------------------

EDGES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(-1, 1)), max_size=40)


@given(EDGES, st.integers(1, 8), st.integers(1, 7), st.sampled_from(MODES))
def test_chains_are_acyclic_end_in_time_and_consist_of_edges(edges, width, length, mode):
    graph = TrustGraph(7, 0, parameters=Parameters(width=width, length=length, mode=mode))
    for turn, (source, target, weight) in enumerate(edges):
        if source != target:
            graph.observe(turn, source, "words", [(target, weight)], [GraphJudgement(target, weight)])
    for target in range(7):
        trust = list(graph._established)  # without the results of Eq. 8, but in the modes `printed` and `code`
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
