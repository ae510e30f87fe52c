"""The attack by mutated inputs finds what is planted, with the shortest input, and nothing in the readers as they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hardening import command_lines
from hardening.attack import Finding
from hardening.attacks import all_attacks
from hardening.inputs import COMMAND_LINE, MutatedInputs, read
from hardening.mutations import Original
from hardening.readers import READERS, Reader
from hardening.runner import attempted
from parlour.envs.core import ParlourError

pytestmark = pytest.mark.nightly

OBJECT = (Original(b'{"a": 1, "b": ["x", 2]}'),)


def findings_of(take: Any, folder: Path, attempts: int = 3) -> list[Finding]:
    """The findings of an attack at one reader."""
    attack = MutatedInputs([Reader("planted", 100, lambda: OBJECT, take)])
    return [
        finding for number in range(attempts) for finding in attempted(attack, "planted", number, 0, folder).findings
    ]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_originals_are_read(reader, tmp_path):
    """Mutants of what is refused anyhow would be refused for the same reason."""
    for original in reader.originals():
        reader.read(original.content, tmp_path)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_mutants_are_read_or_refused(reader, tmp_path):
    tried = attempted(all_attacks()["inputs"], reader.name, 0, 1, tmp_path)
    assert tried.findings == ()
    assert sum(tried.counts.values()) == tried.tries == reader.batch
    assert reader.name in ("server's answer", "claims") or tried.counts["refused"] > 0


def test_a_reader_that_lets_an_error_through_is_found_with_the_shortest_input(tmp_path):
    def takes(content: bytes, _: Path) -> None:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            raise ParlourError("no JSON") from None
        if isinstance(value, dict) and "b" in value:
            value["b"][1]

    findings = findings_of(takes, tmp_path)
    assert {finding.what.split(" (")[0] for finding in findings} >= {"uncaught TypeError", "uncaught IndexError"}
    assert min(len(finding.shortest) for finding in findings) <= 20  # such as {"b": 1}


@pytest.mark.parametrize(
    ("words", "told"),
    [("no JSON:\n{!r}", "not refused in one line"), ("{!r} is not accepted", "refused in over 4000 characters")],
)
def test_a_refusal_of_several_lines_or_at_length_is_found(words, told, tmp_path):
    def refuses(content: bytes, _: Path) -> None:
        raise ParlourError(words.format(content))

    assert told in {finding.what for finding in findings_of(refuses, tmp_path, 1)}
    assert read(Reader("x", 1, lambda: OBJECT, lambda *_: None), b"", tmp_path) == ("read", None)


def test_command_lines_end_with_one_line(tmp_path):
    tried = attempted(all_attacks()["inputs"], COMMAND_LINE, 0, 0, tmp_path)
    assert tried.findings == ()
    assert tried.tries == 2


def shows(_: list[str]) -> int:
    sys.stdout.write("\x1b[2J")
    return 0


def breaks(_: list[str]) -> int:
    raise KeyError("x")


def refuses_twice(_: list[str]) -> int:
    sys.stderr.write("parlour: x\nparlour: y\n")
    return 2


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (lambda _: 3, "exit code 3"),
        (shows, "shows '\\x1b'"),
        (breaks, "uncaught KeyError"),
        (refuses_twice, "does not refuse in one line"),
    ],
    ids=["another exit code", "escape sequences", "a traceback", "two lines"],
)
def test_what_a_command_may_not_do_is_found(run, told, tmp_path, monkeypatch):
    monkeypatch.setattr(command_lines, "run", run)
    findings = attempted(all_attacks()["inputs"], COMMAND_LINE, 0, 0, tmp_path).findings
    assert {finding.what.split(" (")[0] for finding in findings} == {told}
