"""A player for the seats of the modules: it follows the mediator's recommendation, or now and then does something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from parlour.envs.core import Move, ParlourError, accept
from parlour.envs.mediated_qa.vocabulary import ADVISE, MediatedView
from parlour.policies.base import Policy, check_settings


class ObedientModule(Policy):
    """Follows the recommendation with the chance `obedience`, else takes any action, each as likely. Needs `info="full"`.

    Args:
        obedience: 0 to 1.

    Raises:
        ParlourError: It is no such number.
    """

    name: ClassVar[str] = "obedient"
    wants: ClassVar[str] = "view"

    def __init__(self, obedience: float = 1.0) -> None:
        super().__init__()
        if not 0 <= obedience <= 1:
            raise accept("obedience", obedience, "a number from 0 to 1")
        self.obedience = obedience

    def settings(self) -> dict[str, Any]:
        return {"obedience": self.obedience}

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """A module from words: `obedience`, or nothing. Raises `ParlourError` for other ones."""
        check_settings(cls.name, settings, ("obedience",))
        try:
            return cls(float(settings.get("obedience", "1")))
        except ValueError:
            raise accept("obedience", settings["obedience"], "a number from 0 to 1") from None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` away from the modules' seats."""
        view = info.get("view")
        if not isinstance(view, MediatedView) or not view.legal or view.legal[0].kind == ADVISE:
            raise ParlourError(
                "obedient follows advice; accepted: the seats retriever, generator and verifier of mediated_qa_v0, with "
                "info='full'"
            )
        if self.obedience < 1 and self.rng.random() >= self.obedience:
            return int(info["legal"][self.rng.integers(len(view.legal))])
        return int(info["legal"][view.legal.index(Move(view.legal[0].kind, view.advice))])
