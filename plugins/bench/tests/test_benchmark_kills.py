"""A benchmark of a language model, killed five times, leaves the files of one that was not: what the model said is the result, how the
machine did it is measured, in files of its own.

The server's cache holds more of each prompt the longer it runs, as real ones do, and now and then it refuses a call for a moment. A run
that goes on after kills so reads other counts of cached tokens, retries and seconds for the same games.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from parlour.policies.llm.decisions import Decisions
from parlour.training.cli import run
from parlour.training.play.parallel.concurrent_games import Job
from parlour_bench.measured import GAMES, GameClock, seconds_a_game
from parlour_bench.results_file import RESULTS
from parlour_bench.run import MEASURED

from tests.hardening.same_files import difference
from tests.policies.llm.servers import KEY, Answer, Call, Server

KILLS = (15, 60, 61, 120, 170)
"""The process is killed once the server has answered so many calls of this run, over all its processes; undisturbed it takes 202."""
PATIENCE = 300
"""Seconds for one process."""


class Warming(Server):
    """Says what the first option is, and of each prompt that it had one more token in its cache than of the one before."""

    def refused(self, call: Call) -> Answer | None:
        if len(self.asked) % 40 == 7:
            return Answer({"error": {"message": "busy"}}, 503, {"retry-after": "0"})
        return super().refused(call)

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        cached = {"prompt_tokens_details": {"cached_tokens": len(self.asked)}}
        return super().completed(message, finish, usage=cached, **more)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Warming]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Warming() as warming:
        yield warming


def words(server: Server, out: Path) -> list[str]:
    asked = ["--model", server.MODEL, "--base-url", server.base_url, "--concurrency", "2"]
    return ["benchmark", "--quick", "--table", "werewolf-4", *asked, "--out", str(out)]


def results_in(folder: Path) -> dict[str, bytes]:
    """All files of a run that are not measured."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in (MEASURED, GAMES))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def killed_after(calls: int, server: Server, out: Path) -> bool:
    """Start the command and kill it after so many more calls; whether it was still at work."""
    until, give_up = len(server.asked) + calls, time.monotonic() + PATIENCE
    command = [sys.executable, "-m", "parlour.training.cli", *words(server, out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while len(server.asked) < until and process.poll() is None:
            assert time.monotonic() < give_up
            time.sleep(0.01)
        at_work = process.poll() is None
        process.kill()
    return at_work


@pytest.mark.slow
def test_a_benchmark_that_was_killed_five_times_has_the_same_files(server, tmp_path):
    assert run(words(server, tmp_path / "whole")) == 0
    done = 0
    for place in KILLS:
        assert killed_after(place - done, server, tmp_path / "killed")
        done = place
    assert run(words(server, tmp_path / "killed")) == 0
    whole, killed = (results_in(tmp_path / name) for name in ("whole", "killed"))
    assert len(whole) > 32
    assert {RESULTS, "report.html", "report.md", "config.json"} <= whole.keys()
    assert difference(killed, whole) == ""


@pytest.mark.slow
def test_what_the_machine_did_is_in_files_of_its_own(server, tmp_path):
    assert run(words(server, tmp_path)) == 0
    data = json.loads((tmp_path / MEASURED).read_text())
    assert data["seconds"] > 0
    assert data["model"]["cached"] > 1000
    assert data["model"]["retries"] > 0
    assert b"cached" not in b"".join(results_in(tmp_path).values())
    lines = [json.loads(line) for line in (tmp_path / GAMES).read_text().splitlines()]
    assert len({line["game"] for line in lines}) == len(lines) == 32
    clock = seconds_a_game(tmp_path)
    assert clock is not None
    assert clock.n == 32
    assert clock.value == pytest.approx(sum(line["seconds"] for line in lines) / 32)


def test_a_line_that_a_kill_tore_is_no_game_and_the_next_one_stands_on_its_own(tmp_path):
    whole = {"table": "werewolf-4", "game": "a", "decisions": 3, "seconds": 2.0}
    (tmp_path / GAMES).write_text(f'{json.dumps(whole)}\n{{"table": "werew')
    job = Job(0, (("chat", Decisions), ("heuristic (opponent)", Decisions)), tmp_path / "b.jsonl")
    game: Any = SimpleNamespace(decisions=(Decisions(first=5, seconds=4.0), Decisions(first=5, seconds=9.0)))
    GameClock(tmp_path, "werewolf-4", "chat")(job, game)
    clock = seconds_a_game(tmp_path)
    assert clock is not None
    assert (clock.value, clock.n) == (3.0, 2)
    assert seconds_a_game(tmp_path / "elsewhere") is None
