"""What a learned mediator is compared with on held-out questions: baselines and the oracle, and their scores.

Baselines after section 4.1 of the paper: no retrieval; GraphRAG (always search shallowly and answer, unchecked); refusal by the
confidence of the closed-book answer. Beyond it: the joint action that is best on average over the training questions, and
the oracle, which knows what each joint action will earn on each question, and bounds them all.

Where a service knows other actions, `actions` says which, and the joint actions are its `all`.
All play the same questions, so that differences are paired. A policy that draws its actions is scored by its expected utility.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.vocabulary import PUBLISHED, Joint, Payment
from parlour.policies.agents.mediated_qa.joint import Joint as Names
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training import statistics
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.table import Floats
from parlour.training.report.result_table import Column, ResultTable

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


def reading_name(retriever: str) -> str:
    """What the baseline over the published actions is called that searches shallowly, reads, and does not check.

    >>> reading_name("graph"), reading_name("bm25")
    ('GraphRAG', 'bm25 and read')
    """
    return "GraphRAG" if retriever == "graph" else f"{retriever} and read"


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
    *,
    by_tokens: bool = False,
) -> SystemAnswers:
    """The closed-book answer where its confidence is at least `CONFIDENT`, else silence; the cost is paid in either case."""
    name = "token-confidence refusal" if by_tokens else "refusal by self-reported confidence"
    played = fixed(name, actions.closed_book, rows, actions)
    sure = np.array(confidences) >= CONFIDENT
    missed, kept = (
        payment.net(actions.closed_book, of) for of in (vocabulary.Judgement.MISSED, vocabulary.Judgement.KEPT_SILENT)
    )
    utility = np.where(sure, played.utility, np.where(played.right > 0, missed, kept))
    return SystemAnswers(played.name, utility, played.answered * sure, played.right * sure)


def best_joint(train: Sequence[Simulated], joint: str = "published", actions: ActionSet = PUBLISHED_ACTIONS) -> Joint:
    """The joint action with the highest mean over the training questions; of equals the first."""
    means = dict(zip(actions.all, np.array([row.utilities for row in train]).mean(axis=0).tolist(), strict=True))
    return max(actions.joints(joint), key=means.__getitem__)


def best_static(
    train: Sequence[Simulated],
    rows: Sequence[Simulated],
    joint: str = "published",
    actions: ActionSet = PUBLISHED_ACTIONS,
) -> SystemAnswers:
    """Always the best joint action of the training questions."""
    best = best_joint(train, joint, actions)
    return fixed(f"{STATIC}: {', '.join(actions.names_of(best))}", best, rows, actions)


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
    answered = (outcomes == vocabulary.Judgement.ANSWERED_RIGHT) | (outcomes == vocabulary.Judgement.ANSWERED_WRONG)
    right = outcomes == vocabulary.Judgement.ANSWERED_RIGHT
    return SystemAnswers(name, (p * utilities).sum(axis=1), (p * answered).sum(axis=1), (p * right).sum(axis=1))


# -- scores ----------------------------------------------------------------------------------------------------


def score(systems: Sequence[SystemAnswers], payment: Payment | None = None) -> list[Scores]:
    """The metrics of each system; differences are to the first. `payment`: the published run's if None."""
    first, limits = systems[0], possible(payment or Payment(), [played.utility for played in systems])
    return [
        Scores(
            played.name,
            len(played.utility),
            statistics.Estimate.mean(played.right, statistics.SHARE),
            statistics.Estimate.mean(1 - played.answered, statistics.SHARE),
            reliability(played),
            statistics.Estimate.mean(played.utility, limits),
            gain(first.utility, played.utility, limits),
        )
        for played in systems
    ]


def gain(ours: Floats, theirs: Floats, limits: statistics.Bounds) -> statistics.Estimate:
    """How much more one system earned than another on the same questions; sums that differ by rounding are equal.

    `limits` are the least and the greatest utility that is possible.
    """
    differences = np.where(np.isclose(ours, theirs, rtol=_SAME, atol=0.0), 0.0, ours - theirs)
    return statistics.Estimate.mean(differences, statistics.between(limits))


def possible(pays: Payment, utilities: Sequence[Floats] = ()) -> statistics.Bounds:
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
    return statistics.Estimate.weighted_mean(played.right / answered, played.answered, statistics.SHARE)


def scores_table(scores: Sequence[Scores], title: str) -> ResultTable:
    """The scores, a row for each system."""
    shares = (Column(name, ".1%") for name in ("accuracy", "abstention", "effective reliability"))
    utilities = (Column(name, "z.2f") for name in ("net utility", "first less this"))
    rows = tuple(
        (of.name, of.n, of.accuracy, of.abstention, of.reliability, of.utility, of.difference) for of in scores
    )
    return ResultTable(title, (Column("system"), Column("n"), *shares, *utilities), rows, wrap=True, file="scores.csv")


STATIC: Final = "best static"
"""Name of the best static policy's score, before its joint action."""
_SAME: Final = 1e-12
"""Relative difference of utilities that is rounding."""
