"""The pipeline's parts: graph, linking, search, memory, the generator of corpora; and how they fail."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.corpus import DIFFICULTIES, Corpus, CorpusQuestion, Passage, generate
from parlour.envs.mediated_qa.graph import CONCEPT, DOCUMENT, ENTITY, SENTENCE, KnowledgeGraph
from parlour.envs.mediated_qa.pipeline import Pipeline, generated
from parlour.envs.mediated_qa.readers import ExtractiveReader, Memory
from parlour.envs.mediated_qa.retrieve import HOPS, STOPPING_SCORES, Search
from parlour.envs.mediated_qa.world import WorldFact

SMALL = (
    Passage("The Glass Door", ("The Glass Door is a film directed by Edda Marlow.",)),
    Passage("Edda Marlow", ("Edda Marlow is known as a director.", "She was born in 1912 in Telby.")),
    Passage("Telby", ("The river Orra runs through Telby, a town in the Vale.",)),
)
ASKED = CorpusQuestion("Which river runs through the town where the director of The Glass Door was born?", "Orra", "bridge",
                 (WorldFact("Telby", "river", 0.5),), ("Maren",))  # fmt: skip


# -- the graph -------------------------------------------------------------------------------------------------


def test_the_graph_of_three_articles():
    graph = KnowledgeGraph(SMALL)
    at = {(kind, text): node for node, (kind, text) in enumerate(zip(graph.kind, graph.text, strict=True))}
    relations = {frozenset(edge): data["relation"] for *edge, data in graph.graph.edges(data=True)}

    def relation(first: tuple[str, str], second: tuple[str, str]) -> str | None:
        return relations.get(frozenset({at[first], at[second]}))

    film, marlow = (DOCUMENT, "The Glass Door"), (ENTITY, "Edda Marlow")
    made, born = (SENTENCE, SMALL[0].sentences[0]), (SENTENCE, SMALL[1].sentences[1])
    assert relation(film, made) == "contains"
    assert relation(made, marlow) == "mentions"
    assert relation((DOCUMENT, "Edda Marlow"), marlow) == "named"
    assert relation((SENTENCE, SMALL[1].sentences[0]), born) == "next"
    assert relation(born, marlow) is None  # it says "she"
    assert relation(born, (ENTITY, "1912")) == "dated"
    assert relation((ENTITY, "The Glass Door"), marlow) == "direct"  # the last word between the two, stemmed
    assert Counter(graph.kind)[DOCUMENT] == 3


def test_words_that_several_sentences_share_are_concepts():
    graph = KnowledgeGraph((*SMALL, Passage("Vik", ("Vik is a town.",)), Passage("The Red Door", ("It is a film.",))))
    concepts = {graph.text[node] for node, kind in enumerate(graph.kind) if kind == CONCEPT}
    assert {"town", "film"} <= concepts
    assert "known" not in concepts  # stands in one sentence


def test_reliability_is_weighted_pagerank():
    graph = KnowledgeGraph(SMALL, normalisation="paper")
    ranks = nx.pagerank(graph.graph, weight="weight")
    low, high = min(ranks.values()), max(ranks.values())
    assert np.allclose(graph.reliability, [(ranks[k] - low) / (high - low) for k in range(len(graph))])


def test_nothing_of_the_right_answers_is_in_the_graph():
    corpus = generate(seed=2, size=80, difficulty="medium")
    marked = [question._replace(answer="GOLDEN", decoys=("SILVER",)) for question in corpus.questions]
    for normalisation in ("paper", "ours"):
        plain = Pipeline(corpus, normalisation=normalisation)
        other = Pipeline(Corpus(corpus.passages, tuple(marked)), normalisation=normalisation)
        assert plain.graph.text == other.graph.text
        assert plain.graph.reliability == other.graph.reliability
        for number in range(80):
            assert plain.signals(number) == other.signals(number)
            for action in (vocabulary.Retrieve.SHALLOW, vocabulary.Retrieve.DEEP):
                assert plain.retrieve(number, action) == other.retrieve(number, action)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who directed The Glass Door?", ["The Glass Door"]),
        ("Who directed the film Glass Door?", ["The Glass Door"]),
        ("Who directed The Glass Doro?", ["The Glass Door"]),  # two letters exchanged
        ("When was Edda Marlowe born?", ["Edda Marlow"]),
        ("Who was Edda Sand?", []),  # shares a word, but is somebody else
        ("Who directed The Iron Gate?", []),
        ("who was it?", []),
        ("", []),
    ],
)
def test_linking(question, titles):
    graph = KnowledgeGraph(SMALL)
    assert [graph.text[node] for node in graph.link(question)] == titles


# -- search ----------------------------------------------------------------------------------------------------


def test_a_path_is_walked_along_edges_and_never_twice_over_a_node():
    pipeline = generated(0, 60, "hard", "ours")
    graph = pipeline.graph
    for number in range(60):
        for start in pipeline.starts(number):
            for depth in STOPPING_SCORES:
                path = pipeline.search.path(graph, start, pipeline.questions[number].text, depth)
                assert path.nodes[0] == start
                assert len(set(path.nodes)) == len(path.nodes) == len(path.relations) + 1 <= HOPS + 1
                edges = [graph.graph.edges[edge]["relation"] for edge in pairwise(path.nodes)]
                assert tuple(edges) == path.relations
                score = np.mean([graph.reliability[node] for node in path.nodes]) + 0.1 * len(path.nodes)
                assert path.score == pytest.approx(score)
                if len(path.relations) == HOPS:
                    continue
                dead_end = len(path.nodes) < 4
                assert path.score >= STOPPING_SCORES[depth] or dead_end


def test_the_search_stops_at_the_first_level_that_scores_enough():
    class Chain(KnowledgeGraph):
        """A path of 30 equally reliable nodes."""

        def __init__(self, reliable: float) -> None:
            self.graph = nx.path_graph(30)
            nx.set_edge_attributes(self.graph, "next", "relation")
            nx.set_edge_attributes(self.graph, 1.0, "weight")
            self.reliability, self.postings, self._neighbours = [reliable] * 30, {}, {}

    for reliable, shallow, deep in ((0.0, 8, 9), (0.25, 5, 7), (0.5, 3, 4), (0.75, 2, 2), (-9.0, 11, 11)):
        lengths = [len(Search(guide=0.0).path(Chain(reliable), 0, "", depth).nodes) for depth in ("shallow", "deep")]
        assert lengths == [shallow, deep], reliable


# -- memory ----------------------------------------------------------------------------------------------------


def test_memory_is_the_same_for_ever_and_better_of_the_famous():
    asked = [ASKED._replace(text=f"{k}?", facts=(WorldFact(f"s{k}", "r", k / 999),)) for k in range(1000)]
    memory = Memory(seed=1)
    known = np.array([memory.knows(question) for question in asked])
    assert known.tolist() == [Memory(seed=1).knows(question) for question in asked]
    assert known.tolist() != [Memory(seed=2).knows(question) for question in asked]
    assert known[:200].mean() < 0.25 < 0.6 < known[800:].mean()
    for question, knows in zip(asked, known, strict=True):
        assert not knows or memory.recall(question).answer == "Orra"
    for (earlier, first), (later, second) in pairwise(zip(asked, known, strict=True)):  # all facts must be known
        assert memory.knows(ASKED._replace(facts=earlier.facts + later.facts)) == (first and second)


def test_samples_of_what_is_known_agree_and_guesses_do_not():
    decoys = ("A", "B", "C", "D", "E")
    asked = [ASKED._replace(text=f"{k}?", decoys=decoys, facts=(WorldFact(f"s{k}", "r", 0.5),)) for k in range(300)]
    memory, rng = Memory(mistaken=0.0), np.random.default_rng(0)
    agree = {True: [], False: []}
    for question in asked:
        answers = memory.sample(question, 5, rng)
        agree[memory.knows(question)].append(max(Counter(answers).values()) >= 4)
    assert np.mean(agree[True]) > 0.85
    assert np.mean(agree[False]) < 0.1


# -- corpora ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_corpora_are_made_alike_from_the_same_seed(difficulty):
    corpus = generate(seed=5, size=300, difficulty=difficulty)
    assert corpus == generate(seed=5, size=300, difficulty=difficulty)
    assert corpus.questions != generate(seed=6, size=300, difficulty=difficulty).questions
    assert len({question.text for question in corpus.questions}) == 300
    assert {question.kind for question in corpus.questions} == {"bridge", "comparison", "yes_no"}
    assert all(question.answer not in question.decoys for question in corpus.questions)
    assert all(question.decoys for question in corpus.questions)


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passages", [(), (Passage("Empty", ()),)])
def test_an_empty_corpus_is_refused(passages):
    with pytest.raises(ParlourError, match="no sentences"):
        Pipeline(Corpus(passages, (ASKED,)))
    with pytest.raises(ParlourError, match="no questions"):
        Pipeline(Corpus(SMALL, ()))


def test_a_question_without_entities_goes_through_without_signal():
    lost = ASKED._replace(text="what is it?")
    pipeline = Pipeline(Corpus(SMALL, (lost, ASKED)))
    assert vocabulary.STATES[pipeline.ask(0).state] == "s0"
    assert vocabulary.STATES[pipeline.ask(1).state] != "s0"
    assert pipeline.retrieve(0, vocabulary.Retrieve.SHALLOW) == pipeline.retrieve(0, vocabulary.Retrieve.DEEP) == ""
    as_paper = Pipeline(Corpus(SMALL, (lost, ASKED)), no_signal="paper", normalisation="paper")
    assert vocabulary.STATES[as_paper.ask(0).state] != "s0"
    with pytest.raises(ParlourError, match="no calibration question has signals"):
        Pipeline(Corpus(SMALL, (lost,))).ask(0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"no_signal": "s1"}, "s0, paper"),
        ({"retriever": "tfidf"}, "retriever 'tfidf' is not accepted; accepted: graph, bm25, dense, hybrid"),
        ({"retriever": 7}, "retriever 7 is not accepted"),
    ],
)
def test_settings_that_are_not_accepted(settings, message):
    with pytest.raises(ParlourError, match=message):
        Pipeline(Corpus(SMALL, (ASKED,)), **settings)


@pytest.mark.parametrize("arguments", [{"size": 0}, {"size": True}, {"size": 10**6}, {"difficulty": "mad"}])
def test_corpora_that_are_not_accepted(arguments):
    with pytest.raises(ParlourError, match="accepted"):
        generate(**{"seed": 0, "size": 10, "difficulty": "easy", **arguments})


# -- the check and the samples ---------------------------------------------------------------------------------

BORN = "Edda Marlow: She was born in 1912 in Telby."


class Scored(ExtractiveReader):
    """Its check has a score."""

    def entailment(self, question, evidence, answer):
        return 0.6


@pytest.mark.parametrize(
    ("reader", "threshold", "verdict"),
    [
        (ExtractiveReader(), None, "NEUTRAL"),
        (ExtractiveReader(), 0.5, "ENTAILED"),  # a neutral label counts one half
        (ExtractiveReader(), 0.51, "CONTRADICTED"),
        (Scored(), 0.6, "ENTAILED"),
        (Scored(), 0.61, "CONTRADICTED"),
    ],
)
def test_an_answer_passes_from_the_threshold_of_entailment_on(reader, threshold, verdict):
    """As the paper has it: a score below the threshold is a contradiction. Shared words say nothing of yes and no."""
    pipeline = Pipeline(Corpus(SMALL, (ASKED,)), reader=reader, entailment=threshold)
    assert pipeline.check(0, BORN, "yes") == vocabulary.CheckVerdict[verdict]


def test_samples_follow_the_evidence_as_far_as_it_is_sure():
    """The whole relation stands in the first evidence: all samples agree. In the second there is half of it: about half of them."""
    question = ASKED._replace(text="In which town was Edda Marlow born?", answer="Telby")
    reader, rng = ExtractiveReader(), np.random.default_rng(0)
    assert reader.sample(question, BORN, 5, rng) == ["Telby"] * 5
    half = question._replace(text="In which town was Edda Marlow born and raised?")
    assert 400 < reader.sample(half, BORN, 1000, rng).count("Telby") < 600
    assert reader.sample(question, "", 5, rng) == [""] * 5


@pytest.mark.parametrize(("consistency", "answer"), [("evidence", "Telby"), ("question", "")])
def test_consistency_sees_the_evidence_or_the_question_alone(consistency, answer):
    question = ASKED._replace(text="In which town was Edda Marlow born?", answer="Telby")
    pipeline = Pipeline(Corpus(SMALL, (question,)), reader=ExtractiveReader(), consistency=consistency)
    assert pipeline.answer(0, vocabulary.Generate.CONSISTENT, BORN, np.random.default_rng(0)) == answer
