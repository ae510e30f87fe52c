"""A trained seat: a small network that plays by numbers. Loading and playing it needs numpy alone, no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.base import TablePolicy
from parlour.policies.files import read_arrays, reading, write_arrays

Array = np.ndarray[Any, np.dtype[np.float32]]
SUFFIX: Final = ".npz"
_META: Final = "parlour_seat"


class TrainedSeat(TablePolicy):
    """Plays one game in one configuration: logits = a multi-layer perceptron with tanh of the features.

    Args:
        game: Registry name of the game it was trained on.
        config: The game's configuration, as `game.config`.
        layers: (weights of shape (out, in), bias of shape (out,)) from the features to the logits.
        sample: Draw from the network's probabilities; otherwise play the most probable legal action.
    """

    name: ClassVar[str] = "trained"
    wants: ClassVar[str] = "features"

    def __init__(
        self, game: str, config: Mapping[str, Any], layers: Sequence[tuple[Array, Array]], *, sample: bool = False
    ) -> None:
        super().__init__()
        self.game, self.config, self.layers, self.sample = game, dict(config), list(layers), sample
        self.table = game, self.config

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the observation is not of the game it was trained on."""
        features, mask = observation["observation"], observation["action_mask"]
        outputs, inputs = len(self.layers[-1][1]), self.layers[0][0].shape[1]
        if features.shape != (inputs,) or mask.shape != (outputs,):
            raise ParlourError(
                f"a table with {features.size} features and {mask.size} actions; accepted: {inputs} and {outputs}, "
                f"as {self.game} with {self.config} has"
            )
        logits = self.logits(features)
        logits[mask == 0] = -np.inf
        if not self.sample:
            return int(np.argmax(logits))
        chance = np.exp(logits - logits.max())
        return int(self.rng.choice(outputs, p=chance / chance.sum()))

    def logits(self, features: Array) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Scores of all actions, shape (actions,), before the mask."""
        hidden = features.astype(np.float64)
        for weights, bias in self.layers[:-1]:
            hidden = np.tanh(weights @ hidden + bias)
        weights, bias = self.layers[-1]
        return weights @ hidden + bias

    def save(self, path: str | Path) -> None:
        arrays = {f"{what}{k}": a for k, layer in enumerate(self.layers) for what, a in zip("wb", layer, strict=True)}
        meta = {"policy": self.name, "game": self.game, "config": self.config, "layers": len(self.layers)}
        write_arrays(path, _META, meta, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a trained seat. Raises `ParlourError` for a file that is none."""
        with reading(path, "policy file", "is not a trained seat; accepted: a policy.npz of `train seat`"):
            meta, stored = read_arrays(path, _META)
            layers = [(stored[f"w{k}"], stored[f"b{k}"]) for k in range(meta["layers"])]
            return cls(meta["game"], meta["config"], layers)
