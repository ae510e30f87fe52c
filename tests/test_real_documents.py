"""The corpus of real documents and the comparison on it (`scripts/bench`): facts are found by rule in texts of ours, the machine's
own make a corpus that is read, folds, intervals by hand, and a small run in which nothing is remembered.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.mediated_qa.corpora import load

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts" / "bench"))

import real_comparison as comparison
import real_documents as documents_of
from real_documents import RealDocument
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


def test_facts_are_found_by_rule_in_each_kind_of_document():
    assert documents_of.copyright_facts(COPYRIGHT) == {
        "packager": "Ann Bell",
        "packaged": "1997",
        "author": "Carl Dorn",
        "licence": "Zlib",
        "held": {"Carl Dorn": {1995, 1996, 1997, 1998, 2003}, "Eva van Fell": {2001}},
    }
    assert documents_of.copyright_facts("Nobody knows.") == {}
    package = {"section": "libs", "homepage": "https://bell.example.org", "version": "1.2-3", "source": "bell"}
    package |= {"maintainer": "Ann Bell", "size": 120, "needs": "libc6"}
    assert documents_of.package_facts(ENTRY) == package
    distribution = {"version": "1.2", "author": "Ann Bell", "licence": "MIT", "python": ">=3.9"}
    assert documents_of.distribution_facts(METADATA) == distribution | {"all_needs": ("Dorn",), "needs": "Dorn"}


def asked(*documents: RealDocument) -> dict[str, list[str]]:
    return {question["question"]: question["answers"] for question in questions_about(documents)}


def test_a_question_goes_over_two_documents_where_the_first_names_the_second():
    document = RealDocument("distribution", "Bell", METADATA, documents_of.distribution_facts(METADATA))
    two = RealDocument("distribution", "Dorn", "Name: Dorn", {"author": "Carl Dorn", "version": "2", "all_needs": ()})
    answers = asked(document, two)
    assert answers["Who is the author of the distribution that Bell requires?"] == ["Carl Dorn"]
    assert answers["Who is the author of the distribution that Dorn requires?"] == []  # it requires none
    assert answers["Does Bell require Dorn?"] == ["yes"]
    assert answers["What is the licence of Bell?"] == ["MIT"]
    assert answers["What is the licence of Dorn?"] == []  # it says nothing of a licence


def test_copyrights_are_asked_of_holders_and_years():
    answers = asked(RealDocument("copyright", "bell", COPYRIGHT, documents_of.copyright_facts(COPYRIGHT)))
    assert answers["In which year does the copyright of Carl Dorn in bell begin?"] == ["1995"]
    assert answers["Who holds the copyright of 2003 in bell?"] == ["Carl Dorn"]
    assert answers["Who holds the copyright of 1992 in bell?"] == []  # three years before the first


def test_every_question_is_held_out_once_and_a_phrasing_is_in_one_fold():
    texts = [f"{first} {k}?" for first in ("Who is", "Who wrote", "Which licence", "Do") for k in range(5)]
    for folds in (comparison.folds_by_question(20), comparison.folds_by_phrasing(texts)):
        assert sorted(np.concatenate(folds)) == list(range(20))
    for fold in folds:
        inside = {comparison.phrasing(texts[k]) for k in fold}
        assert inside.isdisjoint({comparison.phrasing(text) for k, text in enumerate(texts) if k not in fold})


def test_intervals_over_questions_and_over_groups():
    values = np.array([1.0, 3.0, 1.0, 3.0])  # strays -1, 1, -1, 1
    assert comparison.interval(values) == pytest.approx((2.0, 1.96 * 2 / 4))
    by_two = comparison.interval(values, ["a", "b", "a", "b"])
    assert by_two == pytest.approx((2.0, 1.96 * np.sqrt(8) / 4))  # sums -2 and 2
    assert comparison.interval(values, ["a", "a", "b", "b"]) == pytest.approx((2.0, 0.0))  # sums 0 and 0


def test_too_little_is_said():
    wanted = "0 documents, wanted 200; 0 answerable questions, wanted 300; 0 unanswerable questions, wanted 100"
    assert documents_of.too_few([], []) == wanted


# -- the documents of this machine -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def machine():
    documents = documents_of.real_documents()
    questions = questions_about(documents)
    if missing := documents_of.too_few(documents, questions):
        pytest.skip(f"this machine has too little to read: {missing}")
    return documents, questions


@pytest.mark.slow
def test_the_same_documents_give_the_same_questions_with_answers_that_stand_in_them(machine):
    documents, questions = machine
    assert questions_about(documents) == questions
    text = "\n".join(f"{document.title} {document.text}" for document in documents)
    years = " ".join(
        str(year) for document in documents for span in document.facts.get("held", {}).values() for year in span
    )
    plain = " ".join(text.split()) + years
    answers = {answer for question in questions for answer in question["answers"]} - {"yes", "no"}
    assert {answer for answer in answers if " ".join(answer.split()) not in plain} == set()


@pytest.mark.slow
def test_questions_are_of_several_forms_and_hops(machine):
    texts = [question["question"] for question in machine[1]]
    assert len(set(texts)) == len(texts)
    for beginning in ("Who ", "Which ", "What ", "In which year ", "How many ", "Do "):
        assert sum(text.startswith(beginning) for text in texts) >= 10, beginning
    assert sum(" that " in text for text in texts) >= 20  # over two documents
    for answer in ("yes", "no"):
        assert sum(question["answers"] == [answer] for question in machine[1]) >= 20


@pytest.mark.slow
def test_the_corpus_is_read_by_parlour(machine, tmp_path):
    documents, questions = machine
    documents_of.write(tmp_path, documents, questions)
    corpus = load(tmp_path)
    assert len(corpus.passages) >= 200
    assert [question.id for question in corpus.questions] == [question["id"] for question in questions]
    assert (
        sum(question.answer == "" for question in corpus.questions)
        == sum(not question["answers"] for question in questions)
        >= 100
    )


@pytest.mark.slow
def test_a_small_run_is_paired_and_remembers_nothing(machine, tmp_path):
    pytest.importorskip("sklearn", reason="the extra `train` is not installed")
    pytest.importorskip("bm25s", reason="the extra `retrieve` is not installed")
    documents_of.write(tmp_path, machine[0][::4], machine[1][:120])
    small = load(tmp_path)
    earnings = comparison.compared(small, "bm25", [np.arange(60), np.arange(60, 120)])
    assert {len(earned) for earned in earnings.values()} == {120}
    # without memory, silence is always right: 10 less the cost of a shallow retrieval, or of asking the memory
    assert set(earnings[f"{comparison.STATIC}retrieve_shallow, refuse_to_generate, skip_check"]) == {9.0}
    assert set(earnings[f"{comparison.STATIC}skip_retrieval, generate_parametric, skip_check"]) == {8.0}
    assert all((earnings["oracle"] >= earned - 1e-9).all() for earned in earnings.values())
    assert {comparison.CONTEXTUAL, comparison.TABLE, "question form x state"} <= set(earnings)
    assert len(comparison.lines(earnings, [comparison.phrasing(question.text) for question in small.questions])) == len(
        earnings
    )
