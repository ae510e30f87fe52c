"""Joint actions and states of GRACE by name (Nguyen, "GRACE: Graph Reasoning with Adaptive Correlated Equilibrium",
sections 3.1 and 3.4), as its published tables write them.

A joint action is a tuple (retriever, generator, verifier). Its number is its place in `ALL`, which begins with the nine
`PUBLISHED` ones, so that a number means the same at tables with nine actions and with all. Joint actions of
other actions (`parlour.envs.mediated_qa.actions`) have names, columns and keys in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.vocabulary import AGENTS, MODULE_ACTIONS, NO_SIGNAL, Payment

Joint = tuple[str, str, str]
Floats = NDArray[np.float64]

MODULES: Final = AGENTS[1:]
ACTIONS: Final = MODULE_ACTIONS[1:]
"""Actions of each module, in the order of `MODULES`."""
COSTS: Final[Mapping[str, float]] = dict(
    zip((name for names in ACTIONS for name in names), Payment().costs, strict=True)
)
"""Nominal cost of each action, in units of utility (constants of the published run)."""
FALLBACK: Final[Joint] = vocabulary.FALLBACK.names
"""What is done in a state that a policy has no row for."""
PUBLISHED: Final[tuple[Joint, ...]] = tuple(joint.names for joint in vocabulary.PUBLISHED)
"""The nine of the published run, in the order of its tables."""
ALL: Final[tuple[Joint, ...]] = tuple(joint.names for joint in vocabulary.ALL)
"""The seventeen feasible ones of the 24: the published ones, then the others in the order of the modules' actions."""
NUMBER: Final[Mapping[Joint, int]] = {joint: number for number, joint in enumerate(ALL)}
"""Joint action -> number."""
STATES: Final = vocabulary.STATES[:-1]
"""The nine states (T, Q)."""
_SHORT: Final = dict(
    zip(COSTS, ("shallow", "deep", "skip", "gen", "consist", "param", "refuse", "nli", "nocheck"), strict=True)
)


def column(joint: Joint) -> str:
    """Its column in a simulation table.

    >>> column(FALLBACK)
    'u_shallow_refuse_nocheck'
    >>> column(("bm25", "small", "trust"))
    'u_bm25+small+trust'
    """
    if all(action in _SHORT for action in joint):
        return "_".join(("u", *(_SHORT[action] for action in joint)))
    return f"u_{'+'.join(joint)}"


def key(joint: Joint) -> str:
    """Its key in a policy file.

    >>> key(FALLBACK)
    "('retrieve_shallow', 'refuse_to_generate', 'skip_check')"
    """
    return str(tuple(joint))


def best_action(values: Floats) -> Floats:
    """Probability 1 for the best action of each row, the first of equals."""
    return np.asarray(np.eye(values.shape[1])[values.argmax(axis=1)])


def from_column(name: str, actions: ActionSet = PUBLISHED_ACTIONS) -> Joint:
    """The joint action of a column. Raises `ParlourError` for an unknown or infeasible one."""
    return _feasible("action column", name, column, actions)


def from_key(text: str, actions: ActionSet = PUBLISHED_ACTIONS) -> Joint:
    """The joint action of a key in a policy file. Raises `ParlourError` for an unknown or infeasible one."""
    return _feasible("action", text, key, actions)


def check_state(name: object) -> str:
    """The same name. Raises `ParlourError` if it is no state."""
    if name not in (*STATES, NO_SIGNAL):
        raise accept("state", name, "T:low|mid|high_Q:low|mid|high, s0")
    return str(name)


def trust_of(state: str) -> str | None:
    """The parent of a state: all states of equal trust; None for the state without signal.

    >>> trust_of("T:low_Q:high")
    'T:low'
    """
    return None if state == NO_SIGNAL else state.partition("_")[0]


@lru_cache(maxsize=64)
def _written(write: Callable[[Joint], str], actions: ActionSet) -> Mapping[str, Joint]:
    """All joint actions, feasible or not, by what `write` writes for them."""
    return {write(joint): joint for joint in product(*actions.names[1:])}  # type: ignore[misc, arg-type]  # three lists


def _feasible(what: str, name: str, write: Callable[[Joint], str], actions: ActionSet) -> Joint:
    joint = _written(write, actions).get(name)
    if joint is None:
        offered = actions.joints("published")
        shown = " or ".join(write(actions.names_of(place)) for place in (offered[0], offered[-1]))
        raise accept(what, name, f"the {len(actions.all)} feasible joint actions, such as {shown}")
    why = actions.infeasible(actions.joint_of(joint))
    if why is not None:
        raise ParlourError(f"{what} {name!r} is not accepted: {why}")
    return joint
