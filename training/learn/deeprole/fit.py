"""One value network, fitted to solved beliefs by PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from parlour.policies.deeprole.deals import DEALS, Array, other_seatings
from parlour.policies.deeprole.values import ValueNetwork
from parlour.training.learn.batch.networks import layers_of, mlp, use_one_thread, weights_of

_BATCH: Final = 256
_RATE: Final = 3e-3
_POSSIBLE: Final = 0.3
"""Share of the error that counts all deals alike; the rest counts them by the belief."""
_SCALE: Final = 10


@dataclass(frozen=True)
class Fitting:
    """How a network is fitted."""

    hidden: int
    """Width of both hidden layers."""
    steps: int
    """Gradient steps, each on 256 solved beliefs with the seats beside the leader exchanged at random."""
    seed: int


def fit(beliefs: Array, values: Array, chosen: Fitting, start: ValueNetwork | None = None) -> ValueNetwork:
    """Fit a network.

    Args:
        beliefs: (N, 60).
        values: (N, 60): probability that good wins.
        chosen: The settings.
        start: Weights to begin with.
    """
    use_one_thread()
    generator, rng = torch.Generator().manual_seed(chosen.seed), np.random.default_rng(chosen.seed)
    network = mlp((len(DEALS), chosen.hidden, chosen.hidden, len(DEALS)), "relu", generator)
    if start is not None:
        _put(network, start)
    optimiser = torch.optim.Adam(network.parameters(), _RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1, 0.01, chosen.steps)
    seatings = other_seatings()
    for _ in range(chosen.steps):
        rows, order = rng.integers(len(beliefs), size=_BATCH), seatings[rng.integers(len(seatings), size=_BATCH)]
        seen, wanted = (np.take_along_axis(of[rows], order, axis=1).astype(np.float32) for of in (beliefs, values))
        loss = _loss(network, torch.from_numpy(seen), torch.from_numpy(wanted))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return ValueNetwork(tuple((np.ascontiguousarray(weights.T), bias) for weights, bias in weights_of(network)))


def _loss(network: torch.nn.Module, beliefs: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    weight = (1 - _POSSIBLE) * len(DEALS) * beliefs + _POSSIBLE
    loss: torch.Tensor = (weight * (torch.sigmoid(network(_SCALE * beliefs)) - values) ** 2).mean()
    return loss


def _put(network: torch.nn.Module, start: ValueNetwork) -> None:
    with torch.no_grad():
        for layer, (weights, bias) in zip(layers_of(network), start.layers, strict=True):
            layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(weights.T)))
            layer.bias.copy_(torch.from_numpy(bias))


def error(network: ValueNetwork, beliefs: Array, values: Array) -> float:
    """Root mean square error of the game's value, the mean over deals by the belief, over the rows."""
    game = (beliefs * (network(beliefs.astype(np.float32)) - values)).sum(axis=1)
    return float(np.sqrt((game**2).mean()))


def joined(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Beliefs and values of solved proposals as two arrays."""
    return np.array([belief for belief, _ in parts]), np.array([values for _, values in parts])
