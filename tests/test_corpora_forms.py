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
MUSIQUE: list[dict[str, Any]] = [
    {"id": "2hop__1",
     "paragraphs": [
         {"idx": 0, "title": "The Glass Door", "paragraph_text": DOOR, "is_supporting": True},
         {"idx": 1, "title": "Edda Marlow", "paragraph_text": MARLOW, "is_supporting": False},
         {"idx": 2, "title": "Edda Marlow", "paragraph_text": "Edda Marlow died in 1990.", "is_supporting": False}],
     "question": "In which town was the director of The Glass Door born?",
     "question_decomposition": [{"id": 1, "question": "The Glass Door >> director", "answer": "Edda Marlow"}],
     "answer": "Telby", "answer_aliases": ["Telby town"], "answerable": True},
    {"id": "2hop__2",
     "paragraphs": [{"idx": 0, "title": "The Glass Door", "paragraph_text": DOOR, "is_supporting": False}],
     "question": "In which town did the director of The Glass Door die?", "question_decomposition": [],
     "answer": "Vik", "answer_aliases": [], "answerable": False},
]  # fmt: skip
ASKED: list[dict[str, Any]] = [
    {"id": "s1", "question": "Where was Edda Marlow born?",
     "answers": [{"text": "Telby", "answer_start": 52}, {"text": "in Telby", "answer_start": 49},
                 {"text": "Telby", "answer_start": 52}],
     "is_impossible": False},
    {"id": "s2", "question": "Where was Edda Marlow lost?", "answers": [],
     "plausible_answers": [{"text": "Telby", "answer_start": 52}], "is_impossible": True},
]  # fmt: skip
SQUAD: dict[str, Any] = {
    "version": "v2.0",
    "data": [{"title": "Edda_Marlow", "paragraphs": [{"context": MARLOW, "qas": ASKED}]}],
}
ROWS: list[dict[str, Any]] = [
    {"id": "s1", "title": "Edda_Marlow", "context": MARLOW, "question": "Where was Edda Marlow born?",
     "answers": {"text": ["Telby"], "answer_start": [52]}},
    {"id": "s2", "title": "Edda_Marlow", "context": MARLOW, "question": "Where was she lost?",
     "answers": {"text": [], "answer_start": []}},
]  # fmt: skip
PAGE = "<H1> Edda Marlow </H1> <P> She was born in Telby ( in 1912 ) . </P> <Ul> <Li> a film </Li> </Ul>"
NOTHING = {"start_token": -1, "end_token": -1}


def marked(
    short: tuple[int, int] | None = None, long: tuple[int, int] | None = None, said: str = "NONE"
) -> dict[str, Any]:
    spans = [dict(zip(("start_token", "end_token"), span, strict=True)) for span in (short, long) if span]
    return {
        "yes_no_answer": said,
        "short_answers": spans[:1] if short else [],
        "long_answer": spans[-1] if long else NOTHING,
    }


# tokens of PAGE: 0 <H1> 1 Edda 2 Marlow 3 </H1> 4 <P> 5 She 6 was 7 born 8 in 9 Telby 10 ( 11 in 12 1912 13 ) 14 . 15 </P>
NATURAL: list[dict[str, Any]] = [
    {
        "question_text": "where was edda marlow born",
        "annotations": [marked((9, 10), (4, 16)), marked((9, 14), (4, 16))],
    },
    {"question_text": "was edda marlow a director", "annotations": [marked(None, (4, 16), "YES")]},
    {"question_text": "tell me of edda marlow", "annotations": [marked(None, (4, 16))]},
    {"question_text": "where was edda marlow lost", "annotations": [marked()]},
]
for number, entry in enumerate(NATURAL, 1):
    entry |= {"example_id": number, "document_text": PAGE, "document_url": "https://en.wikipedia.org/wiki/X"}

FILES: dict[str, Any] = {
    "hotpotqa": HOTPOT,
    "2wikimultihopqa": WIKI,
    "musique": MUSIQUE,
    "squad2": SQUAD,
    "natural_questions": NATURAL,
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
    if form != "squad2":
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


def test_musique(tmp_path):
    corpus = load(written(tmp_path, MUSIQUE))
    assert rows_of(corpus) == [("2hop__1", "Telby", ("Telby town",), "bridge"), ("2hop__2", "", (), "bridge")]
    assert [passage.title for passage in corpus.passages] == ["The Glass Door", "Edda Marlow", "Edda Marlow"]


def test_squad_2(tmp_path):
    corpus = load(written(tmp_path, SQUAD))
    assert rows_of(corpus) == [("s1", "Telby", ("in Telby",), "bridge"), ("s2", "", (), "bridge")]
    assert corpus.passages == (
        Passage("Edda_Marlow", ("Edda Marlow was a director.", "She was born in 1912 in Telby.")),
    )
    assert corpus.questions[1].decoys[0] == "Telby"  # plausible and wrong
    assert [question.id for question in load(written(tmp_path, SQUAD), limit=1).questions] == ["s1"]


def test_rows_of_squad(tmp_path):
    file = written(tmp_path, ROWS, "x.jsonl")
    assert form_of(file) == "squad2"
    assert rows_of(load(file)) == [("s1", "Telby", (), "bridge"), ("s2", "", (), "bridge")]


def test_natural_questions(tmp_path):
    corpus = load(written(tmp_path, NATURAL))
    assert rows_of(corpus) == [
        ("1", "Telby", ("Telby (in 1912)",), "bridge"),
        ("2", "yes", (), "yes_no"),
        ("4", "", (), "bridge"),  # the third has a long answer alone
    ]
    assert corpus.questions[0].text == "where was edda marlow born?"
    assert corpus.passages == (Passage("Edda Marlow", ("Edda Marlow", "She was born in Telby (in 1912).", "a film")),)


@pytest.mark.parametrize("address", ["w/index.php?title=Edda_Marlow&amp;oldid=1", "wiki/Edda_Marlow"])
def test_a_document_without_a_heading_is_named_by_its_address(tmp_path, address):
    bare = PAGE.replace("H1>", "P>")
    question = {**NATURAL[0], "document_text": bare, "document_url": f"https://en.wikipedia.org/{address}"}
    assert [passage.title for passage in load(written(tmp_path, [question])).passages] == ["Edda Marlow"]


def test_natural_questions_in_full_tokens_are_the_same(tmp_path):
    full = copy.deepcopy(NATURAL)
    for item in full:
        text = item.pop("document_text")
        item["document_title"] = "Edda Marlow"
        item["document_tokens"] = [{"token": token, "html_token": token[0] == "<"} for token in text.split(" ")]
    assert load(written(tmp_path, full)) == load(written(tmp_path, NATURAL))


def test_what_marks_the_right_sentences_changes_nothing(tmp_path):
    other = copy.deepcopy(MUSIQUE)
    for item in other:
        item["question_decomposition"] = []
        for paragraph in item["paragraphs"]:
            paragraph["is_supporting"] = not paragraph["is_supporting"]
    assert load(written(tmp_path, MUSIQUE)) == load(written(tmp_path, other))
    hotpot = [{key: item[key] for key in item if key != "supporting_facts"} for item in HOTPOT]
    assert load(written(tmp_path, HOTPOT)) == load(written(tmp_path, hotpot), form="hotpotqa")
    wiki = [{**item, "supporting_facts": [["Edda Marlow", 1]], "evidences": [["x", "y", "z"]]} for item in WIKI]
    assert load(written(tmp_path, WIKI)) == load(written(tmp_path, wiki))


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


QA = ("data", 0, "paragraphs", 0, "qas", 0)


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
        ("musique", (0, "answer"), "", r"\[0\]: answer '' is not accepted; accepted: words"),
        ("musique", (0, "paragraphs", 1, "paragraph_text"), 5, r"\[0\].paragraphs\[1\]: paragraph_text 5 is not"),
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


def test_the_line_is_that_of_the_entry(tmp_path):
    file = tmp_path / "x.json"
    broken = changed("squad2", (*QA, "question"), 1)
    file.write_text(json.dumps(broken, indent=1), encoding="utf-8")
    line = next(k for k, text in enumerate(file.read_text("utf-8").splitlines(), 1) if '"s1"' in text) - 1
    with pytest.raises(ParlourError, match=rf"x.json' line {line}, data"):
        load(file)


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
        assert form_of(tmp_path / name) == "squad2"
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


@pytest.mark.parametrize("span", [(-1, -1), (-4, 6), (9, 2), (900, 910)])
def test_a_short_answer_that_marks_nothing_is_none(tmp_path, span):
    marked_nowhere = {**NATURAL[0], "annotations": [marked(span), marked((9, 10))]}
    assert rows_of(load(written(tmp_path, [marked_nowhere]))) == [("1", "Telby", (), "bridge")]
