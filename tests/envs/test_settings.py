"""Settings: round trips through words, plain values and files, and refusals that name the setting and what it accepts."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.core import ParlourError
from parlour.envs.settings import SPARSE, Accepts, OneOf, Settings, accepted, descriptions
from pydantic import Field, model_validator


class Inner(Settings):
    least: int = Field(default=3, ge=1)


class Table(Settings):
    seats: int = Field(default=6, ge=5, le=10)
    """Players at the table."""
    rules: Annotated[str, OneOf(("paper", "official"))] = "paper"
    roles: Literal["deeprole"] | tuple[Literal["Merlin", "Servant"], ...] | None = None
    sizes: tuple[Annotated[int, Field(ge=1, le=10)], ...] | None = Field(default=None, min_length=2, max_length=3)
    talk: bool = True
    size: Annotated[int, OneOf((1, 5))] = 5
    share: Annotated[float, SPARSE] = Field(default=0.5, ge=0, lt=1)
    costs: tuple[float, float] = (1.0, 2.0)
    window: int | Literal["auto"] = "auto"
    days: Literal[5, 15] = 5
    inner: Inner = Inner()
    case: Annotated[str, Accepts("the name of a case")] = "harbour"
    file: Path | None = None

    @model_validator(mode="after")
    def _talk_is_needed(self) -> Table:
        if self.rules == "official" and self.seats == 10:
            raise ParlourError("seats 10 are not accepted with these rules; accepted: 5..9")
        return self


class Needed(Settings):
    called = "option of needed"
    path: str


tables = st.builds(
    Table,
    seats=st.integers(5, 9),
    rules=st.sampled_from(["paper", "official"]),
    roles=st.none() | st.just("deeprole") | st.lists(st.sampled_from(["Merlin", "Servant"]), max_size=4),
    sizes=st.none() | st.lists(st.integers(1, 10), min_size=2, max_size=3),
    talk=st.booleans(),
    share=st.floats(0, 0.99),
    costs=st.tuples(*[st.floats(-1e9, 1e9)] * 2),
    window=st.just("auto") | st.integers(),
    days=st.sampled_from([5, 15]),
    inner=st.builds(Inner, least=st.integers(1)),
    case=st.text(max_size=5),
)


@given(tables)
def test_plain_values_words_and_pickles_make_the_same_settings(table):
    assert Table.from_plain(table.plain()) == table
    assert Table.from_plain(json.loads(json.dumps(table.plain(sparse=True)))) == table
    assert pickle.loads(pickle.dumps(table)) == table
    assert table.replace() == table
    assert hash(table.replace()) == hash(table)
    words = {
        "seats": str(table.seats),
        "talk": str(table.talk),
        "share": repr(table.share),
        "window": str(table.window),
        "days": str(table.days),
    }
    words |= {"costs": "+".join(map(repr, table.costs)), "case": table.case, "rules": table.rules}
    words |= {"sizes": "+".join(map(str, table.sizes))} if table.sizes else {}
    assert Table.from_words(words) == table.replace(roles=None, inner=Inner())


@given(tables)
def test_the_plain_values_without_defaults_hold_what_differs(table):
    default, sparse, plain = Table(), table.plain(sparse=True), table.plain()
    assert {name for name in sparse if getattr(table, name) == getattr(default, name)} == set()
    assert set(Table.model_fields) - set(plain) == ({"share"} if table.share == default.share else set())
    assert list(plain) == [name for name in Table.model_fields if name in plain]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seats", [4, 11, True, "6", 6.0, None, [6], math.nan]),
        ("rules", ["", "papers", 1, None, ["paper"]]),
        ("size", [5.0, 6, True, "5"]),
        ("roles", ["serrino", ["Merlin", "Bob"], 3, [["Merlin"]]]),
        ("sizes", [[1], [1, 2, 3, 4], [1, 11], "1+2", [1.5, 2]]),
        ("talk", ["true", 1, 0, None]),
        ("share", [1, -0.1, math.nan, math.inf, "0.5", True]),
        ("costs", [[1], [1, 2, 3], [1, "2"], 1.0, [1, math.inf]]),
        ("window", ["autos", 1.5, None]),
        ("days", [6, "15", True, None]),
        ("inner", [3, {"most": 3}, None]),
        ("inner.least", [{"least": 0}, {"least": "3"}]),
        ("case", [3, None, ["harbour"]]),
        ("seatz", [6]),
    ],
)
def test_what_is_not_accepted_is_refused_by_name_with_what_is(name, values):
    field = name.partition(".")[0]
    for value in values:
        for make in (Table.from_plain, lambda given: Table(**given)):
            if name == "inner.least" and make is not Table.from_plain:
                continue
            with pytest.raises(ParlourError) as caught:
                make({field: value})
            message = str(caught.value)
            assert "\n" not in message
            assert "accepted: " in message
            assert field in message
            if name in Table.model_fields and value != {"most": 3}:
                assert message.endswith(f"accepted: {accepted(Table.model_fields[name])}")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("seats", "six"),
        ("seats", "11"),
        ("sizes", "1+x"),
        ("share", "nan"),
        ("talk", "maybe"),
        ("days", "6"),
        ("inner", "3"),
        ("x", "1"),
    ],
)
def test_words_are_refused_by_name(name, word):
    with pytest.raises(ParlourError) as caught:
        Table.from_words({name: word})
    assert name in str(caught.value)
    assert "accepted: " in str(caught.value)


def test_a_refusal_of_a_check_across_fields_is_its_own_line():
    for make in (Table, lambda **given: Table.from_plain(given)):
        with pytest.raises(ParlourError, match=r"^seats 10 are not accepted with these rules; accepted: 5\.\.9$"):
            make(seats=10, rules="official")


def test_a_missing_setting_is_named_and_an_unknown_one_as_the_settings_call_it():
    with pytest.raises(ParlourError, match=r"^path is missing; accepted: a text$"):
        Needed.from_words({})
    with pytest.raises(ParlourError, match=r"^option of needed 'paths' is not accepted; accepted: path$"):
        Needed(path="x", paths="y")  # type: ignore[call-arg]


def test_numbers_of_numpy_and_lists_are_taken_by_the_constructor():
    values: dict[str, Any] = {"seats": np.int64(7), "share": np.float32(0.25), "sizes": [np.int32(2), 3]}
    table = Table(**values)
    assert table == Table(seats=7, share=0.25, sizes=(2, 3))
    assert (type(table.seats), type(table.share), type(table.sizes)) == (int, float, tuple)


def test_what_a_field_accepts_and_what_it_is():
    says = {name: accepted(field) for name, field in Table.model_fields.items()}
    assert says == {
        "seats": "5..10",
        "rules": "paper, official",
        "roles": "None, deeprole, or a list of: Merlin, Servant",
        "sizes": "None, or a list of 2..3, each 1..10",
        "talk": "True, False",
        "size": "1, 5",
        "share": "a number from 0 below 1",
        "costs": "a list of 2, each a number",
        "window": "a whole number, auto",
        "days": "5, 15",
        "inner": "an object with least",
        "case": "the name of a case",
        "file": "None, or a path",
    }
    assert descriptions(Table)["seats"] == "Players at the table."
    assert accepted(Inner.model_fields["least"]) == "a whole number from 1"
