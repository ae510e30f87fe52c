"""What another policy would have earned, from the log of the one in use: inverse propensity and doubly robust estimates.

A logged recommendation has the state s, the joint action a, the probability p with which it was drawn, and the net utility u.
A policy pi is worth, over n of them,

    inverse propensity (Horvitz and Thompson 1952)    mean of w u,  w = pi(a|s) / p
    self-normalised (Hajek)                           sum of w u / sum of w
    doubly robust (Dudik, Langford and Li 2011)       mean of [sum over b of pi(b|s) q(s, b)] + w (u - q(s, a))

where s is what pi sees: the state, or also the context that the log holds (`LoggedRecommendation.context`), and q is the mean
utility in the state, shrunk towards its parents and cross-fitted: learned from the other folds. The
first is without bias if pi takes only what was drawn with some chance; the third has less variance where q tells something.
The log says nothing about an action that was never drawn: `unsupported` is the share of pi on actions without a recommendation in
the state, and only q covers it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL, SEEN, SIGNAL_FEATURES, Payment
from parlour.policies.agents.mediated_qa.joint import FALLBACK
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Row
from parlour.policies.agents.mediated_qa.recommendation_log import LoggedRecommendation, Recommendations
from parlour.training.learn.mediators.quantities import estimate, measure
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.measure.statistics import Estimate, mean_estimate, weighted_mean

FOLDS: Final = 5
"""Parts for cross-fitting; row k lies in part k modulo this."""
_FEWEST: Final = 10
"""Results below which nothing is estimated."""


@dataclass(frozen=True)
class PolicyValue:
    """Net utility of a policy by question, as a log tells it."""

    n: int
    """Recommendations with a result."""
    logged: Estimate
    """What the policy in use earned."""
    inverse_propensity: Estimate
    self_normalised: Estimate | None
    """None if the policy takes nothing that was logged."""
    doubly_robust: Estimate
    gain: Estimate
    """Doubly robust estimate minus the utility of the policy in use, question by question."""
    effective: float
    """Effective number of recommendations: (sum of w)^2 / sum of w^2."""
    unsupported: float
    """Share of the policy that rests on actions which were never taken in the state."""


def utility_table(log: Sequence[LoggedRecommendation], payment: Payment | None = None) -> UtilityTable:
    """The recommendations with a result as a simulation table: one cell of a row is known, the others were not tried.

    Raises:
        ParlourError: None has a result.
    """
    pays = payment or Payment()
    results = _with_results(log, pays)
    actions = tuple(dict.fromkeys(record.joint for record, _ in results))
    utilities = np.full((len(results), len(actions)), np.nan)
    for row, (record, net) in enumerate(results):
        utilities[row, actions.index(record.joint)] = net
    ids, states = tuple(record.id for record, _ in results), tuple(record.state for record, _ in results)
    thresholds = log.thresholds if isinstance(log, Recommendations) else {}
    return UtilityTable(ids, states, actions, utilities, thresholds, costs=pays.costs)


def value(policy: PolicyTable, log: Sequence[LoggedRecommendation], payment: Payment | None = None) -> PolicyValue:
    """The worth of a policy by the log of another.

    Args:
        policy: The policy to evaluate; if it sees more than the state, the log must hold what it sees.
        log: The recommendations, with the probabilities they were drawn with.
        payment: What outcomes pay; the published one if None.

    Raises:
        ParlourError: There are too few results, or the log does not hold what the policy sees.
    """
    return _value([policy] * FOLDS, log, payment)


def value_of_learning(
    make: Callable[[UtilityTable], PolicyTable],
    log: Sequence[LoggedRecommendation],
    payment: Payment | None = None,
) -> PolicyValue:
    """The worth of policies that are learned from a log, each by the part of it that it was not learned from.

    Args:
        make: Learns a policy from recommendations as a simulation table (`utility_table`): that of each of the `FOLDS` from the
            others.
        log: As in `value`.
        payment: As in `value`.

    Raises:
        ParlourError: There are too few results.
    """
    table = utility_table(log, payment)
    fold = np.arange(len(table)) % FOLDS
    if len(table) < FOLDS:
        raise ParlourError(f"{len(table)} recommendations with a result; accepted: at least {_FEWEST}")
    return _value([make(table.rows(np.flatnonzero(fold != k))) for k in range(FOLDS)], log, payment)


def _value(
    policies: Sequence[PolicyTable], log: Sequence[LoggedRecommendation], payment: Payment | None
) -> PolicyValue:
    """By one policy for each fold."""
    results = _with_results(log, payment or Payment())
    if len(results) < _FEWEST:
        raise ParlourError(f"{len(results)} recommendations with a result; accepted: at least {_FEWEST}")
    records, u = [record for record, _ in results], np.array([net for _, net in results])
    table, rows = utility_table(records, payment), _rows(policies, records)
    chances = [row.get(record.joint, 0.0) for row, record in zip(rows, records, strict=True)]
    w = np.array(chances) / np.array([record.probability for record in records])
    expected, own = _modelled(rows, table)
    robust = expected + w * (u - own)
    return PolicyValue(
        len(records),
        mean_estimate(u),
        mean_estimate(w * u),
        weighted_mean(u, w) if w.any() else None,
        mean_estimate(robust),
        mean_estimate(robust - u),
        float(w.sum() ** 2 / (w**2).sum()) if w.any() else 0.0,
        _unsupported(rows, table),
    )


def payment_of(utilities: str | None) -> Payment:
    """The published payment with utilities from words: four numbers separated by commas; None changes nothing.

    >>> payment_of("1,-2,0,0").utilities
    (1.0, -2.0, 0.0, 0.0)

    Raises:
        ParlourError: There are not four finite numbers.
    """
    if utilities is None:
        return Payment()
    try:
        right, wrong, silent, missed = map(float, utilities.split(","))
    except ValueError:
        right = wrong = silent = missed = math.nan
    if not all(map(math.isfinite, (right, wrong, silent, missed))):
        raise accept("utilities", utilities, "four numbers: right, wrong, rightly silent, wrongly silent")
    return Payment((right, wrong, silent, missed))


def _with_results(log: Sequence[LoggedRecommendation], payment: Payment) -> list[tuple[LoggedRecommendation, float]]:
    with_results = [(entry, net) for entry in log if (net := entry.net(payment)) is not None]
    if not with_results:
        raise ParlourError("no recommendation of the log has a result; accepted: at least one with an outcome")
    return with_results


def _rows(policies: Sequence[PolicyTable], log: Sequence[LoggedRecommendation]) -> list[Row]:
    """What the policy of its fold would have drawn from, of each recommendation."""
    rows = list[Row]([{}] * len(log))
    for k, policy in enumerate(policies):
        part, model = log[k::FOLDS], policy.contextual
        if model is None:
            rows[k::FOLDS] = [policy.rows.get(entry.state, {FALLBACK: 1.0}) for entry in part]
            continue
        contexts = np.array([_context(entry, model.sees) for entry in part], dtype=np.float64).reshape(len(part), -1)
        p = model.policy(contexts, [entry.state for entry in part])
        rows[k::FOLDS] = [dict(zip(model.joints, chances, strict=True)) for chances in p.tolist()]
    return rows


def _context(entry: LoggedRecommendation, sees: str) -> tuple[float, ...]:
    """What a policy sees of a recommendation beside its state; the signals stand in logs that hold no context, too."""
    known, width = entry.context, len(SEEN[sees])
    if not known and entry.signals is not None:
        known = (1.0, *entry.signals)
    elif not known and entry.state == NO_SIGNAL:
        known = (0.0,) * len(SIGNAL_FEATURES)
    if len(known) < width:
        raise ParlourError(
            f"recommendation {entry.id!r} of the log does not hold what a policy sees that sees the {sees}; accepted: a log of "
            "a policy that sees as much"
        )
    return known[:width]


def _modelled(rows: Sequence[Row], table: UtilityTable) -> tuple[Floats, Floats]:
    """Of each question, by a model of the other folds: what the policy would earn, and what the action taken does.

    The model: mean utility of each joint action in a state, shrunk; of one that was never tried the mean of all.
    """
    expected, own = np.zeros(len(table)), np.zeros(len(table))
    fold = np.arange(len(table)) % FOLDS
    taken = np.nanargmax(np.where(np.isnan(table.utilities), -np.inf, 0.0), axis=1)
    for k in range(FOLDS):
        others = table.rows(np.flatnonzero(fold != k))
        by_state, mean = estimate(measure(others), "auto").known, float(np.nanmean(others.utilities))
        for row in np.flatnonzero(fold == k).tolist():
            known = by_state.get(table.states[row], {})
            expected[row] = math.fsum(p * known.get(joint, mean) for joint, p in rows[row].items())
            own[row] = known.get(table.actions[taken[row]], mean)
    return expected, own


def _unsupported(rows: Sequence[Row], table: UtilityTable) -> float:
    tried = estimate(measure(table)).known
    pairs = zip(rows, table.states, strict=True)
    return float(np.mean([sum(p for joint, p in row.items() if joint not in tried[state]) for row, state in pairs]))
