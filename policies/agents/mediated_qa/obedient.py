"""A player for the seats of the modules: it follows the mediator's recommendation, or now and then does something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from parlour.envs.core import Move, ParlourError
from parlour.envs.mediated_qa.vocabulary import ADVISE, MediatedView
from parlour.policies.base import Policy
from parlour.policies.settings import Settings, number, read_settings, setting


@dataclass(frozen=True)
class ObedientSettings(Settings):
    """What can be set."""

    obedience: float = setting(1.0, number(0, 1, "a number from 0 to 1"))
    """How often it follows."""


class ObedientModule(Policy):
    """Follows the recommendation with the chance `obedience`, else takes any action, each as likely. Needs `info="full"`.

    Raises:
        ParlourError: It is no such number.
    """

    name: ClassVar[str] = "obedient"
    wants: ClassVar[str] = "view"

    def __init__(self, obedience: float = 1.0) -> None:
        super().__init__()
        self.chosen = ObedientSettings(obedience)

    def settings(self) -> dict[str, Any]:
        return self.chosen.as_json()

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """A module from words: `obedience`, or nothing. Raises `ParlourError` for other ones."""
        return cls(read_settings(ObedientSettings, settings, cls.name).obedience)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` away from the modules' seats."""
        view = info.get("view")
        if not isinstance(view, MediatedView) or not view.legal or view.legal[0].kind == ADVISE:
            raise ParlourError(
                "obedient follows advice; accepted: the seats retriever, generator and verifier of mediated_qa_v0, with "
                "info='full'"
            )
        if self.chosen.obedience < 1 and self.rng.random() >= self.chosen.obedience:
            return int(info["legal"][self.rng.integers(len(view.legal))])
        return int(info["legal"][view.legal.index(Move(view.legal[0].kind, view.advice))])
