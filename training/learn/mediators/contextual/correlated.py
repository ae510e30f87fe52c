"""The correlated form of a contextual policy: on each question the best correlated equilibrium of the modules' game.

The expected net utilities of the joint actions on a question are the welfare; where modules pay for their own action only, their
payoffs differ, and a recommendation must be worth following for each of them (`parlour.policies.agents.mediated_qa.equilibrium`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.policies.agents.mediated_qa import equilibrium
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.outcome_model import Floats


def correlated_model(model: ContextualModel, *, individual_costs: bool = False, share: float = 1.0) -> ContextualModel:
    """The same model that plays the best correlated equilibrium; arguments as of `module_game`."""
    return replace(model, temperature=0.0, floor=0.0, share=share if individual_costs else 1.0)


def correlated_policy(
    model: ContextualModel,
    contexts: Floats,
    states: Sequence[str],
    *,
    individual_costs: bool = False,
    share: float = 1.0,
    payment: Payment | None = None,
) -> Floats:
    """Probabilities of the joint actions on each question, shape (questions, joint actions); arguments as of `module_game`."""
    return correlated_model(model, individual_costs=individual_costs, share=share).policy(contexts, states, payment)


def regrets(
    model: ContextualModel,
    contexts: Floats,
    states: Sequence[str],
    policy: Floats,
    *,
    individual_costs: bool = False,
    share: float = 1.0,
    payment: Payment | None = None,
) -> Floats:
    """What each module would gain by disobeying on each question, at most; shape (questions, modules)."""
    found, costs = [], (payment or model.payment).costs
    for net, p in zip(_nets(model, contexts, states, payment), policy.tolist(), strict=True):
        game = equilibrium.module_game(net, individual_costs=individual_costs, share=share, costs=costs)
        row = equilibrium.as_array(dict(zip(model.joints, p, strict=True)))
        found.append(equilibrium.obedience(game, row).regrets)
    return np.array(found)


def _nets(
    model: ContextualModel, contexts: Floats, states: Sequence[str], payment: Payment | None
) -> list[dict[tuple[str, str, str], float]]:
    values = model.values(contexts, states, payment)
    return [dict(zip(model.joints, row, strict=True)) for row in values.tolist()]
