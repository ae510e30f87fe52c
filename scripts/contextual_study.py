#!/usr/bin/env python3
"""Measure what seeing the question is worth to GRACE's mediator, on generated corpora: docs/lab/2026-11-mediators.md has the results.

Contextual policies stand beside the table, the oracle and the ceiling. On each corpus the mediators learn from the same training
questions and are scored on the same held-out ones, so that differences are paired, question by question; over corpora of one
difficulty these are pooled. The table is the quantal response with cross-validated settings of `train grace`. `SEEDS` were chosen
before any of these corpora was made: all choices of features and settings were made on corpora with the seeds 101 and 102.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import SEES, Payment
from parlour.policies.agents.mediated_qa.joint import Floats
from parlour.training.learn.mediators import baselines, contextual
from parlour.training.learn.mediators.baselines import ceiling
from parlour.training.learn.mediators.contextual import ContextualConfig, learn_contextual
from parlour.training.learn.mediators.learn import GraceConfig, learn
from parlour.training.learn.mediators.simulate import calibrate, table
from parlour.training.measure.statistics import Estimate, mean_estimate, show_interval
from parlour.training.results.result_table import markdown_table
from parlour.training.results.runs import write_csv

SEEDS: Final = (2001, 2002, 2003)
"""Seeds of the corpora with reported results."""
TABLE: Final = "table of states"
HEADING: Final = (
    *("difficulty", "corpora", "system", "net utility", "more than the table", "ahead in"),
    *("share of the gap to the oracle", "to the ceiling"),
)


@dataclass(frozen=True, eq=False)
class Studied:
    """One corpus: net utility of each system on each held-out question."""

    difficulty: str
    seed: int
    earned: dict[str, Floats]


def study(difficulty: str, seed: int) -> Studied:
    """Learn on one generated corpus, and score all systems on its held-out questions."""
    pays, train, held_out = Payment(), 2000, 1000
    pipeline = Pipeline(generate(seed=seed, size=train + held_out, difficulty=difficulty))
    bins = pipeline.learn_bins(range(train))
    rows = calibrate(pipeline, range(train + held_out), payment=pays)
    contexts = np.array([pipeline.context(row.number) for row in rows])
    known, asked, seen, put = rows[:train], rows[train:], contexts[:train], contexts[train:]
    learned = learn(table(known, "published", bins), GraceConfig()).policy
    played = [baselines.learned(TABLE, learned, asked)]
    for sees in SEES[1:]:  # the state alone is the table
        model = learn_contextual(known, seen, pays, ContextualConfig(sees=sees))
        played.append(contextual.contextual(f"contextual, sees {sees}", model, asked, put))
    played += [
        contextual.form_by_state(known, seen, asked, put, pays),
        ceiling(pipeline, asked, pays),
        baselines.oracle(asked),
    ]
    return Studied(difficulty, seed, {system.name: system.utility for system in played})


def compared(corpora: Sequence[Studied], system: str, other: str = TABLE) -> Estimate:
    """How much more a system earned than another, question by question, pooled over corpora."""
    return mean_estimate(np.concatenate([corpus.earned[system] - corpus.earned[other] for corpus in corpora]))


def study_lines(corpora: Sequence[Studied]) -> list[list[Any]]:
    """A line for each difficulty and system, as `HEADING` has it."""
    lines = []
    for difficulty in dict.fromkeys(corpus.difficulty for corpus in corpora):
        part = [corpus for corpus in corpora if corpus.difficulty == difficulty]
        names = list(part[0].earned)
        oracle, known = (compared(part, name).value for name in (names[-1], names[-2]))
        for name in names:
            more = compared(part, name)
            ahead = sum(corpus.earned[name].mean() > corpus.earned[TABLE].mean() for corpus in part)
            mean = float(np.concatenate([corpus.earned[name] for corpus in part]).mean())
            shares = [f"{more.value / gap:.1%}" for gap in (oracle, known)]
            difference = "" if name == TABLE else f"{more.value:+.2f} {show_interval(more, '.2f')}"
            lines.append([difficulty, len(part), name, f"{mean:.2f}", difference, f"{ahead} of {len(part)}", *shares])
    return lines


arguments = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
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


results = []
for difficulty in chosen.difficulty:
    for seed in chosen.seed:
        results.append(study(difficulty, seed))
        tell(results[-1])
write_csv(chosen.out / "systems.csv", list(HEADING), study_lines(results))
print(markdown_table(HEADING, [list(map(str, line)) for line in study_lines(results)]))
for difficulty in chosen.difficulty:
    part = [study for study in results if study.difficulty == difficulty]
    gain = compared(part, "contextual, sees question", "question form x state")
    print(f"{difficulty}: sees question less question form x state {gain.value:+.2f} [{gain.low}, {gain.high}]")
