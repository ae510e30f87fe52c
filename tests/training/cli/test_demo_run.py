"""The demo: commands that run side by side in one folder, are not run twice, and leave one page of verdicts and pictures."""

import html
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from parlour.envs.core import ParlourError
from parlour.training.cli import COMMANDS, demo_run as demo, run
from parlour.training.cli.demo_run import Step

GAME = Step(
    "game",
    "A game",
    ("play avalon_v0 --names Ada,Ben,Cleo,Dan,Eve,Finn --out FOLDER/games --resume", "replay FOLDER/games --html"),
    "games/replays/index.html",
)
FAST = Step("fast", "Questum and another", ("evaluate template_v0 --policy heuristic --policy random --games 20",))


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(demo, "steps", lambda full: [GAME, FAST])


@pytest.mark.slow
def test_the_page_has_verdicts_then_commands_and_links_to_what_they_left(small, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(["demo", "--out", str(out)]) == 0
    shown, told = capsys.readouterr()
    said = json.loads((out / "fast" / "answer.json").read_text())["verdict"]
    assert shown.splitlines()[-1] == f"Questum and another: {said}"
    assert told.count("done in") == 2
    first = (out / "index.html").read_text()
    assert '"plays":true' in first
    assert '"called":"Finn"' in first
    assert '"links":[["found.html",' in first
    page = (out / "found.html").read_text()
    assert f"<blockquote><ul>\n<li>{html.escape(f'Questum and another: {said}')}</li>\n</ul></blockquote>" in page
    assert "<h2>A game</h2>" in page
    assert f"<pre><code>parlour {FAST.commands[0]}</code></pre>" in page
    assert (out / "game" / GAME.page).exists()
    assert f'href="game/{GAME.page}"' in page
    # a step that is done is not run again
    before = (out / "fast" / "log.txt").stat()
    assert run(["demo", "--out", str(out)]) == 0
    assert (out / "fast" / "log.txt").stat().st_mtime_ns == before.st_mtime_ns
    assert "done in" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_command_that_fails_is_named_with_its_log(monkeypatch, tmp_path):
    broken = Step("bad", "Bad", ("play nothing_v0",))
    monkeypatch.setattr(demo, "steps", lambda full: [broken])
    with pytest.raises(ParlourError, match=r"parlour play nothing_v0 failed.*bad/log.txt"):
        demo.run_steps(tmp_path)
    assert "nothing_v0" in (tmp_path / "bad" / "log.txt").read_text()
    assert not (tmp_path / "bad" / "answer.json").exists()


HEARS_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from parlour.training import cli; cli.main()"
"""The command line, also where tests run in the background of a shell, which has its children ignore Ctrl-C."""


@pytest.mark.slow
def test_an_interrupted_demo_says_how_it_resumes_and_leaves_no_process(tmp_path):
    command = [sys.executable, "-c", HEARS_CTRL_C, "demo", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "out" / "game" / "log.txt").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.splitlines()[-1].endswith(f"this resumes: parlour demo --out {tmp_path / 'out'}")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("full", [False, True])
def test_every_step_is_a_command_of_parlour_with_its_own_folder(full):
    planned = demo.steps(full)
    assert len({step.name for step in planned}) == len(planned)
    assert sum(bool(step.picture) for step in planned) == 4
    for step in planned:
        for words in step.commands:
            assert any(f"{words} ".startswith(f"{command} ") for command in COMMANDS), words
            assert "FOLDER" in words
