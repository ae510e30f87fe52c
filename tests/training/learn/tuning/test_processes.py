"""Tuning in processes that are killed, and in several at once: nothing is lost, nothing counts twice, no byte differs."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from parlour.training.learn.tuning.problem import TuneConfig
from parlour.training.runs.progress import Stage

from tests.training.learn.tuning.quadratic_problem import IMPORT, Bowl

study = pytest.importorskip("parlour.training.learn.tuning.study", reason="the extra `train` is not installed")

SMALL = {"budget": 6, "deals": 12, "block": 3, "held_out": 8, "finalists": 2}


def config(**changes):
    return TuneConfig(**(SMALL | changes))


@pytest.mark.slow
def test_a_study_does_not_depend_on_the_number_of_workers(tmp_path):
    problem, steps = Bowl(noise=0.2, common=0.3), []
    alone = study.StudyRunner(problem, config(), tmp_path / "1").search()
    trials = study.StudyRunner(problem, config(), tmp_path / "2", 2, lambda *what: steps.append(what)).search()
    assert trials == alone
    assert [trial.number for trial in trials] == list(range(6))
    for trial in trials:
        assert list(trial.rewards) == problem.reward(trial.parameters, config().training[: len(trial.rewards)])
    assert {stage for stage, *_ in steps} == {Stage("Training bowl", 6 * 12, "deals")}
    counts = [done for _, done, *_ in steps]
    assert counts == sorted(counts)
    assert counts[-1] == 6 * 12


SHARED = (
    IMPORT
    + """
import sys
from pathlib import Path
from parlour.training.learn.tuning import study
from parlour.training.learn.tuning.problem import TuneConfig

def told(_stage, done, _note=""):
    print(done, flush=True)

config = TuneConfig(budget=5000, deals=4, pruner="none")
study.StudyRunner(Bowl(noise=0.2), config, Path(sys.argv[1]), 2, told).search()
"""
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked up in /proc")
def test_when_a_run_is_killed_its_workers_end_too(tmp_path):
    command = [sys.executable, "-c", SHARED, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert int(run.stdout.readline()) > 0  # at work
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
        assert len(children) >= 2
        run.kill()
    for _ in range(100):
        left = [child for child in children if Path(f"/proc/{child}/stat").exists() and not _ended(child)]
        if not left:
            break
        time.sleep(0.1)
    assert not left


def _ended(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"  # nobody has asked yet
    except FileNotFoundError:
        return True


def test_a_measurement_does_not_depend_on_the_number_of_workers(tmp_path):
    arms, results = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3, "y": 0.4}}, []
    for workers in (1, 2):
        (tmp_path / str(workers)).mkdir()
        runner = study.StudyRunner(Bowl(noise=0.3), config(block=2), tmp_path / str(workers), workers)
        results.append(runner.measure("m", arms, range(7)))
    assert results[0] == results[1]
