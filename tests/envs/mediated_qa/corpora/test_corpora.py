"""Questions of one's own with documents in a folder: read field by field, played, and refused with the place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.corpora import form_of, load
from parlour.envs.mediated_qa.corpora.documents import sentences_of
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import ExtractiveReader, Memory
from parlour.envs.registry import registry
from parlour.policies import HeuristicPolicy
from parlour.training.learn.mediators.simulate import calibrate
from parlour.training.play.rollout import play

from tests.refused_values import refusal

QUESTIONS: list[dict[str, Any]] = [
    {"id": "a1", "question": "In which town was Edda Marlow born?", "answer": "Telby"},
    {"id": "a2", "question": "Who directed The Glass Door?", "answers": ["Edda Marlow", "E. Marlow"]},
    {"id": "a3", "question": "Was Edda Marlow born in the same town as Isko Sand?", "answer": "no"},
    {"id": "a4", "question": "In which town was The Glass Door lost?", "answer": None},
]
DOCUMENTS = {
    "Edda_Marlow.txt": "Edda Marlow was a director.\nShe was born in 1912\nin Telby.\n",
    "films/door.md": "# The Glass Door\n\nThe Glass Door is a film directed by Edda Marlow. It runs 2.5 hours.\n",
    "people.jsonl": json.dumps({"title": "Isko Sand", "text": "Isko Sand was born in Vik. He painted."}),
    "empty.txt": "\n",
    "picture.png": "not read",
    ".hidden/x.txt": "Nor this.",
}


def write(
    folder: Path, questions: Any = QUESTIONS, documents: dict[str, str] = DOCUMENTS, name: str = "questions.jsonl"
):
    for path, text in documents.items():
        (folder / "documents" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "documents" / path).write_text(text, encoding="utf-8")
    lines = name.endswith("l") and isinstance(questions, list)
    text = "\n".join(map(json.dumps, questions)) if lines else json.dumps(questions)
    (folder / name).write_text(questions if isinstance(questions, str) else text, encoding="utf-8")
    return folder / name


def test_a_folder_is_read(tmp_path):
    write(tmp_path)
    corpus = load(tmp_path)
    assert [passage.title for passage in corpus.passages] == ["Edda Marlow", "empty", "The Glass Door", "Isko Sand"]
    assert corpus.passages[0].sentences == (
        "Edda Marlow was a director.",
        "She was born in 1912 in Telby.",
    )
    assert corpus.passages[1].sentences == ()
    assert corpus.passages[2].sentences[-1] == "It runs 2.5 hours."
    assert [(question.id, question.answer, question.others, question.kind) for question in corpus.questions] == [
        ("a1", "Telby", (), "bridge"),
        ("a2", "Edda Marlow", ("E. Marlow",), "bridge"),
        ("a3", "no", (), "yes_no"),
        ("a4", "", (), "bridge"),
    ]


def test_a_file_and_a_folder_of_documents_are_the_same(tmp_path):
    file = write(tmp_path)
    assert load(file, tmp_path / "documents") == load(tmp_path) == load(str(tmp_path), form="own")
    assert form_of(file) == form_of(tmp_path) == "own"
    assert load(write(tmp_path, name="other.json"), tmp_path / "documents") == load(tmp_path)


@pytest.mark.parametrize(("name", "title"), [("edda_marlow.txt", "edda marlow"), ("x.md", "The director")])
def test_a_heading_names_a_page_of_markdown_and_not_a_plain_text(tmp_path, name, title):
    write(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / name).write_text("# The director\n\nShe was born in Telby.\n", encoding="utf-8")
    assert [passage.title for passage in load(tmp_path / "questions.jsonl", tmp_path / "pages").passages] == [title]


def test_only_so_many_questions_are_read(tmp_path):
    write(tmp_path)
    assert [question.id for question in load(tmp_path, limit=2).questions] == ["a1", "a2"]
    with pytest.raises(ParlourError, match=r"limit 0 is not accepted"):
        load(tmp_path, limit=0)


@pytest.mark.parametrize(
    "context",
    [
        "Isko Sand was born in Vik. He painted.",
        ["Isko Sand was born in Vik. He painted."],
        [{"title": "Isko Sand", "text": "Isko Sand was born in Vik. He painted."}],
        {"title": "Isko Sand", "sentences": ["Isko Sand was born in Vik.", "", "He painted."]},
        [["Isko Sand", ["Isko Sand was born in Vik.", " He painted."]]],
    ],
)
def test_documents_may_come_with_the_question(tmp_path, context):
    asked = [{"question": "Where was Isko Sand born?", "answer": "Vik", "context": context}] * 2
    corpus = load(write(tmp_path, asked, {}))
    assert corpus.passages == (Passage("Isko Sand", ("Isko Sand was born in Vik.", "He painted.")),)


@pytest.mark.parametrize(
    "nothing", [{"answer": None}, {"answer": ""}, {"answers": []}, {"answers": None}, {"answers": [""]}]
)
def test_a_question_may_have_no_answer(tmp_path, nothing):
    asked = {"id": 7, "question": "Where was Edda Marlow lost?", **nothing}
    question = load(write(tmp_path, [asked]), tmp_path / "documents").questions[0]
    assert (question.id, question.answer, question.others) == ("7", "", ())


def test_any_of_the_answers_is_right_and_none_to_an_unanswerable_question(tmp_path):
    write(tmp_path)
    pipeline = Pipeline(load(tmp_path))
    said = ("Edda Marlow", "E. Marlow", "Isko Sand", "Telby", "")
    assert [words for words in said if pipeline.right(1, words)] == ["Edda Marlow", "E. Marlow"]
    assert not any(pipeline.right(3, words) for words in said)


@pytest.mark.parametrize(
    ("answers", "read"), [({"answer": 42}, ("42",)), ({"answers": [1912, "in 1912"]}, ("1912", "in 1912"))]
)
def test_an_answer_may_be_a_number(tmp_path, answers, read):
    (question,) = load(
        write(tmp_path, [QUESTIONS[0] | {"answer": "x", "context": "Vik is a town."} | answers])
    ).questions
    assert (question.answer, *question.others) == read


@pytest.mark.parametrize("name", ["questions.csv", "questions.TSV"])
def test_a_spreadsheet_is_refused_with_what_is_read(tmp_path, name):
    (tmp_path / name).write_text("question,answer\nWho?,Edda\n")
    with pytest.raises(ParlourError, match=r"accepted: .*\.jsonl.*\.json.*\.parquet"):
        load(tmp_path / name)


def test_memory_knows_nothing_of_an_unanswerable_question(tmp_path):
    write(tmp_path)
    questions, sure = load(tmp_path).questions, Memory(unknown=1.0, famous=1.0)
    assert [sure.knows(question) for question in questions] == [True, True, True, False]
    said = {sure.recall(questions[3]).answer, *sure.sample(questions[3], 9, np.random.default_rng(1))}
    assert said <= set(questions[3].decoys)


def test_its_questions_are_answered_and_played(tmp_path):
    write(tmp_path)
    pipeline = Pipeline(load(tmp_path))
    evidence = pipeline.retrieve(0, vocabulary.Retrieve.SHALLOW)
    assert pipeline.answer(0, vocabulary.Generate.FROM_EVIDENCE, evidence, np.random.default_rng(1)) == "Telby"
    env = registry["mediated_qa_v0"].raw_env(service=pipeline, questions=4, info="full")
    episode = play(env, [HeuristicPolicy() for _ in range(4)], seed=1)
    assert episode.outcome.reason == "questions"


# -- documents -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ("One.", "Two!", "Three?", "Four")),
        ("It is broken\ninto lines.\n\nAnd on.", ("It is broken into lines.", "And on.")),
        (
            "Dr. A. Bell (e.g. Smith et al. 1912) left. He came.",
            ("Dr. A. Bell (e.g. Smith et al. 1912) left.", "He came."),
        ),
        (
            "Name: Bell\nLicense: MIT\n  * first\n  * second\n1. third",
            ("Name: Bell", "License: MIT", "first", "second", "third"),
        ),
        ('He said "No." Then he left.', ('He said "No."', "Then he left.")),
        ("-----\n\n***\n", ()),
        ("A ¶ sign: one.", ("A sign: one.",)),
        ("", ()),
    ],
)
def test_texts_are_taken_apart_in_sentences(text, sentences):
    assert sentences_of(text) == sentences


def test_a_colon_in_a_title_does_not_part_the_evidence(tmp_path):
    write(tmp_path, documents={"a.jsonl": '{"title": "Parlour: a film", "text": "Parlour was made by Edda Marlow."}'})
    assert load(tmp_path).passages == (Passage("Parlour - a film", ("Parlour was made by Edda Marlow.",)),)


# -- what is refused -------------------------------------------------------------------------------------------


def second(**changes: Any) -> list[dict[str, Any]]:
    return [QUESTIONS[0], {**QUESTIONS[1], **changes}]


def without(key: str) -> list[dict[str, Any]]:
    return [QUESTIONS[0], {name: value for name, value in QUESTIONS[1].items() if name != key}]


@pytest.mark.parametrize("name", ["questions.jsonl", "questions.json"])
@pytest.mark.parametrize(
    ("questions", "message"),
    [
        (second(question=""), "question '' is not accepted; accepted: words"),
        (without("question"), "question is missing; accepted: words"),
        (without("answers"), "answer is missing; accepted: words; null or answers: .. for an unanswerable question"),
        (second(answers=[True]), "answers .* is not accepted; accepted: words or a number, or a list of them"),
        (second(answers={"Edda": 1}), "answers .* is not accepted; accepted: words or a number, or a list of them"),
        (second(id=True), "id True is not accepted; accepted: words, or a whole number"),
        (second(context=5), "context 5 is not accepted; accepted: a text, or a list"),
        (second(context=[{"title": "x"}]), r"context\[0\]: text is missing; accepted: a text"),
        (second(context=[{"text": "x"}]), r"context\[0\]: title is missing; accepted: words"),
        (second(context=[["x", "y"]]), r"context\[0\]: .* is not accepted; accepted: .title, .sentences.."),
        ([QUESTIONS[0], 5], "5 is not accepted; accepted: a JSON object"),
    ],
)
def test_a_wrong_field_is_refused_with_file_line_and_name(tmp_path, questions, message, name):
    text = "\n".join(map(json.dumps, questions))
    file = write(tmp_path, text if name.endswith("l") else "[\n" + text.replace("\n", ",\n") + "\n]", name=name)
    line = 2 if name.endswith("l") else 3
    assert re.search(rf"{name}' line {line}.*{message}", refusal(load, file, tmp_path / "documents"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is in no form that is known"),
        (b'{"question": "a", "answer": "b"}\n{"question": NaN}', "line 2 is not JSON: NaN is not JSON"),
        (b'{"question": "a", "answer": "b"}\n\xff', "line 2 is not UTF-8"),
        (b'{"question": "a", "answer": "b", "context": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "more than 100 times"),
        (b'{"query": "a"}', "is in no form that is known; accepted: own"),
    ],
)
def test_hostile_files_are_refused_in_one_line(tmp_path, content, message):
    file = write(tmp_path)
    file.write_bytes(content)
    assert re.search(message, refusal(load, file, tmp_path / "documents"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.txt", b"ok\n\xff\xfe", "x.txt' line 2 is not UTF-8"),
        ("x.jsonl", b'{"title": "a", "text": "b"}\n{"title": "a"}', "x.jsonl' line 2: text is missing"),
        ("x.json", b'[{"title": "a", "text": 5}]', "x.json' line 1, .0.: text 5 is not accepted"),
        ("x.json", b'{"title": "a"}', "x.json' is not a list"),
    ],
)
def test_hostile_documents_are_refused_with_file_and_line(tmp_path, name, content, message):
    write(tmp_path)
    (tmp_path / "documents" / name).write_bytes(content)
    with pytest.raises(ParlourError, match=message):
        load(tmp_path)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(ParlourError, match="is not there; accepted: a file of questions"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(ParlourError, match=r"has no file of questions; accepted: questions.jsonl"):
        load(tmp_path)
    file = write(tmp_path, documents={})
    with pytest.raises(ParlourError, match="has no documents with sentences"):
        load(file)
    with pytest.raises(ParlourError, match="is not there; accepted: a folder of documents"):
        load(file, tmp_path / "documents")
    (tmp_path / "documents").mkdir()
    with pytest.raises(ParlourError, match=r"has no documents; accepted: files in \.txt, \.md"):
        load(file, tmp_path / "documents")
    with pytest.raises(ParlourError, match="form 'xml' is not accepted; accepted: auto, own"):
        load(file, form="xml")


def test_half_a_sign_and_control_signs_do_no_harm(tmp_path):
    """A lone surrogate, which JSON can write and UTF-8 cannot, becomes a question mark; Windows' line ends are lines."""
    asked = '{"id": "a,b\\n\\"c", "question": "Was Edda Marlow \\ud800 lost?", "answer": "\\ud800"}\r\n'
    corpus = load(write(tmp_path, "\ufeff" + asked), tmp_path / "documents")
    assert corpus.questions[0][:2] == ("Was Edda Marlow ? lost?", "?")
    assert corpus.questions[0].id == 'a,b "c'
    rows = calibrate(Pipeline(corpus, reader=ExtractiveReader()), range(1), out=tmp_path / "partial.csv")
    assert calibrate(Pipeline(corpus, reader=ExtractiveReader()), range(1), out=tmp_path / "partial.csv") == rows


def test_a_document_that_cannot_be_opened_is_named(tmp_path, monkeypatch):
    write(tmp_path)
    (tmp_path / "documents" / "gone.txt").symlink_to(tmp_path / "none.txt")
    (tmp_path / "documents" / "again").symlink_to(tmp_path / "documents", target_is_directory=True)
    assert len(load(tmp_path).passages) == 4  # a link to nothing is not a file, and links to folders are not followed
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: denied() if self.name == "empty.txt" else real(self))
    with pytest.raises(ParlourError, match=r"empty\.txt' cannot be read: denied"):
        load(tmp_path)


def denied() -> bytes:
    raise PermissionError(13, "denied")
