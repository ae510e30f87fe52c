"""The corpus of real documents: facts are found by rule in texts of ours, and the machine's own make a corpus that is read."""

from __future__ import annotations

import json

import pytest
from parlour.envs.mediated_qa.corpora import load
from real_documents import (
    RealDocument,
    copyright_facts,
    distribution_facts,
    package_facts,
    real_documents,
    too_few,
    write,
)
from real_questions import questions_about

COPYRIGHT = """This package was debianized by Ann Bell <ann@example.org> on
Sat, 31 May 1997 20:11:04 +0200.

Upstream Author: Carl Dorn <carl@example.org>

Copyright (C) 1995-1998, 2003 Carl Dorn
Copyright (c) 2001 by Eva van Fell

Files: *
Copyright: 1995 Carl Dorn
License: Zlib
"""
ENTRY = """Package: libbell1
Section: libs
Installed-Size: 120
Maintainer: Ann Bell <ann@example.org>
Source: bell (1.2)
Version: 1.2-3
Depends: libc6 (>= 2.3)
Homepage: https://bell.example.org
Description: a bell
"""
METADATA = """Metadata-Version: 2.4
Name: Bell
Version: 1.2
Author-email: Ann Bell <ann@example.org>
License-Expression: MIT
Requires-Python: >=3.9
Requires-Dist: Dorn>=2
Requires-Dist: Fell; extra == "dev"

A bell.
"""


def test_facts_of_a_copyright_file():
    assert copyright_facts(COPYRIGHT) == {
        "packager": "Ann Bell",
        "packaged": "1997",
        "author": "Carl Dorn",
        "licence": "Zlib",
        "held": {"Carl Dorn": {1995, 1996, 1997, 1998, 2003}, "Eva van Fell": {2001}},
    }
    assert copyright_facts("Nobody knows.") == {}


def test_facts_of_an_entry_of_the_package_list():
    assert package_facts(ENTRY) == {
        "section": "libs",
        "homepage": "https://bell.example.org",
        "version": "1.2-3",
        "maintainer": "Ann Bell",
        "size": 120,
        "source": "bell",
        "needs": "libc6",
    }


def test_facts_of_a_distribution():
    assert distribution_facts(METADATA) == {
        "version": "1.2",
        "author": "Ann Bell",
        "licence": "MIT",
        "python": ">=3.9",
        "all_needs": ("Dorn",),
        "needs": "Dorn",
    }


def asked(*documents: RealDocument) -> dict[str, list[str]]:
    return {one["question"]: one["answers"] for one in questions_about(documents)}


def test_a_question_goes_over_two_documents_where_the_first_names_the_second():
    one = RealDocument("distribution", "Bell", METADATA, distribution_facts(METADATA))
    two = RealDocument("distribution", "Dorn", "Name: Dorn", {"author": "Carl Dorn", "version": "2", "all_needs": ()})
    found = asked(one, two)
    assert found["Who is the author of the distribution that Bell requires?"] == ["Carl Dorn"]
    assert found["Who is the author of the distribution that Dorn requires?"] == []  # it requires none
    assert found["Does Bell require Dorn?"] == ["yes"]
    assert found["What is the licence of Bell?"] == ["MIT"]
    assert found["What is the licence of Dorn?"] == []  # it says nothing of a licence


def test_copyrights_are_asked_of_holders_and_years():
    found = asked(RealDocument("copyright", "bell", COPYRIGHT, copyright_facts(COPYRIGHT)))
    assert found["In which year does the copyright of Carl Dorn in bell begin?"] == ["1995"]
    assert found["Who holds the copyright of 2003 in bell?"] == ["Carl Dorn"]
    assert found["Who holds the copyright of 1992 in bell?"] == []  # three years before the first


@pytest.fixture(scope="module")
def machine():
    documents = real_documents()
    questions = questions_about(documents)
    if missing := too_few(documents, questions):
        pytest.skip(f"this machine has too little to read: {missing}")
    return documents, questions


def test_too_little_is_said():
    assert too_few([], []) == (
        "0 documents, wanted 200; 0 answerable questions, wanted 300; 0 unanswerable questions, wanted 100"
    )


def test_the_same_documents_give_the_same_questions(machine):
    _, questions = machine
    assert questions_about(real_documents()) == questions
    assert len({one["question"] for one in questions}) == len(questions)


def test_answers_stand_in_the_documents(machine):
    documents, questions = machine
    text = "\n".join(f"{one.title} {one.text}" for one in documents)
    years = " ".join(str(year) for one in documents for held in one.facts.get("held", {}).values() for year in held)
    plain = " ".join(text.split()) + years
    told = {answer for one in questions for answer in one["answers"]} - {"yes", "no"}
    assert {answer for answer in told if " ".join(answer.split()) not in plain} == set()


def test_questions_are_of_several_forms_and_hops(machine):
    _, questions = machine
    texts = [one["question"] for one in questions]
    for beginning in ("Who ", "Which ", "What ", "In which year ", "How many ", "Do "):
        assert sum(text.startswith(beginning) for text in texts) >= 10, beginning
    assert sum(" that " in text for text in texts) >= 20  # over two documents
    assert sum(one["answers"] == ["yes"] for one in questions) >= 20
    assert sum(one["answers"] == ["no"] for one in questions) >= 20


def test_the_corpus_is_read_by_parlour(machine, tmp_path):
    documents, questions = machine
    write(tmp_path, documents, questions)
    corpus = load(tmp_path)
    assert len(corpus.passages) >= 200
    assert [one.id for one in corpus.questions] == [one["id"] for one in questions]
    assert sum(one.answer == "" for one in corpus.questions) == sum(not one["answers"] for one in questions) >= 100
    assert json.loads((tmp_path / "questions.jsonl").read_text("utf-8").splitlines()[0]) == questions[0]
