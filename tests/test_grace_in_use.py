"""A mediator in a pipeline of one's own: question and documents, or signals, in place of the state (docs/howto/mediators.md)."""

from __future__ import annotations

import math

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.signals import Signals
from parlour.policies import GraceMediator
from parlour.policies.agents.mediated_qa import PolicyTable, documents
from parlour.policies.agents.mediated_qa.documents import DocumentProbe
from parlour.policies.agents.mediated_qa.joint import ALL, FALLBACK, PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES

SIZE = 30


@pytest.fixture(scope="module")
def pipeline():
    made = Pipeline(generate(seed=3, size=SIZE, difficulty="medium"))
    made.learn_bins(range(SIZE))
    return made


def policy_of(pipeline):
    """A policy with the cut points of a pipeline: in state number k the joint action number k."""
    cuts = dict(zip(SIGNAL_NAMES, pipeline.bins.cuts, strict=True))
    return PolicyTable({state: {ALL[k]: 1.0} for k, state in enumerate(STATES)}, cuts, 0.7, 0.0)


@pytest.fixture(scope="module")
def passages(pipeline):
    return generate(seed=3, size=SIZE, difficulty="medium").passages


@pytest.fixture(scope="module")
def loaded(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.json"
    path.write_text(policy_of(pipeline).dumps())
    return GraceMediator.load(path)


def test_signals_and_states_of_documents_are_those_of_calibration(loaded, pipeline, passages):
    probe = DocumentProbe(passages)
    states = set()
    for number, question in enumerate(pipeline.questions):
        advice = loaded.advise(question.text, probe)
        assert advice.signals == pipeline.signals(number)
        assert advice.state == pipeline.bins.state(pipeline.signals(number))
        assert advice.joint == loaded.recommend(advice.state)
        states.add(advice.state)
    assert len(states) > 3


def test_a_question_with_documents_or_its_signals_or_its_state_are_answered_alike(loaded, pipeline, passages):
    for number in (0, 1, 2):
        signals = pipeline.signals(number)
        by_state = loaded.recommend(pipeline.bins.state(signals))
        assert loaded.recommend(signals) == by_state
        assert loaded.recommend(pipeline.questions[number].text, passages) == by_state


def test_documents_may_be_texts_objects_or_passages(loaded, pipeline, passages):
    forms = [
        [{"title": passage.title, "text": "\n".join(passage.sentences)} for passage in passages],
        [f"{passage.title}\n" + "\n".join(passage.sentences) for passage in passages],
        [(passage.title, list(passage.sentences)) for passage in passages],
        [(passage.title, "\n".join(passage.sentences)) for passage in passages],
    ]
    question = pipeline.questions[0].text
    expected = loaded.advise(question, passages)
    for documents_of_one_form in forms:
        assert loaded.advise(question, documents_of_one_form).signals == expected.signals


def test_a_text_without_a_title_is_called_by_its_first_name():
    probe = DocumentProbe(["In 1912 Edda Marlow wrote The Glass Harbour. It is long.", "nothing is named here, at all"])
    assert [passage.title for passage in probe.passages] == ["Edda Marlow", "nothing is named here, at all"]
    assert probe.linked("Who was Edda Marlow?") == ("Edda Marlow",)


def test_a_question_that_no_document_is_about_has_no_signals_and_gets_the_fallback(loaded, passages):
    advice = loaded.advise("what is the matter?", passages)
    assert (advice.signals, advice.state, advice.joint, advice.probability) == (None, "s0", FALLBACK, 1.0)
    assert loaded.recommend(None) == FALLBACK
    assert loaded.recommend((math.nan, 0, 0, 0, 0)) == FALLBACK


def test_each_signal_is_shown_with_its_bin():
    cuts = dict.fromkeys(SIGNAL_NAMES, (1.0, 2.0))
    binned = documents.binned(Signals(0.5, 1.0, 1.5, 2.0, 9.0), cuts)
    assert [signal.bin for signal in binned] == [0, 1, 1, 2, 2]
    # trust 0 + 1 is low, quality 1 + 2 + 2 = 5 is high
    assert documents.state_of((0.5, 1.0, 1.5, 2.0, 9.0), cuts) == "T:low_Q:high"


@pytest.mark.parametrize(
    ("asked", "given", "message"),
    [
        ("Who?", ["", " "], "no sentences"),
        ("Who?", "one text", "documents 'one text' is not accepted; accepted: a list of"),
        ("Who?", [3], "document 1: 3 is not accepted; accepted: texts, objects"),
        ("Who?", ["A text.", {"title": "No text"}], "document 2: "),
        (" ", ["A text."], "question ' ' is not accepted"),
        ("Who?", None, "state 'Who\\?' is not accepted"),
        ((1, 2), None, "signals .1, 2. is not accepted; accepted: five numbers"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(loaded, asked, given, message):
    with pytest.raises(ParlourError, match=message) as error:
        loaded.recommend(asked, given)
    assert "\n" not in str(error.value)


def test_a_policy_without_cut_points_says_what_is_missing(passages):
    bare = GraceMediator(PolicyTable({STATES[0]: {PUBLISHED[0]: 1.0}}, {"degree": (1.0, 2.0)}))
    with pytest.raises(ParlourError, match="no signal_thresholds of reliability, len, coherence, diversity"):
        bare.recommend("Who was Edda Marlow?", passages)
    assert bare.recommend(STATES[0]) == PUBLISHED[0]
