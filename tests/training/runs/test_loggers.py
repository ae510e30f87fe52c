"""Curves: progress.csv and TensorBoard hold the same steps and values, whatever was killed in between, for every trainer."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest
from parlour.envs.core import ParlourError
from parlour.training.cli import COMMANDS, run
from parlour.training.report import display
from parlour.training.runs import loggers as module
from parlour.training.runs.loggers import CURVE, SPEED, check_loggers, read_curve
from parlour.training.runs.run import Run

from tests.hardening.kills import SUBJECTS
from tests.hardening.same_files import difference, files_of

TENSORBOARD = pytest.mark.skipif(find_spec("tensorboard") is None, reason="the extra `tensorboard` is not installed")
TRAINERS = [name for name in COMMANDS if name.startswith("train ")]
ON_EVERY_CHANGE = ("train avalon", "train seat")
"""Those that are stopped and resumed on every change; the others nightly."""
pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")


def scalars(folder):
    """Step -> metrics, as TensorBoard shows them; without the speed, which is measured."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    events.Reload()
    by_step: dict[int, dict[str, float]] = {}
    for name in events.Tags()["scalars"]:
        for event in events.Scalars(name):
            assert name not in by_step.setdefault(event.step, {}), f"{name} twice at step {event.step}"
            by_step[event.step][name] = event.value
    speeds = [metrics.pop(SPEED) for metrics in by_step.values() if SPEED in metrics]
    assert speeds
    assert min(speeds) >= 0
    return by_step


def curve(folder):
    """Step -> the metrics of progress.csv that are there."""
    return {step: {name: x for name, x in row.items() if x is not None} for step, row in read_curve(folder)}


def assert_alike(shown, stored):
    """TensorBoard keeps 32 bits of a number."""
    assert list(shown) == list(stored)
    for step, metrics in stored.items():
        assert shown[step] == pytest.approx(metrics, rel=1e-6), step


# -- every trainer -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Games to learn from, for the trainers that want some."""
    folder = tmp_path_factory.mktemp("recorded")
    assert run(["play", "avalon_v0", "-n", "5", "--games", "4", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def stopping(monkeypatch):
    """Lets a command stop at a call of its progress, as by an interrupt; tells how often it was called."""

    @contextmanager
    def at(last: int | None) -> Iterator[list[int]]:
        calls: list[int] = []

        def progress(*_):
            calls.append(len(calls))
            if len(calls) == last:
                raise KeyboardInterrupt

        @contextmanager
        def shown(*_, **__):
            yield progress

        with monkeypatch.context() as patch:
            patch.setattr(display, "progress_line", shown)
            yield calls

    return at


def test_there_is_a_small_run_of_every_trainer():
    assert set(TRAINERS) <= set(SUBJECTS)


@TENSORBOARD
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in ON_EVERY_CHANGE else pytest.mark.nightly) for name in TRAINERS]
)
def test_a_run_stopped_and_resumed_with_tensorboard_leaves_the_curve_of_one_that_was_not(
    name, recorded, stopping, tmp_path
):
    if SUBJECTS[name].trains:
        pytest.importorskip("openskill", reason="the extra `train` is not installed")
    words = shlex.split(SUBJECTS[name].words)

    def train(out, *more):
        return run([{"OUT": str(out), "GIVEN": str(recorded)}.get(word, word) for word in words] + list(more))

    whole, cut = tmp_path / "whole", tmp_path / "cut"
    with stopping(None) as calls:
        assert train(whole) == 0
    logged = ("--log", "tensorboard", "--log", "csv")
    with stopping(max(2, 2 * len(calls) // 3)):
        assert train(cut, *logged) == 130
    assert train(cut, *logged) == 0
    assert len(curve(whole)) > 1
    assert (cut / CURVE).read_bytes() == (whole / CURVE).read_bytes()
    assert_alike(scalars(cut), curve(cut))
    left = {file: text for file, text in files_of(cut).items() if not file.startswith(("tensorboard/", "loggers.json"))}
    assert difference(left, files_of(whole)) == ""
    assert train(cut, *logged) == 0  # a finished run logs nothing twice
    assert_alike(scalars(cut), curve(cut))


# -- the interface -----------------------------------------------------------------------------------------------


def log(folder, steps, names=()):
    """Log some steps: a value at each, another at every second one."""
    run = Run(folder, log=names)
    with run.opened():
        for step in steps:
            run.log({"eval/win_rate": step / 7, "losses/value_loss": None if step % 20 else 1}, step)


def test_the_csv_has_a_row_for_each_step_and_an_empty_cell_where_nothing_was_measured(tmp_path):
    assert read_curve(tmp_path) == []
    log(tmp_path, [10, 20])
    assert (tmp_path / CURVE).read_text().splitlines() == [
        "step,eval/win_rate,losses/value_loss",
        f"10,{10 / 7},",
        f"20,{20 / 7},1",
    ]
    assert {path.name for path in tmp_path.iterdir()} == {CURVE}


def test_what_a_kill_left_beyond_the_checkpoint_is_replaced(tmp_path):
    log(tmp_path, [10, 20, 30])
    log(tmp_path, [20, 40])
    assert list(curve(tmp_path)) == [10, 20, 40]
    log(tmp_path / "whole", [10, 20, 40])
    assert (tmp_path / CURVE).read_bytes() == (tmp_path / "whole" / CURVE).read_bytes()


@TENSORBOARD
def test_tensorboard_takes_back_what_the_checkpoint_does_not_have(tmp_path):
    log(tmp_path, [10, 20, 30], ["tensorboard"])
    log(tmp_path, [20, 40], ["tensorboard", "csv", "tensorboard"])
    assert_alike(scalars(tmp_path), curve(tmp_path))
    log(tmp_path, [10, 20], ["tensorboard"])  # begun anew, as by a trainer without checkpoints
    assert_alike(scalars(tmp_path), curve(tmp_path))
    assert list(curve(tmp_path)) == [10, 20]


@TENSORBOARD
def test_a_logger_that_is_asked_for_late_has_the_whole_curve(tmp_path):
    for steps, names in (([10, 20], []), ([30], ["tensorboard"]), ([40], []), ([50], ["tensorboard"])):
        log(tmp_path, steps, names)
    assert_alike(scalars(tmp_path), curve(tmp_path))
    assert list(curve(tmp_path)) == [10, 20, 30, 40, 50]


def test_other_loggers_are_refused_before_anything_is_written(tmp_path, error_of):
    errors = error_of(["train", "avalon", "--log", "mlflow", "--out", str(tmp_path / "run")])
    assert "log 'mlflow' is not accepted; accepted: csv, tensorboard, wandb" in errors
    assert not (tmp_path / "run").exists()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    check_loggers(["csv"])
    with pytest.raises(ParlourError, match=r"wandb is not installed; accepted: pip install .*\[wandb\]"):
        check_loggers(["csv", "wandb"])
