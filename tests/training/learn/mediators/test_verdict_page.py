"""What stands first in a calibrated run's report: static policies, three questions, and code that runs."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS
from parlour.envs.mediated_qa.vocabulary import ALL, PUBLISHED, Judgement, Payment
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training.cli import run
from parlour.training.learn.mediators import verdict_page
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.simulate import Simulated

from tests.envs.mediated_qa.corpora.test_corpora import write

ALWAYS, OTHER = PUBLISHED[0], PUBLISHED[8]
"""The static policy that is best in training, and what the mediator does instead in one state."""
NET = {
    Judgement.ANSWERED_RIGHT: 120.0,
    Judgement.ANSWERED_WRONG: -40.0,
    Judgement.KEPT_SILENT: 10.0,
    Judgement.MISSED: -20.0,
}


def row(number, state, always, other):
    """A question on which two joint actions come to these outcomes, and all others to a wrong answer; costs are left out."""
    results = [Judgement.ANSWERED_WRONG] * len(ALL)
    results[ALL.index(ALWAYS)], results[ALL.index(OTHER)] = always, other
    answers = tuple("Telby" if place == ALL.index(ALWAYS) else "Vik" for place in range(len(ALL)))
    return Simulated(number, state, tuple(map(NET.get, results)), tuple(map(int, results)), answers=answers)


def calibrated(outcomes):
    """Held-out questions in the state where the mediator does the other thing; one more in another state."""
    right, wrong = Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG
    rows = [row(k, "T:low_Q:low", *pair) for k, pair in enumerate(outcomes)] + [row(9, "s0", right, wrong)]
    return SimpleNamespace(
        config=HeldOutConfig(),
        train=[row(k, "s0", right, wrong) for k in range(4)],
        held_out=rows,
        texts=tuple(f"Question {of.number}?" for of in rows),
        actions=PUBLISHED_ACTIONS,
        payment=Payment(),
        contexts=None,
    )


POLICY = PolicyTable({"T:low_Q:low": {OTHER.names: 0.75, ALWAYS.names: 0.25}, "s0": {ALWAYS.names: 1.0}})


def test_the_most_the_middle_and_the_least_are_shown_with_decisions_answers_and_pay():
    right, wrong, silent = Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG, Judgement.KEPT_SILENT
    pairs = [(right, wrong), (wrong, right), (right, right), (silent, wrong), (wrong, wrong)]
    made = verdict_page.verdict_of(calibrated(pairs), "mediator", POLICY)
    assert made.differing == 5
    assert [(of.question, of.mediator.net, of.static.net) for of in made.questions] == [
        ("Question 1?", 120, -40),
        ("Question 4?", -40, -40),
        ("Question 0?", -40, 120),
    ]
    first = made.questions[0]
    assert (first.mediator.joint, first.static.joint) == (OTHER.names, ALWAYS.names)
    assert (first.mediator.result, first.static.result) == ("'Vik', right", "'Telby', wrong")
    of_check = verdict_page.verdict_of(calibrated([(silent, wrong)]), "mediator", POLICY).questions[0].static
    assert (of_check.answer, of_check.result) == ("", "no answer: the check refused 'Telby'")


def test_every_static_policy_is_compared_and_the_one_of_the_training_questions_comes_first():
    right, wrong = Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG
    made = verdict_page.verdict_of(calibrated([(wrong, right)] * 3), "mediator", POLICY)
    assert {score.joint for score in made.static} == {joint.names for joint in PUBLISHED}
    assert made.static[0].joint == ALWAYS.names
    assert made.static[0].utility.value == 0
    assert made.static[1].joint == OTHER.names
    # three times 0.75 x 120 - 0.25 x 40 = 80, and once 120
    assert made.utility.value == 90
    assert made.static[0].gain.value == 90
    others = [score.utility.value for score in made.static[1:]]
    assert others == sorted(others, reverse=True)


def test_the_page_states_what_answers_pay_and_the_option_that_sets_it():
    right, wrong = Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG
    stakes = verdict_page.opening(verdict_page.verdict_of(calibrated([(wrong, right)]), "mediator", POLICY), ["pass"])[
        0
    ]
    assert "--utilities" in stakes
    assert all(f" {pay:g}" in stakes for pay in NET.values())


def test_a_mediator_that_decides_as_the_static_policy_has_no_questions_to_show():
    right, wrong = Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG
    same = PolicyTable({state: {ALWAYS.names: 1.0} for state in ("T:low_Q:low", "s0")})
    made = verdict_page.verdict_of(calibrated([(right, wrong)]), "mediator", same)
    assert (made.questions, made.differing) == ((), 0)
    assert "on all 2 held-out questions" in verdict_page.opening(made, ["pass"])[2]


@pytest.mark.parametrize("with_questions", [False, True], ids=["a folder of documents", "documents with the questions"])
def test_the_page_of_a_run_has_all_parts_and_its_code_runs(tmp_path, json_of, monkeypatch, with_questions):
    monkeypatch.chdir(tmp_path)
    towns = ("Belford", "Corwick", "Danton", "Firmere", "Golham", "Hulford", "Marwick", "Norton", "Permere")
    texts = {town: f"{town} has a mill. It was built in {1801 + k}." for k, town in enumerate(towns)}
    entries = [
        {"id": f"q{k}", "question": f"In which year was the mill of {town} built?", "answer": str(1801 + k)}
        for k, town in enumerate(towns)
    ]
    if with_questions:
        entries = [
            {**entry, "context": [{"title": t, "text": texts[t]}]} for entry, t in zip(entries, towns, strict=True)
        ]
        path = write(tmp_path, entries, {})
        words = ["--corpus", str(path)]
    else:
        path = write(tmp_path, entries, {f"{town}.txt": text for town, text in texts.items()})
        words = ["--corpus", str(path), "--documents", "documents"]
    values = json_of(["train", "grace", *words, "--reader", "extract", "--out", "run", "--json"])
    assert len(values["compared"]["static"]) == 9
    page, text = ((tmp_path / "run" / name).read_text() for name in ("report.html", "report.md"))
    assert (tmp_path / "run" / "static.csv").read_text().startswith("policy,")
    code = text.partition("```python\n")[2].partition("```")[0]
    assert "GraceMediator.load(" in page
    names = {}
    exec(compile(code, "report.md", "exec"), names)
    assert names["generator"] in PUBLISHED_ACTIONS.names[2]
    command = code.rpartition("# parlour ")[2]
    assert "--run run" in command
    stored = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert stored["compared"] == values["compared"]
    assert run(["show", "recommendation", "0", "--run", "run"]) == 0
