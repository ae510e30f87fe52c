"""Commands of README and docs are carried out, page by page, in their order, each on what those before it wrote.

Sizes are reduced by `SMALL`: a count behind an option is replaced, and settings are added. What cannot be carried out here is
left out by a reason in `LEFT_OUT`, and so is what needs the files of a command that was left out. What several pages show runs on the
first of them, and on others where a later command of the page reads what it writes.
"""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from parlour.training.cli import COMMANDS, run

from tests import ROOT

LEFT_OUT = {
    "asks an endpoint": r"--base-url|--model (?!.*--dry-run)",
    "asks an endpoint for prices": r"--dry-run",
    "serves until it is stopped": r"^serve\b",
    "a person answers": r"=human\b",
    "needs files of the reader's own": r"avalonlogs|extracted\.jsonl|evenings\.jsonl|games\.jsonl --logs|records\.jsonl|"
    r"wellplay|questions\.jsonl|hotpot_dev|runs/mine/policy\.npz|--prompts mine|models/tiny",
    "needs the reader's own module": r"\b(mine|cautious|mirror):|mygame_v0|--policy silent|^silence\b",
    "needs another library": r"--policy (openspiel|rllib|sb3|tianshou|torchrl|agilerl):|--policy examples\.|import inspect|--ray",
    "is a pattern": r"\$PLAYERS|\$TABLE|\.\.\.|plays published tables|MODEL",
    "takes minutes at any size": r"avalon-6-talk|reproduce avalon-2 --games 200 --seed|--players 6 --rules paper|arena werewolf_v0",
}
"""Reason -> what commands it is true of."""
EXTRAS = ("tensorboard", "wandb")
"""Packages of `--log`: a command runs where they are installed, and its page is skipped, with their names, where one is not."""
COUNTS = {"--games": 2, "--steps": 3000, "--turns": 64, "--workers": 1, "--repetitions": 1}
"""Option -> what takes the place of the number behind it."""
_QUICK_SELFPLAY = (
    "--steps 3000 --tables 64 --imitation-steps 2000 --validation-deals 4 --deals 4 --test-deals 4 --shown 2"
)
SMALL = {
    "train seat": "--steps 1024 --rollout 512 --envs 8 --validation-games 4",
    "train selfplay": _QUICK_SELFPLAY,
    "train grace": "--questions 60 --held-out 60",
    "train gratr": "--games 2 --budget 2 --held-out 4 --finalists 1",
    "train gratr-trust": "--episodes 4",
    "train questum": "--games 1 --budget 2 --held-out 2 --finalists 1",
    "train avalon": "--games 1",
    "play": "--games 1",
    "reproduce grace-4": "--games 20 --practice 40",
    "reproduce avalon-2": "--games 1 --practice 1",
    "reproduce questum-8": "--games 1 --repetitions 1",
    "evaluate": "--games 2",
    "evaluate best-response": "--steps 3000 --games 4",
    "evaluate mysteries": "--repetitions 1 --games 1",
}
"""First words of a command -> options that are set besides."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(page: Path) -> list[str]:
    text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
    fenced = "".join(re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    lines = re.findall(r"^    parlour (\w.*)$", text, re.MULTILINE) + re.findall(
        r"^parlour (\w.*)$", fenced, re.MULTILINE
    )
    return [re.sub(r"\s+(#|>) .*$", "", line).strip() for line in lines]


def added(options: dict[str, str], words: list[str]) -> list[str]:
    """The options of a table for a command line; those of `evaluate` are not those of `evaluate stakes`."""
    name = max((name for name in COMMANDS if words[: len(name.split())] == name.split()), key=len, default="")
    starts = (start for start in options if start.startswith(name) and words[: len(start.split())] == start.split())
    return options.get(next(starts, ""), "").split()


def reduced(command: str) -> list[str]:
    """A command with smaller numbers."""
    words = shlex.split(command)
    for number, word in enumerate(words[:-1]):
        if word in COUNTS:
            words[number + 1] = str(COUNTS[word])
    options = added(SMALL, words)
    for name in (*options[::2], *(["--minutes"] if options else [])):
        if name in words:
            at = words.index(name)
            del words[at : at + 2]
    return words + options


def reason_to_leave_out(command: str) -> str | None:
    return next((why for why, pattern in LEFT_OUT.items() if re.search(pattern, command)), None)


def missing_extras(words: list[str]) -> set[str]:
    return {name for name in EXTRAS if name in words and find_spec(name) is None}


def made_by(words: list[str]) -> str:
    """The folder or file that a command writes; a trainer that says none writes to a folder of its own under `runs/`."""
    named = (words[at + 1] for at, word in enumerate(words[:-1]) if word in ("--out", "--html", "--picture"))
    return next(named, "runs/" if words[0] == "train" else "nothing")


def inputs(words: list[str]) -> list[str]:
    """The files of earlier commands that a command reads."""
    written = {words[number + 1] for number, word in enumerate(words[:-1]) if word in ("--out", "--html", "--picture")}
    paths = [word.rpartition("=")[2].rpartition(":")[2] for word in words]
    return [path for path in paths if path.startswith("runs/") and path not in written]


def missing_input(words: list[str]) -> str | None:
    """A file of an earlier command that was left out."""
    return next((path for path in inputs(words) if not Path(path).exists()), None)


def needed(page: Path, earlier: set[str]) -> list[list[str]]:
    """The commands of a page that run here, with smaller numbers."""
    chosen: list[list[str]] = []
    read = ""
    for command in reversed(commands(page)):
        words = reduced(command)
        if reason_to_leave_out(command) or (shlex.join(words) in earlier and made_by(words) not in read):
            continue
        chosen.append(words)
        read += shlex.join(words) + "\n"
    return chosen[::-1]


def by_page() -> dict[Path, list[list[str]]]:
    """Page -> its commands that run."""
    result, earlier = {}, set()
    for page in PAGES[1:]:
        result[page] = needed(page, earlier)
        written: list[str] = []
        for words in result[page]:
            if all(path.startswith(tuple(written)) for path in inputs(words)):
                earlier.add(shlex.join(words))
            written.append(made_by(words))
    return result


CARRIED_OUT = {page: commands for page, commands in by_page().items() if commands}
"""Page -> its commands that run; README, the first, has a test of its own, which leaves nothing out."""


def of_page(page: Path) -> Any:
    """The case of a page. How-tos, tutorials and reference run at every change; logs and explanations nightly."""
    marks = [pytest.mark.nightly] if page.parent.name in ("lab", "explanation") else []
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.slow
@pytest.mark.parametrize("page", [of_page(page) for page in CARRIED_OUT])
def test_the_commands_of_a_page_run_in_their_order(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    carried_out, missing = 0, set()
    for words in CARRIED_OUT[page]:
        if missing_input(words):
            continue
        if missing_extras(words):
            missing |= missing_extras(words)
            continue
        assert run(words) == 0, f"parlour {shlex.join(words)}: {capsys.readouterr().err}"
        capsys.readouterr()
        carried_out += 1
    if missing:
        pytest.skip(f"{carried_out} commands ran; others of this page need {', '.join(sorted(missing))}, not installed")
    if not carried_out:
        pytest.skip("no command of this page can be carried out here")


# -- README: all of it -----------------------------------------------------------------------------------------

PORTS = {"serve": 8017}
"""Command of README that serves until it is stopped -> where."""
FEWER = {
    "train seat": "--steps 1024 --rollout 512 --envs 8 --validation-games 4",
    "train grace": "--questions 120 --held-out 100",
    "evaluate": "--games 4",
}
"""First words of a command of README -> documented options that are added behind the line as it is printed."""


@contextmanager
def serving(words: list[str]) -> Iterator[None]:
    """A command that serves, from when it says where until it is stopped."""
    command = [sys.executable, "-u", "-m", "parlour.training.cli", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        said = []
        while "http://" not in "".join(said):
            line = process.stdout.readline()
            assert line, f"parlour {shlex.join(words)}: {''.join(said)}"
            said.append(line)
        yield
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.slow
@pytest.mark.parametrize("demo", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["without demo", "demo"])
def test_every_command_of_the_four_doors_runs_on_what_the_ones_before_wrote(demo, tmp_path, monkeypatch, capsys):
    """The demo runs nightly here, and with less in tests/training/cli/test_demo_run.py."""
    if not all(map(is_free, PORTS.values())):
        pytest.skip(f"A PORT OF README'S SERVERS IS IN USE: {PORTS}")
    pytest.importorskip("uvicorn", reason="THE EXTRA `serve` IS NOT INSTALLED")
    monkeypatch.chdir(tmp_path)
    lines = commands(ROOT / "README.md")
    assert len([line for line in lines if line.split()[0] in PORTS]) == len(PORTS)
    assert "demo" in lines
    with ExitStack() as servers:
        for command in lines if demo else [line for line in lines if line != "demo"]:
            words = shlex.split(command)
            words += added(FEWER, words)
            if words[0] == "new" or "player_0=human" in words:
                continue  # a package beside the doors: tests/docs/test_newcomers.py; somebody answers: tests/policies/test_human.py
            if words[0] in PORTS:
                servers.enter_context(serving(words))
                continue
            assert run(words) == 0, f"parlour {shlex.join(words)}: {capsys.readouterr().err}"
            capsys.readouterr()
    assert {"seat", "model", "grace", "mine"} <= {path.name for path in (tmp_path / "runs").iterdir()}


def test_every_reason_to_leave_out_is_true_of_a_command():
    every = [command for page in PAGES for command in commands(page)]
    assert {why for command in every if (why := reason_to_leave_out(command))} == set(LEFT_OUT)
    assert sum(reason_to_leave_out(command) is None for command in every) > 60


def test_every_command_that_is_not_left_out_runs_on_some_page():
    runs = {shlex.join(words) for commands in CARRIED_OUT.values() for words in commands}
    for page in PAGES[1:]:
        for command in commands(page):
            assert reason_to_leave_out(command) or shlex.join(reduced(command)) in runs
