"""`parlour check corpus`: what is counted, what is drawn, and what is refused; and the page on corpora, whose code is run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from parlour.envs.mediated_qa.corpora import FORMS, load
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.training.cli import run
from parlour.training.learn.mediators import corpus_check

from tests import ROOT

QUESTIONS = [
    {"id": "a", "question": "In which town was Edda Marlow born?", "answers": ["Telby", "Telby town"]},
    {"id": "a", "question": "Was Edda Marlow born where Isko Sand was?", "answer": "no"},
    {"id": "c", "question": "Who sold it?", "answer": None},
    {"id": "d", "question": "Who sold it?", "answer": "Isko Sand"},
]
DOCUMENTS = {
    "Edda Marlow.txt": "Edda Marlow was a director. She was born in 1912 in Telby.",
    "Isko Sand.txt": "Isko Sand was born in Vik.",
    "empty.txt": "",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notes").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    return tmp_path


def test_a_corpus_is_counted(folder):
    corpus = load(folder / "questions.jsonl", folder / "notes")
    report = corpus_check.count_corpus(corpus, "own", KnowledgeGraph(corpus.passages))
    assert (report.form, report.questions, report.unanswerable, report.several_answers) == ("own", 4, 1, 1)
    assert (report.double_ids, report.double_questions) == (("a",), 1)
    assert (report.documents, report.titles, report.without_sentences, report.sentences) == (3, 3, ("empty",), 3)
    assert report.kinds == {"bridge": 3, "yes_no": 1}
    # the first is linked to Edda Marlow, the second to both; "Who sold it?" to nobody
    assert (report.linked, report.links, report.unlinked) == (2, 3, ("Who sold it?", "Who sold it?"))
    assert report.nodes["Document"] == 2
    assert report.nodes["Sentence"] == 3


def test_the_command_shows_and_draws(folder, monkeypatch, output_of):
    monkeypatch.chdir(folder)
    # the example of its help
    output = output_of(["check", "corpus", "questions.jsonl", "--documents", "notes", "--picture", "graph.png"])
    assert re.search(r"questions linked\s*│ 2 \(50\.0%\)\s*│ 1\.50 documents each", output)
    assert re.search(r"without sentences\s*│ 1\s*│ empty", output)
    assert re.search(r"double ids\s*│ 1\s*│ a", output)
    assert "questions.jsonl (own)" in output
    assert Path("graph.png").read_bytes()[:4] == b"\x89PNG"


def test_few_questions_and_few_links_are_told(folder, monkeypatch, json_of):
    monkeypatch.chdir(folder)
    command = ["check", "corpus", "questions.jsonl", "--documents", "notes", "--json"]
    half = json_of(command)["verdict"]
    assert "held-out questions on, which is 90 questions; there are 4." in half
    assert "linked" not in half
    unlinked = {"id": "e", "question": "Who lost it?", "answer": "Isko Sand"}
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, [*QUESTIONS, unlinked])), encoding="utf-8")
    assert "2 of 5 questions are linked to a document" in json_of(command)["verdict"]
    assert "(--least-linked 0.5)" in json_of(command)["verdict"]
    many = [
        {"id": str(k), "question": f"In which town was Edda Marlow born {k}?", "answer": "Telby"} for k in range(90)
    ]
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, many)), encoding="utf-8")
    assert "verdict" not in json_of(command)


def test_the_report_as_json(folder, monkeypatch, json_of):
    monkeypatch.chdir(folder)
    output = json_of(["check", "corpus", "questions.jsonl", "--documents", "notes", "--json", "--limit", "2"])
    assert (output["questions"], output["linked"], output["double_ids"]) == (2, 2, ["a"])
    assert "readiness" not in output  # two questions cannot be split
    known = json_of(["check", "corpus", "questions.jsonl", "--documents", "notes", "--json"])["readiness"]
    assert (known["questions"], known["linked"], known["answers"], known["present"]) == (4, 2, 2, 2)
    assert (known["choice"]["held_out"], known["forecast"]["calls"]) == (1, {})


def test_with_a_model_its_calls_are_counted_and_not_made(folder, monkeypatch, output_of):
    monkeypatch.chdir(folder)
    command = ["check", "corpus", "questions.jsonl", "--documents", "notes", "--model", "m", "--price", "1,2"]
    output = output_of([*command, "--base-url", "http://127.0.0.1:9/v1"])
    assert re.search(r"^cost: 4 questions to ask: at most \d+ calls .* tokens, 0\.\d+ dollars$", output, re.MULTILINE)
    assert "spread as on 1,600 questions of another corpus" in output


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("none.jsonl", "'none.jsonl' is not there; accepted: a file of questions, or a folder that holds one"),
        ("questions.jsonl", "has no documents with sentences"),
        ("questions.jsonl --documents notes --form made-up", "form 'made-up' is not accepted; accepted: auto, own"),
        (
            "questions.jsonl --documents notes --question a",
            "--question says what is drawn; accepted: with --picture FILE",
        ),
        (
            "questions.jsonl --documents notes --picture x.png --question b",
            "question 'b' is not accepted; accepted: an id, or a number from 0 to 3",
        ),
    ],
)
def test_what_is_refused_ends_in_one_line(folder, monkeypatch, error_of, arguments, reason):
    monkeypatch.chdir(folder)
    error = error_of(["check", "corpus", *arguments.split()]).strip()
    assert reason in error
    assert "\n" not in error
    assert not Path("x.png").exists()


def test_a_question_is_found_by_id_or_number_or_is_the_first_that_is_linked(folder):
    corpus = load(folder / "questions.jsonl", folder / "notes")
    graph = KnowledgeGraph(corpus.passages)
    wanted = {"d": 3, "0": 0, "2": 2, None: 0}
    for given, number in wanted.items():
        assert corpus_check.asked_for(corpus.questions, graph, given) is corpus.questions[number]


def test_an_unlinked_question_is_drawn_as_such_and_dollars_are_no_formula(folder, tmp_path):
    corpus = load(folder / "questions.jsonl", folder / "notes")
    graph = KnowledgeGraph(corpus.passages)
    strange = corpus.questions[2]._replace(text="What costs $1 and $2_$, 王明?")
    corpus_check.draw_question(graph, strange, tmp_path / "none.png")
    corpus_check.draw_question(graph, corpus.questions[0], tmp_path / "one.png")
    assert (tmp_path / "none.png").stat().st_size < (tmp_path / "one.png").stat().st_size


# -- the page --------------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "howto" / "corpora.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_names_every_form():
    for form in FORMS:
        assert f"`{form}`" in PAGE


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (questions, document), (code, *rest) = blocks("json"), blocks("python")
    assert rest == []
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "people.jsonl").write_text(document, encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(questions, encoding="utf-8")
    exec(compile(code, "docs/howto/corpora.md", "exec"), {})
    assert capsys.readouterr().out == "Telby\n"
    commands = re.findall(r"^    parlour (check corpus .*)$", PAGE, re.MULTILINE)
    assert commands
    for command in commands:
        assert run(command.split()) == 0, command
