"""Players for the seats of the modules: they do as the mediator recommends, or now and then something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from parlour.envs.core import Move, ParlourError, accept
from parlour.envs.mediated_qa.vocabulary import ADVISE, MediatedView
from parlour.policies.base import Policy, check_settings


class ObedientModule(Policy):
    """Follows the recommendation. Needs `info="full"`.

    Args:
        obedience: Chance to follow it; else any action, each as likely.
    """

    name: ClassVar[str] = "obedient"
    wants: ClassVar[str] = "view"

    def __init__(self, obedience: float = 1.0) -> None:
        super().__init__()
        if isinstance(obedience, bool) or not 0 <= obedience <= 1:
            raise accept("obedience", obedience, "a number 0..1")
        self.obedience = float(obedience)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` away from a module's seat."""
        view = info.get("view")
        if not isinstance(view, MediatedView):
            raise ParlourError("a module goes by info['view']; accepted: mediated_qa_v0 with info='full'")
        if not view.legal or view.legal[0].kind == ADVISE:
            raise ParlourError("this seat is recommended nothing; accepted: retriever, generator or verifier")
        if self.obedience < 1 and self.rng.random() >= self.obedience:
            return int(info["legal"][self.rng.integers(len(view.legal))])
        return int(info["legal"][view.legal.index(Move(view.legal[0].kind, view.advice))])

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """A module from words: `obedience`. Raises `ParlourError` for other settings."""
        check_settings(cls.name, settings, ("obedience",))
        try:
            return cls(float(settings.get("obedience", "1")))
        except ValueError:
            raise accept("obedience", settings["obedience"], "a number 0..1") from None

    def settings(self) -> dict[str, Any]:
        return {"obedience": self.obedience}
