"""The mediator's policy: reads its file, draws as the file says, falls back where it must, and serves in a pipeline of one's own.

There question and documents, or signals, stand in place of the state (docs/howto/mediators.md).
"""

from __future__ import annotations

import json
import math
import pickle
import re
from collections import Counter
from itertools import product

import pytest
from parlour.envs.core import Move, ParlourError
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL, MediatedView
from parlour.policies import make_policy
from parlour.policies.agents.mediated_qa import GraceMediator, PolicyTable, joint, policy_file
from parlour.policies.agents.mediated_qa.documents import DocumentProbe
from parlour.policies.agents.mediated_qa.joint import ACTIONS, ALL, FALLBACK, PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES
from parlour.training.learn.mediators import table as tables

from tests.refused_values import refusal

NLI, PLAIN, REFUSE = PUBLISHED[:3]
STATE = "T:mid_Q:mid"
TABLE = PolicyTable({STATE: {NLI: 0.25, PLAIN: 0.0, REFUSE: 0.75}}, {"degree": (1.0, 2.0)}, 0.7, 0.0)


def seen(signal: int, legal: tuple[Move, ...]) -> MediatedView:
    return MediatedView(0, legal, (), signal, "", (), -1, 0, 1, 0.0)


def info(state, offered=PUBLISHED, first=0):
    """What the mediator is shown at a table that offers these, numbered from `first`."""
    legal = tuple(Move("advise", tuple(map(tuple.index, ACTIONS, action))) for action in offered)
    return {"view": seen((*STATES, NO_SIGNAL).index(state), legal), "legal": list(range(first, first + len(legal)))}


# -- names -----------------------------------------------------------------------------------------------------


def test_seventeen_of_24_joint_actions_are_feasible():
    # out: skip + generate (2), skip + check with consistency or memory (2), refuse + check (3)
    everything = list(product(*ACTIONS))
    assert len(everything) == 24
    places = map(PUBLISHED_ACTIONS.joint_of, everything)
    assert len(ALL) == 17 == sum(PUBLISHED_ACTIONS.infeasible(place) is None for place in places)
    assert ALL[:9] == PUBLISHED
    assert all(joint.from_key(joint.key(action)) == joint.from_column(joint.column(action)) == action for action in ALL)
    assert [joint.NUMBER[action] for action in ALL] == list(range(17))


# -- acting ----------------------------------------------------------------------------------------------------


def test_it_draws_by_the_probabilities_of_the_row_and_the_same_for_the_same_seed():
    drawn = []
    for seed in (1, 1, 2):
        policy = GraceMediator(TABLE)
        policy.reset(0, seed)
        drawn.append([policy.act({}, info(STATE)) for _ in range(4000)])
    assert drawn[0] == drawn[1] != drawn[2]
    taken = Counter(drawn[0])
    assert set(taken) == {0, 2}
    assert taken[2] / 4000 == pytest.approx(0.75, abs=0.03)


def test_the_best_is_the_most_probable_the_first_of_equals():
    even = PolicyTable({STATE: {PLAIN: 0.4, NLI: 0.4, REFUSE: 0.2}})
    assert GraceMediator(even, "best").recommend(STATE) == PLAIN
    assert {GraceMediator(TABLE, "best").act({}, info(STATE)) for _ in range(20)} == {2}


@pytest.mark.parametrize("state", ["T:low_Q:low", NO_SIGNAL])
@pytest.mark.parametrize("choice", ["sample", "best"])
def test_a_state_without_a_row_gets_the_fallback(state, choice):
    policy = GraceMediator(TABLE, choice)
    assert policy.recommend(state) == ("retrieve_shallow", "refuse_to_generate", "skip_check")
    assert policy.act({}, info(state)) == 2


def test_what_it_cannot_do_is_told():
    policy = GraceMediator(TABLE)
    with pytest.raises(ParlourError, match="info='full'"):
        policy.act({}, {})
    with pytest.raises(ParlourError, match="this table does not offer"):
        GraceMediator(PolicyTable({STATE: {ALL[16]: 1.0}})).act({}, info(STATE))
    with pytest.raises(ParlourError, match="the seat `mediator`"):
        policy.act({}, {"view": seen(0, (Move("retrieve", (0,)),)), "legal": [0]})
    with pytest.raises(ParlourError, match="state 'T:odd' is not accepted"):
        policy.recommend("T:odd")
    with pytest.raises(ParlourError, match="choice 'worst' is not accepted; accepted: sample, best"):
        GraceMediator(TABLE, "worst")


# -- files -----------------------------------------------------------------------------------------------------


def test_a_policy_is_saved_loaded_pickled_and_called(tmp_path):
    path = tmp_path / "policy.json"
    policy = GraceMediator(TABLE)
    policy.save(path)
    for other in (GraceMediator.load(path), pickle.loads(pickle.dumps(policy))):
        assert other.table == TABLE
        for player in (policy, other):
            player.reset(0, 5)
        shown = info(STATE)
        assert [policy({}, shown) for _ in range(50)] == [other({}, shown) for _ in range(50)]
    made = make_policy(f"grace:file={path},choice=best", "mediated_qa_v0", {})
    assert (made.table, made.choice) == (TABLE, "best")
    for settings, message in (("grace", "file is missing"), ("grace:fil=x", "setting 'fil'")):
        with pytest.raises(ParlourError, match=message):
            make_policy(settings, "mediated_qa_v0", {})


GOOD = {joint.key(NLI): 0.25, joint.key(REFUSE): 0.75}


def stored(row=None, **changes):
    return json.dumps({"policy": {STATE: GOOD if row is None else row}} | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it holds no JSON"),
        ("[" * 100_000, "it holds no JSON"),
        ('{"policy": "heuristic", "settings": {}}', "it holds no policy"),
        (stored({"('retrieve_shallow', 'guess', 'skip_check')": 1.0}), r"action .*'guess'.* is not accepted"),
        (stored({str(("skip_retrieval", "generate", "skip_check")): 1.0}), "nothing was retrieved"),
        (
            stored({joint.key(NLI): 0.5, joint.key(PLAIN): 0.4}),
            "probabilities of state T:mid_Q:mid sum to 0.9; accepted: 1",
        ),
        (stored({joint.key(NLI): 1.5, joint.key(PLAIN): -0.5}), "probability of .* 1.5 is not accepted"),
        (stored({joint.key(NLI): math.nan}), "policy nan is not accepted"),
        (stored({joint.key(NLI): True}), "policy True is not accepted"),
        (stored({}), "state T:mid_Q:mid has no actions"),
        (stored([1.0]), r"policy \[1.0\] is not accepted"),
        (json.dumps({"policy": {"T:odd": GOOD}}), "state 'T:odd' is not accepted"),
        (stored(temperature=-1), "temperature -1 is not accepted"),
        (stored(min_prob_floor="low"), "min_prob_floor 'low' is not accepted"),
        (stored(signal_thresholds={"degree": [2, 1]}), r"signal_thresholds \[2.0, 1.0\]"),
        (stored(signal_thresholds={"degree": [1]}), r"signal_thresholds \[1\]"),
        (stored(signal_thresholds=[1]), "signal_thresholds"),
        (stored(signal_threshold={}), "entry 'signal_threshold' is not accepted"),
        ('{"policy": {}, "policy": {}}', "'policy' stands twice"),
    ],
)
def test_files_that_hold_no_policy_are_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "policy.json"
    path.write_text(text)
    line = refusal(GraceMediator.load, path)
    assert re.search(message, line)
    assert str(path) in line


@pytest.mark.parametrize(("read", "what"), [(policy_file.read, "policy file"), (tables.read, "table")])
def test_files_that_are_not_there_or_no_text_are_refused(tmp_path, read, what):
    assert f"there is no {what}" in refusal(read, tmp_path / "none")
    assert "cannot be read" in refusal(read, tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xd8\xff")
    assert "cannot be read" in refusal(read, tmp_path / "bytes")


def test_only_the_policy_must_be_there_and_rounding_is_forgiven():
    read = policy_file.loads(stored({joint.key(NLI): 0.3333333, joint.key(REFUSE): 0.6666667}))
    assert (read.thresholds, read.temperature, read.floor) == ({}, None, None)
    with pytest.raises(ParlourError, match="sum to"):
        policy_file.loads(stored({joint.key(NLI): 0.33333, joint.key(REFUSE): 0.66666}))


# -- in a pipeline of one's own ------------------------------------------------------------------------------------


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


def test_a_question_that_no_document_is_about_has_no_signals_and_gets_the_fallback(loaded, passages):
    advice = loaded.advise("what is the matter?", passages)
    assert (advice.signals, advice.state, advice.joint, advice.probability) == (None, "s0", FALLBACK, 1.0)
    assert loaded.recommend(None) == FALLBACK
    assert loaded.recommend((math.nan, 0, 0, 0, 0)) == FALLBACK


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
    assert re.search(message, refusal(loaded.recommend, asked, given))


def test_a_policy_without_cut_points_says_what_is_missing(passages):
    bare = GraceMediator(PolicyTable({STATES[0]: {PUBLISHED[0]: 1.0}}, {"degree": (1.0, 2.0)}))
    with pytest.raises(ParlourError, match="no signal_thresholds of reliability, len, coherence, diversity"):
        bare.recommend("Who was Edda Marlow?", passages)
    assert bare.recommend(STATES[0]) == PUBLISHED[0]
