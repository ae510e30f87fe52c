"""GRACE's figures: what stands in cells and files is what was played, the paper's figures beside it, and the pictures show it."""

from __future__ import annotations

import csv
import json
import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa import GraceMediator, PolicyTable, policy_file
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.mediators import baselines, held_out
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig, learn
from parlour.training.papers import cells, demo, grace, grace_pictures
from parlour.training.papers.demo import mediated_qa as demo_section
from parlour.training.papers.reproduce import ReproductionSetting, reproduce
from parlour.training.results import plots
from reference_data import paper_table

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
            f"grace-{k}": reproduce(f"grace-{k}", ReproductionSetting(GAMES, PRACTICE, out=out)) for k in (3, 4, 5)
        }
    return tables, out, drawn


@pytest.fixture(scope="module")
def calibrated():
    """The same questions under all joint actions, by normalisation."""
    return {
        signals: held_out.prepare(
            HeldOutConfig(train=PRACTICE, held_out=GAMES, normalisation=normalisation, corpus_seed=UNSEEN)
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
    policy = learn(calibrated[signals].table, GraceConfig()).policy
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


def test_net_utility_by_state_is_the_mean_of_the_draws(played):
    tables, out, _ = played
    for signals in SIGNALS:
        earned = {}
        for line in draws(out, signals):
            earned.setdefault(line["state"], []).append(float(line["net_utility"]))
        values = {cell.row: cell.value for cell in tables["grace-5"].cells if cell.of == signals}
        assert list(values) == [state for state in (*STATES, NO_SIGNAL) if state in earned]
        for state, value in values.items():
            assert (value.n, value.value) == (len(earned[state]), pytest.approx(np.mean(earned[state])))
            assert (value.low is None) == (len(set(earned[state])) == 1)


def test_the_baselines_are_counted_over_the_same_questions(played, calibrated):
    table = played[0]["grace-3"]
    for row, joint, of in (
        ("no retrieval", baselines.CLOSED_BOOK, ""),
        ("GraphRAG", baselines.GRAPH_RAG, grace.OURS),
        ("GraphRAG", baselines.GRAPH_RAG, grace.THEIRS),
    ):
        k = vocabulary.ALL.index(joint)
        outcomes = [row.outcomes[k] for row in calibrated[of or grace.OURS].held_out]
        right, wrong = outcomes.count(vocabulary.ANSWERED_RIGHT), outcomes.count(vocabulary.ANSWERED_WRONG)
        accuracy, abstention = (the(table, row, of, m).ours for m in ("accuracy", "abstention"))
        reliability = the(table, row, of, "effective reliability").ours
        assert (accuracy.hits, accuracy.n) == (right, GAMES)
        assert (abstention.hits, abstention.n) == (GAMES - right - wrong, GAMES)
        assert (reliability.hits, reliability.n) == (right, right + wrong)
    for signals in SIGNALS:
        best = [max(row.utilities[:9]) for row in calibrated[signals].held_out]
        assert the(table, "oracle", signals, "net utility").value.value == pytest.approx(np.mean(best))


def test_the_first_row_is_ours_and_differences_are_paired_with_it(played, calibrated):
    tables, out, _ = played
    first = tables["grace-3"].cells[:4]
    assert {(cell.row, cell.of) for cell in first} == {(grace.LEARNED, grace.OURS)}
    assert all(cell.difference is None and cell.value_difference is None for cell in first)
    earned = np.array([float(line["net_utility"]) for line in draws(out, grace.OURS)])
    assert first[3].value.value == pytest.approx(earned.mean())

    k = vocabulary.ALL.index(baselines.CLOSED_BOOK)
    rows = calibrated[grace.OURS].held_out
    differs = np.array([row.utilities[k] for row in rows]) - earned
    difference = the(tables["grace-3"], "no retrieval", "", "net utility").value_difference
    assert (difference.n, difference.value) == (GAMES, pytest.approx(differs.mean()))
    assert difference.high - difference.low == pytest.approx(2 * T_59 * differs.std(ddof=1) / sqrt(GAMES))

    names = [action.names for action in vocabulary.ALL]
    numbers = [names.index((draw["retriever"], draw["generator"], draw["verifier"])) for draw in draws(out, grace.OURS)]
    ours = [row.outcomes[n] == vocabulary.ANSWERED_RIGHT for row, n in zip(rows, numbers, strict=True)]
    theirs = [row.outcomes[k] == vocabulary.ANSWERED_RIGHT for row in rows]
    paired = the(tables["grace-3"], "no retrieval", "", "accuracy").difference
    assert first[0].ours.hits == sum(ours)
    silent = [
        row.outcomes[n] in (vocabulary.KEPT_SILENT, vocabulary.MISSED) for row, n in zip(rows, numbers, strict=True)
    ]
    assert first[1].ours.hits == sum(silent)
    oracle = the(tables["grace-3"], "oracle", grace.OURS, "accuracy")
    assert oracle.difference.value == pytest.approx(oracle.ours.value - first[0].ours.value)
    assert oracle.difference.value > 0
    assert (paired.only_a, paired.only_b) == (
        sum(b and not a for a, b in zip(ours, theirs, strict=True)),
        sum(a and not b for a, b in zip(ours, theirs, strict=True)),
    )


def test_the_file_of_figure_3_holds_the_cells(played):
    tables, out, _ = played
    rows = lines(out, "grace-3")
    assert len(rows) == len(tables["grace-3"].cells) == 10 * 4
    for line, cell in zip(rows, tables["grace-3"].cells, strict=True):
        assert (line["system"], line["signals"], line["measure"]) == (cell.row, cell.of, cell.measure)
        assert line["paper_percent"] == ("" if cell.paper is None else str(cell.paper))
        ours = cell.value.value if cell.value else cell.ours.value
        assert float(line["value"]) == ours
        differs = cell.value_difference.value if cell.value_difference else None
        differs = cell.difference.value if cell.difference else differs
        assert line["from_first"] == ("" if differs is None else str(differs))


PRINTED = {
    "no retrieval": ("Baseline", (30, 0, 30)),
    "GraphRAG": ("GraphRAG", (20, 25, 26.7)),
    "token-confidence refusal": ("Baseline+CE", (20, 75, 80)),
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


def test_the_remarks_say_how_many_questions_and_that_no_language_model_played(played):
    for table in played[0].values():
        said = " ".join(table.remarks)
        assert f"{PRACTICE} generated calibration questions and {GAMES} held-out ones" in said
        assert "no language model played" in said


def test_the_heatmap_shows_the_probabilities(played):
    _, out, drawn = played
    for axes, signals in zip(drawn["grace-4"].axes, SIGNALS, strict=False):
        shown = axes.images[0].get_array()
        values = {
            (line["state"], (line["retriever"], line["generator"], line["verifier"])): float(line["probability"])
            for line in lines(out, "grace-4")
            if line["signals"] == signals
        }
        for y, state in enumerate((*STATES, NO_SIGNAL)):
            assert axes.get_yticklabels()[y].get_text().startswith(state)
            for x, joint in enumerate(PUBLISHED):
                if (state, joint) in values:
                    assert shown[y, x] == values[state, joint]
                else:
                    assert np.ma.getmaskarray(shown)[y, x]


def test_dots_are_as_large_as_the_share_of_their_value(played):
    _, out, drawn = played
    axes = drawn["grace-5"].axes[0]
    rows = draws(out, grace.OURS)
    states = [state for state in (*STATES, NO_SIGNAL) if any(line["state"] == state for line in rows)]
    assert [label.get_text().split("\n")[0] for label in axes.get_xticklabels()] == [s.split("_")[0] for s in states]
    dots = [collection for collection in axes.collections if isinstance(collection, PathCollection)]
    for x, (state, of) in enumerate(zip(states, dots, strict=True)):
        earned = [float(line["net_utility"]) for line in rows if line["state"] == state]
        shares = {at[1]: size / grace_pictures._AREA for at, size in zip(of.get_offsets(), of.get_sizes(), strict=True)}
        assert {at[0] for at in of.get_offsets()} == {x}
        assert shares == {value: pytest.approx(earned.count(value) / len(earned)) for value in set(earned)}


def test_scores_are_drawn_where_they_stand(played):
    tables, _, drawn = played
    axes = drawn["grace-3"].axes[3]  # net utility
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [cell.value.value for cell in tables["grace-3"].cells if cell.measure == "net utility"]
    dots = [line.get_xdata()[0] for line in drawn["grace-3"].axes[0].lines if line.get_marker() == "o"]
    assert dots == [100 * cell.ours.value for cell in tables["grace-3"].cells if cell.measure == "accuracy"]
    squares = [line.get_xdata()[0] for line in drawn["grace-3"].axes[0].lines if line.get_marker() == "s"]
    assert sorted(squares) == [10, 20, 20, 30]


@pytest.mark.parametrize("name", ["grace-4", "grace-5"])
def test_a_picture_needs_a_folder(name):
    with pytest.raises(ParlourError, match=f"{name} is a picture.*--out DIR"):
        reproduce(name, ReproductionSetting(GAMES, PRACTICE))


def test_without_matplotlib_one_line_says_so_before_anything_is_played(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for name in ("grace-3", "grace-4", "grace-5"):
        with pytest.raises(ParlourError, match=r"matplotlib.* is not installed; accepted: pip install .*\[train"):
            reproduce(name, ReproductionSetting(GAMES, PRACTICE, out=tmp_path))
    assert not list(tmp_path.iterdir())
    assert reproduce("grace-3", ReproductionSetting(20, 30)).cells  # without a folder nothing is drawn


@pytest.mark.parametrize(("games", "practice", "word"), [(1, 50, "games 1"), (50, 1, "practice 1")])
def test_too_few_questions_are_refused(games, practice, word):
    with pytest.raises(ParlourError, match=word):
        reproduce("grace-3", ReproductionSetting(games, practice))


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
    table = reproduce("grace-3", ReproductionSetting(10, 20, model))
    assert {"grace.generate", "grace.recall", "grace.recall_freely"} <= set(model.asked)
    assert table.model == "speaking"
    assert any("speaking answered and checked" in remark for remark in table.remarks)
    assert not any("no language model" in remark for remark in table.remarks)


def test_the_command_prints_figures_of_both_kinds(error_of, json_of, output_of, tmp_path):
    arguments = ["reproduce", "grace-3", "--games", "20", "--practice", "30"]
    shown = output_of(arguments)
    assert "no language model played" in shown
    output = json_of([*arguments, "--json"])
    cell = next(c for c in output["cells"] if (c["row"], c["measure"]) == ("no retrieval", "net utility"))
    line = next(line for line in shown.splitlines() if "no retrieval" in line and "net utility" in line)
    value, differs = cell["value"], cell["value_difference"]
    assert f"{value['value']:.2f}  [{value['low']:.2f}, {value['high']:.2f}]  n=20" in line
    assert f"{differs['value']:+.2f}  [{differs['low']:+.2f}, {differs['high']:+.2f}]" in line
    first = next(line for line in shown.splitlines() if "no retrieval" in line and "accuracy" in line)
    assert "30.0%" in first
    assert " p=" in first
    assert "--out DIR" in error_of(["reproduce", "grace-4"])


def test_the_demo_has_a_section_that_learns_and_measures(monkeypatch, tmp_path):
    assert registry["mediated_qa_v0"].spec.demo == ("parlour.training.papers.demo.mediated_qa:mediated_qa_section",)
    monkeypatch.setattr(demo_section, "_CALIBRATION", 80)
    monkeypatch.setattr(demo_section, "_HELD_OUT", 40)
    section = demo_section.mediated_qa_section(tmp_path, demo.DemoConfig())
    assert section.name == "grace"
    data = json.loads(json.dumps(section.numbers, allow_nan=False))
    assert [score["n"] for score in data["scores"]] == [40] * 6
    assert sum(data["states"].values()) == 80
    policy = policy_file.read(tmp_path / "grace" / "policy.json")
    calibrated = held_out.prepare(HeldOutConfig(train=80, held_out=40, corpus_seed=UNSEEN))
    earned = baselines.learned("", policy, calibrated.held_out).utility.mean()
    assert data["scores"][0]["utility"]["mean"] == pytest.approx(earned)
    assert f"learned mediator: {earned:+.2f}" in section.summary
    assert "the best static policy" in section.verdict
    lines = baselines.lines(held_out.compare(calibrated, policy))
    assert all(f"| {' | '.join(line)} |" in section.markdown for line in lines)
    assert all(f"| {state} |" in section.markdown for state in policy.rows)


def test_the_mediator_takes_its_seat_by_a_policy_file(tmp_path, json_of):
    path, silent = tmp_path / "policy.json", PUBLISHED[5]  # search deeply, and refuse: costs 3
    path.write_text(PolicyTable({state: {silent: 1.0} for state in (*STATES, NO_SIGNAL)}).dumps())
    arguments = ["play", "mediated_qa_v0", "--policy", f"mediator=grace:file={path}", "--set", "modules=false"]
    returns = [game["returns"] for game in json_of([*arguments, "--games", "5", "--json"])]
    assert len(returns) == 5
    assert all(rewards in ([7.0], [-23.0]) for rewards in returns)
