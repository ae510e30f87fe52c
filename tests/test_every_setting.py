"""Every settings model of parlour: each bound is enforced, and what is refused is named with what is accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings, accepted, descriptions
from parlour.policies import REGISTRY, make_policy
from pydantic import SkipValidation, ValidationError
from pydantic.fields import FieldInfo

from tests import ROOT

BESIDE = {"ge": -1, "le": 1, "gt": 0, "lt": 0}
"""What a bound plus this is beyond it."""


def _of_every_module() -> list[type[Settings]]:
    """The models that the packages define."""
    for package in ("envs", "policies", "training", "wrappers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if re.search(
                r"^class \w+\([\w, ]*(Settings|Config|Style|Tuning|File)\b.*\):", path.read_text("utf-8"), re.MULTILINE
            ):
                parts = path.relative_to(ROOT).with_suffix("").parts
                name = ".".join(part for part in ("parlour", *parts) if part != "__init__")
                try:
                    import_module(name)
                except ImportError:  # of an extra that is not installed
                    continue
    return [kind for kind in _below(Settings) if kind.__module__.startswith("parlour.")]


def _below(kind: type[Settings]) -> Iterator[type[Settings]]:
    for own in kind.__subclasses__():
        yield own
        yield from _below(own)


def _outside(field: FieldInfo) -> Iterator[Any]:
    """Values that a field does not accept."""
    if SkipValidation not in field.metadata:
        yield object()
    for mark in field.metadata:
        for name, beside in BESIDE.items():
            if (bound := getattr(mark, name, None)) is not None:
                yield bound + beside
    parts = [field.annotation, *get_args(field.annotation)]
    if any(get_origin(part) is Literal for part in parts):
        yield "no such word"


MODELS = list(dict.fromkeys(_of_every_module()))


def test_there_are_models_of_every_kind():
    names = {kind.__name__ for kind in MODELS}
    assert {"GratrSettings", "SearchSettings", "CheckpointSettings", "AvalonStyle"} <= names


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_every_bound_is_enforced_and_named(kind):
    needed = {name: "x" for name, field in kind.model_fields.items() if field.is_required()}
    for name, field in kind.model_fields.items():
        assert accepted(field), name
        for value in _outside(field):
            with pytest.raises((ValidationError, ParlourError)) as caught:
                kind.__pydantic_validator__.validate_python({**needed, name: value})
            if isinstance(caught.value, ValidationError) and set(needed) <= {name}:
                assert any(fault["loc"][:1] == (name,) for fault in caught.value.errors()), (name, value)
            with pytest.raises(ParlourError) as refused:
                kind(**{**needed, name: value})
            assert "\n" not in str(refused.value)
            assert set(needed) - {name} or name in str(refused.value)


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_every_setting_is_described(kind):
    assert all(descriptions(kind).values()), descriptions(kind)


@pytest.mark.parametrize("name", REGISTRY)
def test_what_a_player_has_no_setting_for_is_refused_by_name(name):
    kind = REGISTRY[name]
    with pytest.raises(ParlourError, match=r"'no_such' is not accepted; accepted: "):
        kind.settings_for().from_words({"no_such": "1"})
    if not kind.bare and not kind.extra:
        with pytest.raises(ParlourError, match=rf"policy '{name}': .*no_such"):
            make_policy(f"{name}:no_such=1", "avalon_v0", {})
