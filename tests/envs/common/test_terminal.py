r"""What reaches a terminal (`parlour.envs.common.terminal`): printable characters, in as many lines as parlour itself began.

Sources: ECMA-48 (C0 and C1 control functions begin escape sequences; DEL), Unicode 15, categories Cc, Cf, Zl, Zp, Cs;
UAX 9 (bidi marks).
"""

from __future__ import annotations

import ast
import io
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.common.terminal import TellingHandler, tell, tell_text
from parlour.envs.murder_mystery.cases.case import dump
from parlour.envs.murder_mystery.generate import from_seed
from parlour.training.cli import run
from parlour.training.report import display
from parlour.training.runs.progress import Stage

from tests import ROOT

RAW = {
    "escape sequence": "\x1b[2J",
    "title of the window": "\x1b]0;owned\x07",
    "carriage return": "\r",
    "backspace": "\b",
    "C1 escape sequence": "\x9b2J",
    "delete": "\x7f",
    "next line": "\x85",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "right to left": "\u202e",
    "isolate": "\u2066",
    "mark": "\u200f",
    "no width": "\u200b",
    "joiner": "\u200d",
    "byte order mark": "\ufeff",
    "tag": "\U000e0041",
    "half a character": "\ud800",
}
HOSTILE = "".join(f"{sign}{number}" for number, sign in enumerate(RAW.values()))


def assert_clean(shown: str) -> None:
    assert [ch for ch in shown if not ch.isprintable() and ch != "\n"] == []


@pytest.fixture
def shown_by(capsys):
    """Run a command; its exit code and all that it showed, which has to be clean."""

    def command(*arguments: str) -> tuple[int, str]:
        code = run(list(arguments))
        out, err = capsys.readouterr()
        assert_clean(out + err)
        return code, out + err

    return command


@pytest.mark.parametrize("sign", RAW.values(), ids=RAW)
def test_no_sign_but_printable_ones_is_told(sign, capsys):
    tell(f"a{sign}b")
    tell_text(f"a{sign}b\nc")
    display.show_table(f"title {sign}", ("one",), [(f"a{sign}b",)])
    display.console().print(f"a{sign}b")
    tell(f"a{sign}b", error=True)
    assert_clean("".join(capsys.readouterr()))


def test_a_line_stays_one_line(capsys):
    tell("player_0 says: x\nplayer_1 was Merlin.")
    assert capsys.readouterr().out == "player_0 says: x player_1 was Merlin.\n"


@pytest.mark.parametrize("words", ["[/]", "[bold]x[/bold]", "[link=http://x]y[/link]", ":smile:"])
def test_rich_reads_no_markup_in_words(words, capsys):
    """`[/]` closes nothing, which Rich refuses with a traceback; a link would be an escape sequence."""
    display.show_table(words, (words,), [(words,)])
    display.console().print(words)
    assert capsys.readouterr().out.count(words) == 4


def test_a_progress_line_shows_its_stage_clean(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as at a terminal, where bars move by escape sequences of their own
    with display.progress_line() as progress:
        progress(Stage(f"stage [/] {HOSTILE}", 2, HOSTILE), 1, HOSTILE)
        shown = ""
        while "[/]" not in shown:
            shown += capsys.readouterr().err
    assert not any(sign in shown for name, sign in RAW.items() if name not in ("carriage return", "escape sequence"))


def test_json_escapes_what_is_not_printable_and_keeps_its_value(capsys):
    display.print_json({HOSTILE: ["é", "我"]})
    output = capsys.readouterr().out
    assert_clean(output)
    assert json.loads(output) == {HOSTILE: ["é", "我"]}
    assert "é" in output
    assert "我" in output


def test_letters_that_the_terminal_does_not_know_are_escaped(monkeypatch):
    """A terminal of ASCII: 我 is U+6211."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    tell("我 am")
    assert stream.buffer.getvalue() == b"\\u6211 am\n"  # type: ignore[attr-defined]


def test_what_is_logged_is_told_clean(capsys):
    TellingHandler().emit(logging.LogRecord("x", logging.WARNING, "", 0, "server says %s", (HOSTILE,), None))
    errors = capsys.readouterr().err
    assert errors.startswith("parlour: server says ")
    assert_clean(errors)


@pytest.fixture
def game(tmp_path, output_of):
    """Lines of a recorded game of the template, and the file they go to."""
    output_of(["play", "template_v0", "--seed", "1", "--out", str(tmp_path)])
    path = tmp_path / "template_v0-1.jsonl"
    return path, [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("seat", [(), ("--seat", "player_0")], ids=["all", "seat"])
def test_replay_shows_words_names_and_reasons_clean(game, shown_by, seat):
    path, (header, *moves, end) = game
    header["players"] = {"player_0": f"[/] {HOSTILE}", "player_1": HOSTILE}
    for line in moves:
        line |= {"by": f"x\n{HOSTILE}", "reason": f"y\n{HOSTILE}"}
        if line["move"][0] == "promise":
            line["words"] = f"I promise {HOSTILE}"
    code, shown = shown_by("replay", write(path, [header, *moves, end]), *seat)
    assert code in (0, 2)
    assert "\ny" not in shown
    code, shown = shown_by("replay", write(path, [header, *moves[:1], {"unfinished": f"x\nplayer_0 wins. {HOSTILE}"}]))
    assert code == 0
    assert "\nplayer_0 wins" not in shown


def test_cases_show_is_clean_and_names_begin_no_lines(tmp_path, shown_by):
    whole = HOSTILE.replace(RAW["half a character"], "")  # no case can hold half a character
    value = json.loads(dump(from_seed.generate(3, "en", 4, 1, None)))
    value |= {"title": f"T\nVictims: nobody {whole}", "briefing": f"B [/]\n{whole}", "id": f"i\n{whole}"}
    value["characters"][0] |= {"script": f"S\n{whole}", "objectives": [f"o\n{whole}"]}
    path = tmp_path / "case.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    for options in ((), ("--seat", "0"), ("--truth",), ("--truth", "--json")):
        code, shown = shown_by("show", "case", str(path), *options)
        assert code == 0
        assert "\nVictims: nobody" not in shown


def test_an_error_quotes_its_input_clean_and_in_one_line(tmp_path, shown_by):
    path = tmp_path / "x.jsonl"
    write(path, [{"parlour": 1, "game": f"g\n{HOSTILE}", "config": {}}])
    code, shown = shown_by("replay", str(path))
    assert code == 2
    assert shown.count("\n") == 1
    code, shown = shown_by("play", f"[/]{HOSTILE}", "--policy", HOSTILE)
    assert code == 2


def test_nothing_prints_but_the_door():
    """`print`, the streams, Rich's console: only in `envs/common/terminal.py` and `training/report/display.py`."""
    doors = {"envs/common/terminal.py", "training/report/display.py"}
    places = []
    for folder in ("envs", "policies", "training", "wrappers"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            where = str(path.relative_to(ROOT))
            if where not in doors:
                places += [f"{where}:{line}" for line in printing(ast.parse(path.read_text("utf-8")))]
    assert places == []


RICH = ("rich", "rich.console", "rich.progress", "rich.live")


def printing(tree: ast.Module) -> list[int]:
    """The lines that name `print`, a standard stream or Rich's console."""
    nodes = list(ast.walk(tree))
    handed_over = {
        id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("flush", "fileno")
    }
    lines = []
    for node in nodes:
        named = isinstance(node, ast.Name) and node.id == "print"
        stream = (
            isinstance(node, ast.Attribute) and node.attr in ("stdout", "stderr") and ast.unparse(node.value) == "sys"
        )
        rich = isinstance(node, ast.ImportFrom) and node.module in RICH
        if (named or stream or rich) and id(node) not in handed_over:
            lines.append(node.lineno)
    return lines


def test_printing_is_found():
    source = "from rich.console import Console\nimport sys\nwrite = print\nsys.stderr.write('x')\n"
    assert printing(ast.parse(source)) == [1, 3, 4]
