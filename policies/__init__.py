"""Observation -> action: the players that parlour brings, and how they are found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.base import Policy
from parlour.policies.human import HumanPolicy
from parlour.policies.random import RandomPolicy
from parlour.policies.rule_of_thumb import RuleOfThumb
from parlour.policies.trained import SUFFIX, TrainedSeat

__all__ = ["HumanPolicy", "Policy", "RandomPolicy", "RuleOfThumb", "TrainedSeat", "make_policy"]

POLICIES: Final[Mapping[str, Callable[[], Policy]]] = {
    RandomPolicy.name: RandomPolicy,
    RuleOfThumb.name: RuleOfThumb,
    HumanPolicy.name: HumanPolicy,
}
"""Name on the command line -> policy. Anything else is the path of a trained seat."""


def make_policy(name: str, game: str, config: Mapping[str, Any]) -> Policy:
    """The policy called `name`, or the trained seat in the file of that name, for a table of `game`.

    Raises:
        ParlourError: There is no such policy, or the file holds one for another game or configuration.
    """
    if name in POLICIES:
        return POLICIES[name]()
    if not name.endswith(SUFFIX) and not Path(name).exists():
        raise ParlourError(f"policy {name!r} is not accepted; accepted: {', '.join(POLICIES)}, a trained {SUFFIX} file")
    trained = TrainedSeat.load(name)
    trained.check_table(game, config)
    return trained
