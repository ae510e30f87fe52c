"""What a learned mediator is compared with on held-out questions: baselines, the oracle, and a ceiling; and their scores.

Baselines after section 4.1 of the paper: no retrieval; GraphRAG (always search shallowly and answer, unchecked); refusal by the
confidence of the closed-book answer. Beyond it: the joint action that is best on average over the training questions, and
the oracle, which knows what each joint action will earn on each question, and bounds them all.

Where a service knows other actions, `actions` says which, and the joint actions are its `all`.
All play the same questions, so that differences are paired. A policy that draws its actions is scored by its expected utility.

The ceiling knows everything but the lottery of a simulated memory. Its memory is drawn by hash
(`parlour.envs.mediated_qa.readers.Memory`): each fact by the fame of its subject, then what is misremembered, then each guess and
sample. The oracle sees how these draws fell. The ceiling sees evidence, answers from it, verdicts and all chances of the
memory, and takes the joint action with the highest expected net utility, computed exactly by going through what memory may
hold; it is then scored on what in fact came out, as all others are.

A learned mediator is usable where the interval of its gain over the best static policy, which needs no mediator, lies above zero.
The policy file keeps the answer, and `GraceMediator.recommend` warns of a policy that is not usable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, comb
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.pipeline import AGREEMENT, SAMPLES, Pipeline
from parlour.envs.mediated_qa.readers import Memory, OfflineReader
from parlour.envs.mediated_qa.vocabulary import JOINTS, PUBLISHED, Joint, Payment, outcome_of
from parlour.policies.agents.mediated_qa.joint import Joint as Names
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.table import Floats
from parlour.training.measure import statistics
from parlour.training.results.verdicts import BETTER, UTILITY, WORSE, cases_needed, compared, together, word

CONFIDENT: Final = 0.7
"""Least confidence at which the third baseline answers (the paper's threshold)."""
CLOSED_BOOK: Final = PUBLISHED[-1]
GRAPH_RAG: Final = PUBLISHED[1]


@dataclass(frozen=True, eq=False)
class SystemAnswers:
    """What a system did on each question; arrays of shape (questions,)."""

    name: str
    utility: Floats
    answered: Floats
    """Chance that it answered."""
    right: Floats
    """Chance that it answered right."""


@dataclass(frozen=True)
class Scores:
    """The four metrics of the paper."""

    name: str
    n: int
    accuracy: statistics.Estimate
    abstention: statistics.Estimate
    reliability: statistics.Estimate | None
    """Right among answered; None if nothing was answered."""
    utility: statistics.Estimate
    difference: statistics.Estimate
    """Net utility of the first system minus net utility of this one, question by question."""


def fixed(name: str, joint: Joint, rows: Sequence[Simulated], actions: ActionSet = PUBLISHED_ACTIONS) -> SystemAnswers:
    """Always the same joint action."""
    return mixed(name, [{joint: 1.0}] * len(rows), rows, actions)


def drawn(name: str, joints: Sequence[Names], rows: Sequence[Simulated]) -> SystemAnswers:
    """The joint action drawn for each question, of the published actions."""
    return mixed(name, [{PUBLISHED_ACTIONS.joint_of(joint): 1.0} for joint in joints], rows)


def refusing(
    rows: Sequence[Simulated],
    confidences: Sequence[float],
    payment: Payment,
    actions: ActionSet = PUBLISHED_ACTIONS,
) -> SystemAnswers:
    """The closed-book answer where its confidence is at least `CONFIDENT`, else silence; the cost is paid in either case."""
    played = fixed("token-confidence refusal", actions.closed_book, rows, actions)
    sure = np.array(confidences) >= CONFIDENT
    missed, kept = (payment.net(actions.closed_book, of) for of in (vocabulary.MISSED, vocabulary.KEPT_SILENT))
    utility = np.where(sure, played.utility, np.where(played.right > 0, missed, kept))
    return SystemAnswers(played.name, utility, played.answered * sure, played.right * sure)


def best_static(
    train: Sequence[Simulated],
    rows: Sequence[Simulated],
    joint: str = "published",
    actions: ActionSet = PUBLISHED_ACTIONS,
) -> SystemAnswers:
    """The joint action with the highest mean over the training questions; of equals the first."""
    means = dict(zip(actions.all, np.array([row.utilities for row in train]).mean(axis=0).tolist(), strict=True))
    best = max(actions.joints(joint), key=means.__getitem__)
    return fixed(f"best static: {', '.join(actions.names_of(best))}", best, rows, actions)


def oracle(
    rows: Sequence[Simulated], joint: str = "published", actions: ActionSet = PUBLISHED_ACTIONS
) -> SystemAnswers:
    """On each question the joint action that earns most there."""
    offered = [(action, actions.all.index(action)) for action in actions.joints(joint)]
    best = [max(offered, key=lambda pair: row.utilities[pair[1]])[0] for row in rows]
    return mixed("oracle", [{choice: 1.0} for choice in best], rows, actions)


def learned(name: str, policy: PolicyTable, rows: Sequence[Simulated]) -> SystemAnswers:
    """A policy table; in a state without a row the fallback."""
    actions = policy.actions
    by_state = {state: {actions.joint_of(names): p for names, p in row.items()} for state, row in policy.rows.items()}
    fallback = {actions.fallback: 1.0}
    return mixed(name, [by_state.get(row.state, fallback) for row in rows], rows, actions)


def mixed(
    name: str, chances: Sequence[dict[Joint, float]], rows: Sequence[Simulated], actions: ActionSet = PUBLISHED_ACTIONS
) -> SystemAnswers:
    """On each question one joint action, drawn with these chances."""
    if not rows:
        raise ParlourError("there are no questions to be scored on; accepted: at least one")
    p = np.array([[chance.get(joint, 0.0) for joint in actions.all] for chance in chances])
    outcomes = np.array([row.outcomes for row in rows])
    utilities = np.array([row.utilities for row in rows])
    answered = (outcomes == vocabulary.ANSWERED_RIGHT) | (outcomes == vocabulary.ANSWERED_WRONG)
    right = outcomes == vocabulary.ANSWERED_RIGHT
    return SystemAnswers(name, (p * utilities).sum(axis=1), (p * answered).sum(axis=1), (p * right).sum(axis=1))


# -- scores ----------------------------------------------------------------------------------------------------


def score(systems: Sequence[SystemAnswers], payment: Payment | None = None) -> list[Scores]:
    """The metrics of each system; differences are to the first. `payment`: the published run's if None."""
    first, possible = systems[0], _possible([played.utility for played in systems], payment or Payment())
    return [
        Scores(
            played.name,
            len(played.utility),
            statistics.mean_estimate(played.right, statistics.SHARE),
            statistics.mean_estimate(1 - played.answered, statistics.SHARE),
            reliability(played),
            statistics.mean_estimate(played.utility, possible),
            statistics.mean_estimate(
                first.utility - played.utility, (possible[0] - possible[1], possible[1] - possible[0])
            ),
        )
        for played in systems
    ]


def _possible(utilities: Sequence[Floats], pays: Payment) -> statistics.Bounds:
    """What a question can pay; or what some did, where another table pays more or less."""
    parts = pairwise((*pays.starts, len(pays.costs)))
    dearest = sum(max(pays.costs[first:last]) for first, last in parts)
    every = np.concatenate([*utilities, [min(pays.utilities) - dearest, max(pays.utilities)]])
    return float(every.min()), float(every.max())


def reliability(played: SystemAnswers) -> statistics.Estimate | None:
    """Right among answered; None if nothing was answered."""
    if not played.answered.any():
        return None
    answered = np.where(played.answered > 0, played.answered, 1.0)
    return statistics.weighted_mean(played.right / answered, played.answered, statistics.SHARE)


def lines(scores: Sequence[Scores]) -> list[list[str]]:
    """The scores as cells: a heading, then a row for each system."""
    heading = ["system", "n", "accuracy", "abstention", "effective reliability", "net utility", "first less this"]
    rows = [
        [
            *(score.name, str(score.n)),
            *map(in_percent, (score.accuracy, score.abstention, score.reliability)),
            *(statistics.show_estimate(utility, ".2f") for utility in (score.utility, score.difference)),
        ]
        for score in scores
    ]
    return [heading, *rows]


def in_percent(share: statistics.Estimate | None) -> str:
    """A share with its interval, as a cell."""
    return "-" if share is None else f"{share.value:.1%} {statistics.show_interval(share, '.1f', 100)}"


class Recollection(NamedTuple):
    """One thing that memory may hold."""

    chance: float
    plain: str
    """The closed-book answer."""
    agreed: Mapping[str, float]
    """Chance of each answer on which the samples agree; the rest is none."""


def recollections(memory: Memory, question: CorpusQuestion) -> list[Recollection]:
    """All that a memory may hold of a question; the chances sum to 1."""
    options = (*question.decoys, question.answer) if len(question.decoys) < 2 else question.decoys
    known = 1.0 if question.answer else 0.0  # what has no answer is not known, whatever is remembered
    for _, _, fame in set(question.facts):
        known *= memory.unknown + (memory.famous - memory.unknown) * fame
    mistaken = (1 - known) * (memory.mistaken if question.decoys else 0.0)
    memories = [Recollection(known, question.answer, _agreed(options, question.answer, memory.slip))]
    for decoy in question.decoys:
        share = mistaken / len(question.decoys)
        memories.append(Recollection(share, decoy, _agreed(options, decoy, memory.slip)))
    guessed = _agreed(options, "", 1.0)
    guesses = [Recollection((1 - known - mistaken) / len(options), option, guessed) for option in options]
    return memories + guesses


def knows_chances(pipeline: Pipeline) -> bool:
    """Whether there is a ceiling: rules and a simulated memory answer and check, by the published actions."""
    return pipeline.offline and pipeline.actions == PUBLISHED_ACTIONS


def _agreed(options: Sequence[str], belief: str, slip: float) -> dict[str, float]:
    """Chance that enough of the samples are each answer, none of which can be so together with another."""
    single = dict.fromkeys((*options, *filter(None, [belief])), 0.0)
    if belief:
        single[belief] += 1 - slip
    for option in options:
        single[option] += slip / len(options)
    least = ceil(AGREEMENT * SAMPLES - 1e-9)
    return {
        answer: sum(comb(SAMPLES, k) * p**k * (1 - p) ** (SAMPLES - k) for k in range(least, SAMPLES + 1))
        for answer, p in single.items()
    }


def expected(pipeline: Pipeline, number: int, joints: Sequence[Joint], payment: Payment) -> list[float]:
    """Expected net utility of each joint action over all that memory may hold.

    Raises:
        ParlourError: The reader has no simulated memory.
    """
    if not (isinstance(pipeline.reader, OfflineReader) and knows_chances(pipeline)):
        raise ParlourError(
            "the ceiling goes through a simulated memory; accepted: the offline reader and the published actions"
        )
    question, memories = pipeline.questions[number], recollections(pipeline.reader.memory, pipeline.questions[number])
    return [
        sum(memory.chance * _net(pipeline, number, question, joint, memory, payment) for memory in memories)
        for joint in joints
    ]


def _net(
    pipeline: Pipeline,
    number: int,
    question: CorpusQuestion,
    joint: Joint,
    recollection: Recollection,
    payment: Payment,
) -> float:
    nothing = joint.retriever == vocabulary.NO_RETRIEVAL
    evidence = "" if nothing else pipeline.retrieve(number, joint.retriever)
    plan = PUBLISHED_ACTIONS.executed(joint, evidence != "")
    chances: Mapping[str, float] = {"": 1.0}
    if plan.generator == vocabulary.FROM_EVIDENCE:
        chances = {pipeline.reader.generate(question, evidence, np.random.default_rng(0)): 1.0}
    elif plan.generator == vocabulary.PARAMETRIC:
        chances = {recollection.plain: 1.0}
    elif plan.generator == vocabulary.CONSISTENT:
        chances = {**recollection.agreed, "": 1 - sum(p for answer, p in recollection.agreed.items() if answer != "")}
    known, total = pipeline.right(number, recollection.plain), 0.0
    for answer, chance in chances.items():
        checked = plan.verifier == vocabulary.CHECK and answer != ""
        contradicted = checked and pipeline.check(number, evidence, answer) == vocabulary.CONTRADICTED
        answered = answer != "" and not contradicted
        right = answered and pipeline.right(number, answer)
        total += chance * payment.net(plan, outcome_of(answered=answered, right=right, known=known))
    return total


def ceiling(pipeline: Pipeline, rows: Sequence[Simulated], payment: Payment, joint: str = "published") -> SystemAnswers:
    """On each question the joint action that is best in expectation, as it came out. Raises `ParlourError` as `expected`."""
    offered = JOINTS[joint]
    best = [offered[int(np.argmax(expected(pipeline, row.number, offered, payment)))] for row in rows]
    return drawn("ceiling: all but memory's lottery", [choice.names for choice in best], rows)


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


def usability(gain: statistics.Estimate | None, baseline: str, learned_from: int) -> Usability:
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


def _more(gain: statistics.Estimate, learned_from: int) -> str:
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
