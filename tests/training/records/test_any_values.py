"""Whatever stands in a field of a record: it is refused in one line, or it makes a transcript that is played again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.training.records.avalon.importing import FORMATS
from parlour.training.records.json_objects import JsonObject
from parlour.training.records.reading import RecordFormat
from parlour.training.records.werewolf import importing as werewolf

from tests.training.records.avalon.conftest import made as published
from tests.training.records.bound import GONE, changed
from tests.training.records.test_in_words import EVENING, QUEST

Game = dict[str, Any]
FORM = {form.name: form for form in FORMATS}
WORDS = {form.name: form for form in werewolf.FORMATS}["words"]
RECORDS: list[tuple[RecordFormat, Callable[[], Game]]] = [
    (FORM["published-2023"], lambda: published(None)[1]),
    (FORM["words"], lambda: QUEST),
    (WORDS, lambda: EVENING),
]
ANYTHING = st.one_of(
    st.sampled_from(
        [GONE, None, True, False, -1, 0, 1, 2, 3, 10**40, 1.0, 1e400, "", "1", [], {}, [1], [[]], [{}], {"1": 1}]
    ),
    st.sampled_from(["Ann", "Bo", "Cy", "Kim", "good", "evil", "approve", "agree", "success", "text", "count"]),
    st.sampled_from(["merlin", "Merlin", "Spy", "vote", "yes", "nature", "MERLIN", "FAIL"]),
    st.recursive(st.none() | st.integers() | st.text(), lambda some: st.lists(some) | st.dictionaries(st.text(), some)),
)


def fields(node, way=()):
    """The paths to all fields of a record."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from fields(value, (*way, key))


@cache
def ways(made):
    return tuple(way for way in fields(made()))


def check_any_value(form, made, data):
    """One field holds something else: the record is refused in one line, or makes a transcript that is played again."""
    way = data.draw(st.sampled_from(ways(made)))
    value = data.draw(ANYTHING)
    if value is GONE and isinstance(way[-1], int):
        value = None
    game = changed(made(), way, value)
    text = message = ""
    try:
        form.named(JsonObject("here", game))
        text = form.transcript(JsonObject("here", game), None)
    except ParlourError as error:
        message = str(error)
    assert "\n" not in message
    assert len(message) < 1000
    if message:
        return
    transcript = replay.Transcript.parse(text.encode(), "made.jsonl")
    assert list(replay.reenact(transcript))


@pytest.mark.parametrize(
    "number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, len(RECORDS)))]
)
@settings(max_examples=100)
@given(st.data())
def test_any_value_is_refused_or_makes_a_legal_game(number, data):
    check_any_value(*RECORDS[number], data)
