"""Whether a learned mediator may be used: on held-out questions it has to earn more than the best static policy.

The best static policy takes one joint action on all questions, the one with the highest mean over the training questions. It needs
no mediator. A mediator is usable where the interval of its gain over it lies above zero; the policy file keeps the answer, and
`GraceMediator.recommend` warns of a policy that is not usable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training.learn.mediators.baselines import Scores
from parlour.training.measure.statistics import Estimate
from parlour.training.results.verdicts import BETTER, UTILITY, WORSE, cases_needed, compared, together, word

STATIC: Final = "best static"
"""Name of the best static policy's score, before its joint action."""
_MANY: Final = 1_000_000
"""Number of questions beyond which more questions are no advice."""


@dataclass(frozen=True)
class Usability:
    """The verdict of held-out questions on a policy."""

    usable: bool
    verdict: str
    """Whether it may be used, why, and what to do if not."""

    def stored_in(self, policy: PolicyTable) -> PolicyTable:
        """The policy with this in its file."""
        return replace(policy, usable=self.usable, verdict=self.verdict)


def static_policy(action: str) -> str:
    """Name of the best static policy in verdicts, with its joint action."""
    return f"the best static policy ({action})"


def usability(gain: Estimate | None, baseline: str, learned_from: int) -> Usability:
    """Judge a policy.

    Args:
        gain: Net utility of the policy minus net utility of the baseline, on held-out questions; None: nothing was held
        out.
        baseline: The best policy without a mediator, or the policy in use.
        learned_from: Number of questions that the policy was learned from.
    """
    if gain is None:
        return Usability(False, "Not usable: nothing was held out to test the policy. Hold out some questions.")
    said = compared("the mediator", baseline, gain, UTILITY.of("held-out questions"))
    verdict = word(gain)
    if verdict == BETTER:
        return Usability(True, together(["Usable.", said]))
    if verdict == WORSE:
        return Usability(
            False, together(["Not usable; do not deploy it.", said, f"Use {baseline}. {_more(gain, learned_from)}"])
        )
    return Usability(False, together(["Not usable yet.", said, _more(gain, learned_from)]))


def _more(gain: Estimate, learned_from: int) -> str:
    """What to do: the number of held-out questions that would show the gain, where it is a gain."""
    needed = cases_needed(gain, gain.value)
    few = f"It learned from {learned_from:,} questions: learn from more"
    if needed is None or not gain.n < needed < _MANY:
        return f"{few}."
    return f"{few}, and hold out about {needed:,}."


def of_scores(scores: Sequence[Scores], learned_from: int) -> Usability:
    """Judge the first system by its difference from the best static one, on the questions of an experiment."""
    static = next(score for score in scores if score.name.startswith(STATIC))
    baseline = static_policy(static.name.removeprefix(f"{STATIC}: "))
    return usability(static.difference, baseline, learned_from)
