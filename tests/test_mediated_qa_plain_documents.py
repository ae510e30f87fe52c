"""Documents as machines keep them: titles in lower case are linked and joined, and the value of a field is read, not its label."""

from __future__ import annotations

import pytest
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.reading import Piece, entailment, join, read, subjects

BELL = (
    "Package: libbell1",
    "Section: libs",
    "Maintainer: Ann Bell <ann@example.org>",
    "Version: 1.2-3",
    "It was debianized by Eva Fell in 1997.",
)
PASSAGES = (
    Passage("libbell1", BELL),
    Passage("libbell1-dev", ("Section: libdevel", "Installed-Size: 70")),
    Passage("dorn2.5", ("Section: net", "Maintainer: Carl Dorn")),
    Passage("the", ("An article.",)),
    Passage("Iron Dorn", ("Iron Dorn is a film.",)),
)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which section is libbell1 in?", ["libbell1"]),
        ("Which section is libbell1-dev in?", ["libbell1-dev"]),  # not libbell1 as well
        ("Are libbell1 and dorn2.5 in the same section?", ["libbell1", "dorn2.5"]),
        ("Which section is libbell in?", []),
        ("Who maintains dorn2?", []),
        ("Who directed Iron Dorn, and who maintains dorn2.5?", ["dorn2.5", "Iron Dorn"]),
    ],
)
def test_a_title_in_lower_case_is_linked_where_its_words_stand_in_the_question(question, titles):
    graph = KnowledgeGraph(PASSAGES)
    assert [graph.text[node] for node in graph.link(question)] == titles


BOOKS = (
    Passage("Book 1", ("Book 1 was written by Ann Reed.",)),
    Passage("Book 3", ("Book 3 was written by Bo Hale.",)),
    Passage("Book 31", ("Book 31 was written by Ann Reed.",)),
    Passage("Apollo 13", ("Apollo 13 is a film.",)),
)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Who wrote Book 3?", ["Book 3"]),  # neither Book 1, which is as alike, nor Book 31
        ("Who wrote Book 2?", []),
        ("Did Book 31 come out before Book 1?", ["Book 1", "Book 31"]),
        ("Who directed Apollo 13?", ["Apollo 13"]),
        ("Who directed Apollo 11?", []),
    ],
)
def test_a_title_with_a_number_means_that_number(question, titles):
    graph = KnowledgeGraph(BOOKS)
    assert [graph.text[node] for node in graph.link(question)] == titles


def evidence(*pieces: tuple[str, str]) -> str:
    return join(tuple(Piece(*piece) for piece in pieces))


FIELDS = evidence(*(("libbell1", sentence) for sentence in BELL), ("dorn2.5", "Section: net"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which section is libbell1 in?", "libs"),
        ("Who is the maintainer of libbell1?", "Ann Bell"),
        ("What is the version of libbell1?", "1.2-3"),
        ("In which year was libbell1 debianized?", "1997"),
        ("Who debianized libbell1?", "Eva Fell"),
        ("Are libbell1 and dorn2.5 in the same section?", "no"),
    ],
)
def test_the_value_of_a_field_is_the_answer(question, answer):
    assert (
        read(question, FIELDS.replace(" ¶ dorn2.5: Section: net", "") if "dorn" not in question else FIELDS).answer
        == answer
    )


def test_what_the_question_says_itself_and_long_values_are_no_answers():
    assert read("Which package is libbell1?", evidence(("libbell1", "Package: libbell1"))).answer == ""
    assert read("Which note has libbell1?", evidence(("libbell1", "Note: " + "word " * 9))).answer == ""


def test_a_label_is_no_answer_where_the_field_is_about_something_else():
    assert (
        read("Which town has a bell?", evidence(("libbell1", "Maintainers: the bell of Ann Dorn"))).answer == "Ann Dorn"
    )


def test_the_subjects_of_a_question_stand_in_its_order():
    pieces = (Piece("libbell1", "Section: libs"), Piece("dorn2.5", "Section: net"), Piece("the", "An article."))
    assert subjects("Are dorn2.5 and libbell1 of the Fell Town?", pieces) == ("dorn2.5", "libbell1", "Fell Town")
    assert subjects("Was Ann Bell born?", pieces) == ("Ann Bell",)


def test_evidence_about_a_subject_in_lower_case_entails_and_contradicts():
    question = "Which section is libbell1 in?"
    assert entailment(question, evidence(("libbell1", "Section: libs")), "libs") == "entailment"
    assert entailment(question, evidence(("libbell1", "Section: libs"), ("dorn2.5", "Section: net")), "net") == (
        "contradiction"
    )
    assert entailment("Which section is libfell in?", evidence(("dorn2.5", "Section: net")), "net") == "contradiction"
