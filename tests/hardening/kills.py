"""Kills of commands at random places, and faults of the disk: every command that resumes ends with the files of an undisturbed run.

`kills`: a command is killed (SIGKILL) before the n-th operation on its folder, within the k-th byte that it writes, or after so
many seconds, and called again until it is done. `disks`: it finds no room from the k-th byte on, or for files longer than k
bytes; it must end with one line and exit code 2, and be done when it is called again. In the end the files are compared byte
for byte with those of a run that was not disturbed, but for what is measured (`same_files`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from hardening import disk
from hardening.attack import Finding, Tried
from hardening.same_files import Files, difference, files_of
from hardening.shrink import shrink

IMPORTS = ("parlour.training.cli", *(name for name in (
    "parlour.training.learn.ppo.seat", "parlour.training.learn.selfplay.run", "parlour.training.learn.tuning.study", "matplotlib.figure",
    "matplotlib.backends.backend_agg",
) if find_spec("torch") and find_spec("optuna")))  # fmt: skip
"""What the forks need not import again; the extra `train` where it is installed."""
MOST_KILLS = 6
"""Of one attempt; then the command goes on undisturbed."""
MOST_SHORTER = 12
"""How many shorter lists of kills are tried for a finding."""
_PROGRESS = re.compile(r"(?!parlour: ).* · .*")
"""A line of progress, where there is no terminal."""
_MAIN = "parlour.training.cli:main"
_HERE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Subject:
    """A command that is called again with the same words after a kill."""

    words: str
    """As in a shell; OUT stands for its folder, GIVEN for one that it reads."""
    given: str = ""
    """The command that writes GIVEN; it is not disturbed."""
    again: str = ""
    """More words from the second call on."""
    main: str = _MAIN
    trains: bool = False
    """Whether it needs the extra `train`."""


@dataclass(frozen=True)
class Undisturbed:
    """What a run that nobody disturbed left, and what it did to its folder."""

    files: Files
    operations: int
    bytes: int
    seconds: float
    longest: int
    """Bytes of the longest file."""
    said: tuple[str, ...] = ()
    """Its lines on standard error, as in `Ended`."""


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    seconds: float
    hung: bool
    said: tuple[str, ...]
    """Lines on standard error, without bars of progress."""


_SMALL_TUNING = "--budget 2"
SUBJECTS: Mapping[str, Subject] = {
    "play": Subject("play avalon_v0 -n 5 --games 3 --out OUT", again="--resume"),
    "evaluate": Subject("evaluate werewolf_v0 --games 2 --design team --against random --out OUT --table OUT/t.csv", again="--resume"),
    "arena": Subject("arena template_v0 --games 3 --resamples 100 --out OUT"),
    "train avalon": Subject("train avalon --games 1 -n 5 --out OUT"),
    "train grace": Subject("train grace --questions 20 --held-out 6 --out OUT"),
    "train grace --corpus": Subject(
        f"train grace --corpus {_HERE}/corpora/towns.jsonl --reader extract --utilities 100,-50,5,-5 --out OUT"
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
class _Caller:
    """Calls commands in forks (`fork_server`); keeps one server, and what undisturbed runs left."""

    subjects: Mapping[str, Subject]
    imports: Sequence[str]
    undisturbed: dict[str, Undisturbed] = field(default_factory=dict)
    _server: subprocess.Popen[str] | None = None

    def call(self, subject: Subject, folder: Path, *, again: bool = False, **how: Any) -> Ended:
        """One call in a folder; `how` as `fork_server.serve` takes it."""
        given = folder.parent / "given"
        if subject.given and not given.exists():
            self._ask(subject.main, subject.given, given, given)
        result = self._ask(subject.main, f"{subject.words} {subject.again if again else ''}", folder, given, **how)
        said = result["said"].replace("\r", "\n").splitlines()
        return Ended(
            result["code"],
            result["seconds"],
            result["hung"],
            tuple(line for line in said if line.strip() and "\u2501" not in line),
        )

    def _ask(self, main: str, command: str, folder: Path, given: Path, **how: Any) -> dict[str, Any]:
        words = shlex.split(command.replace("OUT", str(folder)).replace("GIVEN", str(given)))
        return self._asked(
            json.dumps({"main": main, "words": words, "folder": str(folder), "log": f"{folder}-log", **how})
        )

    def wanted(self, name: str, scratch: Path) -> Undisturbed:
        """What an undisturbed run of a subject leaves, computed once."""
        if name not in self.undisturbed:
            folder = scratch / "run"  # where disturbed runs are, too: some files name it
            ended = self.call(self.subjects[name], folder, place=disk.COUNT)
            if ended.code != 0:
                raise RuntimeError(f"{name} ends with {ended.code} undisturbed: {' | '.join(ended.said[-3:])}")
            counts = json.loads(Path(f"{folder}-log.count").read_text())
            longest = max(path.stat().st_size for path in folder.rglob("*"))
            self.undisturbed[name] = Undisturbed(
                files_of(folder), **counts, seconds=ended.seconds, longest=longest, said=ended.said
            )
            shutil.rmtree(folder)
        return self.undisturbed[name]

    def _asked(self, request: str) -> dict[str, Any]:
        if self._server is None or self._server.poll() is not None:
            path = os.pathsep.join([str(_HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
            command = [sys.executable, "-W", "ignore", "-m", "hardening.fork_server", *self.imports]
            pipe = subprocess.PIPE
            self._server = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        answered = ""
        try:
            self._server.stdin.write(request + "\n")
            self._server.stdin.flush()
            answered = self._server.stdout.readline()
        finally:
            if not answered:  # it ended, or the attempt was given up
                self.close()
        asked: dict[str, Any] = json.loads(answered)
        return asked

    def close(self) -> None:
        """End the server."""
        if self._server is not None:
            self._server.kill()
            self._server.communicate()
            self._server = None


class Kills:
    """The attack `kills`; a try is a kill that struck."""

    name, share = "kills", 3.0

    def __init__(self, subjects: Mapping[str, Subject] = SUBJECTS, imports: Sequence[str] = IMPORTS) -> None:
        self._caller = _Caller(subjects, imports)
        self._told: set[tuple[str, str]] = set()

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return _callable(self._caller.subjects)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        wanted = self._caller.wanted(subject, folder)
        places = [_kill(wanted, rng) for _ in range(MOST_KILLS)]
        kills, wrong = self._disturbed(subject, places, folder)
        if not wrong:
            return Tried(kills)
        fewest = places[: kills + 1]
        if (subject, wrong) not in self._told:  # which costs many calls
            self._told.add((subject, wrong))
            fewest = shrink(fewest, lambda some: bool(self._disturbed(subject, some, folder)[1]), MOST_SHORTER)
        return Tried(kills, (Finding(wrong, _shown(self._caller.subjects[subject], fewest)),))

    def _disturbed(self, name: str, places: Sequence[Mapping[str, Any]], folder: Path) -> tuple[int, str]:
        """Kill a command at these places of its calls until it is done: how many kills there were, and what went wrong."""
        subject, run, kills = self._caller.subjects[name], folder / "run", 0
        shutil.rmtree(run, ignore_errors=True)
        for number, place in enumerate([*places, {}]):
            ended = self._caller.call(subject, run, again=number > 0, **place)
            if ended.hung:
                return kills, "does not end"
            if ended.code != -signal.SIGKILL:
                break
            kills += 1
        if ended.code != 0:
            return kills, f"exit code {ended.code} when it is called again: {_last(ended, run)}"
        return kills, difference(files_of(run), self._caller.wanted(name, folder).files)


class Disks:
    """The attack `disks`; a try is a call that found no room."""

    name, share = "disks", 1.5

    def __init__(self, subjects: Mapping[str, Subject] = SUBJECTS, imports: Sequence[str] = IMPORTS) -> None:
        self._caller = _Caller(subjects, imports)

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return _callable(self._caller.subjects)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        wanted = self._caller.wanted(subject, folder)
        short = rng.random() < 0.5
        place = {"place": disk.SIZE if short else disk.FULL}
        place["number"] = int(rng.integers(wanted.longest if short else wanted.bytes))
        run, command = folder / "run", self._caller.subjects[subject]
        full = self._caller.call(command, run, **place)
        wrong = _refusal(full, run, wanted.said)
        if not wrong and full.code:
            ended = self._caller.call(command, run, again=True)
            if ended.code != 0:
                wrong = f"exit code {ended.code} when there is room again: {_last(ended, run)}"
        wrong = wrong or difference(files_of(run), wanted.files)
        findings = (Finding(wrong, _shown(command, [place])),) if wrong else ()
        return Tried(1, findings, {"struck": int(full.code != 0)})


def _callable(subjects: Mapping[str, Subject]) -> list[str]:
    """Those whose extra is installed."""
    trains = all(find_spec(name) for name in ("torch", "sb3_contrib", "optuna", "openskill"))
    return [name for name, subject in subjects.items() if trains or not subject.trains]


def _kill(wanted: Undisturbed, rng: np.random.Generator) -> dict[str, Any]:
    """Where a command is killed."""
    drawn = rng.random()
    if drawn < 0.5:
        return {"place": disk.OPERATION, "number": int(rng.integers(wanted.operations))}
    if drawn < 0.8:
        return {"place": disk.BYTE, "number": int(rng.integers(wanted.bytes))}
    return {"seconds": float(rng.random() * wanted.seconds)}


def _refusal(ended: Ended, run: Path, announced: Sequence[str]) -> str:
    """What is wrong with how a call that found no room ended; empty if nothing is.

    What an undisturbed run announces too is no part of the refusal.
    """
    lines = [line for line in ended.said if not _PROGRESS.fullmatch(line) and line not in announced]
    if ended.hung:
        return "does not end on a full disk"
    if ended.code not in (0, 2):
        return f"exit code {ended.code} on a full disk: {_last(ended, run)}"
    if ended.code == 2 and (len(lines) != 1 or not lines[0].startswith("parlour: ") or "cannot be" not in lines[0]):
        return f"not one line that says what cannot be written: {_last(ended, run)}"
    return ""


def _last(ended: Ended, run: Path) -> str:
    return (ended.said[-1] if ended.said else "").replace(str(run), "OUT")[:200]


def _shown(subject: Subject, places: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps({"command": f"parlour {subject.words}", "again": subject.again, "places": list(places)})


ATTACKS = (Kills(), Disks())
