"""Signals, quantile bins and states: the rules of the published code, its collapse, and what mends it."""

from __future__ import annotations

import json
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import Passage, generate
from parlour.envs.mediated_qa.graph import ENTITY, QUESTION, KnowledgeGraph
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.retrieve import Path, Search
from parlour.envs.mediated_qa.signals import UNLINKED, Bins, Signals, equal_relations, probe

from tests.reference_data import reference


def test_cut_points_are_the_33_3_and_66_6_percentiles():
    rows = [Signals(*(float(k * scale) for scale in (0.01, 1, 2, 0.005, 3))) for k in range(101)]
    bins = Bins.learn(rows)
    for (low, high), scale in zip(bins.cuts, (0.01, 1, 2, 0.005, 3), strict=True):
        assert (low, high) == pytest.approx((33.3 * scale, 66.6 * scale))


def test_cut_points_between_two_values_are_interpolated():
    assert Bins.learn([Signals(0, 0, 0, 0, 0), Signals(1, 10, 10, 1, 10)]).cuts[1] == pytest.approx((3.33, 6.66))


def test_a_signal_that_is_always_the_same_is_mid():
    bins = Bins.learn([Signals(0.0, 2.0, 4.0, 0.0, 5.0)] * 3)
    published = ((-0.05, 0.05), (1.95, 2.05), (3.95, 4.05), (-0.05, 0.05), (4.95, 5.05))
    assert np.allclose(bins.cuts, published)
    assert [bins.bin(1, value) for value in (1.9, 2.0, 2.1)] == [0, 1, 2]


def test_cut_points_are_moved_apart_up_to_a_thousandth():
    close = Bins.learn([Signals(0, k, 0, 0, 0) for k in (0.0, 0.0015, 0.003)])
    far = Bins.learn([Signals(0, k, 0, 0, 0) for k in (0.0, 0.003, 0.006)])
    assert close.cuts[1][1] - close.cuts[1][0] == pytest.approx(0.1 + 0.000999, abs=1e-6)
    assert far.cuts[1][1] - far.cuts[1][0] == pytest.approx(0.001998, abs=1e-6)


def test_a_value_on_a_cut_point_belongs_above_it():
    bins = Bins(((1.0, 2.0),) * 5)
    assert [bins.bin(0, value) for value in (0.9, 1.0, 1.9, 2.0, 3.0)] == [0, 1, 1, 2, 2]


SUMS = Bins(((1.0, 2.0),) * 5)


@given(st.tuples(*[st.integers(0, 2)] * 5))
def test_every_combination_of_bins_has_the_state_of_its_sums(binned):
    trust = "low low mid high high".split()[sum(binned[:2])]  # noqa: SIM905
    quality = "low low low mid mid high high".split()[sum(binned[2:])]  # noqa: SIM905
    assert SUMS.state(Signals(*map(float, binned))) == f"T:{trust}_Q:{quality}"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_signal_that_is_no_number_gives_the_state_without_signal(bad):
    for place in range(5):
        signals = Signals(*(bad if k == place else 1.0 for k in range(5)))
        assert SUMS.state(signals) == "s0"
    learned = Bins.learn([Signals(bad, 1, 1, 1, 1), Signals(1, 1, 1, 1, 1), None])
    assert learned == Bins.learn([Signals(1, 1, 1, 1, 1)])
    assert SUMS.state(None) == "s0"


def test_without_any_signal_there_is_nothing_to_learn():
    with pytest.raises(ParlourError, match="no calibration question"):
        Bins.learn([None, Signals(float("nan"), 0, 0, 0, 0)])


def test_an_unlinked_question_in_the_published_thresholds_is_mid_and_low():
    cuts = json.loads(reference("grace/policy_reference.json").read_text(encoding="utf-8"))["signal_thresholds"]
    bins = Bins(tuple(tuple(cut) for cut in cuts.values()))
    assert bins.state(UNLINKED) == "T:mid_Q:low"
    assert bins.state(Signals(0.0, 2.0, 4.0, 0.0, 5.0)) == "T:mid_Q:mid"
    assert bins.state(Signals(0.0, 5.0, 3.0, 0.5, 4.0)) == "T:high_Q:low"  # the paper's fourth case


# -- a small graph, by hand ------------------------------------------------------------------------------------

SMALL = (
    Passage("The Glass Door", ("The Glass Door is a film directed by Edda Marlow.",)),
    Passage("Edda Marlow", ("Edda Marlow is known as a director.", "She was born in 1912 in Telby.")),
)


def test_signals_of_the_paper_on_a_small_graph():
    graph = KnowledgeGraph(SMALL, normalisation="paper")
    start = graph.link("Who directed The Glass Door?")
    signals = probe(graph, Search(guide=0.0), start, "Who directed The Glass Door?")
    path = Search(guide=0.0).path(graph, start[0], "", "shallow")
    assert signals.degree == 2  # its sentence and its entity
    assert signals.reliability == graph.reliability[start[0]]
    assert signals.length == len(path.nodes) - 1
    assert signals.diversity == len({graph.text[node] for node in path.nodes})
    assert len(path.relations) == 1
    assert signals.coherence == 1.0


def test_signals_of_the_papers_text_on_a_small_graph():
    """A shallow search stops after one hop: it reaches the sentence, which offers "Edda Marlow", and the entity."""
    graph = KnowledgeGraph(SMALL, normalisation="text")
    (start,) = graph.link("Who directed The Glass Door?")
    signals = probe(graph, Search(guide=0.0), [start], "Who directed The Glass Door?")
    reached = [start, *graph.graph.adj[start]]
    assert signals.reliability == pytest.approx(np.mean([graph.reliability[node] for node in reached]))
    assert (signals.degree, signals.length, signals.coherence) == (2, 1.0, 1.0)
    assert signals.diversity == pytest.approx(np.log2(3))  # a document, a sentence, an entity
    assert probe(graph, Search(guide=0.0), [start], "In which year was it made?").length == 10  # no sentence has a year


@pytest.mark.parametrize(
    ("relations", "share"), [("aaab", 2 / 3), ("abab", 0), ("aaa", 1), ("ab", 0), ("a", 1), ("", 0)]
)
def test_coherence_of_the_paper_is_the_share_of_equal_neighbours(relations, share):
    path = Path((0,) * (len(relations) + 1), tuple(relations), 0.0, 0, 0.0)
    assert equal_relations(path) == pytest.approx(share)


def test_our_signals_on_a_small_graph():
    graph = KnowledgeGraph(SMALL)
    question = "In which town was the director of The Glass Door born?"
    starts = graph.link(question)
    signals = probe(graph, Search(), starts, question)
    path = Search().path(graph, starts[0], question, "shallow")
    assert signals.length == pytest.approx(path.weight / len(path.relations))
    text = " ".join(graph.text[node] for node in path.nodes if graph.kind[node] == "Sentence")
    assert signals.coherence == (1.0 if "born" in text else 0.0)
    counts = Counter(graph.kind[node] for node in path.nodes)
    p = np.array(list(counts.values())) / len(path.nodes)
    assert signals.diversity == pytest.approx(float(-(p * np.log2(p)).sum()))


def test_two_links_are_trusted_more_than_either():
    graph = KnowledgeGraph(SMALL)
    both = graph.link("Are The Glass Door and Edda Marlow both films?")
    assert sorted(graph.text[node] for node in both) == ["Edda Marlow", "The Glass Door"]
    first, second = (probe(graph, Search(), [start], "?") for start in both)
    together = probe(graph, Search(), both, "?")
    assert together.reliability == pytest.approx(1 - (1 - first.reliability) * (1 - second.reliability))
    assert together.degree == first.degree + second.degree


# -- the collapse ----------------------------------------------------------------------------------------------


def reliabilities(pipeline: Pipeline) -> list[tuple[float, str]]:
    return list(zip(pipeline.graph.reliability, pipeline.graph.kind, strict=True))


def test_our_reliability_is_half_the_min_max_of_the_logarithm_within_a_kind():
    graph = KnowledgeGraph(SMALL)
    ranks = nx.pagerank(graph.graph, weight="weight")
    for kind in set(graph.kind):
        nodes = [node for node, other in enumerate(graph.kind) if other == kind]
        logs = np.log([ranks[node] for node in nodes])
        spread = logs.max() - logs.min()
        expected = (logs - logs.min()) / spread / 2 if spread > 1e-12 else np.full(len(nodes), 0.25)
        assert np.allclose([graph.reliability[node] for node in nodes], expected), kind


def test_signals_collapse_with_the_papers_normalisation_and_spread_with_ours():
    """In a dense graph questions at 1.0 press all documents together; states then tell little apart."""
    corpus = generate(seed=3, size=400, difficulty="hard")
    spread, states = {}, {}
    assert {r for r, kind in reliabilities(Pipeline(corpus, normalisation="paper")) if kind == QUESTION} == {1.0}
    for normalisation in ("paper", "ours"):
        pipeline = Pipeline(corpus, normalisation=normalisation)
        graph = pipeline.graph
        ranks = [graph.reliability[pipeline.starts(k)[0]] for k in range(400) if pipeline.starts(k)]
        spread[normalisation] = np.quantile(ranks, 0.9) - np.quantile(ranks, 0.1)
        states[normalisation] = Counter(pipeline.bins.state(pipeline.signals(k)) for k in range(400))
        assert (QUESTION in graph.kind) == (normalisation == "paper")
        entities = [r for r, kind in reliabilities(pipeline) if kind == ENTITY]
        assert min(graph.reliability) >= 0
        assert max(entities) <= (1 if normalisation == "paper" else 0.5)
    assert spread["paper"] < 0.5 * spread["ours"]
    assert states["paper"].most_common(1)[0][1] > 1.5 * states["ours"].most_common(1)[0][1]
