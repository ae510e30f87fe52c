"""A trained seat: a small network that plays by numbers. Loading and playing it needs numpy alone, no PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.common import dotted
from parlour.envs.common.frames import Frame
from parlour.envs.core import TABLE, Encoder, Move, ParlourError, SeatEncoder, View, accept, check_one_of
from parlour.envs.registry import build, known
from parlour.policies.array_files import layer_arrays, read_arrays, write_arrays
from parlour.policies.base import TablePolicy
from parlour.policies.files import reading
from parlour.policies.names import SUFFIX as SUFFIX
from parlour.policies.network import ACTIVATIONS, forward, softmax

Array = np.ndarray[Any, np.dtype[np.float32]]
Scores = np.ndarray[Any, np.dtype[np.float64]]


PROSE: Final[Mapping[str, str]] = {"avalon_v0": "parlour.envs.avalon.prose:AvalonProse"}
"""Game -> dotted name of `game -> (prose -> View)`, which reads a seat's whole text back."""


class ViewReader:
    """Makes features, and its numbers of the legal moves, from the View of any seat of one table, or from its prose."""

    def __init__(self, name: str, config: Mapping[str, Any], features: str) -> None:
        self._made_from = name, config, features
        self._spec = known(name).spec
        self._game = build(self._spec, config)
        self._of = self._spec.encoder(self._game)
        self._features = features
        actions = len(self._game.catalogue)
        framed = features != TABLE
        self._frame = self._of.frame() if framed else Frame.identity(self._game.seats, actions)
        self._number = {move: number for number, move in enumerate(self._game.catalogue)}
        self._encoders: dict[int, Encoder[Any] | SeatEncoder[Any]] = {}

    def __reduce__(self) -> Any:
        return ViewReader, self._made_from  # made again from the rules

    @cached_property
    def view_in(self) -> Callable[[str], View]:
        """Reads the View that words hold; it raises `ParlourError` for words that are not the whole text of a seat."""
        read: Callable[[str], View] = dotted.load(PROSE[self._spec.id], "prose")(self._game)
        return read

    def observed(self, view: View) -> Array:
        """The features, shape (features,)."""
        if view.seat not in self._encoders:
            self._encoders[view.seat] = self._of.of(self._features)
        return self._encoders[view.seat](view)

    def numbers(self, view: View) -> tuple[list[int], np.ndarray[Any, np.dtype[np.int8]]]:
        """The numbers of the moves of `view.legal`, in their order; and the mask, shape (actions,)."""
        row = self._frame.own[view.seat]
        own = [int(row[self._number[Move(move.kind, move.args)]]) for move in view.legal]
        mask = np.zeros(len(self._number), dtype=np.int8)
        mask[own] = 1
        return own, mask


STORED: Final = ("float32", "float16")
"""Types in which weights are stored; played are float32."""
_META: Final = "parlour_seat"


class TrainedSeat(TablePolicy):
    """Plays one game in one configuration: logits = a multi-layer perceptron of the features.

    It sits where observations are the features it was trained on, and in any environment with `info="full"`: there it
    makes them from `info["view"]`, and names its action as the environment does. If its features are in its own frame, and
    its game's prose can be read back (`PROSE`), the whole text of a seat is enough, too.

    Args:
        game: Registry name of the game it was trained on.
        config: The game's configuration, as `game.config`.
        layers: (weights of shape (out, in), bias of shape (out,)) from the features to the logits.
        features: The kind of its features, one of `Encoders.kinds`. Except for `"table"`, its actions are numbered in the
            frame of the seat, too.
        activation: A name in `ACTIVATIONS`.
        sample: Draw from the network's probabilities; otherwise play the most probable legal action.

    Raises:
        ParlourError: An argument is not accepted.
    """

    name: ClassVar[str] = "trained"
    wants: ClassVar[str] = "features"

    def __init__(
        self,
        game: str,
        config: Mapping[str, Any],
        layers: Sequence[tuple[Array, Array]],
        *,
        features: str = TABLE,
        activation: str = "tanh",
        sample: bool = False,
    ) -> None:
        super().__init__()
        check_one_of("activation", activation, ACTIVATIONS)
        _check_layers(layers)
        self.game, self.config, self.layers, self.sample = game, dict(config), list(layers), sample
        self.features, self.activation = features, activation
        self.habits = features.partition(":habits=")[2] or None  # as in `belief:habits=FILE`
        self.table = game, self.config

    @property
    def reads_prose(self) -> bool:
        return self.features != TABLE and known(self.game).spec.id in PROSE

    @cached_property
    def _reader(self) -> ViewReader:
        return ViewReader(self.game, self.config, self.features)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the observation is not of the game it was trained on."""
        if "view" in info and info.get("features", TABLE) != self.features:
            return self.act_by_view(info["view"], info["legal"])
        if "observation" not in observation and self.reads_prose:
            return self.act_by_view(self._reader.view_in(observation["text"]), info["legal"])
        return self._choose(observation["observation"], observation["action_mask"])

    def act_by_view(self, view: View, legal: Sequence[int]) -> int:
        """As `act`, from a View alone; `legal` are the environment's numbers of the legal moves, in the order of `view.legal`."""
        own, mask = self._reader.numbers(view)
        return int(legal[own.index(self._choose(self._reader.observed(view), mask))])

    def chances(self, view: View) -> Scores:
        """The probability of each move of `view.legal` by its logits, in their order: shape (moves,)."""
        own, _ = self._reader.numbers(view)
        return softmax(self.logits(self._reader.observed(view))[own])

    def logits(self, features: Array) -> Scores:
        """Scores of all actions, shape (actions,), before the mask."""
        return forward(self.layers, features.astype(np.float64), self.activation)

    def scores(self, features: Array) -> Array:
        """`logits` of many observations at once, in single precision: (B, features) -> (B, actions)."""
        return forward(self.layers, features, self.activation)

    def save(self, path: str | Path, stored: str = "float32") -> None:
        """Write it to a file, its weights in one of `STORED`. Raises `ParlourError` for another type."""
        check_one_of("stored", stored, STORED)
        how = {"features": self.features, "activation": self.activation, "sample": self.sample}
        meta = {"policy": self.name, "game": self.game, "config": self.config, "layers": len(self.layers), **how}
        write_arrays(path, _META, meta, layer_arrays(self.layers, dtype=stored))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a trained seat. Raises `ParlourError` for a file that is none."""
        with reading(path, "policy file", "is not a trained seat; accepted: a policy.npz of `train seat`"):
            meta, stored = read_arrays(path, _META)
            if any(array.dtype.kind != "f" for array in stored.values()):
                raise TypeError("weights that are no fractions")
            single = {name: np.asarray(array, dtype=np.float32) for name, array in stored.items()}
            layers = [(single[f"w{k}"], single[f"b{k}"]) for k in range(meta["layers"])]
            how = {key: meta[key] for key in ("features", "activation", "sample") if key in meta}
            if not isinstance(meta["game"], str) or not isinstance(how.get("features", ""), str):
                raise TypeError("game and features")
            return cls(meta["game"], meta["config"], layers, **how)

    # -- inside ------------------------------------------------------------------------------------------------

    def _choose(self, features: Array, mask: np.ndarray[Any, Any]) -> int:
        outputs, inputs = len(self.layers[-1][1]), self.layers[0][0].shape[1]
        if features.shape != (inputs,) or mask.shape != (outputs,):
            raise ParlourError(
                f"the network has {inputs} inputs and {outputs} outputs, and this table {features.size} features and {mask.size} "
                f"actions; accepted: the table {self.config} of {self.game}, and the features it learned from, "
                f"by TrainedSeat(..., features=KIND), now {self.features!r}"
            )
        logits = self.logits(features)
        logits[mask == 0] = -np.inf
        if not self.sample:
            return int(np.argmax(logits))
        return int(self.rng.choice(outputs, p=softmax(logits)))


def _check_layers(layers: Sequence[tuple[Array, Array]]) -> None:
    """Raise `ParlourError` unless each layer takes what the one before it gives, in finite numbers."""
    inputs = None
    for number, (weights, bias) in enumerate(layers):
        fits = (
            np.ndim(weights) == 2 and np.shape(bias) == np.shape(weights)[:1] and inputs in (None, np.shape(weights)[1])
        )
        if not fits or not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            text = f"weights {np.shape(weights)}, bias {np.shape(bias)}"
            raise accept(
                f"layer {number}", text, "finite weights (out, in) and bias (out,), in: out of the layer before"
            )
        inputs = np.shape(weights)[0]
    if not layers:
        raise accept("layers", 0, "at least one")
