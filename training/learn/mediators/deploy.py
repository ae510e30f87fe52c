"""The policy that leaves a run. The candidate with the best lower bound of its gain over the best static policy does, in cross-validation
over the training questions. If no interval lies above zero, the best static policy does, which needs no mediator. Held-out questions
only test what was chosen.

Candidates are the mediator of the settings (and its table of states, where it sees more), and where temperature, floor and shrinkage are
not given, the best action of each state, shrunk by `SHRUNK`. Choice and test take `enough.FEWEST` questions or more.
The policy file keeps the answer, and `GraceMediator.recommend` warns where no candidate is better, or the test says that it is worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from parlour.envs.mediated_qa.vocabulary import STATES
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training import statistics
from parlour.training.learn.mediators.baselines import gain as gained
from parlour.training.learn.mediators.contextual import CrossFitted
from parlour.training.learn.mediators.enough import FEWEST, too_few
from parlour.training.learn.mediators.learn import (
    ChosenSettings,
    GraceConfig,
    LearnedMediator,
    earned,
    fit_policy,
    parts_of,
)
from parlour.training.learn.mediators.stakes import LEARNED
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.report.verdicts import SAME, UTILITY, together
from parlour.training.statistics import BETTER, WORSE

BY_STATE: Final = "best action by state"
SHRUNK: Final = 30.0
"""Pseudo-questions; chosen on corpora of 60 to 300 questions without reported results."""


def candidates(
    table: UtilityTable, config: GraceConfig, settings: ChosenSettings, contextual: ContextualModel | None = None
) -> dict[str, LearnedMediator]:
    """Name -> what may be deployed, learned from a table; the mediator of the settings first."""
    states, made = fit_policy(table, config, settings), {}
    if contextual is not None:
        sees = replace(states, policy=replace(states.policy, contextual=contextual))
        made[f"{LEARNED} that sees the {contextual.sees}"] = sees
    made["learned table of states" if made else LEARNED] = states
    if config.method == "quantal" and (config.temperature, config.floor, config.shrinkage) == (None, None, 0.0):
        made[BY_STATE] = fit_policy(table, config.replace(temperature=0.0, floor=0.0, shrinkage=SHRUNK))
    return made


def static_table(joint: Joint, table: UtilityTable) -> PolicyTable:
    """The policy that recommends the same joint action whatever the state."""
    return PolicyTable({state: {joint: 1.0} for state in STATES}, table.thresholds, actions=table.action_set)


def validated(
    table: UtilityTable,
    config: GraceConfig,
    settings: ChosenSettings,
    limits: statistics.Bounds,
    contextual: CrossFitted | None = None,
) -> dict[str, statistics.Estimate | None]:
    """Candidate -> its gain in cross-validation over the static policy that is best on all questions of a table.

    The questions that choose that policy score it, which favours it. Chosen in each fold it would look worse than it is: where two
    actions are close, a fold in which one did well leaves questions that choose the other.

    Args:
        table: The training questions; of fewer than `FEWEST` nothing is validated.
        config: How to learn.
        settings: Temperature and floor, as chosen on the whole table.
        limits: The least and the greatest utility that a question can have.
        contextual: What sees more than the state.
    """
    ours, theirs = dict[str, Floats](), table.utilities[:, best_column(table)]
    parts = parts_of(table, config.folds, config.seed) if len(set(table.ids)) >= FEWEST else []
    for kept, left_out in parts:
        train, test = table.rows(kept), table.rows(left_out)
        for name, made in candidates(train, config, settings, contextual and contextual.model).items():
            sees = contextual if made.policy.contextual else None
            known = sees.earned[left_out] if sees else earned(made.policy, test)
            ours.setdefault(name, np.full_like(theirs, np.nan))[left_out] = known
    return {name: gain_of(earnings, theirs, limits) for name, earnings in ours.items()}


def best_column(table: UtilityTable) -> int:
    """The joint action with the highest mean over a table's questions; of equals the first."""
    tried = np.flatnonzero(~np.isnan(table.utilities).all(axis=0))
    return int(tried[np.nanmean(table.utilities[:, tried], axis=0).argmax()])


def gain_of(ours: Floats, theirs: Floats, limits: statistics.Bounds) -> statistics.Estimate | None:
    """How much more one policy earned than another on the questions that evaluate both; None if there are none."""
    known = ~np.isnan(ours - theirs)
    return gained(ours[known], theirs[known], limits) if known.any() else None


@dataclass(frozen=True)
class Deployment:
    """Which policy leaves a run, and its test."""

    candidate: str
    """The candidate with the best lower bound."""
    kept: bool
    """Whether it leaves the run."""
    usable: bool
    """Whether it was better than the best static policy when chosen, and is not worse on held-out questions."""
    verdict: str
    """Which policy leaves the run, why, and what would tell more."""


def choose(
    gains: Mapping[str, statistics.Estimate | None],
    tested: Mapping[str, statistics.Estimate | None],
    static: Joint,
    learned_from: int,
    *,
    keep: bool = False,
) -> Deployment:
    """Choose what leaves a run.

    Args:
        gains: Candidate -> its net utility minus that of the best static policy, on training questions that it was not learned from;
            None: too few.
        tested: The same on held-out questions, which choose nothing; None: none were held out.
        static: The joint action of that policy.
        learned_from: Number of training questions.
        keep: Whether the first candidate leaves the run in any case.
    """
    name = next(iter(gains)) if keep else max(gains, key=lambda candidate: _low(gains[candidate]))
    gain, test, baseline = gains[name], tested[name], f"the best static policy ({', '.join(static)})"
    better = gain is not None and UTILITY.outcome(gain) == BETTER
    usable = better and (test is None or bool(too_few(test.n)) or UTILITY.outcome(test) != WORSE)
    first = f"Deployed: {f'the {name}' if better else baseline}."
    if keep and not better:
        first = f"Deployed as asked, and not usable: the {name}."
    why = too_few(learned_from, "training question")
    if gain is not None:
        other = baseline if better or keep else "the best static policy"  # which the first sentence describes
        said = UTILITY.of("questions of the cross-validation").compared(f"the {name}", other, gain)
        more = f"It learned from {learned_from:,} questions: learn from more."
        advice = "" if UTILITY.outcome(gain) in (BETTER, SAME) else more
        why = together([said, advice])
    return Deployment(name, better or keep, usable, together([first, why, _test(name, test)]))


def _test(name: str, test: statistics.Estimate | None) -> str:
    """What questions say that had no part in the choice."""
    if test is None:
        return "Nothing was held out to test it. Hold out some questions."
    few = too_few(test.n, lacks="test")
    return few or f"Test of the {name}: {UTILITY.of('held-out questions').told(test)}."


def _low(gain: statistics.Estimate | None) -> float:
    return -math.inf if gain is None or gain.low is None else gain.low
