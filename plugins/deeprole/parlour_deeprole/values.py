"""Value networks: the probability that good wins in each of the 60 deals, from the public belief over them.

There is one network for each number of successes, fails and rejections. Seat 0 leads; the leaves of a solve have another leader, so
there the weights are turned once instead of every belief.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.policies.array_files import layer_arrays, read_arrays, write_arrays
from parlour.policies.files import reading
from parlour.policies.network import forward

from parlour_deeprole.deals import DEALS, Array, turned
from parlour_deeprole.solver import Leaves, Values, evil_wins, guess

PROPOSALS: Final = 5
QUESTS_TO_WIN: Final = 3

META: Final = "parlour_deeprole"
_SCALE: Final = np.float32(10)
"""What beliefs are multiplied by before the first layer."""
_STEEPEST: Final = np.float32(30)


class Standing(NamedTuple):
    """Which network values a proposal."""

    successes: int
    fails: int
    rejections: int
    """Proposals of this quest that were rejected."""

    @property
    def name(self) -> str:
        """In files: `2-1-0`."""
        return "-".join(map(str, self))


STANDINGS: Final = tuple(
    Standing(good, quests - good, rejections)
    for quests in range(2 * QUESTS_TO_WIN - 2, -1, -1)
    for good in range(QUESTS_TO_WIN)
    if 0 <= quests - good < QUESTS_TO_WIN
    for rejections in range(PROPOSALS - 1, -1, -1)
)
"""From the end of the game to its beginning: leaves of a standing come before it."""


@dataclass(frozen=True, eq=False)
class ValueNetwork:
    """Two hidden layers of rectified units, then the logistic function."""

    layers: tuple[tuple[Array, Array], ...]
    """(weights of shape (in, out), bias of shape (out,)), float32."""

    def __call__(self, beliefs: Array) -> Array:
        """Probabilities that good wins: (B, 60) -> (B, 60)."""
        layers = ((weights.T, bias) for weights, bias in self.layers)
        logits = np.clip(forward(layers, beliefs * _SCALE, "relu"), -_STEEPEST, _STEEPEST)
        values: Array = np.float32(1) / (np.float32(1) + np.exp(-logits))
        return values

    def for_next_leader(self) -> ValueNetwork:
        """The same network for beliefs in the frame of the seat before the leader."""
        (first, bias), *between, (last, last_bias) = self.layers
        to = turned(1)
        weights, out, out_bias = np.empty_like(first), np.empty_like(last), np.empty_like(last_bias)
        weights[to], out[:, to], out_bias[to] = first, last, last_bias
        return ValueNetwork(((weights, bias), *between, (out, out_bias)))


@dataclass(frozen=True, eq=False)
class ValueNetworks:
    """The networks that there are."""

    networks: Mapping[Standing, ValueNetwork]
    told: Mapping[str, Any] = field(default_factory=dict)
    """What they were learned with, as plain values."""
    _next: dict[Standing, ValueNetwork] = field(default_factory=dict)

    def leaves(self, at: Standing) -> Leaves:
        """What follows a proposal: another one, a scored quest, or the end."""
        good, evil, rejections = at
        last = rejections == PROPOSALS - 1
        return Leaves(
            rejected=evil_wins if last else self._after(Standing(good, evil, rejections + 1)),
            succeeded=guess if good == QUESTS_TO_WIN - 1 else self._after(Standing(good + 1, evil, 0)),
            failed=evil_wins if evil == QUESTS_TO_WIN - 1 else self._after(Standing(good, evil + 1, 0)),
        )

    def _after(self, at: Standing) -> Values:
        if at not in self._next:
            self._next[at] = self.networks[at].for_next_leader()
        return self._next[at]

    def save(self, path: str | Path) -> None:
        """Write them to a file."""
        write_arrays(path, META, self._values(), self._arrays())

    def _values(self) -> dict[str, Any]:
        return {"standings": [list(at) for at in self.networks], "layers": 3, "told": dict(self.told)}

    def _arrays(self) -> dict[str, Any]:
        return {
            name: array
            for at, network in self.networks.items()
            for name, array in layer_arrays(network.layers, f"{at.name}.").items()
        }

    def state_dict(self) -> dict[str, Any]:
        """Plain values and arrays, as a checkpoint has them."""
        return {"kind": META, **self._values(), **self._arrays()}

    @classmethod
    def of_state(cls, state: Mapping[str, Any]) -> ValueNetworks:
        """From what `state_dict` gave. Raises KeyError, TypeError or ValueError for another state."""
        standings = (Standing(*counts) for counts in state["standings"])
        return cls({at: _network(at, state["layers"], state) for at in standings}, dict(state["told"]))

    @classmethod
    def load(cls, path: str | Path) -> ValueNetworks:
        """Read networks. Raises `ParlourError` for a file that holds none."""
        unusable = "holds no value networks; accepted: a deeprole.npz of `train deeprole`"
        with reading(path, "policy file", unusable):
            meta, arrays = read_arrays(path, META)
            return cls.of_state(meta | arrays)


def _network(at: Standing, layers: int, arrays: Mapping[str, Array]) -> ValueNetwork:
    """One network of a file. Raises ValueError for arrays that do not fit."""
    arrays_of_layers = tuple(
        (arrays[f"{at.name}.w{k}"].astype(np.float32), arrays[f"{at.name}.b{k}"].astype(np.float32))
        for k in range(layers)
    )
    inputs = len(DEALS)
    for weights, bias in arrays_of_layers:
        if weights.shape != (inputs, len(bias)) or not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise ValueError("weights")
        inputs = len(bias)
    if inputs != len(DEALS):
        raise ValueError("outputs")
    return ValueNetwork(arrays_of_layers)
