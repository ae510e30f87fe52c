"""What seeing the question is worth on generated corpora: contextual policies beside the table, the oracle and the ceiling.

On each corpus the mediators learn from the same training questions and are scored on the same held-out ones, so that
differences are paired, question by question; over corpora of one difficulty these are pooled. The table is the quantal
response with cross-validated settings of `train grace`. `SEEDS` were chosen before any of these corpora was made: all choices of
features and settings were made on the corpora of `LOOKED_AT`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.mediated_qa.corpus import DIFFICULTIES, generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import SEES, Payment
from parlour.policies.agents.mediated_qa.joint import Floats
from parlour.training.learn.mediators import baselines, contextual
from parlour.training.learn.mediators.baselines import ceiling
from parlour.training.learn.mediators.contextual import ContextualConfig, learn_contextual
from parlour.training.learn.mediators.learn import GraceConfig, learn
from parlour.training.learn.mediators.simulate import calibrate, table
from parlour.training.measure.statistics import Estimate, mean_estimate, show_interval

SEEDS: Final = (2001, 2002, 2003)
"""Seeds of the corpora with reported results."""
LOOKED_AT: Final = (101, 102)
"""Seeds of the corpora that features and settings were chosen on."""
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


def study(difficulty: str, seed: int, train: int = 2000, held_out: int = 1000) -> Studied:
    """Learn on one generated corpus, and score all systems on its held-out questions."""
    pays = Payment()
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


def studies(
    difficulties: Sequence[str] = tuple(DIFFICULTIES),
    seeds: Sequence[int] = SEEDS,
    progress: Callable[[Studied], object] = lambda _: None,
) -> list[Studied]:
    """All corpora, one after another."""
    corpora = []
    for difficulty in difficulties:
        for seed in seeds:
            corpora.append(study(difficulty, seed))
            progress(corpora[-1])
    return corpora


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
