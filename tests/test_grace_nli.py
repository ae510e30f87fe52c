"""Answers checked by an inference model: labels in any case, clear errors, and the wiring to `transformers`."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.readers import AskingReader, NLIReader

QUESTION = SimpleNamespace(text="Who founded Orn?")


@pytest.mark.parametrize("label", ["entailment", "ENTAILMENT", "Contradiction", "neutral"])
def test_labels_are_read_in_any_case(label):
    asked = []
    reader = NLIReader(
        AskingReader(), classify=lambda premise, hypothesis: asked.append((premise, hypothesis)) or label
    )
    assert reader.check(QUESTION, "Ada founded Orn.", "Ada") == label.lower()
    assert asked == [("Ada founded Orn.", "Who founded Orn? Ada")]


def test_another_label_is_no_verdict():
    with pytest.raises(ParlourError, match="'label_0' is not accepted; accepted: entailment, neutral, contradiction"):
        NLIReader(AskingReader(), classify=lambda *_: "LABEL_0").check(QUESTION, "x", "y")


def test_everything_else_is_the_inner_reader():
    inner, rng = AskingReader(), np.random.default_rng(0)
    reader = NLIReader(inner, classify=lambda *_: "neutral")
    assert reader.recall(QUESTION) == inner.recall(QUESTION)
    assert reader.sample(QUESTION, 2, rng) == ["", ""]
    assert reader.generate(QUESTION, "Orn: Ada founded Orn.", rng) == inner.generate(
        QUESTION, "Orn: Ada founded Orn.", rng
    )


@pytest.mark.parametrize("form", [dict, list])
def test_the_model_is_loaded_at_the_first_check_and_cuts_the_evidence_only(monkeypatch, form):
    made = []

    def pipeline(task, **settings):
        made.append((task, settings))
        best = {"label": "CONTRADICTION", "score": 0.9}
        return lambda pair: best if form is dict else [best]

    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(pipeline=pipeline))
    reader = NLIReader(AskingReader(), checkpoint="some/model")
    assert not made
    assert [reader.check(QUESTION, "x", "y") for _ in range(2)] == ["contradiction"] * 2
    assert made == [("text-classification", {"model": "some/model", "truncation": "only_first"})]


def test_without_the_extra_one_line_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ParlourError, match=r"transformers is not installed; accepted: pip install 'parlour\[nli\]'"):
        NLIReader(AskingReader()).check(QUESTION, "x", "y")
