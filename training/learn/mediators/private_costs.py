"""Would the modules obey, if each paid for its own action? A policy held against the modules' private costs, by state.

With `share` of the outcome's utility for each module and its own costs alone (`equilibrium.module_game`), a module that is told x
follows if nothing else earns it more, given what the others are told beside it. Measured on the training questions' mean
utilities: how often each module would follow, and what disobeying where it pays would gain it (swap regret). The policy as it is
(quantal) stands beside the correlated equilibrium of greatest welfare at that share, which all modules follow by its making.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS
from parlour.policies.agents.mediated_qa import equilibrium
from parlour.policies.agents.mediated_qa.equilibrium import OBEDIENCE_TOLERANCE, NormalForm
from parlour.policies.agents.mediated_qa.joint import FALLBACK, MODULES, Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Row
from parlour.training.learn.mediators import baselines
from parlour.training.learn.mediators.calibrated_run import CalibratedRun
from parlour.training.learn.mediators.table import Floats
from parlour.training.measure.statistics import MeanEstimate, mean_estimate

AS_IT_IS: Final = "policy of the run"
EQUILIBRIUM: Final = "correlated equilibrium"


@dataclass(frozen=True)
class PrivateObedience:
    """A policy at one share; by module in the order of `joint.MODULES`, over the states of the held-out questions."""

    share: float
    policy: str
    n: int
    utility: MeanEstimate
    """Net utility of a held-out question, if everybody obeys."""
    follows: tuple[float, ...]
    """How often the module would follow its advice."""
    regrets: tuple[float, ...]
    """What disobeying gains it in a question, in utility."""


def check_share(share: float) -> float:
    """The same share. Raises `ParlourError` unless it is above 0, up to 1."""
    if not 0 < share <= 1:
        raise accept("share", share, "numbers above 0, up to 1")
    return share


def private_obedience(
    run: CalibratedRun, policy: PolicyTable, shares: Sequence[float]
) -> tuple[tuple[PrivateObedience, ...], dict[float, PolicyTable]]:
    """The policy and the correlated equilibrium at each share; and the latter as policies.

    Raises:
        ParlourError: A share is not accepted, or the policy takes joint actions that the run does not offer.
    """
    policy.check_by_state("the game of the modules")
    nets = _nets(run)
    found, made = [], {}
    for share in map(check_share, shares):
        games = {state: _game(run, net, share) for state, net in nets.items()}
        rows = {state: _equilibrium(games[state], net) for state, net in nets.items()}
        made[share] = PolicyTable(rows, policy.thresholds, reader=policy.reader)
        for name, one in ((AS_IT_IS, policy), (EQUILIBRIUM, made[share])):
            found.append(_measured(share, name, one, run, games))
    return tuple(found), made


def _game(run: CalibratedRun, net: Mapping[Joint, float], share: float) -> NormalForm:
    """Of the modules in one state, at the costs of the run."""
    return equilibrium.module_game(net, individual_costs=True, share=share, costs=run.config.costs)


def _nets(run: CalibratedRun) -> dict[str, dict[Joint, float]]:
    """State -> joint action -> mean net utility over its training questions."""
    offered = JOINTS[run.config.joint]
    places = [ALL.index(one) for one in offered]
    groups: dict[str, list[list[float]]] = {}
    for row in run.train:
        groups.setdefault(row.state, []).append([row.utilities[k] for k in places])
    return {
        state: dict(zip((one.names for one in offered), np.mean(found, axis=0).tolist(), strict=True))
        for state, found in groups.items()
    }


def _equilibrium(game: NormalForm, net: Mapping[Joint, float]) -> Row:
    best = equilibrium.correlated(game, equilibrium.as_array(net))
    return equilibrium.as_row(best.probabilities, tuple(net))


def _measured(
    share: float, name: str, policy: PolicyTable, run: CalibratedRun, games: Mapping[str, NormalForm]
) -> PrivateObedience:
    counts = Counter(row.state for row in run.held_out)
    told = {state: n for state, n in counts.items() if state in games}
    if not told:
        raise ParlourError("no held-out question is in a state of the training questions; accepted: more questions")
    total = sum(told.values())
    follows, regrets = np.zeros(len(MODULES)), np.zeros(len(MODULES))
    for state, n in told.items():
        of_state = _of_state(games[state], policy.rows.get(state, {FALLBACK: 1.0}))
        follows += n / total * of_state[0]
        regrets += n / total * of_state[1]
    utility = mean_estimate(baselines.learned(name, policy, run.held_out).utility)
    return PrivateObedience(share, name, len(run.held_out), utility, _plain(follows), _plain(regrets))


def _of_state(game: NormalForm, row: Row) -> tuple[Floats, Floats]:
    """How often each module follows, and its regret."""
    p = equilibrium.as_array(row)
    found = equilibrium.obedience(game, p)
    follows = []
    for k, gain in enumerate(found.gains):
        told = np.moveaxis(p, k, 0).reshape(len(gain), -1).sum(axis=1)
        obeyed = gain.max(axis=1) <= OBEDIENCE_TOLERANCE * max(1.0, game.scale)
        follows.append(float(told[obeyed].sum()))
    return np.array(follows), np.array(found.regrets)


def _plain(found: Floats) -> tuple[float, ...]:
    return tuple(found.tolist())
