"""A network, or several, as a player that chooses for many tables at once; for others see `parlour.envs.batch.players`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat
from parlour.training.learn.batch.networks import layers_of, mlp
from torch import nn

_BLOCK: Final = 512
"""Decisions that pass through a network at once."""
_IN_PLACE: Final[dict[str, Callable[[torch.Tensor], torch.Tensor]]] = {"tanh": torch.tanh_, "relu": torch.relu_}
_FIRST_STREAM: Final = 8
"""First stream of the players outside the tables; the tables have the streams before it."""


class NetworkPlayer:
    """Draws from a network's probabilities, whichever features the tables have, if the network's own are among them.

    Args:
        name: What it is called.
        network: Logits of a batch of features.
        features: Names of its inputs.
        greedy: Play the most probable legal action.
        frozen: The same logits, faster, of a network that does not learn; None: the network itself.
    """

    features: tuple[str, ...]
    log_probs: NDArray[np.float32]
    """Log-probabilities of the actions of the last call, in its first entries."""

    def __init__(
        self,
        name: str,
        network: nn.Module,
        features: Sequence[str],
        *,
        greedy: bool = False,
        frozen: FrozenLayers | None = None,
    ) -> None:
        self.name, self.network, self.features, self._greedy = name, network, tuple(features), greedy
        self._frozen = frozen

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        missing = set(self.features) - set(tables.names)
        if missing:
            raise ParlourError(f"{self.name} needs features that these tables do not have: {sorted(missing)[:3]}")
        at = {feature: k for k, feature in enumerate(tables.names)}
        columns = np.array([at[feature] for feature in self.features])
        self._columns = None if len(columns) == tables.size and (np.diff(columns) == 1).all() else columns
        self._stream = started(seeds, _FIRST_STREAM + number)
        self.log_probs = np.empty(tables.num_envs, np.float32)

    def choose(self, turns: Turns, rows: NDArray[np.int32], actions: NDArray[np.int32]) -> None:
        mask = turns.mask[rows]
        free = np.flatnonzero(mask.sum(axis=1) > 1)  # a single legal action needs no network
        logits = np.zeros(mask.shape, np.float32)
        seen = turns.observation[rows[free]]
        if self._columns is not None:
            seen = seen[:, self._columns]
        with torch.inference_mode():
            logits[free] = (self._frozen or self.network)(torch.from_numpy(seen)).numpy()
        if self._greedy:
            actions[rows] = np.where(mask != 0, logits, -np.inf).argmax(axis=1)
        else:
            draw(logits, turns.mask, rows, self._stream, actions, self.log_probs)


class FrozenLayers:
    """Logits of layers that do not change, block by block so that a block stays in the processor's cache.

    Args:
        layers: (weights of shape (out, in), bias of shape (out,)) from the features to the logits.
        activation: A name in `ACTIVATIONS`.
    """

    def __init__(self, layers: Sequence[tuple[Any, Any]], activation: str) -> None:
        single = [[torch.from_numpy(np.array(array, np.float32)) for array in layer] for layer in layers]
        self._layers = [(weights.T.contiguous(), bias) for weights, bias in single]
        self._between = _IN_PLACE[activation]

    def __call__(self, seen: torch.Tensor) -> torch.Tensor:
        """(B, features) -> (B, actions)."""
        out = torch.empty(len(seen), len(self._layers[-1][1]))
        for start in range(0, len(seen), _BLOCK):
            hidden = seen[start : start + _BLOCK]
            for weights, bias in self._layers[:-1]:
                hidden = self._between(torch.addmm(bias, hidden, weights))
            weights, bias = self._layers[-1]
            torch.addmm(bias, hidden, weights, out=out[start : start + _BLOCK])
        return out


class MixedPlayer:
    """Several players in equal shares: the table with index b is played by number b mod K of them, in all its games.

    Args:
        name: What it is called.
        members: K of them.
    """

    def __init__(self, name: str, members: Sequence[BatchPlayer]) -> None:
        self.name, self.members = name, tuple(members)

    def reset(self, tables: BatchTables, seeds: Sequence[int], number: int = 0) -> None:
        for member in self.members:
            member.reset(tables, seeds, number)

    def choose(self, turns: Turns, rows: NDArray[np.int32], actions: NDArray[np.int32]) -> None:
        turn = rows % len(self.members)
        for number, member in enumerate(self.members):
            own = rows[turn == number]
            if len(own):
                member.choose(turns, own, actions)


def trained(name: str, seat: TrainedSeat, features: Sequence[str]) -> NetworkPlayer:
    """A trained seat over arrays; it draws or not as its file says."""
    sizes = [seat.layers[0][0].shape[1], *(len(bias) for _, bias in seat.layers)]
    network = mlp(sizes, seat.activation)
    with torch.no_grad():
        for layer, (weights, bias) in zip(layers_of(network), seat.layers, strict=True):
            layer.weight.copy_(torch.from_numpy(np.asarray(weights, np.float32)))
            layer.bias.copy_(torch.from_numpy(np.asarray(bias, np.float32)))
    frozen = FrozenLayers(seat.layers, seat.activation)
    return NetworkPlayer(name, network, features, greedy=not seat.sample, frozen=frozen)
