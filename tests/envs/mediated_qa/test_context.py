"""What may be known before anything is paid for: features are counted as told, and nothing else moves them."""

from __future__ import annotations

from math import isfinite, log

import numpy as np
import pytest
from parlour.envs.mediated_qa.context import context_of, form_of, measure
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage, generate
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import Memory, OfflineReader
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.vocabulary import FEATURES, FORMS, SIGNAL_FEATURES

PASSAGES = (
    Passage("Edda Marlow", ("Edda Marlow was born in Tarn.", "Edda Marlow wrote The Glass Harbour.")),
    Passage("Tarn", ("Tarn was founded in 1204.", "Tarn lies on the Maren.")),
    Passage("Tarn Prize", ("The prize was founded in 1950.",)),
)
QUESTIONS = (
    "In which town was Edda Marlow born?",
    "Was Tarn founded before Lund?",
    "Who was born first, Edda Marlow or Jon Reed?",
    "When was Tarn founded?",
    "Who is it?",
)


def corpus(questions=QUESTIONS):
    return Corpus(PASSAGES, tuple(CorpusQuestion(text, "Tarn", "bridge", (), ("Lund",)) for text in questions))


def features(pipeline, number):
    return dict(zip(FEATURES, context_of(pipeline, number), strict=True))


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Are A and B both novels?", "both"),
        ("Were A and B born in the same town?", "yes_no"),
        ("Who was born first, A or B?", "choice"),
        ("In which year was A born?", "when"),
        ("How many towns lie on the Maren?", "how_many"),
        ("Who wrote The Glass Harbour?", "who"),
        ("In which town was A born?", "where"),
        ("What is a lighthouse?", "which"),
        ("Name the author.", "other"),
    ],
)
def test_each_form_of_question_is_known(question, form):
    assert form_of(question) == form


def test_the_words_of_a_question_are_counted():
    values = features(Pipeline(corpus()), 0)
    assert [values[f"form_{form}"] for form in FORMS] == [float(form == "where") for form in FORMS]
    # In which town was Edda Marlow born: 7 words, 4 of content (town, Edda, Marlow, born), one name
    assert (values["words"], values["stems"], values["names"], values["relation"]) == (7, 4, 1, 1)
    assert values["strange"] == 0.25  # "town" stands in no passage
    assert (values["genitives"], values["clauses"], values["years"]) == (0, 0, 0)


def test_links_are_counted_with_their_degrees_and_rivals():
    pipeline = Pipeline(corpus())
    values = features(
        pipeline, 1
    )  # Was Tarn founded before Lund: one of two names is linked, and Tarn Prize holds "Tarn"
    (tarn,) = pipeline.starts(1)
    assert (values["links"], values["unlinked"], values["inexact"]) == (1, 1, 0)
    assert values["rivals"] == log(2)
    assert (values["first_degree"], values["second_degree"]) == (log(1 + pipeline.graph.degree(tarn)), 0)
    assert values["first_reliability"] == pipeline.graph.reliability[tarn]


def test_the_path_is_the_one_that_the_signals_were_measured_on():
    pipeline = Pipeline(corpus())
    values, path = (
        features(pipeline, 0),
        pipeline.search.path(pipeline.graph, pipeline.starts(0)[0], QUESTIONS[0], "shallow"),
    )
    kinds = [pipeline.graph.kind[node] for node in path.nodes]
    assert values["score"] == path.score
    assert values["nodes"] == len(path.nodes)
    assert (values["sentences"], values["documents"]) == (kinds.count("Sentence"), kinds.count("Document"))
    assert values["weight"] == pipeline.signals(0).length
    assert [values[name] for name in SIGNAL_FEATURES] == [1.0, *pipeline.signals(0)]


def test_a_question_that_names_nothing_has_words_and_no_path():
    values = features(Pipeline(corpus()), 4)
    assert [values[name] for name in SIGNAL_FEATURES] == [0.0] * 6
    assert (values["links"], values["score"], values["candidates"]) == (0, 0, 0)
    assert values["words"] == 3


def test_sentences_that_offer_an_answer_of_the_wanted_kind_are_counted():
    """A year is offered by a sentence with a year, whichever it is; by one without, none is."""
    with_year = Passage("Tarn", ("Tarn was founded in 1204.",))
    without = Passage("Tarn", ("Tarn was founded by nobody.",))
    question = "When was Tarn founded?"
    rows = []
    for passage in (with_year, without):
        graph = KnowledgeGraph([passage])
        rows.append(dict(zip(FEATURES, measure(graph, Search(), question, graph.link(question), None), strict=True)))
    assert [(row["offering"], row["candidates"], row["dated"]) for row in rows] == [(1, 1, 1), (0, 0, 0)]
    assert [row["said"] for row in rows] == [1, 1]  # Tarn and founded, in both


class Contrary:
    """A reader that says other things, and is sure of them."""

    def generate(self, question, evidence, rng):
        return "nothing of the kind"

    def sample(self, question, evidence, count, rng):
        return ["nothing of the kind"] * count

    def recall(self, question):
        return EstimatedAnswer("nothing of the kind", 0.99)

    def check(self, question, evidence, answer):
        return "contradiction"


def test_neither_reader_nor_memory_nor_fame_nor_answer_nor_number_changes_the_context():
    """The features of 60 questions, and of the same ones in reverse, otherwise known, otherwise answered."""
    generated = generate(seed=1, size=60, difficulty="hard")
    changed = [
        question._replace(
            answer="another",
            decoys=("x", "y"),
            kind="other",
            facts=tuple(fact._replace(fame=0.5) for fact in question.facts),
        )
        for question in reversed(generated.questions)
    ]
    plain = Pipeline(generated)
    expected = [context_of(plain, number) for number in range(60)]
    assert len(set(expected)) > 50
    other = Corpus(generated.passages, tuple(changed))
    for reader in (Contrary(), OfflineReader(Memory(seed=5, famous=0.1, unknown=0.1))):
        pipeline = Pipeline(other, reader=reader)
        for number in range(60):  # whatever was answered before
            pipeline.recall(number)
            pipeline.answer(number, 0, pipeline.retrieve(number, 1), np.random.default_rng(0))
        assert [context_of(pipeline, 59 - number) for number in range(60)] == expected


@pytest.mark.parametrize("normalisation", ["ours", "paper"])
def test_every_feature_is_a_finite_number(normalisation):
    pipeline = Pipeline(generate(seed=2, size=80, difficulty="hard"), normalisation=normalisation)
    contexts = [pipeline.context(number) for number in range(80)]
    assert {len(context) for context in contexts} == {len(FEATURES)}
    assert all(map(isfinite, (value for context in contexts for value in context)))
