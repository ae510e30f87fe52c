"""Command lines with words changed, left out, doubled and put in, run in this process.

Whatever is asked, a command ends with exit code 0, 1, 2 or 130 (README); with 2 it says why in one line on standard error.
What it shows is printable. Commands run in a scratch folder and are given names in it alone; models, servers, Ray and trainers
are left out, and so are numbers of games that are large and right.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from parlour.training import cli

from tests.hardening import readers
from tests.hardening.mutations import mutants

pytestmark = pytest.mark.nightly

LINES = (
    "list",
    "list experts --json",
    "play template_v0 --seed 1 --policy heuristic --json",
    "play template_v0 --policy policy.npz --policy player_1=random --out out",
    "play avalon_v0 --players 5 --rules paper --policy random --on-bad default",
    "replay games/game.jsonl --seat player_0",
    "replay game.jsonl --json --cases .",
    "metrics games",
    "metrics speech games --json",
    "metrics conventions games --json",
    "show case case.json --seat 0 --truth",
    "show case seed:1:en:4 --json",
    "new case --seed 1 --players 4 --out made.json",
    "list replies replies.sqlite",
    "import avalon published.jsonl --out imported --logs .",
    "import werewolf published.jsonl --out imported",
    "show question chat.take_turn --game template_v0 --seat 0",
    "evaluate template_v0 --policy random --against heuristic --games 2 --design team --seed 3",
    "new mygame --out .",
    "arena template_v0 --policy random --policy heuristic --games 2 --resamples 100 --seed 3 --out out",
)
JUNK = (
    *("", " ", "-1", "0", "1", "2", "x", "1e5", "nan", "9" * 5000, "x" * 300, "null", "[]", "{}", "[" * 500, "a\0b", "="),
    *("=x", "x=", "x=1", "rules=", "num_players=true", "player_0=", "player_99=random", "seed:", "seed:1:xx", "seed:-1"),
    *("--", "-", "-n", "-h", "--json", "--seat", "--truth", "--set", "--players", "--rules", "--nonsense", "--seed=-5"),
    *("nowhere:GAME", "json:nothing", ":x", "x:", "human", "heuristic", "gratr:rho=x", "grace:file=case.json", "sb3:x=1"),
    *("game.jsonl", "case.json", "policy.npz", "replies.sqlite", "games", ".", "missing.jsonl", "\x1b[2J\u202e", "[/]", "我"),
    *("\ud800", "%s", "{0}", "$HOME", "~", "*", "'", '"', "\\", "\n", "template_v0", "werewolf_v0", "murder_mystery_v0"),
)  # fmt: skip
SEEDED = ("--seed", "--seat", "--set")
"""Options behind which a number may be as large as it likes."""


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """One of the lines with one or two words changed."""
    words = shlex.split(draw(st.sampled_from(LINES)))
    for _ in range(draw(st.integers(1, 2))):
        at, junk = draw(st.integers(0, len(words) - 1)), draw(st.sampled_from(JUNK))
        ways: list[list[str]] = [[], [junk], [junk, words[at]], [draw(st.sampled_from(words)), words[at]]]
        ways += [[words[at][:-1]]] if words[at].startswith("--") else []
        ways += [["9" * 400]] if at and words[at - 1] in SEEDED else []
        words = [*words[:at], *draw(st.sampled_from(ways)), *words[at + 1 :]] or ["list"]
    return words


def lay_out(folder: Path, data: st.DataObject) -> None:
    """The files that the lines name; one time in three each is a mutant."""
    (folder / "games").mkdir()
    files = {
        "game.jsonl": readers.transcripts(),
        "games/game.jsonl": readers.transcripts()[1:2],
        "case.json": readers.cases()[1:],
        "policy.npz": readers.policies(),
        "published.jsonl": readers.COMPLETIONS,
    }
    for name, originals in files.items():
        whole = st.sampled_from(originals)
        (folder / name).write_bytes(data.draw(whole | whole | mutants(originals), name))
    with contextlib.closing(sqlite3.connect(folder / "replies.sqlite")) as file:
        file.execute("create table replies (x)")


@contextlib.contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    """With a folder as the current one, nobody at the terminal, and the import path as it is afterwards."""
    path, stdin = list(sys.path), sys.stdin
    with contextlib.chdir(folder):
        sys.stdin = io.StringIO()
        try:
            yield
        finally:
            sys.stdin, sys.path[:] = stdin, path


def check(words: list[str], folder: Path, run: Callable[[list[str]], int]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with in_folder(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    assert code in (0, 1, 2, 130), f"exit code {code}"
    raw = {character for character in out.getvalue() + err.getvalue() if not character.isprintable()} - {"\n"}
    assert not raw, f"shows {sorted(raw)}"
    if code == 2:
        one = err.getvalue().count("\n") == 1 and err.getvalue().startswith("parlour: ")
        assert one, f"does not refuse in one line: {err.getvalue()!r}"


@settings(max_examples=60)
@given(data=st.data())
def test_command_lines_end_with_one_line(data):
    with TemporaryDirectory() as folder:
        lay_out(Path(folder), data)
        for words in data.draw(st.lists(command_lines(), min_size=1, max_size=2), "lines"):
            check(words, Path(folder), cli.run)


def shows(_: list[str]) -> int:
    sys.stdout.write("\x1b[2J")
    return 0


def breaks(_: list[str]) -> int:
    raise KeyError("x")


def refuses_twice(_: list[str]) -> int:
    sys.stderr.write("parlour: x\nparlour: y\n")
    return 2


@pytest.mark.parametrize(
    ("run", "error", "what"),
    [
        (lambda _: 3, AssertionError, "exit code 3"),
        (shows, AssertionError, "shows"),
        (breaks, KeyError, "x"),
        (refuses_twice, AssertionError, "does not refuse in one line"),
    ],
    ids=["another exit code", "escape sequences", "a traceback", "two lines"],
)
def test_what_a_command_may_not_do_is_found(run: Any, error: Any, what: str, tmp_path: Path):
    with pytest.raises(error, match=what):
        check(["list"], tmp_path, run)
