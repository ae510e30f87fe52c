"""The published calibration data of GRACE, each figure called what it is: in-sample, left out, or the published held-out run."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.joint import PUBLISHED
from parlour.training.learn.mediators.quantities import in_sample_static, left_out_greedy, left_out_static
from parlour.training.learn.mediators.table import UtilityTable
from reference_data import DATA


def made(rows, states):
    names = tuple(str(k) for k in range(len(rows)))
    return UtilityTable(names, tuple(states), PUBLISHED[: len(rows[0])], np.array(rows, dtype=float))


def test_a_question_does_not_choose_the_action_that_it_is_scored_by():
    """Means of (8, 0, 0) and (0, 5, 1): 8/3 and 2, so the first one is best, and earns 8/3 where it was chosen.

    Without question 0 the means are 0 and 3: the second one, which earns 0 there. Without 1: 4 and 0.5, so 0 is earned;
    without 2: 4 and 2.5, so 0.
    """
    table = made([[8, 0], [0, 5], [0, 1]], ["T:low_Q:low"] * 3)
    assert in_sample_static(table).tolist() == [8, 0, 0]
    assert left_out_static(table).tolist() == [0, 0, 0]


def test_a_state_without_another_question_falls_back_to_all_questions():
    table = made([[8, 0], [6, 5], [0, 9]], ["T:low_Q:low", "T:low_Q:low", "T:high_Q:mid"])
    assert left_out_greedy(table).tolist() == [8, 6, 0]  # without the last one: 7 against 2.5


def test_shrinkage_moves_a_state_of_few_to_the_others():
    rows = [[3, 0]] + [[3, 0]] + [[0, 9]] * 6
    states = ["T:low_Q:low"] * 2 + ["T:high_Q:mid"] * 6
    assert left_out_greedy(made(rows, states))[0] == 3
    assert left_out_greedy(made(rows, states), 50.0)[0] == 0


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[1.0, 2.0], [np.nan, 1.0]]])
def test_tables_that_cannot_leave_one_out_are_refused(rows):
    with pytest.raises(ParlourError, match="accepted: a table of two questions or more"):
        left_out_static(made(rows, ["T:low_Q:low"] * len(rows)))


# -- parlour reproduce grace-loo -------------------------------------------------------------------------------


def test_the_command_calls_each_figure_what_it_is(json_of):
    """Of the published data, where they are: greedy and shrunk left out, static left out and in-sample, the held-out run."""
    cells = json_of(["reproduce", "grace-loo", "--data", str(DATA / "grace"), "--json"])["cells"]
    assert {(cell["row"], cell["of"]): round(cell["value"]["value"], 2) for cell in cells} == {
        ("best action of each state", "left out"): 10.05,
        ("best action of each state, shrinkage estimated", "left out"): 10.05,
        ("best action of each state, shrunk by 3", "left out"): 10.05,
        ("best action of each state, shrunk by 5", "left out"): 7.45,
        ("best action of each state, shrunk by 10", "left out"): 6.05,
        ("best action of each state, shrunk by 50", "left out"): 2.85,
        ("best static action", "left out"): -10.7,
        ("best static action", "in-sample"): 9.5,
        ("the published mediator", "held out"): 6.35,
    }
    apart = {(cell["row"], cell["of"]): cell["value_difference"] for cell in cells}
    assert apart["best static action", "left out"]["value"] == pytest.approx(-20.75)
    assert apart["the published mediator", "held out"] is None  # other questions


def files(folder, earned="net_utility\n4\n-6\n"):
    """Two questions of one state: without the other one, each would take the action that is worse on it."""
    (folder / "simulation.csv").write_text(
        "id,state,u_shallow_gen_nli,u_shallow_refuse_nocheck\n0,T:mid_Q:mid,10,0\n1,T:mid_Q:mid,0,8\n"
    )
    (folder / "final_results.csv").write_text(earned)
    return ["reproduce", "grace-loo", "--data", str(folder)]


def test_the_command_prints_a_table_of_any_such_folder(tmp_path, output_of, json_of):
    rows = [(cell["of"], cell["value"]["value"]) for cell in json_of([*files(tmp_path), "--json"])["cells"]]
    assert rows[0] == ("left out", 0.0)
    assert rows[-3:] == [("left out", 0.0), ("in-sample", 5.0), ("held out", -1.0)]
    printed = output_of(files(tmp_path))
    assert "in-sample" in printed
    assert "nothing is played" in printed.lower()


@pytest.mark.parametrize(
    ("earned", "reason"),
    [
        ("net_utility\n", "no finite net utilities"),
        ("net_utility\nx\n", "cannot be read"),
        ("id\n3\n", "cannot be read"),
    ],
)
def test_files_that_are_no_published_data_are_told_in_one_line(tmp_path, error_of, earned, reason):
    assert reason in error_of(files(tmp_path, earned))


def test_without_the_data_nothing_can_be_told(tmp_path, capsys, error_of):
    assert "grace-loo needs the published data; accepted: a folder with simulation.csv, --data DIR" in error_of(
        ["reproduce", "grace-loo"]
    )
    error_of(["reproduce", "grace-loo", "--data", str(tmp_path)])
