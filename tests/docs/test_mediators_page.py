"""docs/howto/mediators.md says what is true: its three tasks run as printed, one after the other; its commands exist with these options."""

from __future__ import annotations

import json
import re
import shlex

from parlour.training.cli import run

from tests import ROOT

PAGE = (ROOT / "docs" / "howto" / "mediators.md").read_text("utf-8")
JOINED = PAGE.replace("\\\n", " ")
TASKS = JOINED.partition("## Three tasks")[2].partition("\n## ")[0]
STEPS = re.findall(r"^    parlour (?P<command>[^\n]*)$|```python\n(?P<code>.*?)```", TASKS, re.MULTILINE | re.DOTALL)


def written(folder):
    """Questions about books and their writers, and a text on each."""
    lines = [{"id": f"b{k}", "question": f"Who wrote Book {k}?", "answer": f"Ann Reed{chr(97 + k)}"} for k in range(24)]
    (folder / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "notes").mkdir()
    for k in range(24):
        text = f"Book {k} was written by Ann Reed{chr(97 + k)} in 19{k + 10}. It is long, and Ostby is in it."
        (folder / "notes" / f"Book {k}.txt").write_text(text)


def test_the_three_tasks_run_as_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    assert len(STEPS) == 6
    for command, code in STEPS:
        if code:
            exec(compile(code, "docs/howto/mediators.md", "exec"), {})
        else:
            assert run(shlex.split(command)) == 0, command
    assert (tmp_path / "runs" / "mine" / "stakes" / "stakes.png").exists()
