"""Multi-layer perceptrons in PyTorch: how they are made, and their weights as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.tables import BatchTables
from parlour.training.learn.batch.shared_weights import SharedLinear, shared_layers
from torch import nn

ACTIVATIONS: Final[dict[str, type[nn.Module]]] = {"tanh": nn.Tanh, "relu": nn.ReLU}
Array = NDArray[np.float32]


def use_one_thread() -> None:
    """One thread for PyTorch: fastest for small networks, and sums in one order.

    To be called after the first kernel of Numba, whose start sets the number of threads of OpenMP for both; threads that
    have nothing to do wait on the processor.
    """
    torch.set_num_threads(1)


def mlp(sizes: Sequence[int], activation: str, generator: torch.Generator | None = None) -> nn.Sequential:
    """Linear layers of these sizes, from the inputs to the outputs; orthogonal weights, small in the last layer."""
    parts: list[nn.Module] = []
    for k, (inputs, outputs) in enumerate(pairwise(sizes)):
        layer = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
        gain = 0.01 if k == len(sizes) - 2 else 2**0.5
        nn.init.orthogonal_(layer.weight, gain, generator=generator)
        nn.init.zeros_(layer.bias)
        parts += [layer, ACTIVATIONS[activation]()]
    return nn.Sequential(*parts[:-1])


def shared_mlp(
    tables: BatchTables, hidden: Sequence[int], activation: str, generator: torch.Generator | None = None
) -> nn.Sequential:
    """The same from the features to the actions of these tables, with one set of weights for all other seats."""
    layers = shared_layers(tables, hidden, generator)
    parts = [part for layer in layers for part in (layer, ACTIVATIONS[activation]())]
    return nn.Sequential(*parts[:-1])


def layers_of(network: nn.Module) -> list[nn.Linear | SharedLinear]:
    """The linear layers, from the inputs to the outputs."""
    return [layer for layer in network.modules() if isinstance(layer, nn.Linear | SharedLinear)]


def weights_of(network: nn.Module) -> list[tuple[Array, Array]]:
    """(weights of shape (out, in), bias of shape (out,)) of each layer, copied."""
    return [
        (layer.weight.detach().cpu().numpy().copy(), layer.bias.detach().cpu().numpy().copy())
        for layer in layers_of(network)
    ]


def arrays_of(name: str, network: nn.Module) -> dict[str, Array]:
    """The weights under names of their own, for a checkpoint."""
    return {f"{name}.{key}": value.detach().cpu().numpy().copy() for key, value in network.state_dict().items()}


def load_arrays(name: str, network: nn.Module, stored: dict[str, Any]) -> None:
    """Put back what `arrays_of` gave. Raises KeyError or RuntimeError for weights of another network."""
    network.load_state_dict({key: torch.from_numpy(stored[f"{name}.{key}"]) for key in network.state_dict()})


def adam_arrays(optimiser: torch.optim.Adam) -> dict[str, Array]:
    """The state of the optimiser under names of its own, for a checkpoint."""
    state = optimiser.state_dict()["state"]
    return {
        f"adam.{number}.{key}": value.cpu().numpy().copy()
        for number, own in state.items()
        for key, value in own.items()
    }


def load_adam(optimiser: torch.optim.Adam, stored: dict[str, Any]) -> None:
    """Put back what `adam_arrays` gave."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in stored.items():
        if name.startswith("adam."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = torch.from_numpy(value)
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
