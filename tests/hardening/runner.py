"""Goes round the attacks and their subjects, by time or by counts, and keeps what it found by lines, so that it can go on.

Attempt `k` of a subject is seeded by (seed, attack, subject, k) alone. Attempts of one attack come in one order; what time
decides is only how far each attack comes. A line of `attempts.jsonl` is a group of attempts of
one attack; a run that was killed in a group makes it again.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hardening import memory
from hardening.attack import Attack, Finding, Tried, uncaught
from hardening.games import game_of
from hardening.tally import MB, Tally
from parlour.training.runs.folder import JsonlStore

GROUP = 1.0
"""Seconds after which a group of attempts ends."""
SLOW = 2.0
"""Seconds of an attempt from which it is a finding, with `limits`."""
LARGE = 500 * MB
"""Bytes of memory from which an attempt is a finding, with `limits`."""
HUNG = 300
"""Seconds after which any attempt is given up."""
ATTEMPTS = "attempts.jsonl"


class HungAttempt(BaseException):
    """An attempt was given up."""


@dataclass(frozen=True)
class Plan:
    """What is attacked, and how long."""

    attacks: Sequence[Attack]
    seed: int = 0
    minutes: float | None = None
    """Of this call, all attacks together; None: until the counts are reached."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Tries after which an attack ends, by name; one that is not named goes on until the time is up."""
    outside: tuple[str, ...] = ()
    """Games from outside, `module:ATTRIBUTE`."""


class Course:
    """One attack in a run: its subjects, the number of its next attempt, and what it found."""

    def __init__(self, attack: Attack, plan: Plan) -> None:
        self.attack, self._seed = attack, plan.seed
        self.wanted = plan.counts.get(attack.name)
        self.subjects = list(attack.subjects(plan.outside))
        games: dict[str, list[str]] = {}
        for subject in self.subjects:
            games.setdefault(game_of(subject), []).append(subject)
        self._games = list(games.values())
        self.tallies = {subject: Tally() for subject in self.subjects}
        self.made = 0
        self.seconds = 0.0

    @property
    def tries(self) -> int:
        """Of all subjects."""
        return sum(tally.tries for tally in self.tallies.values())

    @property
    def findings(self) -> int:
        """Different findings."""
        return len({what for tally in self.tallies.values() for what in tally.told})

    @property
    def over(self) -> bool:
        """Whether it has made the tries that were wanted, or has nothing to attack."""
        return not self.subjects or (self.wanted is not None and self.tries >= self.wanted)

    def attempt(self, number: int) -> tuple[str, int]:
        """The subject of an attempt and which attempt at it this is. Games come in turn, and of a game its tables."""
        times, game = divmod(number, len(self._games))
        times, table = divmod(times, len(self._games[game]))
        return self._games[game][table], times

    def group(self, scratch: Path, end: float) -> dict[str, Any]:
        """Attempts for about a second, as a line of `attempts.jsonl`. At least one is made, whatever the time."""
        first, begun, tallies = self.made, time.monotonic(), dict[str, Tally]()
        tries, before = 0, self.tries
        memory.forget_peak()
        while not tries or time.monotonic() < min(begun + GROUP, end):
            subject, number = self.attempt(self.made)
            tried, seconds, used = measured(self.attack, subject, number, self._seed, scratch)
            tallies.setdefault(subject, Tally()).add(number, tried, seconds, used)
            self.made += 1
            tries += max(tried.tries, 1)
            if self.wanted is not None and before + sum(tally.tries for tally in tallies.values()) >= self.wanted:
                break
        line = {"attack": self.attack.name, "first": first, "past": self.made, "seconds": time.monotonic() - begun}
        return {**line, "subjects": {subject: tally.plain() for subject, tally in tallies.items()}}

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a group, made now or in the run that this one goes on with."""
        self.made, self.seconds = line["past"], self.seconds + line["seconds"]
        for subject, plain in line["subjects"].items():
            self.tallies.setdefault(subject, Tally()).join(Tally.read(plain))


def run(plan: Plan, folder: Path, tell: Callable[[Sequence[Course]], None] = lambda _: None) -> list[Course]:
    """Attack as planned, and go on with what is in the folder.

    Args:
        plan: What to do.
        folder: For `attempts.jsonl` and scratch files.
        tell: Called after each group.

    Raises:
        ParlourError: The folder holds a run with another seed or other games.
    """
    courses, end = [Course(attack, plan) for attack in plan.attacks], time.monotonic() + 60 * (plan.minutes or 1e9)
    by_name, scratch = {course.attack.name: course for course in courses}, folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    head = {"seed": plan.seed, "games": list(plan.outside)}
    with JsonlStore(folder / ATTEMPTS, dict, "run of scripts/harden", head) as store:
        for line in store.found:
            if line["attack"] in by_name:
                by_name[line["attack"]].take(line)
        used = dict.fromkeys(by_name, 0.0)
        while time.monotonic() < end and (open_ones := [course for course in courses if not course.over]):
            course = min(open_ones, key=lambda open_one: used[open_one.attack.name] / open_one.attack.share)
            line = course.group(scratch, end)
            used[course.attack.name] += line["seconds"]
            course.take(line)
            store.append(line)
            tell(courses)
    shutil.rmtree(scratch, ignore_errors=True)
    return courses


def measured(attack: Attack, subject: str, number: int, seed: int, scratch: Path) -> tuple[Tried, float, int]:
    """One attempt with the seconds and the bytes that it took; what it raises is a finding."""
    before, begun = memory.peak(), time.monotonic()
    tried = attempted(attack, subject, number, seed, scratch)
    seconds, used = time.monotonic() - begun, max(0, memory.peak() - before)
    if used > memory.STEP:
        memory.forget_peak()
    if getattr(attack, "limits", False):
        tried = Tried(tried.tries, (*tried.findings, *_beyond(seconds, used)), tried.counts)
    for entry in scratch.iterdir():
        shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    return tried, seconds, used


def attempted(attack: Attack, subject: str, number: int, seed: int, scratch: Path) -> Tried:
    """One attempt; what it raises is a finding."""
    try:
        with given_up_after(HUNG):
            return attack.attempt(subject, generator(seed, attack.name, subject, number), scratch)
    except HungAttempt:
        return Tried(1, (Finding(f"not over after {HUNG} s"),))
    except Exception as error:  # whatever is attacked raises
        return Tried(1, (uncaught(error),))


def generator(seed: int, attack: str, subject: str, number: int) -> np.random.Generator:
    """The chance of one attempt: the same on every machine and in every process."""
    digest = hashlib.sha256("\0".join((str(seed), attack, subject, str(number))).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def _beyond(seconds: float, used: int) -> Iterator[Finding]:
    if seconds > SLOW:
        yield Finding(f"took over {SLOW:.0f} s")
    if used > LARGE:
        yield Finding(f"took over {LARGE // MB} MB")


@contextmanager
def given_up_after(seconds: float) -> Iterator[None]:
    """Raise `HungAttempt` inside after so long."""

    def stop(*_: object) -> None:
        raise HungAttempt

    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
