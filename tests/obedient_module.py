"""A player for the seats of the modules: it follows the mediator's recommendation, or now and then does something else."""

from __future__ import annotations

from typing import Any, ClassVar

from parlour.envs.core import Move
from parlour.policies.base import Policy


class ObedientModule(Policy):
    """Follows the recommendation with the chance `obedience`, else takes any action, each as likely."""

    name: ClassVar[str] = "obedient"
    wants: ClassVar[str] = "view"

    def __init__(self, obedience: float) -> None:
        super().__init__()
        self.obedience = obedience

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        view = info["view"]
        if self.obedience < 1 and self.rng.random() >= self.obedience:
            return int(info["legal"][self.rng.integers(len(view.legal))])
        return int(info["legal"][view.legal.index(Move(view.legal[0].kind, view.advice))])
