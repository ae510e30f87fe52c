"""Corpora as others publish them, HotpotQA among them: a small file of ours in each form is known, read, played, and broken field by field."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpora import form_of, load
from parlour.envs.mediated_qa.corpus import Corpus, Passage

MARLOW = "Edda Marlow was a director. She was born in 1912 in Telby."
DOOR = "The Glass Door is a film directed by Edda Marlow."
BORN = ["Edda Marlow", ["Edda Marlow was a director.", " She was born in 1912 in Telby."]]
ISKO = ["Isko Sand", ["Isko Sand was a painter.", "", " He was born in 1900 in Vik."]]
FILM = ["The Glass Door", ["The Glass Door is a 1950 film directed by Edda Marlow.", " It runs two hours."]]
LEFT = ["Isko Sand", ["Isko Sand was a painter.", " He was born in 1900 in Vik, and left in 1931."]]
HOTPOT: list[dict[str, Any]] = [
    {"_id": "a1", "question": "In which town was the director of The Glass Door born?", "answer": "Telby",
     "type": "bridge", "supporting_facts": [["The Glass Door", 0]], "context": [FILM, BORN, ISKO]},
    {"_id": "a2", "question": "Were Edda Marlow and Isko Sand born in the same town?", "answer": "no",
     "type": "comparison", "supporting_facts": [["Isko Sand", 2]], "context": [BORN, ISKO]},
    {"_id": "a3", "question": "In which year was Isko Sand born?", "answer": "1900", "type": "bridge",
     "supporting_facts": [], "context": [LEFT]},
]  # fmt: skip
WIKI: list[dict[str, Any]] = [
    {"_id": "w1", "type": "compositional", "question": "In which town was the director of The Glass Door born?",
     "answer": "Telby", "context": [["The Glass Door", [DOOR]], ["Edda Marlow", MARLOW.split(". ")]],
     "supporting_facts": [["The Glass Door", 0]], "evidences": [["The Glass Door", "director", "Edda Marlow"]]},
    {"_id": "w2", "type": "bridge_comparison",
     "question": "Were the directors of The Glass Door and The Red Door born in the same town?",
     "answer": "no", "context": [["The Glass Door", [DOOR]]], "supporting_facts": [], "evidences": []},
]  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"id": "s1", "question": "Where was Edda Marlow born?", "answers": ["Telby"], "context": [MARLOW]},
    {"id": "s2", "question": "Where was she lost?", "answers": [], "context": [MARLOW]},
]

FILES: dict[str, Any] = {
    "hotpotqa": HOTPOT,
    "2wikimultihopqa": WIKI,
}


def written(folder: Path, value: Any, name: str = "x.json") -> Path:
    lines = "".join(json.dumps(item) + "\n" for item in value) if name.endswith("l") else json.dumps(value)
    (folder / name).write_text(lines, encoding="utf-8")
    return folder / name


def rows_of(corpus: Corpus) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(question.id, question.answer, question.others, question.kind) for question in corpus.questions]


@pytest.mark.parametrize("form", FILES)
def test_a_form_is_known_by_its_first_question(tmp_path, form):
    file = written(tmp_path, FILES[form])
    assert form_of(file) == form
    assert load(file) == load(file, form=form)
    assert load(written(tmp_path, FILES[form], "x.jsonl")) == load(file)


def test_hotpotqa(tmp_path):
    corpus = load(written(tmp_path, HOTPOT))
    assert rows_of(corpus) == [("a1", "Telby", (), "bridge"), ("a2", "no", (), "yes_no"), ("a3", "1900", (), "bridge")]
    assert [passage.title for passage in corpus.passages] == ["The Glass Door", "Edda Marlow", "Isko Sand"]
    assert corpus.passages[2].sentences == ("Isko Sand was a painter.", "He was born in 1900 in Vik.")
    assert "Vik" in corpus.questions[0].decoys
    assert [question.decoys for question in corpus.questions[1:]] == [("yes",), ("1931",)]
    assert all(question.answer not in question.decoys for question in corpus.questions)


def test_the_other_answer_to_a_yes_is_no(tmp_path):
    corpus = load(written(tmp_path, [{**HOTPOT[1], "answer": "Yes"}]))
    assert [(question.kind, question.decoys) for question in corpus.questions] == [("yes_no", ("no",))]


@pytest.mark.parametrize("key", ["sentences", "content"])
def test_a_context_of_two_lists_is_that_of_pairs(tmp_path, key):
    titles, sentences = zip(BORN, ISKO, strict=True)
    lists = {"title": titles, key: sentences}
    assert load(written(tmp_path, [{**HOTPOT[1], "context": lists}])) == load(written(tmp_path, [HOTPOT[1]]))


def test_2wikimultihopqa(tmp_path):
    corpus = load(written(tmp_path, WIKI))
    assert rows_of(corpus) == [("w1", "Telby", (), "bridge"), ("w2", "no", (), "yes_no")]
    assert [passage.title for passage in corpus.passages] == ["The Glass Door", "Edda Marlow"]
    kept = {**WIKI[0], "context": {"title": ["The Glass Door"], "content": [[DOOR]]}}
    assert load(written(tmp_path, [kept])).passages == (Passage("The Glass Door", (DOOR,)),)


def test_what_marks_the_right_sentences_changes_nothing(tmp_path):
    hotpot = [{key: item[key] for key in item if key != "supporting_facts"} for item in HOTPOT]
    assert load(written(tmp_path, HOTPOT)) == load(written(tmp_path, hotpot), form="hotpotqa")
    wiki = [{**item, "supporting_facts": [["Edda Marlow", 1]], "evidences": [["x", "y", "z"]]} for item in WIKI]
    assert load(written(tmp_path, WIKI)) == load(written(tmp_path, wiki))


def test_the_line_is_that_of_the_entry(tmp_path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps(changed("hotpotqa", (1, "question"), 1), indent=1), encoding="utf-8")
    line = next(k for k, text in enumerate(file.read_text("utf-8").splitlines(), 1) if '"a2"' in text) - 1
    with pytest.raises(ParlourError, match=rf"x.json' line {line}, \[1\]"):
        load(file)


# -- what is refused -------------------------------------------------------------------------------------------


def changed(form: str, path: tuple[str | int, ...], value: Any) -> Any:
    """The file with one field changed, or left out for None."""
    copied = copy.deepcopy(FILES[form])
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return copied


@pytest.mark.parametrize(
    ("form", "path", "value", "message"),
    [
        ("hotpotqa", (1, "question"), "", r"\[1\]: question '' is not accepted; accepted: words"),
        ("hotpotqa", (1, "context"), [["Isko Sand"]], r"\[1\].context\[0\]: .* accepted: \[title, \[sentences\]\]"),
        ("hotpotqa", (1, "context"), [["Isko Sand", "He was born."]], r"\[1\].context\[0\]: "),
        ("hotpotqa", (1, "context"), [["Isko Sand", [3]]], r"\[1\].context\[0\]: "),
        ("hotpotqa", (1, "context"), [["", ["He was born."]]], r"\[1\].context\[0\]: "),
        ("hotpotqa", (0,), 5, r"\[0\]: 5 is not accepted; accepted: a JSON object"),
        ("2wikimultihopqa", (1, "context"), {"title": ["x"]}, r"\[1\].context: content is missing; accepted: a list"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_refused_with_its_place(tmp_path, form, path, value, message):
    """`test_refusals.py` damages each field of the first question; these are what it does not come by."""
    file = written(tmp_path, changed(form, path, value))
    with pytest.raises(ParlourError, match=rf"x.json' line 1.*{message}") as refused:
        load(file, form=form)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "line 1 is not JSON"), ("[]", "has no questions"), ('{"a": 1}', "not a list of questions")],
)
def test_a_file_without_questions_is_refused(tmp_path, content, message):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(ParlourError, match=message):
        load(tmp_path / "x.json", form="hotpotqa")


# -- the library datasets --------------------------------------------------------------------------------------


@pytest.fixture
def library():
    return pytest.importorskip("datasets", reason="the extra `corpora` is not installed")


def test_data_sets_saved_by_the_library_are_read(tmp_path, library):
    rows = library.Dataset.from_list(ROWS)
    rows.save_to_disk(tmp_path / "saved")
    library.DatasetDict({"train": rows.select([1]), "validation": rows}).save_to_disk(tmp_path / "splits")
    rows.to_parquet(str(tmp_path / "x.parquet"))
    expected = load(written(tmp_path, ROWS, "x.jsonl"))
    for name in ("saved", "splits", "x.parquet"):
        assert form_of(tmp_path / name) == "own"
        assert load(tmp_path / name) == expected


def test_a_wrong_row_is_refused_with_its_number(tmp_path, library):
    library.Dataset.from_list(
        [{"question": "Who?", "answer": "Edda"}, {"question": "", "answer": "Edda"}]
    ).save_to_disk(tmp_path / "saved")
    with pytest.raises(ParlourError, match="saved' row 2: question '' is not accepted"):
        load(tmp_path / "saved")


def test_a_broken_data_set_is_refused_in_one_line(tmp_path, library):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "state.json").write_text("{}", encoding="utf-8")
    for name in ("x.parquet", "saved"):
        with pytest.raises(ParlourError, match="cannot be read as a data set") as refused:
            load(tmp_path / name, form="own")
        assert "\n" not in str(refused.value)


def test_without_the_library_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "datasets", None)
    (tmp_path / "x.parquet").write_bytes(b"")
    with pytest.raises(ParlourError, match=r"datasets is not installed; accepted: pip install .*\[corpora\]"):
        load(tmp_path / "x.parquet")
