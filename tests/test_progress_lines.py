"""Where there is no terminal, long work says a line every ten seconds; the clock is a fake one."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from parlour.training.results import display, progress_lines
from parlour.training.results.progress_lines import EVERY, ProgressLines


class Clock:
    """Ten seconds pass with every wait; after `waits` of them the work is over."""

    def __init__(self, waits: int, meanwhile=lambda _number: None) -> None:
        self.now, self.waits, self.number, self.meanwhile = 100.0, waits, 0, meanwhile

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        assert seconds == EVERY == 10.0
        if self.number == self.waits:
            return True
        self.number += 1
        self.now += seconds
        self.meanwhile(self.number)
        return False


def said(waits: int, meanwhile=lambda _lines, _number: None) -> list[str]:
    told: list[str] = []
    clock = Clock(waits, lambda number: meanwhile(lines, number))
    lines = ProgressLines(clock, clock.wait, told.append)
    lines.run()
    return told


def test_nothing_is_said_of_work_that_is_over_within_ten_seconds():
    assert said(0) == []


def test_a_line_every_ten_seconds_says_how_far_the_work_is():
    def play(lines: ProgressLines, number: int) -> None:
        if number == 2:
            list(zip(lines.track(list(range(40)), total=40, description="games"), range(3), strict=False))
        if number == 3:
            task = lines.add_task("learning", total=8000)
            lines.advance(task, 4096)
            lines.update(task, description="learning: 55 %")
        if number == 4:
            lines.update(1, completed=8000)

    # of the 40 games the fourth has been asked for when zip stops: three are done
    assert said(4, play) == [
        "parlour: at work, 10 s",
        "parlour: games: 3 of 40, 20 s",
        "parlour: learning: 55 %: 4,096 of 8,000, 30 s",
        "parlour: games: 3 of 40, 40 s",
    ]


def test_lines_go_to_standard_error_and_the_thread_ends_with_the_work(capsys, monkeypatch):
    monkeypatch.setattr(progress_lines, "EVERY", 0.01)
    before = threading.active_count()
    with display.stage_bars() as progress:
        progress("games", 1, 2, "")
        shown = ""
        while "games: 1 of 2" not in shown:
            read = capsys.readouterr()
            assert read.out == ""
            shown += read.err
    assert threading.active_count() == before
    with pytest.raises(RuntimeError, match="enough"), display.progress_bar():
        raise RuntimeError("enough")
    assert threading.active_count() == before


def test_no_bar_is_drawn_into_a_file(tmp_path):
    words = ["play", "template_v0", "--games", "3", "--out", str(tmp_path / "games")]
    done = subprocess.run(
        [sys.executable, "-m", "parlour.training.cli", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
