"""docs/howto/mediators.md says what is true: its three tasks run as printed, one after the other; its commands exist with these options."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from parlour.training.cli import run

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "howto" / "mediators.md").read_text("utf-8")
JOINED = PAGE.replace("\\\n", " ")
EXAMPLES = re.findall(r"^    parlour (.*)$", JOINED, re.MULTILINE)
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


def test_the_three_tasks_run_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    assert len(STEPS) == 8
    for command, code in STEPS:
        if code:
            exec(compile(code, "docs/howto/mediators.md", "exec"), {})
        else:
            assert run(shlex.split(command)) == 0, command
    output = capsys.readouterr().out
    assert "doubly robust" in " ".join(output.split())
    assert (tmp_path / "runs" / "better" / "policy.json").exists()
    assert (tmp_path / "runs" / "mine" / "stakes" / "stakes.png").exists()


def test_the_command_for_hotpotqa_runs_on_a_file_of_its_form(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entries = [
        {
            "_id": f"h{k}",
            "question": f"Who wrote Book {k}?",
            "answer": f"Ann Reed{chr(97 + k)}",
            "type": "bridge",
            "level": "easy",
            "supporting_facts": [[f"Book {k}", 0]],
            "context": [[f"Book {k}", [f"Book {k} was written by Ann Reed{chr(97 + k)}.", "It is long."]]],
        }
        for k in range(24)
    ]
    (tmp_path / "hotpot_dev_distractor_v1.json").write_text(json.dumps(entries))
    (command,) = (example for example in EXAMPLES if "hotpot_dev_distractor" in example)
    assert run(shlex.split(command.replace("--model MODEL", "--reader extract"))) == 0
