"""What the stakes decide: from one calibrated run, the policy and its scores for any value of a right answer and price of a wrong one.

A run stores the outcome of every joint action on every question, and whether evidence was found. Costs and outcomes do not depend
on payments, so nothing is asked again. Value and price are relative to silence when the closed-book answer is wrong, which keeps
its utility: a right answer pays that utility plus the value, a wrong answer that utility minus the price. So at price 0 silence
gains nothing over a wrong answer; the published utilities (120, -40, 10, -20) are value 110 and price 50.

The policy takes in each state the joint action with the highest mean over the training questions, shrunk towards the state's
parents as in the run. At an infinite price it takes none that was ever wrong on a training question, in whatever state. At price 0 it is
silent only where an answer costs more than it is likely to earn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS, Judgement, Payment
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Thresholds
from parlour.training.learn.mediators import baselines
from parlour.training.learn.mediators.baselines import STATIC, SystemAnswers
from parlour.training.learn.mediators.enough import too_few
from parlour.training.learn.mediators.learn import unit_of
from parlour.training.learn.mediators.quantities import Shrinkage, estimate, measure
from parlour.training.learn.mediators.simulate import Simulated, paid
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.report.verdicts import UTILITY, together
from parlour.training.statistics import BETTER, SHARE, Bounds, Estimate
from pydantic import Field

LEARNED: Final = "learned mediator"
CONTEXTUAL: Final = "contextual policy"
PRICES: Final = (0.0, 10.0, 25.0, 50.0, 100.0, 200.0, 400.0, 1000.0, math.inf)
"""Prices of a wrong answer, at stakes of the published size; other stakes are multiplied by their unit (`learn.unit_of`)."""
_WORST: Final = 1e9
"""Stands for an infinite price where the best action of one question is looked for, in the unit of the stakes."""


Price = Annotated[float, Field(ge=0, allow_inf_nan=True), Accepts("a number from 0, or inf")]
"""What a wrong answer costs."""


class StakesConfig(Settings):
    """The grid of stakes.

    Raises:
        ParlourError: A number is not accepted.
    """

    value: tuple[Annotated[float, Field(gt=0)], ...] = ()
    """What a right answer pays more than silence; None: as in the run."""
    price: tuple[Price, ...] | None = Field(default=None, min_length=1)
    """Pay of a wrong answer below silence; `inf`: never worth it. None: as `PRICES`, in the unit of the run."""
    shrinkage: Shrinkage | None = None
    """Shrinkage of states with few questions towards their parents, in pseudo-questions, or `auto`; 0 for none; None: as in the run, and 0 without one."""

    def prices(self, payment: Payment) -> tuple[float, ...]:
        """The prices of the grid for a run with this payment."""
        unit = unit_of(payment)
        return tuple(float(f"{unit * price:.12g}") for price in PRICES) if self.price is None else self.price


@dataclass(frozen=True)
class StakesScore:
    """One system at one value and price."""

    value: float
    price: float
    system: str
    n: int
    accuracy: Estimate
    """Share of all questions that are answered right."""
    abstention: Estimate
    risk: Estimate | None
    """Share of the answers that are wrong; None if nothing was answered."""
    utility: Estimate
    """Net; -inf without an interval where the price is infinite and an answer was wrong."""

    @property
    def coverage(self) -> float:
        """Share of the questions that are answered."""
        return 1 - self.abstention.value


class SeenQuestions(NamedTuple):
    """A policy that sees more than the state, and what it sees of the held-out questions."""

    model: ContextualModel
    contexts: Floats
    """Shape (questions, features)."""


@dataclass(frozen=True, eq=False)
class Stakes:
    """All that was found."""

    scores: tuple[StakesScore, ...]
    """By value and price; the learned mediator first, the oracle last."""
    policies: dict[tuple[float, float], PolicyTable]
    """Value and price -> policy."""
    gains: dict[tuple[float, float], Estimate]
    """Value and price -> net utility of the mediator, the contextual policy if there is one, minus net utility of the best
    static policy, question by question."""
    reader: str = ""
    """Who answered; empty if it is not told."""
    own: tuple[float, float] = (0.0, 0.0)
    """Value and price of the run itself."""
    reading: str = "GraphRAG"
    """Name of the baseline that searches, reads, and does not check."""

    @property
    def verdict(self) -> str:
        """At how many prices the mediator earns more than the best static policy, and at the price of the run."""
        if few := too_few(self.scores[0].n):
            return few
        finite = {at: gain for at, gain in self.gains.items() if at[1] < math.inf}
        scale = UTILITY.of("held-out questions")
        better = sum(scale.outcome(gain) == BETTER for gain in finite.values())
        said = f"The learned mediator is better than the best static policy at {better} of {len(finite)} prices."
        if self.own not in finite:
            return said
        own = scale.compared("the learned mediator", "the best static policy", finite[self.own])
        return together([said, f"At the price of the run ({self.own[1]:g}):", own[0].lower() + own[1:]])


def payment_at(payment: Payment, value: float, price: float) -> Payment:
    """The payment with these stakes; an infinite price stays a large finite one.

    >>> payment_at(Payment(), 110.0, 50.0) == Payment()
    True
    """
    _, _, silent, missed = payment.utilities
    return payment._replace(utilities=(silent + value, silent - min(price, _WORST * unit_of(payment)), silent, missed))


def value_of(payment: Payment) -> float:
    """Pay of a right answer above silence."""
    return payment.utilities[0] - payment.utilities[2]


def policy_at(
    train: Sequence[Simulated],
    payment: Payment,
    price: float,
    *,
    joint: str = "published",
    shrinkage: Shrinkage = 0.0,
    thresholds: Thresholds | None = None,
) -> PolicyTable:
    """The policy at some stakes, from training questions (see above).

    Args:
        train: The questions.
        payment: As `payment_at` gives it.
        price: Price of a wrong answer; it only matters whether it is infinite.
        joint: Which joint actions it may take, a key of `vocabulary.JOINTS`.
        shrinkage: As in `quantities.estimate`.
        thresholds: Thresholds of the signals, for the policy's file.

    Raises:
        ParlourError: There are no questions, or every joint action was wrong once.
    """
    wrong = {k for row in train for k, outcome in enumerate(row.outcomes) if outcome == Judgement.ANSWERED_WRONG}
    offered = [action for action in JOINTS[joint] if price < math.inf or ALL.index(action) not in wrong]
    if not offered:
        raise ParlourError("every joint action was wrong once; accepted: a finite price, or joint actions that refuse")
    places = [ALL.index(joint) for joint in offered]
    utilities = np.array([[row[k] for k in places] for row in (simulated.net(payment) for simulated in train)])
    ids, states = tuple(str(k) for k in range(len(train))), tuple(row.state for row in train)
    names: tuple[Joint, ...] = tuple(joint.names for joint in offered)
    estimated = estimate(measure(UtilityTable(ids, states, names, utilities)), shrinkage)
    best = {state: names[int(np.argmax(row))] for state, row in zip(estimated.states, estimated.value, strict=True)}
    return PolicyTable({state: {joint: 1.0} for state, joint in best.items()}, thresholds or {})


def stakes(
    train: Sequence[Simulated],
    held_out: Sequence[Simulated],
    config: StakesConfig,
    payment: Payment | None = None,
    *,
    joint: str = "published",
    thresholds: Thresholds | None = None,
    reader: str = "",
    seen: SeenQuestions | None = None,
    retriever: str = "graph",
) -> Stakes:
    """Policies and scores over the grid; arguments as in `policy_at`, `payment` that of the run, `reader` who answered, for
    tables and policies, `seen` a policy that sees more than the state, which is priced again and compared, `retriever` the name of
    the run's.

    Raises:
        ParlourError: There are no questions to learn from or to be scored on.
    """
    payment = payment or Payment()
    scores: list[StakesScore] = []
    policies, gains, reading = {}, {}, baselines.reading_name(retriever)
    for value in config.value or (value_of(payment),):
        for price in config.prices(payment):
            pays = payment_at(payment, value, price)
            made = policy_at(train, pays, price, joint=joint, shrinkage=config.shrinkage or 0.0, thresholds=thresholds)
            policies[value, price] = replace(made, reader=reader)
            systems = _systems(made, paid(train, pays), paid(held_out, pays), pays, joint, seen, reading)
            limits = baselines.possible(pays, [played.utility for played in systems])
            scores += [_score(played, value, price, limits) for played in systems]
            static = next(system for system in systems if system.name == STATIC)
            used = systems[0 if seen is None else 1]
            gains[value, price] = baselines.gain(used.utility, static.utility, limits)
    right, wrong, silent, _ = payment.utilities
    return Stakes(tuple(scores), policies, gains, reader, (right - silent, silent - wrong), reading)


def _systems(
    made: PolicyTable,
    train: Sequence[Simulated],
    rows: Sequence[Simulated],
    payment: Payment,
    joint: str,
    seen: SeenQuestions | None,
    reading: str,
) -> list[SystemAnswers]:
    """All systems; of a contextual policy its best action at this payment, by the same models of the outcomes."""
    static, contextual = baselines.best_static(train, rows, joint), []
    if seen is not None:
        values = seen.model.values(seen.contexts, [row.state for row in rows], payment)
        best = [seen.model.joints[k] for k in values.argmax(axis=1).tolist()]
        contextual = [baselines.drawn(CONTEXTUAL, best, rows)]
    return [
        baselines.learned(LEARNED, made, rows),
        *contextual,
        baselines.fixed("no retrieval", baselines.CLOSED_BOOK, rows),
        baselines.fixed(reading, baselines.GRAPH_RAG, rows),
        replace(baselines.refusing(rows, [row.confidence for row in rows], payment), name="refusal by confidence"),
        replace(static, name=STATIC),
        baselines.oracle(rows, joint),
    ]


def _score(played: SystemAnswers, value: float, price: float, limits: Bounds) -> StakesScore:
    utility = Estimate.mean(played.utility, limits)
    if math.isinf(price) and (played.answered > played.right).any():
        utility = Estimate(-math.inf, n=utility.n)
    risk = None
    if (right := baselines.reliability(played)) is not None:
        low, high = (None if end is None else 1 - end for end in (right.high, right.low))
        risk = Estimate(1 - right.value, low, high, right.n)
    accuracy, abstention = Estimate.mean(played.right, SHARE), Estimate.mean(1 - played.answered, SHARE)
    return StakesScore(value, price, played.name, utility.n, accuracy, abstention, risk, utility)


def refusal_curve(rows: Sequence[Simulated]) -> list[tuple[float, float]]:
    """Coverage and risk of the closed-book answer for every least confidence at which it is given, widest last."""
    number = ALL.index(baselines.CLOSED_BOOK)
    points = []
    for least in sorted({row.confidence for row in rows}, reverse=True):
        outcomes = [row.outcomes[number] for row in rows if row.confidence >= least]
        answered = [outcome for outcome in outcomes if outcome <= Judgement.ANSWERED_WRONG]
        if answered:
            points.append((len(answered) / len(rows), answered.count(Judgement.ANSWERED_WRONG) / len(answered)))
    return points
