"""Correlated equilibria of finite games by linear program, and how far any recommendation is from being obeyed.

A mediator draws a joint action and tells each player its own part. The draw is a correlated equilibrium (Aumann 1974) if
nobody gains by doing y when told x. With p over joint actions that is, for each player i and pair x -> y,

    sum over a with a_i = x of p(a) [U_i(y, a_-i) - U_i(a)] <= 0,

linear in p, so that the best one is a linear program. Where only some joint actions are feasible, a deviation that would
lead to an infeasible one cannot be made: its terms are left out of the sum. Then an equilibrium may fail to exist, but
not if the players share a payoff, or each adds a cost of its own to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.policies.agents.mediated_qa.joint import Floats, Joint, best_action, key
from scipy.optimize import linprog

OBEDIENCE_TOLERANCE: Final = 1e-9
"""How far an obedience constraint may be exceeded, in units of the payoffs (or of their range, if that is above 1)."""
_TIGHT: Final = 1e-8

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A finite game.

    Raises:
        ParlourError: The shapes do not fit, no joint action is feasible, or a feasible one has a payoff that is not finite.
    """

    payoffs: Floats
    """Shape (players, actions of player 0, actions of player 1, ...)."""
    feasible: Bools | None = None
    """Which joint actions can be done, shape (actions of player 0, ...); None for all."""

    def __post_init__(self) -> None:
        if self.payoffs.ndim < 2 or len(self.payoffs) != self.payoffs.ndim - 1:
            raise accept(
                "shape of payoffs", self.payoffs.shape, "(players, actions of player 0, actions of player 1, ...)"
            )
        if self.feasible is not None and self.feasible.shape != self.shape:
            raise accept("shape of feasible", self.feasible.shape, f"that of the joint actions, {self.shape}")
        if not self.possible.any():
            raise ParlourError("a game without a feasible joint action; accepted: at least one")
        if not np.isfinite(self.payoffs[:, self.possible]).all():
            raise ParlourError("a payoff of a feasible joint action is not finite; accepted: finite numbers")

    @property
    def shape(self) -> tuple[int, ...]:
        """Actions of each player."""
        return self.payoffs.shape[1:]

    @property
    def possible(self) -> Bools:
        """`feasible`, spelled out."""
        return np.ones(self.shape, dtype=bool) if self.feasible is None else self.feasible

    @property
    def scale(self) -> float:
        """The greatest difference between payoffs of one player; 1 if there is none."""
        payoffs = self.payoffs[:, self.possible]
        return float(np.max(payoffs.max(axis=1) - payoffs.min(axis=1))) or 1.0


@dataclass(frozen=True, eq=False)
class Obedience:
    """What players could gain by disobeying a distribution."""

    gains: tuple[Floats, ...]
    """For each player: expected gain of doing y whenever told x, shape (actions told, actions done)."""

    @property
    def regrets(self) -> tuple[float, ...]:
        """For each player: what the best reply to each advice gains in all, never below 0 (the swap regret)."""
        return tuple(float(np.maximum(gain.max(axis=1), 0.0).sum()) for gain in self.gains)

    @property
    def worst(self) -> float:
        """The greatest excess of one obedience constraint; 0 in an equilibrium."""
        return max(0.0, *(float(gain.max()) for gain in self.gains))


def correlated(game: NormalForm, welfare: Floats | None = None) -> Floats:
    """The correlated equilibrium of greatest expected welfare: probabilities of the joint actions, in the shape of the game.

    Args:
        game: The game.
        welfare: What is maximised, by joint action; by default the sum of the payoffs.

    Raises:
        ParlourError: There is none (which needs a restricted feasible set), or the shapes do not fit.
    """
    aim = game.payoffs.sum(axis=0) if welfare is None else welfare
    if aim.shape != game.shape:
        raise accept("shape of welfare", aim.shape, f"that of the joint actions, {game.shape}")
    mask = game.possible.ravel()
    if not np.isfinite(aim.ravel()[mask]).all():
        raise ParlourError("a welfare that is not finite; accepted: finite numbers")
    objective = aim.ravel()[mask]
    constraints = _constraints(game)[:, mask] / game.scale
    p = np.zeros(mask.size)
    p[mask] = _polished(_solved(objective, constraints), constraints)
    probabilities = p.reshape(game.shape)
    excess = obedience(game, probabilities).worst
    if excess > OBEDIENCE_TOLERANCE * max(1.0, game.scale):
        raise ParlourError(f"the linear program was solved to {excess:.2g} only; accepted: payoffs of like size")
    return probabilities


def _solved(objective: Floats, constraints: Floats) -> Floats:
    span = float(np.ptp(objective)) or 1.0
    rows = len(constraints)
    result = linprog(
        -(objective - objective.max()) / span,
        A_ub=constraints if rows else None,
        b_ub=np.zeros(rows) if rows else None,
        A_eq=np.ones((1, len(objective))),
        b_eq=[1.0],
        bounds=(0.0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status == 2:
        raise ParlourError("no correlated equilibrium exists on this feasible set; accepted: a larger one")
    if result.x is None:
        raise ParlourError(f"the linear program was not solved: {result.message}")
    return np.asarray(result.x, dtype=np.float64)


def _polished(p: Floats, constraints: Floats) -> Floats:
    """The same corner of the polytope to rounding: its tight constraints solved as equations, if that is better."""
    support = p > _TIGHT
    tight = np.abs(constraints @ p) < _TIGHT
    equations = np.vstack([np.ones(int(support.sum())), constraints[:, support][tight]])
    right = np.zeros(len(equations))
    right[0] = 1.0
    sharp = np.zeros(len(p))
    sharp[support] = np.linalg.lstsq(equations, right, rcond=None)[0]
    plain = np.clip(p, 0.0, None)
    candidates = [plain / plain.sum()] + ([sharp / sharp.sum()] if sharp.min() >= 0 else [])
    return min(candidates, key=lambda q: float(np.max(constraints @ q, initial=0.0)))


def _constraints(game: NormalForm) -> Floats:
    """One row for each player and pair x -> y, one column for each joint action."""
    numbers = np.arange(game.possible.size).reshape(game.shape)
    rows = [np.zeros((0, game.possible.size))]
    for i, actions in enumerate(game.shape):
        gain, place = _gain(game, i), np.moveaxis(numbers, i, 0).reshape(actions, -1)
        pairs = [(x, y) for x in range(actions) for y in range(actions) if x != y]
        block = np.zeros((len(pairs), game.possible.size))
        for row, (x, y) in zip(block, pairs, strict=True):
            row[place[x]] = gain[x, y]
        rows.append(block)
    return np.vstack(rows)


def _gain(game: NormalForm, i: int) -> Floats:
    """What y gains over x against what the others do, shape (x, y, others); 0 where it cannot be done."""
    actions = game.shape[i]
    own = np.moveaxis(game.payoffs[i], i, 0).reshape(actions, -1)
    can = np.moveaxis(game.possible, i, 0).reshape(actions, -1)
    both = can[:, None, :] & can[None, :, :]
    known = np.where(can, own, 0.0)
    return np.where(both, known[None, :, :] - known[:, None, :], 0.0)


def obedience(game: NormalForm, probabilities: Floats) -> Obedience:
    """What disobeying a distribution over joint actions gains.

    Raises:
        ParlourError: It is none, or gives weight to an infeasible joint action.
    """
    if probabilities.shape != game.shape:
        raise accept("shape of probabilities", probabilities.shape, f"that of the joint actions, {game.shape}")
    if not (probabilities >= 0).all() or abs(probabilities.sum() - 1) > 1e-6:
        raise ParlourError(f"probabilities that sum to {probabilities.sum():.9g}; accepted: none below 0, sum 1")
    if probabilities[~game.possible].any():
        raise ParlourError("an infeasible joint action has a probability; accepted: 0 for those")
    own_first = [np.moveaxis(probabilities, i, 0).reshape(actions, -1) for i, actions in enumerate(game.shape)]
    return Obedience(tuple(np.einsum("xo,xyo->xy", p, _gain(game, i)) for i, p in enumerate(own_first)))


# -- the modules of GRACE --------------------------------------------------------------------------------------


def module_game(
    net: Mapping[Joint, float],
    *,
    individual_costs: bool = False,
    share: float = 1.0,
    actions: ActionSet = PUBLISHED_ACTIONS,
    costs: Sequence[float] | None = None,
) -> NormalForm:
    """The game of retriever, generator and verifier in one state. The joint actions without a value are infeasible.

    Args:
        net: Joint action -> net utility, as of a row of Q-hat.
        individual_costs: Whether a module pays for its own action only; otherwise each gets the net utility.
        share: With own costs, the part of the outcome's utility (net utility and the nominal costs of all three) that each
            module gets. With 1 the modules' interests still agree; below 1 a module may prefer to save its cost.
        actions: What the modules may do, and what it costs.
        costs: What it costs, where that differs; in the order of `actions.costs`.

    Raises:
        ParlourError: `share` is no number from 0, or `net` holds nothing.
    """
    if not 0 <= share < np.inf:
        raise accept("share", share, "a number from 0")
    shape = tuple(map(len, actions.modules))
    payoffs, feasible = np.zeros((len(shape), *shape)), np.zeros(shape, dtype=bool)
    pays = actions.payment(costs=costs)
    for joint, value in net.items():
        place = actions.joint_of(joint)
        feasible[place] = True
        each = pays.costs_of(place)
        gross = value + sum(each)
        for i, own in enumerate(each):
            payoffs[(i, *place)] = share * gross - own if individual_costs else value
    return NormalForm(payoffs, feasible)


def obeyed(values: Floats, joints: Sequence[Joint], costs: Sequence[float], share: float) -> Floats:
    """The best correlated equilibrium on each question, where modules pay for their own action.

    Args:
        values: Net utility of the joint actions, shape (questions, joint actions).
        joints: The joint actions.
        costs: What the published actions cost.
        share: As of `module_game`. At 1 the interests agree: the best action is an equilibrium, and nothing is worth more.

    Returns:
        Probabilities, in the shape of `values`.
    """
    if share == 1:
        return best_action(values)
    policy = np.zeros_like(values)
    for k, nets in enumerate(values.tolist()):
        net = dict(zip(joints, nets, strict=True))
        game = module_game(net, individual_costs=True, share=share, costs=costs)
        policy[k] = list(obeyed_row(game, net).values())
    return policy


def obeyed_row(
    game: NormalForm, net: Mapping[Joint, float], actions: ActionSet = PUBLISHED_ACTIONS
) -> Mapping[Joint, float]:
    """The best correlated equilibrium of the modules where the joint actions have these net utilities."""
    return as_row(correlated(game, as_array(net, actions)), tuple(net), actions)


def as_array(row: Mapping[Joint, float], actions: ActionSet = PUBLISHED_ACTIONS) -> Floats:
    """A row of a policy in the shape of `module_game`."""
    array = np.zeros(tuple(map(len, actions.modules)))
    for joint, p in row.items():
        array[actions.joint_of(joint)] = p
    return array


def as_row(
    probabilities: Floats, joints: Sequence[Joint], actions: ActionSet = PUBLISHED_ACTIONS
) -> Mapping[Joint, float]:
    """The opposite of `as_array`, for these joint actions; together they are scaled to 1."""
    weights = np.array([max(0.0, float(probabilities[actions.joint_of(joint)])) for joint in joints])
    if not weights.sum() > 0:
        raise ParlourError(f"none of {', '.join(map(key, joints))} has a probability; accepted: at least one")
    return dict(zip(joints, (weights / weights.sum()).tolist(), strict=True))
