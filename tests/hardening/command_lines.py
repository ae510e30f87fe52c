"""Command lines with words changed, left out, doubled and put in, run in this process (`parlour.training.cli.run`).

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
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from hardening import originals
from hardening.attack import Finding
from hardening.mutations import Mutator
from parlour.training.cli import run

LINES: tuple[str, ...] = (
    "list",
    "list experts --json",
    "play template_v0 --seed 1 --policy heuristic --json",
    "play template_v0 --policy policy.npz --policy player_1=random --out out",
    "play avalon_v0 --players 5 --rules paper --policy random --on-bad default",
    "replay games/game.jsonl --seat player_0",
    "replay game.jsonl --json --cases .",
    "metrics games",
    "metrics speech games --json",
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
JUNK: tuple[str, ...] = (
    *("", " ", "-1", "0", "1", "2", "x", "1e5", "nan", "9" * 5000, "x" * 300, "null", "[]", "{}", "[" * 500, "a\0b"),
    *(
        "=",
        "=x",
        "x=",
        "x=1",
        "rules=",
        "num_players=true",
        "player_0=",
        "player_99=random",
        "seed:",
        "seed:1:xx",
        "seed:-1",
    ),
    *("--", "-", "-n", "-h", "--json", "--seat", "--truth", "--set", "--players", "--rules", "--nonsense", "--seed=-5"),
    *(
        "nowhere:GAME",
        "json:nothing",
        ":x",
        "x:",
        "human",
        "heuristic",
        "gratr:rho=x",
        "grace:file=case.json",
        "sb3:x=1",
    ),
    *(
        "game.jsonl",
        "case.json",
        "policy.npz",
        "replies.sqlite",
        "games",
        ".",
        "missing.jsonl",
        "\x1b[2J\u202e",
        "[/]",
        "我",
        "\ud800",
    ),
    *("%s", "{0}", "$HOME", "~", "*", "'", '"', "\\", "\n", "template_v0", "werewolf_v0", "murder_mystery_v0"),
)
CODES = (0, 1, 2, 130)
SEEDED: tuple[str, ...] = ("--seed", "--seat", "--set")
"""Options behind which a number may be as large as it likes."""


def changed(rng: np.random.Generator) -> list[str]:
    """One of the lines with one or two words changed."""
    words = shlex.split(LINES[int(rng.random() * len(LINES))])
    for _ in range(1 + int(rng.random() * 1.5)):
        at, which = int(rng.random() * len(words)), int(rng.random() * 6)
        junk = JUNK[int(rng.random() * len(JUNK))]
        if which == 0:
            words = [*words[:at], *words[at + 1 :]] or ["list"]
        elif which == 1:
            words.insert(at, junk)
        elif which == 2:
            words.insert(at, words[int(rng.random() * len(words))])
        elif which == 3 and words[at].startswith("--"):
            words[at] = words[at][:-1]
        elif which == 4 and words[at - 1] in SEEDED and at:
            words[at] = "9" * 400
        else:
            words[at] = junk
    return words


def lay_out(folder: Path, rng: np.random.Generator) -> None:
    """The files that the lines name; one time in three each is a mutant."""
    (folder / "games").mkdir()
    files = {
        "game.jsonl": originals.transcripts(),
        "games/game.jsonl": originals.transcripts()[1:2],
        "case.json": originals.cases()[1:],
        "policy.npz": originals.policies(),
        "published.jsonl": originals.COMPLETIONS,
    }
    for name, of in files.items():
        whole = of[int(rng.random() * len(of))].content
        (folder / name).write_bytes(Mutator(of, rng).mutant() if rng.random() < 0.3 else whole)
    with contextlib.closing(sqlite3.connect(folder / "replies.sqlite")) as file:
        file.execute("create table replies (x)")


def tried(words: list[str], folder: Path) -> tuple[str, Finding | None]:
    """What became of a line, and what is wrong with that."""
    out, err = io.StringIO(), io.StringIO()
    with in_folder(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    shown, line = out.getvalue() + err.getvalue(), shlex.join(words)
    if code not in CODES:
        return "read", Finding(f"exit code {code}", line)
    raw = sorted({ch for ch in shown if not ch.isprintable() and ch != "\n"})
    if raw:
        return "read", Finding(f"shows {''.join(raw)!a}", line)
    if code == 2 and (err.getvalue().count("\n") != 1 or not err.getvalue().startswith("parlour: ")):
        return "refused", Finding("does not refuse in one line", line)
    return ("refused" if code == 2 else "read"), None


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
