"""GRACE's figures: what stands in cells and files is what was played, the paper's figures beside it, and the pictures show it."""

from __future__ import annotations

import csv
import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.policies.agents.mediated_qa import GraceMediator
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.mediators import baselines, held_out
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig
from parlour.training.learn.mediators.learn import fit_policy
from parlour.training.papers import cells, grace
from parlour.training.papers.reproduce import ReproductionSetting, reproduce
from parlour.training.report import plots

from tests.reference_data import paper_table

GAMES, PRACTICE = 60, 90
T_59 = 2.0009953780882683  # the 97.5 % point of Student's t with 59 degrees of freedom, from tables
SIGNALS = {grace.OURS: "ours", grace.THEIRS: "paper"}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The three figures, the folder with their files, and the figures that were drawn."""
    out, drawn = tmp_path_factory.mktemp("grace"), {}

    save = plots.save

    def collect(made, path):
        drawn[Path(path).stem] = made
        save(made, path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "save", collect)
        tables = {
            f"grace-{k}": reproduce(f"grace-{k}", ReproductionSetting(games=GAMES, practice=PRACTICE, out=out))
            for k in (3, 4, 5)
        }
    return tables, out, drawn


@pytest.fixture(scope="module")
def calibrated():
    """The same questions under all joint actions, by normalisation."""
    return {
        signals: held_out.prepare(
            HeldOutConfig(
                train=PRACTICE, held_out=GAMES, normalisation=normalisation, corpus_seed=UNSEEN, consistency="evidence"
            )
        )
        for signals, normalisation in SIGNALS.items()
    }


def lines(out, name):
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def draws(out, signals):
    return [line for line in lines(out, "grace-5") if line["signals"] == signals]


def the(table, row, of, measure):
    (match,) = [cell for cell in table.cells if (cell.row, cell.of, cell.measure) == (row, of, measure)]
    return match


@pytest.mark.parametrize("signals", SIGNALS)
def test_each_held_out_question_earns_what_its_joint_action_earns_there(played, calibrated, signals):
    lines, rows = draws(played[1], signals), calibrated[signals].held_out
    assert [int(line["question"]) for line in lines] == [row.number for row in rows]
    assert [row.number for row in rows] == list(range(PRACTICE, PRACTICE + GAMES))
    names = [action.names for action in vocabulary.ALL]
    for line, row in zip(lines, rows, strict=True):
        joint = line["retriever"], line["generator"], line["verifier"]
        assert line["state"] == row.state
        assert float(line["net_utility"]) == row.utilities[names.index(joint)]


@pytest.mark.parametrize("signals", SIGNALS)
def test_the_joint_actions_are_drawn_from_the_policy_that_was_learned(played, calibrated, signals):
    policy = fit_policy(calibrated[signals].table, grace.PUBLISHED_CONFIG).policy
    mediator = GraceMediator(policy)
    mediator.reset(0, 0)
    drawn = [mediator.recommend(row.state) for row in calibrated[signals].held_out]
    assert [(draw["retriever"], draw["generator"], draw["verifier"]) for draw in draws(played[1], signals)] == drawn
    rows = [line for line in lines(played[1], "grace-4") if line["signals"] == signals]
    assert len(rows) == 9 * len(policy.rows)
    for line in rows:
        joint = line["retriever"], line["generator"], line["verifier"]
        assert float(line["probability"]) == policy.rows[line["state"]].get(joint, 0.0)
        assert int(line["questions"]) == sum(row.state == line["state"] for row in calibrated[signals].train)


def test_the_baselines_are_counted_over_the_same_questions(played, calibrated):
    table = played[0]["grace-3"]
    for row, joint, of in (
        ("no retrieval", baselines.CLOSED_BOOK, ""),
        ("GraphRAG", baselines.GRAPH_RAG, grace.OURS),
        ("GraphRAG", baselines.GRAPH_RAG, grace.THEIRS),
    ):
        k = vocabulary.ALL.index(joint)
        outcomes = [row.outcomes[k] for row in calibrated[of or grace.OURS].held_out]
        right, wrong = (
            outcomes.count(vocabulary.Judgement.ANSWERED_RIGHT),
            outcomes.count(vocabulary.Judgement.ANSWERED_WRONG),
        )
        accuracy, abstention = (the(table, row, of, m).ours for m in ("accuracy", "abstention"))
        reliability = the(table, row, of, "effective reliability").ours
        assert (accuracy.hits, accuracy.n) == (right, GAMES)
        assert (abstention.hits, abstention.n) == (GAMES - right - wrong, GAMES)
        assert (reliability.hits, reliability.n) == (right, right + wrong)
    for signals in SIGNALS:
        best = [max(row.utilities[:9]) for row in calibrated[signals].held_out]
        assert the(table, "oracle", signals, "net utility").ours.value == pytest.approx(np.mean(best))


def test_the_first_row_is_ours_and_differences_are_paired_with_it(played, calibrated):
    tables, out, _ = played
    first = tables["grace-3"].cells[:4]
    assert {(cell.row, cell.of) for cell in first} == {(grace.LEARNED, grace.OURS)}
    assert all(cell.difference is None for cell in first)
    earned = np.array([float(line["net_utility"]) for line in draws(out, grace.OURS)])
    assert first[3].ours.value == pytest.approx(earned.mean())

    k = vocabulary.ALL.index(baselines.CLOSED_BOOK)
    rows = calibrated[grace.OURS].held_out
    differs = np.array([row.utilities[k] for row in rows]) - earned
    difference = the(tables["grace-3"], "no retrieval", "", "net utility").difference
    assert (difference.n, difference.value) == (GAMES, pytest.approx(differs.mean()))
    assert difference.high - difference.low == pytest.approx(2 * T_59 * differs.std(ddof=1) / sqrt(GAMES))

    names = [action.names for action in vocabulary.ALL]
    numbers = [names.index((draw["retriever"], draw["generator"], draw["verifier"])) for draw in draws(out, grace.OURS)]
    ours = [row.outcomes[n] == vocabulary.Judgement.ANSWERED_RIGHT for row, n in zip(rows, numbers, strict=True)]
    theirs = [row.outcomes[k] == vocabulary.Judgement.ANSWERED_RIGHT for row in rows]
    paired = the(tables["grace-3"], "no retrieval", "", "accuracy").difference
    assert first[0].ours.hits == sum(ours)
    silent = [
        row.outcomes[n] in (vocabulary.Judgement.KEPT_SILENT, vocabulary.Judgement.MISSED)
        for row, n in zip(rows, numbers, strict=True)
    ]
    assert first[1].ours.hits == sum(silent)
    oracle = the(tables["grace-3"], "oracle", grace.OURS, "accuracy")
    assert oracle.difference.value == pytest.approx(oracle.ours.value - first[0].ours.value)
    assert oracle.difference.value > 0
    assert (paired.only_a, paired.only_b) == (
        sum(b and not a for a, b in zip(ours, theirs, strict=True)),
        sum(a and not b for a, b in zip(ours, theirs, strict=True)),
    )


PRINTED = {
    "no retrieval": ("Baseline", (30, 0, 30)),
    "GraphRAG": ("GraphRAG", (20, 25, 26.7)),
    "refusal by self-reported confidence": ("Baseline+CE", (20, 75, 80)),
    "learned mediator": ("GRACE", (10, 80, 50)),
}


def test_the_papers_figures_stand_beside_ours(played):
    table = played[0]["grace-3"]
    paper = {(cell.row, cell.of, cell.measure): cell.paper for cell in table.cells if cell.paper is not None}
    expected = {
        (row, grace.THEIRS if row in ("GraphRAG", "learned mediator") else "", measure): value
        for row, (_, values) in PRINTED.items()
        for measure, value in zip(("accuracy", "abstention", "effective reliability"), values, strict=True)
    }
    assert paper == expected
    named = {(key[1], key[2]): value for key, (value, _) in cells.printed().items() if key[0] == "grace-4"}
    assert named == {
        ("T:mid_Q:mid", "shallow refuse nocheck (the paper's signals)"): 79,
        ("T:high_Q:mid", "shallow refuse nocheck (the paper's signals)"): 79,
        ("T:low_Q:mid", "shallow consist nocheck (the paper's signals)"): 84,
    }
    seen = {(cell.row, cell.of): cell.paper for cell in played[0]["grace-4"].cells if cell.paper is not None}
    assert seen
    assert seen.items() <= named.items()


def test_the_papers_figures_are_those_of_the_reference_data():
    rows = paper_table("grace_fig3_summary.csv")
    means = {(row["method"], row["metric"]): float(row["mean"]) for row in rows}
    metrics = ("accuracy", "abstention", "effective_reliability")
    assert means == {
        (method, metric): value
        for method, values in PRINTED.values()
        for metric, value in zip(metrics, values, strict=True)
    }


def test_the_cases_pay_what_they_pay_in_the_paper(played):
    """120 - 1 - 5, -40 - 1 - 2, 10 - 1 - 5, -20 - 1."""
    cases = [cell for cell in played[0]["grace-5"].cells if cell.row.startswith("case") and cell.of == grace.THEIRS]
    assert [cell.ours.value for cell in cases] == [cell.paper for cell in cases] == [114, -43, 4, -21]
    high = {cell.row: cell for cell in played[0]["grace-5"].cells if cell.row.startswith("high trust")}
    assert {row: cell.paper for row, cell in high.items()} == {
        "high trust: right": 20, "high trust: wrong": -40, "high trust: rightly silent": 10,
    }  # fmt: skip


def test_the_policy_has_the_papers_temperature_and_floor(played):
    """Nine actions with a floor of 0.02 each leave 0.82 + 0.02 at most."""
    probabilities = [float(line["probability"]) for line in lines(played[1], "grace-4")]
    assert min(probabilities) == pytest.approx(0.02)
    assert max(probabilities) == pytest.approx(0.84, abs=1e-3)


@pytest.mark.parametrize("name", ["grace-4", "grace-5"])
def test_a_picture_needs_a_folder(name):
    with pytest.raises(ParlourError, match=f"{name} is a picture.*--out DIR"):
        reproduce(name, ReproductionSetting(games=GAMES, practice=PRACTICE))


def test_without_matplotlib_one_line_says_so_before_anything_is_played(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for name in ("grace-3", "grace-4", "grace-5"):
        with pytest.raises(ParlourError, match=r"matplotlib.* is not installed; accepted: pip install .*\[train"):
            reproduce(name, ReproductionSetting(games=GAMES, practice=PRACTICE, out=tmp_path))
    assert not list(tmp_path.iterdir())
    assert reproduce("grace-3", ReproductionSetting(games=20, practice=30)).cells  # without a folder nothing is drawn


@pytest.mark.parametrize(("games", "practice", "word"), [(1, 50, "games 1"), (50, 1, "practice 1")])
def test_too_few_questions_are_refused(games, practice, word):
    with pytest.raises(ParlourError, match=word):
        reproduce("grace-3", ReproductionSetting(games=games, practice=practice))


class Speaking(OfflineModel):
    """Says that it is a language model, and counts what it is asked."""

    name = "speaking"
    is_language_model = True

    def __init__(self):
        self.asked = []

    def answer(self, question, context):
        self.asked.append(question.kind)
        return super().answer(question, context)


def test_a_language_model_is_asked_if_there_is_one():
    model = Speaking()
    table = reproduce("grace-3", ReproductionSetting(games=10, practice=20, model=model))
    assert {"grace.generate", "grace.recall", "grace.recall_freely"} <= set(model.asked)
    assert table.model == "speaking"
    assert any("speaking answered and checked" in remark for remark in table.remarks)
    assert not any("no language model" in remark for remark in table.remarks)
