"""HotpotQA's distractor form: a small file of our own is read, answered by the pipeline, and broken in every way."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.corpora import form_of, load
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.registry import registry
from parlour.policies import HeuristicPolicy
from parlour.training.play.rollout import play

ENTRIES: list[dict[str, Any]] = [
    {
        "_id": "a1",
        "question": "In which town was the director of The Glass Door born?",
        "answer": "Telby",
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [["The Glass Door", 0], ["Edda Marlow", 1]],
        "context": [
            ["The Glass Door", ["The Glass Door is a 1950 film directed by Edda Marlow.", " It runs two hours."]],
            ["Edda Marlow", ["Edda Marlow was a director.", " She was born in 1912 in Telby."]],
            ["Isko Sand", ["Isko Sand was a painter.", "", " He was born in 1900 in Vik."]],
        ],
    },
    {
        "_id": "a2",
        "question": "Were Edda Marlow and Isko Sand born in the same town?",
        "answer": "no",
        "type": "comparison",
        "level": "hard",
        "supporting_facts": [["Edda Marlow", 1], ["Isko Sand", 2]],
        "context": [
            ["Edda Marlow", ["Edda Marlow was a director.", " She was born in 1912 in Telby."]],
            ["Isko Sand", ["Isko Sand was a painter.", "", " He was born in 1900 in Vik."]],
        ],
    },
    {
        "_id": "a3",
        "question": "In which year was Isko Sand born?",
        "answer": "1900",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [],
        "context": [["Isko Sand", ["Isko Sand was a painter.", " He was born in 1900 in Vik, and left in 1931."]]],
    },
]


@pytest.fixture
def written(tmp_path):
    def write(entries: Any) -> Any:
        path = tmp_path / "hotpot.json"
        path.write_text(entries if isinstance(entries, str) else json.dumps(entries), encoding="utf-8")
        return path

    return write


def test_a_file_is_read(written):
    assert form_of(written(ENTRIES)) == "hotpotqa"
    corpus = load(written(ENTRIES))
    assert [one.id for one in corpus.questions] == ["a1", "a2", "a3"]
    assert [passage.title for passage in corpus.passages] == ["The Glass Door", "Edda Marlow", "Isko Sand"]
    assert corpus.passages[2].sentences == ("Isko Sand was a painter.", "He was born in 1900 in Vik.")
    assert [question.kind for question in corpus.questions] == ["bridge", "yes_no", "bridge"]
    assert [question.answer for question in corpus.questions] == ["Telby", "no", "1900"]
    assert "Vik" in corpus.questions[0].decoys
    assert corpus.questions[1].decoys == ("yes",)
    assert corpus.questions[2].decoys == ("1931",)
    assert all(question.answer not in question.decoys for question in corpus.questions)


def test_only_so_many_questions_are_read(written):
    assert len(load(written(ENTRIES), limit=1).questions) == 1


def test_supporting_facts_change_nothing(written):
    other = [{**entry, "supporting_facts": [["Isko Sand", 0]]} for entry in copy.deepcopy(ENTRIES)]
    assert load(written(ENTRIES)) == load(written(other))
    for entry in other:
        del entry["supporting_facts"]
    assert load(written(ENTRIES)) == load(written(other))


def test_its_questions_are_answered_and_played(written):
    pipeline = Pipeline(load(written(ENTRIES)))
    evidence = pipeline.retrieve(0, vocabulary.DEEP)
    answer = pipeline.answer(0, vocabulary.FROM_EVIDENCE, evidence, None)
    assert (answer, pipeline.right(0, answer)) == ("Telby", True)
    env = registry["mediated_qa_v0"].raw_env(service=pipeline, questions=3, info="full")
    assert env.game.config["corpus_size"] == 3
    episode = play(env, [HeuristicPolicy() for _ in range(4)], seed=1)
    assert episode.outcome.reason == "questions"


def broken(**changes: Any) -> list[dict[str, Any]]:
    entries = copy.deepcopy(ENTRIES)
    entries[1] |= changes
    return entries


def without(key: str) -> list[dict[str, Any]]:
    entries = copy.deepcopy(ENTRIES)
    del entries[1][key]
    return entries


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", "has no questions"),
        ('{"a": 1}', "no list of questions"),
        ("[5]", r"line 1, \[0\]: 5 is not accepted; accepted: a JSON object"),
        (without("answer"), r"line 1, \[1\]: answer is missing; accepted: words"),
        (without("context"), r"\[1\]: context is missing; accepted: a list of \[title, \[sentences\]\]"),
        (without("type"), r"\[1\]: type is missing"),
        (broken(type="riddle"), r"\[1\]: type 'riddle' is not accepted; accepted: bridge, comparison"),
        (broken(question=""), r"\[1\]: question '' is not accepted; accepted: words"),
        (broken(answer=7), r"\[1\]: answer 7 is not accepted; accepted: words"),
        (broken(context=[["Isko Sand"]]), r"\[1\].context\[0\]: .* accepted: \[title, \[sentences\]\]"),
        (broken(context=[["Isko Sand", "He was born."]]), r"\[1\].context\[0\]: "),
        (broken(context=[["Isko Sand", [3]]]), r"\[1\].context\[0\]: "),
        (broken(context=[["", ["He was born."]]]), r"\[1\].context\[0\]: "),
    ],
)
def test_broken_files_are_refused_with_the_place(written, entries, told):
    with pytest.raises(ParlourError, match=told):
        load(written(entries), form="hotpotqa")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ParlourError, match=r"none\.json' is not there"):
        load(tmp_path / "none.json", form="hotpotqa")
