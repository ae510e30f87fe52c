"""The floor that every result is compared with: any legal action, each as likely as the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from parlour.policies.base import Policy, legal_numbers


class RandomPolicy(Policy):
    """Plays a uniformly random legal action."""

    name: ClassVar[str] = "random"
    wants: ClassVar[str] = "view"

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        legal = legal_numbers(observation, info)
        return int(legal[int(self.rng.integers(len(legal)))])

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float]:
        share = info["members"] / (info["seats"] - 1)
        return [0.0 if seat == self.seat else share for seat in range(info["seats"])]
