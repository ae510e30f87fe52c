"""Retrievers: BM25 and fusion worked by hand, ties, depths, and what is missing.

docs/howto/retrievers.md says what is true: its blocks run, and print what they should; its numbers are those of the code.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from parlour.envs.common.extras import install
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import reading, retrievers, vocabulary
from parlour.envs.mediated_qa.actions import KINDS
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage, generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrieve import STOPPING_SCORES
from parlour.envs.mediated_qa.retrievers import (
    NAMES,
    SENTENCES,
    BM25Retriever,
    DenseRetriever,
    FusedRetriever,
    Retriever,
)
from parlour.policies import GraceMediator

from tests import ROOT

ANIMALS = (Passage("Ash", ("red fox.", "red red dog.")), Passage("Oak", ("blue fox jumps high.",)))
"""Words with the title: ash red fox (3); ash red red dog (4); oak blue fox jump high (5); 4 on average."""
FOX, DOG, HIGH = Piece("Ash", "red fox."), Piece("Ash", "red red dog."), Piece("Oak", "blue fox jumps high.")


class Letters:
    """Vectors by hand: how often a, b and c stand in a text, as a unit vector."""

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        counts = np.array([[text.count(letter) + 1e-9 for letter in "abc"] for text in texts])
        return np.ascontiguousarray(counts / np.linalg.norm(counts, axis=1, keepdims=True), np.float32)


class Listed:
    """Ranks the same sentences for every question."""

    def __init__(self, *pieces: Piece) -> None:
        self.pieces = pieces

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        return self.pieces[:count]


# -- BM25 --------------------------------------------------------------------------------------------------------


def test_bm25_of_three_sentences_by_hand():
    scores = BM25Retriever(ANIMALS).scores("Which red fox?")
    # red and fox stand in 2 of 3 sentences: ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.470004
    # lengths 3, 4 and 5 of 4: 1.5 (0.25 + 0.75 |d| / 4) = 1.21875, 1.5, 1.78125
    assert scores[0] == pytest.approx(0.470004 * 2 * 1 / (1 + 1.21875), abs=1e-6)  # both words once: 0.423666
    assert scores[1] == pytest.approx(0.470004 * 2 / (2 + 1.5), abs=1e-6)  # red twice: 0.268574
    assert scores[2] == pytest.approx(0.470004 * 1 / (1 + 1.78125), abs=1e-6)  # fox once: 0.168990


def test_the_evidence_has_the_best_sentence_last():
    evidence = BM25Retriever(ANIMALS).evidence("Which red fox?", "shallow")
    assert evidence == "Oak: blue fox jumps high. ¶ Ash: red red dog. ¶ Ash: red fox."


def test_a_sentence_that_shares_no_word_is_not_found():
    by = BM25Retriever(ANIMALS)
    assert by.ranked("dogs", 9) == [DOG]  # the plural is the same stem
    assert by.ranked("oak", 9) == [HIGH]  # by its title
    assert by.evidence("Which whale?", "deep") == by.evidence("", "deep") == ""


def test_of_equally_good_sentences_the_first_of_the_corpus_comes_first():
    birds = [Passage(f"B{k:02}", ("a grey owl.",)) for k in range(20)]
    assert [piece.title for piece in BM25Retriever(birds).ranked("owl", 4)] == ["B00", "B01", "B02", "B03"]
    assert [piece.title for piece in BM25Retriever(birds[::-1]).ranked("owl", 2)] == ["B19", "B18"]


def test_a_corpus_without_words_has_no_evidence():
    assert BM25Retriever([Passage("...", ("?!",))]).evidence("Who?", "deep") == ""


@pytest.mark.parametrize(("depth", "count"), [("shallow", 3), ("deep", 8)])
def test_shallow_and_deep_are_numbers_of_sentences(depth: Any, count: int):
    birds = [Passage(f"B{k:02}", ("a grey owl.",)) for k in range(20)]
    for by in (BM25Retriever(birds), DenseRetriever(birds, Letters()), FusedRetriever((BM25Retriever(birds),))):
        assert len(reading.pieces(by.evidence("a grey owl", depth))) == count == SENTENCES[depth]


def test_another_depth_is_refused():
    with pytest.raises(ParlourError, match="depth 'deeper' is not accepted; accepted: shallow, deep"):
        BM25Retriever(ANIMALS).evidence("fox", "deeper")  # type: ignore[arg-type]


def test_without_bm25s_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(ParlourError) as caught:
        BM25Retriever(ANIMALS)
    assert str(caught.value) == f"bm25s is not installed; accepted: {install('retrieve')}"


# -- dense -------------------------------------------------------------------------------------------------------

VOWELS = (Passage("", ("aaa", "aab", "abb", "bbb", "ccc", "abab", "baba")),)


def test_the_nearest_sentences_by_cosine():
    by = DenseRetriever(VOWELS, Letters())
    # to ab (1, 1, 0): abab and baba 1; aab and abb (2 + 1) / sqrt(2 * 5) = 0.949; aaa and bbb 0.707; ccc 0
    assert [piece.sentence for piece in by.ranked("ab", 9)] == ["abab", "baba", "aab", "abb", "aaa", "bbb"]
    assert [piece.sentence for piece in by.ranked("ab", 3)] == ["abab", "baba", "aab"]  # aab before abb, which ties


def test_nothing_near_enough_is_nothing_found():
    by = DenseRetriever((Passage("", ("ccc",)),), Letters())
    assert by.evidence("ab", "deep") == ""
    assert by.evidence("c", "deep") == ": ccc"
    assert by.evidence(" ", "deep") == ""  # a blank text has no vector


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_ties_are_cut_in_the_order_of_the_corpus(count: int):
    alike = [Passage(f"B{k}", ("owl",)) for k in range(40)]
    ranked = DenseRetriever([Passage("A", ("a",)), *alike], Letters()).ranked("b", count)
    assert ranked == DenseRetriever([Passage("A", ("a",)), *alike], Letters()).ranked("b", 99)[:count]


def test_dense_needs_an_embedder():
    corpus = generate(seed=0, size=5, difficulty="easy")
    for name in ("dense", "hybrid"):
        with pytest.raises(
            ParlourError, match=rf"retriever {name} has no embedder; accepted: .*pip install .*\[embed\]"
        ):
            Pipeline(corpus, retriever=name)


# -- fusion ------------------------------------------------------------------------------------------------------


def test_reciprocal_rank_fusion_by_hand():
    by = FusedRetriever((Listed(FOX, DOG), Listed(HIGH, DOG)))
    # fox 1/61 = 0.01639, high 1/61, dog 1/62 + 1/62 = 0.03226; fox before high, as its ranking comes first
    assert by.ranked("", 9) == [DOG, FOX, HIGH]
    assert by.ranked("", 1) == [DOG]


# -- in the pipeline ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_retriever_by_its_name(name: str):
    corpus = generate(seed=1, size=30, difficulty="easy")
    pipeline = Pipeline(corpus, retriever=name, embedder=Letters())
    assert isinstance(pipeline.retriever, Retriever)
    shallow, deep = (pipeline.retrieve(0, action) for action in (vocabulary.Retrieve.SHALLOW, vocabulary.Retrieve.DEEP))
    titles = {passage.title for passage in corpus.passages}
    assert {piece.title for piece in reading.pieces(shallow + reading.SEPARATOR + deep)} <= titles
    assert deep
    again = pickle.loads(pickle.dumps(pipeline))
    assert again.retrieve(1, vocabulary.Retrieve.DEEP) == pipeline.retrieve(1, vocabulary.Retrieve.DEEP)


def test_the_signals_are_those_of_the_graph_whoever_retrieves():
    corpus = generate(seed=1, size=30, difficulty="easy")
    pipeline, other = Pipeline(corpus), Pipeline(corpus, retriever="bm25")
    assert [pipeline.signals(k) for k in range(30)] == [other.signals(k) for k in range(30)]


class Shelf:
    """A retriever of one's own: the first article that bears a word of the question as its title."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages, self.asked = passages, 0

    def evidence(self, question: str, depth: str) -> str:
        self.asked += 1
        many = 1 if depth == "shallow" else 2
        for title, sentences in self.passages:
            if title in question:
                return reading.join(tuple(Piece(title, sentence) for sentence in sentences[:many]))
        return ""


def test_a_retriever_of_ones_own_is_asked_once_for_each_question_and_depth():
    asked = CorpusQuestion("What is Ash?", "a fox", "bridge", (), ())
    shelf = Shelf(ANIMALS)
    pipeline = Pipeline(Corpus(ANIMALS, (asked,)), retriever=shelf)
    for _ in range(2):
        assert pipeline.retrieve(0, vocabulary.Retrieve.SHALLOW) == "Ash: red fox."
        assert pipeline.retrieve(0, vocabulary.Retrieve.DEEP) == "Ash: red fox. ¶ Ash: red red dog."
    assert shelf.asked == 2


# -- the page ------------------------------------------------------------------------------------------------------


PAGE = (ROOT / "docs" / "howto" / "retrievers.md").read_text("utf-8")
PARTS, ACTIONS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(block: str) -> None:
    exec(compile(block, "docs/howto/retrievers.md", "exec"), {"__name__": "page"})


def test_parts_of_ones_own(capsys):
    run(PARTS)
    assert capsys.readouterr().out == "Telby: Telby lies on the river Orra. -> Orra True\n"


@pytest.mark.slow
def test_actions_of_ones_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(ACTIONS)
    assert "best static" in capsys.readouterr().out
    assert GraceMediator.load("runs/own/policy.json").table.usable is not None


def test_the_numbers_of_the_page():
    assert f"k1 = {retrievers.K1}, b = {retrievers.B}" in PAGE
    assert f"from cosine {retrievers.LEAST}" in PAGE
    assert f"1 / ({retrievers.CONSTANT} + place)" in PAGE
    assert f"score {STOPPING_SCORES['shallow']:.2f} | to {STOPPING_SCORES['deep']:.2f}" in PAGE
    assert f"{retrievers.SENTENCES['shallow']} sentences | {retrievers.SENTENCES['deep']}" in PAGE
    for name in retrievers.NAMES:
        assert f"| `{name}` |" in PAGE
    for kind in (kind for kinds in KINDS for kind in kinds):
        assert f"`{kind}`" in PAGE
