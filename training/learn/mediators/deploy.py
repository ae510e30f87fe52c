"""The policy that leaves a run. The candidate with the best lower bound of its gain over the best static policy does, on questions that it
was not learned from. If no interval lies above zero, the best static policy does, which needs no mediator.

Candidates are the mediator of the settings (and its table of states, where it sees more), and where temperature, floor and shrinkage are
not given, the best action of each state, shrunk by `SHRUNK`. A verdict takes `enough.FEWEST` held-out questions or more.
The policy file keeps the answer, and `GraceMediator.recommend` warns where no candidate is better than the best static policy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from parlour.envs.mediated_qa.vocabulary import STATES
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training import statistics
from parlour.training.learn.mediators.enough import too_few
from parlour.training.learn.mediators.learn import ChosenSettings, GraceConfig, LearnedMediator, fit_policy
from parlour.training.learn.mediators.stakes import LEARNED
from parlour.training.learn.mediators.table import UtilityTable
from parlour.training.report.verdicts import SAME, UTILITY, together
from parlour.training.statistics import BETTER

BY_STATE: Final = "best action by state"
SHRUNK: Final = 30.0
"""Pseudo-questions; chosen on corpora of 60 to 300 questions without reported results."""
_MANY: Final = 1_000_000
"""Number of questions beyond which more questions are no advice."""


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


@dataclass(frozen=True)
class Deployment:
    """The verdict of held-out questions."""

    candidate: str
    """The candidate with the best lower bound."""
    usable: bool
    """Whether it is better than the best static policy."""
    kept: bool
    """Whether it leaves the run."""
    verdict: str
    """Which policy leaves the run, why, and what would tell more."""


def choose(
    gains: Mapping[str, statistics.Estimate | None], static: Joint, learned_from: int, *, keep: bool = False
) -> Deployment:
    """Choose what leaves a run.

    Args:
        gains: Candidate -> its net utility minus that of the best static policy, on held-out questions; None: none were held out.
        static: The joint action of that policy.
        learned_from: Number of questions that the candidates were learned from.
        keep: Whether the first candidate leaves the run in any case.
    """
    name = next(iter(gains)) if keep else max(gains, key=lambda candidate: _low(gains[candidate]))
    gain, baseline = gains[name], f"the best static policy ({', '.join(static)})"
    usable = gain is not None and not too_few(gain.n) and UTILITY.outcome(gain) == BETTER
    first = f"Deployed: {f'the {name}' if usable else baseline}."
    if keep and not usable:
        first = f"Deployed as asked, and not usable: the {name}."
    why = "Nothing was held out to test the mediator. Hold out some questions."
    if gain is not None:
        other = baseline if usable or keep else "the best static policy"  # which the first sentence describes
        said = UTILITY.of("held-out questions").compared(f"the {name}", other, gain)
        advice = "" if UTILITY.outcome(gain) in (BETTER, SAME) else _more(gain, learned_from)
        why = together([too_few(gain.n) or said, advice])
    return Deployment(name, usable, usable or keep, together([first, why]))


def _low(gain: statistics.Estimate | None) -> float:
    return -math.inf if gain is None or gain.low is None else gain.low


def _more(gain: statistics.Estimate, learned_from: int) -> str:
    """What to do: the number of held-out questions that would show the gain, where it is a gain."""
    needed = gain.cases_needed(gain.value)
    few = f"It learned from {learned_from:,} questions: learn from more"
    if needed is None or not gain.n < needed < _MANY:
        return f"{few}."
    return f"{few}, and hold out about {needed:,}."
