"""The report: one table of attacks and subjects, then each finding with the command that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from hardening.runner import Course, Plan
from hardening.tally import MB, Tally

HEADINGS = ("attack", "subject", "tries", "findings", "slowest s", "most MB", "of them")


def report(plan: Plan, courses: Sequence[Course]) -> str:
    """As Markdown. Of the same counts always the same, but for seconds and MB."""
    total, findings = sum(course.tries for course in courses), sum(course.findings for course in courses)
    lines = [f"# scripts/harden: {total} tries, {findings} findings (seed {plan.seed})\n", _row(HEADINGS)]
    lines.append(_row(["---"] * len(HEADINGS)))
    for course in courses:
        lines += [_row(_cells(course.attack.name, name, tally)) for name, tally in course.tallies.items()]
        if len(course.tallies) != 1:
            lines.append(_row(_cells(f"**{course.attack.name}**", f"all {len(course.tallies)}", _joined(course))))
    return "\n".join([*lines, *_findings(plan, courses), ""])


def command(plan: Plan, attack: str, subject: str, number: int) -> str:
    """The command that makes one attempt again."""
    games = ["--game", *plan.outside] if plan.outside else []
    return shlex.join(["scripts/harden", "--seed", str(plan.seed), *games, "--try", f"{attack}/{subject}/{number}"])


def _findings(plan: Plan, courses: Sequence[Course]) -> list[str]:
    """Each different finding of an attack once, with the shortest input of all subjects that show it."""
    lines, number = [], 0
    for course in courses:
        for what in dict.fromkeys(what for tally in course.tallies.values() for what in tally.told):
            shown = {subject: tally.told[what] for subject, tally in course.tallies.items() if what in tally.told}
            number, times = number + 1, sum(entry.times for entry in shown.values())
            subject = min(shown, key=lambda key: len(shown[key].finding.shortest))
            entry = shown[subject]
            lines += [
                "",
                f"{number}. {course.attack.name}: {what} ({times} x, {len(shown)} of {len(course.tallies)} subjects)",
            ]
            lines += [f"   - shortest: {entry.finding.shortest}"] if entry.finding.shortest else []
            lines.append(f"   - again: {command(plan, course.attack.name, subject, entry.number)}")
    return lines


def _cells(attack: str, subject: str, tally: Tally) -> list[str]:
    of_them = ", ".join(f"{name} {count}" for name, count in sorted(tally.counts.items()))
    measured = [f"{tally.slowest:.2f}", f"{tally.most / MB:.0f}"]
    return [attack, subject, str(tally.tries), str(len(tally.told)), *measured, of_them]


def _joined(course: Course) -> Tally:
    total = Tally()
    for tally in course.tallies.values():
        total.join(Tally(tally.attempts, tally.tries, tally.counts, tally.slowest, tally.most))
        total.told |= tally.told
    return total


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
