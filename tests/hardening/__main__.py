"""`scripts/harden`: attacks parlour with seeded attempts, and reports what lies or breaks. Exit code 1 if anything does."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from hardening.attack import Attack
from hardening.attacks import all_attacks
from hardening.report import report
from hardening.runner import ATTEMPTS, Course, Plan, attempted, run
from parlour.envs.core import ParlourError, accept
from parlour.policies.files import atomic_write
from parlour.training.runs.run import Run

MINUTES = 2.0
"""If neither minutes nor counts are given."""
TELL_EVERY = 10.0
"""Seconds between two lines of progress."""


def main(words: Sequence[str] | None = None, attacks: Mapping[str, Attack] | None = None) -> int:
    """Run the command; returns its exit code: 0 nothing found, 1 findings, 2 an argument is not accepted."""
    try:
        given = _parser().parse_args(words)
        known = dict(all_attacks() if attacks is None else attacks)
        return _try_again(given, known) if given.again else _attack(given, known)
    except ParlourError as error:
        print(f"harden: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("scripts/harden", description=__doc__)
    parser.add_argument("--minutes", type=float, help=f"how long, all attacks together; {MINUTES:g} without --count")
    parser.add_argument(
        "--count", nargs="+", action="extend", metavar="ATTACK=N", help="tries after which an attack ends"
    )
    parser.add_argument("--attack", nargs="+", action="extend", metavar="NAME", help="only these attacks")
    parser.add_argument(
        "--game", nargs="+", action="extend", default=[], metavar="MODULE:ATTRIBUTE", help="games from outside"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="folder for attempts.jsonl and report.md; none is kept without it")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument(
        "--try", dest="again", metavar="ATTACK/SUBJECT/NUMBER", help="one attempt again, as the report names it"
    )
    return parser


def _attack(given: argparse.Namespace, known: Mapping[str, Attack]) -> int:
    plan = _plan(given, known)
    with ExitStack() as stack:
        out = given.out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="harden-")))
        folder = stack.enter_context(Run(out).opened())
        if (folder / ATTEMPTS).exists() and not given.resume:
            raise ParlourError(f"{str(out)!r} holds a run; accepted: another folder, or --resume")
        courses = run(plan, folder, _teller())
        text = report(plan, courses)
        atomic_write(folder / "report.md", text)
    print(text, end="")
    return 1 if any(course.findings for course in courses) else 0


def _plan(given: argparse.Namespace, known: Mapping[str, Attack]) -> Plan:
    counts = dict(_count(text, known) for text in given.count or ())
    names = given.attack or counts or known
    for name in names:
        if name not in known:
            raise accept("attack", name, known)
    if given.minutes is not None and not 0 < given.minutes < 1e6:
        raise accept("--minutes", given.minutes, "more than 0")
    minutes = given.minutes
    if minutes is None and not all(name in counts for name in names):
        minutes = MINUTES
    chosen = [attack for name, attack in known.items() if name in names]
    return Plan(chosen, given.seed, minutes, counts, tuple(given.game))


def _count(text: str, known: Mapping[str, Attack]) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if name not in known or not number.isdecimal():
        raise accept("--count", text, [f"{name}=N" for name in known])
    return name, int(number)


def _try_again(given: argparse.Namespace, known: Mapping[str, Attack]) -> int:
    """One attempt, with all that it found."""
    name, _, rest = given.again.partition("/")
    subject, _, number = rest.rpartition("/")
    if name not in known:
        raise accept("attack", name, known)
    accepted = list(known[name].subjects(tuple(given.game)))
    if subject not in accepted or not number.isdecimal():
        raise accept("--try", given.again, "ATTACK/SUBJECT/NUMBER as the report names it")
    with tempfile.TemporaryDirectory(prefix="harden-") as scratch:
        tried = attempted(known[name], subject, int(number), given.seed, Path(scratch))
    for finding in tried.findings:
        print(f"{finding.what}\n  shortest: {finding.shortest}")
    print(f"{name}, {subject}: {tried.tries} tries, {len(tried.findings)} findings")
    return 1 if tried.findings else 0


class _teller:  # noqa: N801 - called like a function
    """Prints a line of progress now and then."""

    def __init__(self) -> None:
        self._begun = self._last = time.monotonic()

    def __call__(self, courses: Sequence[Course]) -> None:
        now = time.monotonic()
        if now - self._last < TELL_EVERY:
            return
        self._last = now
        done = ", ".join(f"{course.attack.name} {course.tries}/{course.findings}" for course in courses)
        print(f"{now - self._begun:.0f} s, tries/findings: {done}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
