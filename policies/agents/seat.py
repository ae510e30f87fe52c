"""A policy that asks a model: its voice, what it tells the transcript, and how it is saved without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from parlour.envs.core import ParlourError, accept
from parlour.policies.base import Policy
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import Model, OfflineModel, SeatModel


class AskingPolicy(Policy):
    """A seat that asks a model.

    Args:
        model: Who answers its questions; the heuristics by default. One model may serve many seats and games.
    """

    def __init__(self, model: Model | None = None) -> None:
        super().__init__()
        self.model = model or OfflineModel()
        self.seat_model = SeatModel(self.model, 0, 0)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.seat_model = SeatModel(self.model, seat, seed)

    def notes(self) -> dict[str, Any]:
        """The questions asked since the last time, for the transcript."""
        calls = self.seat_model.calls()
        return {"calls": calls} if calls else {}

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], model: Model) -> Self:
        """A policy from words, as the command line takes them. Raises `ParlourError` for a setting it does not have."""
        for key in settings:
            raise accept(f"setting of {cls.name}", key, "none")
        return cls(model)

    def settings(self) -> dict[str, Any]:
        return {"model": self.model.settings()}

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy that `save` wrote; a key for its model is taken from the environment.

        Raises:
            ParlourError: The file holds none of this kind, or its model cannot be made.
        """
        try:
            stored = json.loads(Path(path).read_text("utf-8"))
            kind, settings = stored["policy"], dict(stored["settings"])
            config = ModelConfig(**settings.pop("model"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ParlourError(f"{str(path)!r} is no saved policy ({error}); accepted: what `save` wrote") from None
        if kind != cls.name:
            raise accept("policy in file", kind, (cls.name,))
        try:
            return cls._saved(make_model(config), settings)
        except (TypeError, KeyError) as error:
            raise ParlourError(f"{str(path)!r} is no saved policy ({error}); accepted: what `save` wrote") from None

    @classmethod
    def _saved(cls, model: Model, settings: dict[str, Any]) -> Self:
        """The policy with settings from a file, the model aside."""
        return cls(model, **settings)
