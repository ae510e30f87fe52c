"""Commands that are killed at chosen places, or find no room on the disk, in forks of a process that has imported them (`fork_server`).

Every command that resumes ends with the files of an undisturbed run, byte for byte but for what is measured (`same_files`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL
from typing import Any

from tests import ROOT
from tests.hardening import disk
from tests.hardening.same_files import Files, difference, files_of

IMPORTS = ("parlour.training.cli", *(name for name in (
    "parlour.training.learn.ppo.seat", "parlour.training.learn.selfplay.run", "parlour.training.learn.tuning.study", "matplotlib.figure",
    "matplotlib.backends.backend_agg",
) if find_spec("torch") and find_spec("optuna")))  # fmt: skip
"""What the forks need not import again; the extra `train` where it is installed."""
_PROGRESS = re.compile(r"(?!parlour: ).* · .*")
"""A line of progress, where there is no terminal."""
_MAIN = "parlour.training.cli:main"
Places = Sequence[Mapping[str, Any]]
"""Where calls are disturbed, one after the other: `place` and `number` of `disk.strike_at`, or `seconds`."""


@dataclass(frozen=True)
class Subject:
    """A command that is called again with the same words after a kill."""

    words: str
    """As in a shell; OUT stands for its folder."""
    again: str = ""
    """More words from the second call on."""
    main: str = _MAIN
    trains: bool = False
    """Whether it needs the extra `train`."""


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    seconds: float
    hung: bool
    said: tuple[str, ...]
    """Lines on standard error, without bars of progress."""


@dataclass(frozen=True)
class Undisturbed:
    """What a run that nobody disturbed left, and what it did to its folder."""

    files: Files
    operations: int
    bytes: int
    ended: Ended
    longest: int
    """Bytes of the longest file."""


_SMALL_TUNING = "--budget 2"
SUBJECTS: Mapping[str, Subject] = {
    "play": Subject("play avalon_v0 -n 5 --games 3 --out OUT", again="--resume"),
    "evaluate": Subject("evaluate werewolf_v0 --games 2 --design team --against random --out OUT --table OUT/t.csv", again="--resume"),
    "arena": Subject("arena template_v0 --games 3 --resamples 100 --out OUT"),
    "train avalon": Subject("train avalon --games 1 -n 5 --out OUT"),
    "train grace": Subject("train grace --questions 20 --held-out 6 --out OUT"),
    "train grace --corpus": Subject(
        f"train grace --corpus {ROOT}/tests/envs/mediated_qa/corpora/towns.jsonl --reader extract --utilities 100,-50,5,-5 --out OUT"
    ),
    "train gratr": Subject(f"train gratr --games 2 --held-out 4 --finalists 1 {_SMALL_TUNING} --out OUT", trains=True),
    "train gratr-trust": Subject("train gratr-trust --episodes 4 --rounds 2 --rho 0.95 --out OUT"),
    "train questum": Subject(
        f"train questum --games 1 --held-out 2 {_SMALL_TUNING} --out OUT", trains=True
    ),
    "train seat": Subject(
        "train seat werewolf_v0 --players 4 --set talk=false --opponents random --features summary --steps 512 --phase-steps 256 --rollout 128 --envs 8 "
        "--batch 64 --hidden 8,8 --validation-games 2 --processes 1 --out OUT",
        trains=True,
    ),
    "train selfplay": Subject(
        "train selfplay template_v0 --steps 200 --tables 16 --turns 8 --updates 1 --imitation-steps 100 --deals 2 --test-deals 4 "
        "--validation-deals 2 --hidden 8 --critic-hidden 8 --batch 64 --epochs 1 --out OUT",
        trains=True,
    ),
    "evaluate mysteries": Subject("evaluate mysteries -m pp -m questum --games 2 --repetitions 1 --out OUT"),
    "reproduce grace-3": Subject("reproduce grace-3 --games 6 --practice 20 --out OUT"),
    "reproduce gratr-2": Subject("reproduce gratr-2 --games 2 --against werewolf_window --out OUT"),
    "reproduce avalon-7": Subject("reproduce avalon-7 --games 1 --practice 0 --out OUT"),
    "new case": Subject("new case --seed 7 --out OUT/case.json"),
}  # fmt: skip


@dataclass
class Caller:
    """Calls commands in forks; keeps one server, and what undisturbed runs left."""

    subjects: Mapping[str, Subject] = field(default_factory=lambda: SUBJECTS)
    imports: Sequence[str] = IMPORTS
    undisturbed: dict[str, Undisturbed] = field(default_factory=dict)
    _server: subprocess.Popen[str] | None = None

    def call(self, subject: Subject, folder: Path, *, again: bool = False, **how: Any) -> Ended:
        """One call in a folder; `how` as `fork_server.serve` takes it."""
        words = shlex.split(f"{subject.words} {subject.again if again else ''}".replace("OUT", str(folder)))
        request = {"main": subject.main, "words": words, "folder": str(folder), "log": f"{folder}-log", **how}
        answer = self._answer(json.dumps(request))
        lines = answer["said"].replace("\r", "\n").splitlines()
        said = tuple(line for line in lines if line.strip() and "\u2501" not in line)
        return Ended(answer["code"], answer["seconds"], answer["hung"], said)

    def wanted(self, name: str, scratch: Path) -> Undisturbed:
        """What an undisturbed run of a subject leaves, computed once."""
        if name not in self.undisturbed:
            folder = scratch / "run"  # where disturbed runs are, too: some files name it
            ended = self.call(self.subjects[name], folder, place=disk.COUNT)
            assert ended.code == 0, f"{name} ends with {ended.code} undisturbed: {' | '.join(ended.said[-3:])}"
            counts = json.loads(Path(f"{folder}-log.count").read_text())
            longest = max(path.stat().st_size for path in folder.rglob("*"))
            self.undisturbed[name] = Undisturbed(files_of(folder), **counts, ended=ended, longest=longest)
            shutil.rmtree(folder)
        return self.undisturbed[name]

    def check_kills(self, name: str, places: Places, scratch: Path) -> int:
        """Kill a command at these places of its calls, then let it end: how many kills there were."""
        subject, run, kills = self.subjects[name], scratch / "run", 0
        wanted = self.wanted(name, scratch)
        shutil.rmtree(run, ignore_errors=True)
        for number, place in enumerate((*places, {})):
            ended = self.call(subject, run, again=number > 0, **place)
            kills += ended.code == -SIGKILL
            assert not ended.hung, "does not end when it is called again"
            if ended.code != -SIGKILL:
                assert ended.code == 0, f"exit code {ended.code} when it is called again: {_last(ended, run)}"
                break
        wrong = difference(files_of(run), wanted.files)
        assert not wrong, wrong
        return kills

    def check_full(self, name: str, place: Mapping[str, Any], scratch: Path) -> None:
        """The disk is full from some place on: one line and exit code 2, and a call that has room again is done."""
        subject, run = self.subjects[name], scratch / "run"
        wanted = self.wanted(name, scratch)
        shutil.rmtree(run, ignore_errors=True)
        ended = self.call(subject, run, **place)
        assert not ended.hung, "does not end on a full disk"
        assert ended.code in (0, 2), f"exit code {ended.code} on a full disk: {_last(ended, run)}"
        lines = [line for line in ended.said if not _PROGRESS.fullmatch(line) and line not in wanted.ended.said]
        if ended.code == 2:
            one = len(lines) == 1 and lines[0].startswith("parlour: ") and "cannot be" in lines[0]
            assert one, f"not one line that says what cannot be written: {_last(ended, run)}"
            ended = self.call(subject, run, again=True)
            assert ended.code == 0, f"exit code {ended.code} when there is room again: {_last(ended, run)}"
        wrong = difference(files_of(run), wanted.files)
        assert not wrong, wrong

    def _answer(self, request: str) -> dict[str, Any]:
        if self._server is None or self._server.poll() is not None:
            path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
            command = [sys.executable, "-W", "ignore", "-m", "tests.hardening.fork_server", *self.imports]
            environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
            pipe = subprocess.PIPE
            self._server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(request + "\n")
        self._server.stdin.flush()
        answer: dict[str, Any] = json.loads(self._server.stdout.readline())
        return answer

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
            self._server = None


def _last(ended: Ended, run: Path) -> str:
    return (ended.said[-1] if ended.said else "").replace(str(run), "OUT")[:200]


def callable_here(subjects: Mapping[str, Subject]) -> list[str]:
    """Those whose extra is installed."""
    trains = all(find_spec(name) for name in ("torch", "sb3_contrib", "optuna", "openskill"))
    return [name for name, subject in subjects.items() if trains or not subject.trains]
