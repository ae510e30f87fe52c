"""Readers of other people's files refuse every damaged field in the words on file (`refusals/`), and take what may be left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.mediated_qa import corpora
from parlour.envs.murder_mystery.cases.case import load as load_case
from parlour.training.records.avalon import importing as avalon
from parlour.training.records.reading import read_as
from parlour.training.records.werewolf import importing as werewolf

from tests.conftest import CASES
from tests.envs.mediated_qa.corpora.test_forms import FILES
from tests.refused_values import check, sentences
from tests.training.records.test_in_words import EVENING, QUEST
from tests.training.records.werewolf.test_published import GAME

Read = Callable[[Any], object]


def _file(value: Any, name: str = "made.jsonl") -> Path:
    """In the working directory, so that sentences hold no folder."""
    Path(name).write_text(json.dumps(value) + "\n", encoding="utf-8")
    return Path(name)


def _of_avalon(form: str) -> Read:
    return lambda game: avalon.transcripts(_file(game), form=form)


def _of_werewolf(form: str) -> Read:
    return lambda game: read_as(werewolf.FORMATS, _file(game), None, form)


def _of_corpus(form: str) -> Read:
    return lambda entry: corpora.load(_file(entry, "made.jsonl"), form=form)


def _case(name: str) -> Any:
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


READ: dict[str, tuple[Any, Read]] = {
    "avalon_words": (QUEST, _of_avalon("words")),
    "werewolf_words": (EVENING, _of_werewolf("words")),
    "werewolf_gratr": (GAME, _of_werewolf("gratr")),
    "case_tower": (_case("tower_en"), load_case),
    "case_letter": (_case("letter_en"), load_case),
    **{f"corpus_{form}": (entries[0], _of_corpus(form)) for form, entries in FILES.items()},
}


@pytest.mark.parametrize("name", READ)
def test_every_damaged_field_is_refused_in_these_words(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check(name, sentences(*READ[name]))
