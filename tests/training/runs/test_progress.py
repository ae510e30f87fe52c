"""Long work shows one line: what it does, the share, the counted steps, the present metric, the time left. The clock is a fake one."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import threading
import time
from itertools import accumulate

import pytest
from parlour.training.report import display
from parlour.training.runs import progress
from parlour.training.runs.progress import ProgressLine, Stage, pause

TRAINING = Stage("Training", 409_600, "decisions")


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_line_says_what_is_done_the_share_the_metric_and_the_time_left(clock):
    line = ProgressLine("Preparing", clock)
    clock.now += 7
    assert line.line() == "Preparing · 7 s"
    line(TRAINING, 0)
    assert line.line() == "Training: 0 % · 0 of 409,600 decisions"
    clock.now += 20
    line(TRAINING, 81_920, "win rate 0.56")
    assert line.line() == "Training: 20 % · 81,920 of 409,600 decisions · win rate 0.56 · 1 min 20 s left"
    clock.now += 4
    assert line.line().endswith("win rate 0.56 · 1 min 20 s left")
    clock.now += 20 * 60  # nothing is known since: the estimate stands, and says how old it is
    assert line.line().endswith("win rate 0.56 · 1 min 20 s left, as of 20 min 4 s ago")
    line(TRAINING, 409_600)
    assert line.line() == "Training: 100 % · 409,600 of 409,600 decisions · win rate 0.56"
    line(Stage("Learning", 10), 5, "log loss 0.4")  # without a unit
    assert line.line() == "Learning: 50 % · log loss 0.4"
    resumed = ProgressLine("Preparing", clock)
    resumed(TRAINING, 204_800)
    clock.now += 10
    resumed(TRAINING, 307_200)
    assert resumed.line().endswith("10 s left")  # by the speed of this run


def test_a_stage_that_took_long_leaves_a_line_and_a_short_one_none(clock):
    left: list[str] = []
    line = ProgressLine("Preparing", clock, left.append)
    for number, seconds in enumerate((4.9, 80.0)):
        stage = Stage(f"Part {number}", 3, "games")
        line(stage, 0)
        clock.now += seconds
        line(stage, 3, "win rate 0.5")
    line.close()
    assert left == ["Part 1: 3 games · win rate 0.5 · took 1 min 20 s"]


def test_the_next_item_counts_the_one_before_it():
    calls: list[tuple[Stage, float]] = []
    stage = Stage("Games", 3, "games")
    items = stage.counted("abc", lambda stage, done, note="": calls.append((stage, done)))
    assert next(items) == "a"
    assert calls == [(stage, 0)]
    assert list(items) == ["b", "c"]
    assert calls == [(stage, done) for done in range(4)]


def test_plain_lines_come_at_growing_intervals():
    """After 5 seconds the first one; 60 in the first hour and a half at most."""
    waits = [5.0]
    while sum(waits) < 5400:
        waits.append(pause(sum(waits)))
    assert list(accumulate(waits))[:5] == [5.0, 10.0, 15.0, 20.0, 25.0]
    assert max(waits) == 60
    assert 90 < len(waits) < 110


def test_where_there_is_no_terminal_lines_go_to_standard_error_and_the_thread_ends_with_the_work(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SOON", 0.01)
    before = threading.active_count()
    with display.progress_line() as line:
        line(Stage("Playing", 2, "games"), 1)
        shown = ""
        while "Playing: 50 % · 1 of 2 games" not in shown:
            read = capsys.readouterr()
            assert read.out == ""
            shown += read.err
        assert "\x1b" not in shown
    assert threading.active_count() == before
    with pytest.raises(RuntimeError, match="enough"), display.progress_line():
        raise RuntimeError("enough")
    assert threading.active_count() == before


def test_in_a_terminal_one_line_is_redrawn_and_vanishes(monkeypatch):
    """Nothing but the last line of long stages is left; results on standard output stay where they are."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", io.StringIO())

    def shown() -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())

    with display.progress_line() as line:
        line(Stage("Playing", 2, "games"), 1, "win rate 0.5")
        while "Playing: 50 % · 1 of 2 games · win rate 0.5" not in shown():
            time.sleep(0.01)
    assert sys.stderr.getvalue().rstrip().endswith("\x1b[2K")  # the line is erased


def test_nothing_is_shown_of_work_that_is_over_at_once(tmp_path):
    words = ["play", "template_v0", "--games", "3", "--out", str(tmp_path / "games")]
    done = subprocess.run(
        [sys.executable, "-m", "parlour.training.cli", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""


def test_what_is_awaited_is_said_at_the_moment_of_the_line(clock):
    words = ["", "7 questions answered · waiting 35 s for player_3 (chat.take_turn)"]
    line = ProgressLine("Preparing", clock, awaited=lambda: words[-1])
    assert line.line() == f"Preparing · 0 s · {words[1]}"
    line(Stage("Playing games", 2, "games"), 0)
    assert line.line() == f"Playing games: 0 % · 0 of 2 games · {words[1]}"
    words.pop()
    assert line.line() == "Playing games: 0 % · 0 of 2 games"


def test_a_command_says_what_its_model_is_waited_for(capsys, monkeypatch):
    class Asked:
        class meter:  # noqa: N801
            underway = staticmethod(lambda: "3 questions answered · waiting 2 s for player_1 (chat.take_turn)")

    monkeypatch.setattr(progress, "SOON", 0.01)
    with display.progress_line(model=Asked) as line:
        line(Stage("Playing", 2, "games"), 0)
        shown = ""
        while "0 of 2 games · 3 questions answered · waiting 2 s for player_1 (chat.take_turn)" not in shown:
            shown += capsys.readouterr().err
