#!/usr/bin/env python3
"""Measure what seeing the question is worth to GRACE's mediator, on generated corpora: docs/lab/2026-11-mediators.md has the results."""

import argparse
from pathlib import Path

from parlour.training.learn.mediators.contextual_study import HEADING, SEEDS, TABLE, compared, studies, study_lines
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import write_csv

arguments = argparse.ArgumentParser(description=__doc__)
arguments.add_argument("--difficulty", nargs="+", default=["easy", "medium", "hard"])
arguments.add_argument("--seed", nargs="+", type=int, default=list(SEEDS), help="of the corpora")
arguments.add_argument("--out", type=Path, default=Path("runs/contextual"))
chosen = arguments.parse_args()
chosen.out.mkdir(parents=True, exist_ok=True)


def tell(study):
    """One corpus is done."""
    gain = compared([study], "contextual, sees question")
    rows = zip(*(earned.tolist() for earned in study.earned.values()), strict=True)
    write_csv(chosen.out / f"{study.difficulty}-{study.seed}.csv", list(study.earned), [list(row) for row in rows])
    print(
        f"{study.difficulty} {study.seed}: {study.earned[TABLE].mean():.2f}, sees question {gain.value:+.2f}",
        flush=True,
    )


results = studies(chosen.difficulty, chosen.seed, tell)
write_csv(chosen.out / "systems.csv", list(HEADING), study_lines(results))
print(markdown_table(HEADING, [list(map(str, line)) for line in study_lines(results)]))
for difficulty in chosen.difficulty:
    part = [study for study in results if study.difficulty == difficulty]
    gain = compared(part, "contextual, sees question", "question form x state")
    print(f"{difficulty}: sees question less question form x state {gain.value:+.2f} [{gain.low}, {gain.high}]")
