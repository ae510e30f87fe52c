"""The comparison on real documents: folds, intervals by hand, and a small run in which nothing is remembered."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.mediated_qa.corpora import load
from real_comparison import (
    CONTEXTUAL,
    STATIC,
    TABLE,
    compared,
    folds_by_phrasing,
    folds_by_question,
    interval,
    lines,
    phrasing,
)
from real_documents import real_documents, too_few, write
from real_questions import questions_about


def test_every_question_is_held_out_once():
    for folds in (folds_by_question(23), folds_by_phrasing([f"Who is {k}?" for k in range(20)] + ["Do a and b?"] * 3)):
        held = np.concatenate(folds)
        assert sorted(held) == list(range(23))


def test_a_phrasing_is_in_one_fold():
    texts = [f"{first} {k}?" for first in ("Who is", "Who wrote", "Which licence", "Do") for k in range(5)]
    for fold in folds_by_phrasing(texts):
        inside = {phrasing(texts[k]) for k in fold}
        assert inside.isdisjoint({phrasing(text) for k, text in enumerate(texts) if k not in fold})


def test_intervals_over_questions_and_over_groups():
    values = np.array([1.0, 3.0, 1.0, 3.0])  # strays -1, 1, -1, 1
    assert interval(values) == pytest.approx((2.0, 1.96 * 2 / 4))
    assert interval(values, ["a", "b", "a", "b"]) == pytest.approx((2.0, 1.96 * np.sqrt(8) / 4))  # sums -2 and 2
    assert interval(values, ["a", "a", "b", "b"]) == pytest.approx((2.0, 0.0))  # sums 0 and 0


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    pytest.importorskip("sklearn", reason="pip install 'parlour[train]'")
    pytest.importorskip("bm25s", reason="pip install 'parlour[retrieve]'")
    documents = real_documents()
    questions = questions_about(documents)
    if missing := too_few(documents, questions):
        pytest.skip(f"this machine has too little to read: {missing}")
    folder = tmp_path_factory.mktemp("real")
    write(folder, documents[::4], questions[:120])
    return load(folder)


def test_a_small_run_is_paired_and_remembers_nothing(small):
    found = compared(small, "bm25", [np.arange(60), np.arange(60, 120)])
    assert {len(earned) for earned in found.values()} == {120}
    # without memory, silence is always right: 10 less the cost of a shallow retrieval, or of asking the memory
    assert set(found[f"{STATIC}retrieve_shallow, refuse_to_generate, skip_check"]) == {9.0}
    assert set(found[f"{STATIC}skip_retrieval, generate_parametric, skip_check"]) == {8.0}
    assert all((found["oracle"] >= earned - 1e-9).all() for earned in found.values())
    assert {CONTEXTUAL, TABLE, "question form x state"} <= set(found)
    assert len(lines(found, [phrasing(one.text) for one in small.questions])) == len(found)
