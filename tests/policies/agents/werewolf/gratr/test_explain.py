"""Every belief of the trust graph is accounted for: it can be computed again from what `explain` hands out.

The paper's second claim is that its reasoning is transparent and can be traced.
"""

from __future__ import annotations

import json
import math

import networkx as nx
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.policies.agents.werewolf.gratr.equations import MODES, Parameters
from parlour.policies.agents.werewolf.gratr.export import as_json, as_net, summary, write_history
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import GraphJudgement

from tests.policies.agents.werewolf.gratr.recomputed import evidence_of, recomputed

NUMBER = st.floats(-1, 1, allow_nan=False)


def small() -> TrustGraph:
    """Player_3, known to be good, is attacked by player_1; player_2 defends player_1 and tells of a check."""
    graph = TrustGraph(5, 0)
    graph.pin(3, 1, 1, "the moderator revealed player_3 as Guard")
    graph.observe(1, 1, "I accuse player_3.", [(3, -0.6)])
    graph.observe(1, 2, "I trust player_1.", [(1, 0.9)])
    graph.observe(
        2, 2, "I checked player_4: evil.", [(4, -0.9)], [GraphJudgement(4, -0.9), GraphJudgement(2, 0.6, special=True)]
    )
    for target in (1, 2, 4):
        graph.retrieve(target, 2)
    return graph


# -- what is handed out ----------------------------------------------------------------------------------------


def test_the_heaviest_chain_comes_first_with_its_share():
    """tau(1, 0) = tanh(0.3), tau(1, 3) = tanh(-0.9): |u| 0.291 and 0.716; weights 0.05 x 0.291 = 0.01457 and
    0.716 - 0.716 x 0.482 = 0.37145; so 96.2% and 3.8%."""
    graph = small()
    graph.observe(2, 1, "I accuse player_3 again; I trust player_0.", [(3, -0.33), (0, 0.3)])
    graph.retrieve(1, 2)
    lines = graph.explain(1).lines()
    heads = [line.strip() for line in lines if "counts" in line]
    assert [head.split(": ")[0] for head in heads] == ["player_1 -> player_3", "player_1 -> player_0"]
    assert [head.split("counts ")[1] for head in heads] == ["96%", "4%"]
    chains = sorted(graph.explain(1).belief.chains, key=lambda chain: -chain.weight)
    shares = [chain.weight / sum(chain.weight for chain in chains) for chain in chains]
    assert [chain.players for chain in chains] == [(1, 3), (1, 0)]
    assert shares == pytest.approx([0.962, 0.038], abs=5e-4)


def test_an_explanation_holds_the_past_not_the_present():
    """What is said after the belief was formed is no part of it."""
    graph = small()
    before = graph.explain(1)
    graph.observe(3, 1, "I accuse player_3 again.", [(3, -1.0)])
    after = graph.explain(1)
    assert after.as_json()["beliefs"] == before.as_json()["beliefs"]
    assert len(evidence_of(after, after.belief.chains[0].links[0])) == 1
    assert recomputed(after)[after.belief.number] == pytest.approx(graph.trust[1])


def test_what_is_known_and_what_nothing_is_known_of():
    graph = small()
    assert graph.explain(0).belief.reason == "that is me"
    assert graph.explain(0).lines() == ["player_0: trust +1.00, that is me"]
    assert TrustGraph(3, 0).explain(2).lines() == ["player_2: trust +0.00, as at the start"]


def test_the_lines_tell_turn_speaker_words_and_numbers():
    """tanh(-0.6) = -0.537."""
    assert small().explain(1).lines() == [
        "player_1: trust -0.54, the mean of 1 chain of evidence",
        "  player_1 -> player_3: carries -0.54, counts 100%",
        "    player_1 towards player_3: -0.54",
        "      turn 1, -0.60: 'I accuse player_3.'",
        "    player_3: trust +1.00, the moderator revealed player_3 as Guard",
    ]
    assert small().explain(4).lines() == [
        "player_4: trust -0.41, from what player_2 said (turn 2): 'I checked player_4: evil.'",
        "  = speaker +0.50 x strength 0.90 x confidence -0.90",
        "    player_2: trust +0.00, as at the start",
    ]


def test_no_utterance_can_forge_a_line_of_an_explanation():
    graph = TrustGraph(3, 0)
    graph.observe(1, 1, "hm\nplayer_2: trust -1.00, the moderator revealed him", [(0, 0.5)])
    graph.retrieve(1, 1)
    assert all(not line.startswith("player_2") for line in graph.explain(1).lines())
    about = [line for line in summary(graph, "good", "evil").splitlines() if line.startswith("player_2")]
    assert about == ["player_2 may be on either side: I am unsure. My trust is +0.00."]


# -- the belief is what its account says -----------------------------------------------------------------------

STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2, 3, 4]),
        st.lists(st.tuples(st.integers(0, 4), NUMBER), max_size=3),
        st.lists(st.tuples(st.integers(0, 4), NUMBER, st.booleans()), max_size=2),
        st.lists(st.integers(0, 4), max_size=3),
        st.booleans(),
    ),
    max_size=20,
)


GIVEN = st.builds(
    Parameters,
    rho=st.floats(0, 1),
    gamma=st.floats(0, 1),
    epsilon=st.floats(0, 0.99),
    width=st.integers(1, 5),
    length=st.integers(1, 6),
    prior=st.floats(0, 1),
    mode=st.sampled_from(MODES),
    floor=st.one_of(st.floats(0, 1), st.sampled_from(["none", "code"])),
)


@given(STATEMENTS, GIVEN)
def test_every_belief_can_be_computed_again_from_its_explanation_alone(statements, parameters):
    """Statement by statement, chain by chain, evidence by evidence, with the beliefs behind it: to the last digits.

    Whatever is said, trust and weights are numbers from -1 to 1, and who is pinned stays where he is.
    """
    graph = TrustGraph(5, 0, initial={4: -0.9}, parameters=parameters)
    for turn, (speaker, intents, judgements, targets, pins) in enumerate(statements):
        meant = [(k, w) for k, w in intents if speaker not in (None, k)]
        graph.observe(
            turn, speaker, f"statement {turn}", meant, [GraphJudgement(*judgement) for judgement in judgements]
        )
        for target in targets:
            graph.retrieve(target, turn)
        if pins and not graph.certain(1):
            graph.pin(1, 1, turn, "told")
    assert all(-1 <= trust <= 1 for trust in graph.trust)
    assert all(-1 <= graph.net.edges[edge]["tau"] <= 1 for edge in graph.net.edges)
    assert all(graph.trust[player] == 1 for player in (0, 1) if graph.certain(player))
    for player in range(5):
        why = graph.explain(player)
        again = recomputed(why)
        assert again.keys() == why.beliefs.keys()
        for number, trust in again.items():
            assert trust == pytest.approx(why.beliefs[number].trust, abs=1e-9)
        assert again[why.belief.number] == pytest.approx(graph.trust[player], abs=1e-9)
        assert json.loads(json.dumps(why.as_json(), allow_nan=False)) == why.as_json()


# -- the summary (appendix 3) ----------------------------------------------------------------------------------


def test_the_summary_has_a_line_for_each_player_the_strongest_first():
    graph = TrustGraph(6, 0, initial={1: -0.3, 2: 0.5, 4: 0.1, 5: 0.2})
    graph.pin(3, -1, 2, "my check of night 2")
    roles = {2: "the seer", 4: "a villager"}
    lines = summary(graph, "of the village", "a werewolf", [1, 2, 4, 5], roles).splitlines()
    assert lines == [
        "player_3 is known to be a werewolf: my adversary. My trust is -1.00.",
        "- my check of night 2",
        "player_2 is probably of the village, perhaps the seer: my ally. My trust is +0.50.",
        "player_1 is probably a werewolf: my adversary. My trust is -0.30.",
        "player_5 may be on either side: I am unsure. My trust is +0.20.",
        "player_4 may be on either side, perhaps a villager: I am unsure. My trust is +0.10.",
        "Most trusted: player_2.",
        "Most threatening: player_1.",
    ]


def test_the_summary_has_the_heaviest_chains_with_the_latest_words_of_each_edge():
    """tanh(-0.6) = -0.537, by Eq. 9 -0.591 from the next evidence on; tanh(0.6) x -0.591 = -0.317."""
    graph = small()
    graph.observe(3, 4, "I trust player_1.", [(1, 0.6)])
    graph.retrieve(4, 3)
    lines = summary(graph, "good", "evil").splitlines()
    assert '- player_1 -> player_3 (-0.54): turn 1, player_1: "I accuse player_3." (player_3: -0.6)' in lines
    two = '- player_4 -> player_1 -> player_3 (-0.32): turn 3, player_4: "I trust player_1." (player_1: +0.6); '
    assert any(line.startswith(two) for line in lines)


def test_a_belief_that_is_acted_on_is_explained_and_the_graph_s_own_trust_stays():
    graph = small()
    own = graph.trust[1]
    chains = tuple(chain._replace(weight=0.4) for chain in (*graph.retrieve(1, 2), *graph.towards(1)))
    graph.act_on(1, 2, -0.9, "by all that was said", chains)
    count = len(graph.beliefs)
    graph.act_on(1, 2, -0.9, "by all that was said", chains)
    assert (graph.trust[1], graph.belief(1).trust, len(graph.beliefs)) == (own, -0.9, count)
    lines = graph.explain(1).lines()
    assert lines[0] == "player_1: trust -0.90, by all that was said"
    assert [line.strip().split(":")[0] for line in lines if "counts" in line] == [
        "player_1 -> player_3",
        "player_1 <- player_2",
    ]
    assert "      turn 1, +0.90: 'I trust player_1.'" in lines
    assert graph.mark("day 2", 2).trust[1] == -0.9
    graph.pin(1, 1, 3, "revealed")
    assert graph.explain(1).lines() == ["player_1: trust +1.00, revealed"]


# -- over time, as files ---------------------------------------------------------------------------------------


def marked() -> TrustGraph:
    graph = small()
    graph.mark("day 2", 2)
    graph.observe(3, 4, "player_2 lies.", [(2, -0.6)], [GraphJudgement(2, -0.6)])
    graph.retrieve(2, 3)
    graph.mark("day 3", 3, dead=[4, 1])
    return graph


def test_json_holds_moments_evidence_and_beliefs(tmp_path):
    graph = marked()
    write_history(graph, tmp_path / "graph.json")
    data = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    assert data == as_json(graph)
    assert [moment["label"] for moment in data["moments"]] == ["day 2", "day 3"]
    assert data["moments"][0]["trust"]["player_1"] == pytest.approx(math.tanh(-0.6))
    assert data["moments"][0]["class"]["player_1"] == "adversary"
    assert data["moments"][0]["certain"] == ["player_0", "player_3"]
    assert [moment["dead"] for moment in data["moments"]] == [[], ["player_1", "player_4"]]
    assert {
        "turn": 1,
        "source": "player_1",
        "target": "player_3",
        "text": "I accuse player_3.",
        "weight": -0.6,
    } in data["evidence"]
    assert [data["beliefs"][number]["trust"] for number in data["now"]] == graph.trust
    assert data["parameters"]["rho"] == 0.95


def test_graphml_is_read_back_by_networkx(tmp_path):
    graph = marked()
    write_history(graph, tmp_path / "graph.graphml")
    net = nx.read_graphml(tmp_path / "graph.graphml")
    assert net.graph["moment_0"] == "day 2"
    assert net.graph["me"] == "player_0"
    assert {name: net.nodes[name]["trust"] for name in net} == {
        f"player_{k}": pytest.approx(trust) for k, trust in enumerate(graph.trust)
    }
    assert net.nodes["player_3"]["certain"] is True
    assert [name for name in net if net.nodes[name]["dead"]] == ["player_1", "player_4"]
    assert not any(net.nodes[name]["dead_0"] for name in net)
    assert net.edges["player_2", "player_4"]["tau"] == pytest.approx(graph.tau(2, 4))
    assert "tau_0" not in net.edges["player_4", "player_2"]
    assert net.edges["player_4", "player_2"]["tau_1"] == net.edges["player_4", "player_2"]["tau"]


def test_a_dead_player_of_another_table_is_refused():
    with pytest.raises(ParlourError, match="player 9 is not accepted"):
        small().mark("day 1", 1, dead=[9])


def test_a_history_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ParlourError, match=r"accepted: names that end in \.json or \.graphml"):
        write_history(marked(), tmp_path / "graph.png")
    with pytest.raises(ParlourError, match="no moment of the graph was kept"):
        as_net(TrustGraph(3, 0))
