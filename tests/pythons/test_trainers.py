"""Each trainer's smallest run, up to its report, on another Python: `scripts/test-pythons`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.hardening.kills import SUBJECTS  # the smallest runs that are killed

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="on Python 3.11 the other tests run the trainers")
TRAINERS = {name: subject for name, subject in SUBJECTS.items() if name.startswith("train ")}


def run(words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "parlour.training.cli"]
    command += [word.replace("OUT", str(folder / "out")) for word in shlex.split(words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.parametrize("name", TRAINERS)
def test_a_trainer_s_smallest_run_ends_with_its_report(name, tmp_path):
    subject = TRAINERS[name]
    made = run(subject.words, tmp_path)
    assert made.returncode == 0, made.stderr
    assert made.stdout.strip()
