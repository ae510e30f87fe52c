"""The simulation table: read and written in the shape of the published one, and every other shape refused in one line; and what is
learned from all questions but one, each figure called what it is: in-sample, left out, or the published held-out run."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa.joint import ALL, PUBLISHED, STATES, column, key
from parlour.training.learn.mediators import table as tables
from parlour.training.learn.mediators.table import UtilityTable, from_csv, from_json

from tests.refused_values import refusal

SMALL = "id,state,u_shallow_gen_nli,u_skip_param_nocheck\nq1,T:low_Q:mid,-47,118\nq2,s0,,-42.5\n"


def test_a_small_table():
    loaded = from_csv(SMALL)
    assert loaded.ids == ("q1", "q2")
    assert loaded.states == ("T:low_Q:mid", "s0")
    assert loaded.actions == (PUBLISHED[0], PUBLISHED[8])
    np.testing.assert_array_equal(loaded.utilities, [[-47.0, 118.0], [math.nan, -42.5]])
    assert loaded.dumps() == SMALL


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + SMALL,
        SMALL.replace("\n", "\r\n"),
        SMALL.replace(",", " , "),
        SMALL + "\n\n",
        SMALL.replace("q1", '"q1"'),
    ],
    ids=["byte order mark", "windows lines", "spaces", "empty lines", "quotes"],
)
def test_other_spellings_of_the_same(tmp_path, text):
    (tmp_path / "table.csv").write_text(text, encoding="utf-8", newline="")
    assert tables.read(tmp_path / "table.csv").dumps() == SMALL


def test_the_published_json_shape(tmp_path):
    cuts = {"degree": [1.95, 2.05]}
    questions = [
        {"id": 7, "signal_bin": "T:mid_Q:mid", "signal_thresholds": cuts, "action_utilities": {key(PUBLISHED[2]): 9}},
        {"id": "8", "signal_bin": "s0", "signal_thresholds": cuts, "action_utilities": {key(PUBLISHED[0]): None}},
    ]
    (tmp_path / "table.json").write_text(json.dumps(questions))
    loaded = tables.read(tmp_path / "table.json")
    assert loaded.thresholds == {"degree": (1.95, 2.05)}
    assert loaded.dumps() == "id,state,u_shallow_refuse_nocheck,u_shallow_gen_nli\n7,T:mid_Q:mid,9,\n8,s0,,\n"
    questions[1]["signal_thresholds"] = {}
    with pytest.raises(ParlourError, match="different signal_thresholds"):
        from_json(json.dumps(questions))


HEAD = "id,state,u_shallow_gen_nli\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        (HEAD, "it has no rows"),
        ("id,state\n1,s0\n", "heading 'id,state'"),
        (
            "id,state,u_shallow_gen_maybe\n1,s0,3\n",
            "action column 'u_shallow_gen_maybe' is not accepted; accepted: the 17",
        ),
        ("id,state,u_skip_gen_nocheck\n1,s0,3\n", "generate reads evidence, and nothing was retrieved"),
        ("id,state,u_shallow_refuse_nli\n1,s0,3\n", "there is no answer to check"),
        ("id,state,u_skip_param_nli\n1,s0,3\n", "there is no evidence to check against"),
        ("id,state,u_shallow_gen_nli,u_shallow_gen_nli\n1,s0,3,4\n", "an action stands twice"),
        (HEAD + "1,T:low_Q:odd,3\n", "line 2: state 'T:low_Q:odd' is not accepted"),
        (HEAD + "1,s0,3\n2,s0\n", "line 3 has 2 cells; accepted: 3"),
        (HEAD + "1,s0,nan\n", "line 2: utility 'nan' is not accepted"),
        (HEAD + "1,s0,1e200\n", "utility '1e200' is not accepted"),
        (HEAD + "1,s0,three\n", "utility 'three' is not accepted"),
        (HEAD + "1,s0,\n", "a table without any utility"),
        (HEAD + '1,s0,"3\n', "it is not CSV"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(text, message):
    assert re.search(message, refusal(from_csv, text))


QUESTION = {"id": 1, "signal_bin": "s0", "action_utilities": {key(PUBLISHED[0]): 3.0}}


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("{", "it is not JSON"),
        ("[]", "not a list of questions"),
        ("[3]", "question 1 cannot be read"),
        (json.dumps([QUESTION, {"id": 2}]), "question 2 cannot be read"),
        (json.dumps([QUESTION | {"signal_thresholds": {"degree": [1]}}]), "question 1 cannot be read"),
        (json.dumps([QUESTION | {"signal_bin": "T:low"}]), "question 1: state 'T:low' is not accepted"),
        (json.dumps([QUESTION | {"action_utilities": {"('x',)": 1}}]), "question 1: action .* is not accepted"),
        (json.dumps([QUESTION | {"action_utilities": {key(PUBLISHED[0]): True}}]), "utility True is not accepted"),
        (json.dumps([QUESTION | {"action_utilities": {key(PUBLISHED[0]): math.nan}}]), "utility nan is not accepted"),
        (json.dumps([QUESTION | {"action_utilities": {}}]), "without any utility"),
    ],
)
def test_what_is_no_json_table_is_refused_in_one_line(stored, message):
    assert re.search(message, refusal(from_json, stored))


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ParlourError, match="utilities of shape"):
        UtilityTable(("a",), ("s0",), PUBLISHED[:1], np.zeros((2, 1)))
    with pytest.raises(ParlourError, match="utilities of shape"):
        UtilityTable(("a",), (), PUBLISHED[:1], np.zeros((1, 1)))


cells = st.one_of(st.none(), st.floats(-1e100, 1e100))


@given(st.data())
def test_any_states_and_actions_come_back_as_they_were(data):
    actions = tuple(data.draw(st.lists(st.sampled_from(ALL), min_size=1, max_size=17, unique=True)))
    rows = data.draw(
        st.lists(
            st.tuples(st.sampled_from([*STATES, NO_SIGNAL]), st.lists(cells, min_size=17, max_size=17)),
            min_size=1,
            max_size=6,
        )
    )
    utilities = np.array([[math.nan if u is None else u for u in row[: len(actions)]] for _, row in rows])
    utilities[0, 0] = -3.0
    made = UtilityTable(tuple(str(k) for k in range(len(rows))), tuple(state for state, _ in rows), actions, utilities)
    loaded = from_csv(made.dumps())
    assert (loaded.ids, loaded.states, loaded.actions) == (made.ids, made.states, made.actions)
    np.testing.assert_array_equal(loaded.utilities, made.utilities)
    assert made.dumps().splitlines()[0].split(",")[2:] == [column(joint) for joint in actions]


# -- each question left out ----------------------------------------------------------------------------------------


def made(rows, states):
    names = tuple(str(k) for k in range(len(rows)))
    return UtilityTable(names, tuple(states), PUBLISHED[: len(rows[0])], np.array(rows, dtype=float))
