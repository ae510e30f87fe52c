"""Multi-layer perceptrons in PyTorch: how they are made, their weights as arrays, and networks as players at many tables at once.

Layers may have one set of weights for all other seats: who sits where in the frame of a seat does not matter to them.
Features and actions come in families with one member for each seat, such as "seat +3: lives" and the votes for seat +3; hidden
units are divided among the seats likewise. An output about another seat sees the own inputs, those about its seat, and the sum
of those about all; an own output sees the own inputs and the sum. So turning the other seats turns the logits of their aims, and
what is learned about one seat holds for all, after fewer decisions and with less arithmetic. After Zaheer et al., "Deep Sets"
(arXiv 1703.06114). To the outside they are linear layers: a trained seat holds their weights in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.drawing import draw
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import BatchTables, Turns
from parlour.envs.core import ParlourError, accept
from parlour.policies import TrainedSeat
from torch import nn
from torch.nn import functional

_SEAT: Final = re.compile(r"\+(\d+)")
_OWN_SHARE: Final = 4
"""One of so many hidden units is about no other seat, at least."""


class Units(NamedTuple):
    """Features, hidden units or actions: the inputs or outputs of a layer."""

    own: torch.Tensor
    """Numbers of those about no other seat, shape (O,)."""
    others: torch.Tensor
    """Numbers of those about each other seat, the families in one order, shape (n - 1, C)."""

    @property
    def size(self) -> int:
        return len(self.own) + self.others.numel()


def feature_units(names: Sequence[str], seats: int) -> Units:
    """Features by their names, in which +3 is the third seat from the own one. Raises `ParlourError` for names of another kind."""
    return _sorted([(_SEAT.sub("+", name), tuple(map(int, _SEAT.findall(name)))) for name in names], seats, "features")


def action_units(tables: BatchTables) -> Units:
    """Actions, as seat 0 numbers them: an argument that another seat counts otherwise is a seat. Raises `ParlourError`, see above."""
    catalogue, units = tables.game.catalogue, []
    for move, numbers in zip(catalogue, tables.frame.order.T, strict=True):
        counted = {catalogue[number].args for number in numbers}
        aimed = [len(set(args)) > 1 for args in zip(*counted, strict=True)]
        plain = tuple(a for a, seat in zip(move.args, aimed, strict=True) if not seat)
        units.append(((move.kind, plain), tuple(a for a, seat in zip(move.args, aimed, strict=True) if seat)))
    return _sorted(units, tables.seats, "actions")


def hidden_units(width: int, seats: int) -> Units:
    """The same number for each other seat; the rest, a quarter at least, for none. Raises `ParlourError` if there are too few."""
    each = width * (_OWN_SHARE - 1) // _OWN_SHARE // (seats - 1)
    if each < 1:
        least = -(-(seats - 1) * _OWN_SHARE // (_OWN_SHARE - 1))
        raise accept("hidden", width, f"from {least} at a table of {seats} if weights are shared")
    own = width - each * (seats - 1)
    return Units(torch.arange(own), torch.arange(own, width).view(seats - 1, each))


def _sorted(units: Sequence[tuple[Hashable, tuple[int, ...]]], seats: int, what: str) -> Units:
    """Units as (family, seats that it is about). Raises `ParlourError` if one is about several seats, or a family lacks a seat."""
    own, others = list[int](), dict[Hashable, dict[int, int]]()
    for number, (family, about) in enumerate(units):
        if about in ((), (0,)):
            own.append(number)
        elif len(about) == 1:
            others.setdefault(family, {})[about[0]] = number
        else:
            raise _refused(what)
    if not others or any(len(family) != seats - 1 for family in others.values()):
        raise _refused(what)
    table = [[family[j] for family in others.values()] for j in range(1, seats)]
    return Units(torch.tensor(own), torch.tensor(table))


def _refused(what: str) -> ParlourError:
    accepted = "those about one seat at most, in its own frame, such as features=summary of werewolf_v0"
    return ParlourError(f"{what} that cannot share weights are not accepted; accepted with shared: {accepted}")


class SharedLinear(nn.Module):
    """A linear layer of outputs and inputs that are about seats.

    Args:
        inputs: Its inputs.
        outputs: Its outputs.
        gain: Weights have a standard deviation of this, by the root of the number of inputs.
        generator: Draws them.
    """

    in_own: torch.Tensor
    in_others: torch.Tensor
    out_own: torch.Tensor
    out_others: torch.Tensor
    in_order: torch.Tensor
    out_order: torch.Tensor

    def __init__(self, inputs: Units, outputs: Units, gain: float, generator: torch.Generator | None) -> None:
        super().__init__()
        self.in_features, self.out_features = inputs.size, outputs.size
        in_order = torch.cat([inputs.own, inputs.others.flatten()])
        out_order = torch.argsort(torch.cat([outputs.own, outputs.others.flatten()]))
        self._sorts = not torch.equal(in_order, torch.arange(inputs.size))
        self._sorted_again = not torch.equal(out_order, torch.arange(outputs.size))
        numbers: Mapping[str, torch.Tensor] = {
            "in_own": inputs.own,
            "in_others": inputs.others,
            "out_own": outputs.own,
            "out_others": outputs.others,
            "in_order": in_order,
            "out_order": out_order,
        }
        for name, tensor in numbers.items():
            self.register_buffer(name, tensor, persistent=False)
        own, each = len(inputs.own), inputs.others.shape[1]

        def drawn(out: int, of: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(out, of, generator=generator) * gain / inputs.size**0.5)

        apart, alike = len(outputs.own), outputs.others.shape[1]
        self.own_by_own, self.own_by_sum = drawn(apart, own), drawn(apart, each)
        self.other_by_own, self.other_by_sum = drawn(alike, own), drawn(alike, each)
        self.other_by_same = drawn(alike, each)
        self.own_bias, self.other_bias = nn.Parameter(torch.zeros(apart)), nn.Parameter(torch.zeros(alike))

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """(B, in) -> (B, out)."""
        if self._sorts:
            seen = seen.index_select(1, self.in_order)
        own, others = seen[:, : len(self.in_own)], seen[:, len(self.in_own) :]
        others = others.view(len(seen), *self.in_others.shape)
        inputs = torch.cat([own, others.sum(dim=1)], dim=1)
        by_own = torch.cat([self.own_by_own, self.other_by_own])
        by_sum = torch.cat([self.own_by_sum, self.other_by_sum])
        bias = torch.cat([self.own_bias, self.other_bias])
        of_all = functional.linear(inputs, torch.cat([by_own, by_sum], dim=1), bias)
        out_own, shift = of_all[:, : len(self.out_own)], of_all[:, len(self.out_own) :]
        out_others = (others @ self.other_by_same.T).add_(shift[:, None])
        out = torch.cat([out_own, out_others.flatten(1)], dim=1)
        return out.index_select(1, self.out_order) if self._sorted_again else out

    def take(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        """Take over all weights, shape (out, in), and biases, as they are for the first other seat."""
        same, another, outputs = self.in_others[0], self.in_others[-1], self.out_others[0][:, None]
        with torch.no_grad():
            self.own_by_own.copy_(weight[self.out_own[:, None], self.in_own])
            self.own_by_sum.copy_(weight[self.out_own[:, None], same])
            self.other_by_own.copy_(weight[outputs, self.in_own])
            self.other_by_sum.copy_(weight[outputs, another])
            self.other_by_same.copy_(weight[outputs, same] - self.other_by_sum)
            self.own_bias.copy_(bias[self.out_own])
            self.other_bias.copy_(bias[self.out_others[0]])

    @property
    def weight(self) -> torch.Tensor:
        """All weights, shape (out, in)."""
        seats = len(self.in_others)
        weight = self.own_by_own.new_zeros(self.out_features, self.in_features)
        weight[self.out_own[:, None], self.in_own] = self.own_by_own
        weight[self.out_own[:, None], self.in_others.flatten()] = self.own_by_sum.repeat(1, seats)
        for outputs, inputs in zip(self.out_others, self.in_others, strict=True):
            weight[outputs[:, None], self.in_own] = self.other_by_own
            weight[outputs[:, None], self.in_others.flatten()] = self.other_by_sum.repeat(1, seats)
            weight[outputs[:, None], inputs] += self.other_by_same
        return weight

    @property
    def bias(self) -> torch.Tensor:
        """Shape (out,)."""
        bias = self.own_bias.new_zeros(self.out_features)
        bias[self.out_own] = self.own_bias
        bias[self.out_others] = self.other_bias
        return bias


def shared_layers(
    tables: BatchTables, hidden: Sequence[int], generator: torch.Generator | None = None
) -> list[SharedLinear]:
    """Layers from the features to the actions of these tables; small weights in the last. Raises `ParlourError`, see above."""
    inside = [hidden_units(width, tables.seats) for width in hidden]
    units = [feature_units(tables.names, tables.seats), *inside, action_units(tables)]
    gains = [*(2**0.5 for _ in hidden), 0.01]
    return [
        SharedLinear(inputs, outputs, gain, generator)
        for (inputs, outputs), gain in zip(pairwise(units), gains, strict=True)
    ]


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


def put_weights(network: nn.Module, layers: Sequence[tuple[Any, Any]]) -> None:
    """Give each layer weights and bias, as `weights_of` has them."""
    with torch.no_grad():
        for layer, arrays in zip(layers_of(network), layers, strict=True):
            weights, bias = (torch.from_numpy(np.ascontiguousarray(array, np.float32)) for array in arrays)
            if isinstance(layer, SharedLinear):
                layer.take(weights, bias)
            else:
                layer.weight.copy_(weights)
                layer.bias.copy_(bias)


def taken_over(policy: nn.Module, network: nn.Module) -> nn.Module | None:
    """A copy of a policy with the weights of a network; None if sizes or activations differ, or weights that seats of the policy share."""
    between = [[type(part) for part in of.children() if part not in layers_of(of)] for of in (policy, network)]
    own, others = weights_of(policy), weights_of(network)
    if between[0] != between[1] or [bias.shape for _, bias in own] != [bias.shape for _, bias in others]:
        return None
    copy = deepcopy(policy)
    put_weights(copy, others)
    alike = (np.allclose(a, b, atol=1e-5) for a, b in zip(chain(*weights_of(copy)), chain(*others), strict=True))
    return copy if all(alike) else None


def arrays_of(name: str, network: nn.Module) -> dict[str, Array]:
    """The weights under names of their own, for a checkpoint."""
    return {f"{name}.{key}": value.detach().cpu().numpy().copy() for key, value in network.state_dict().items()}


def load_arrays(name: str, network: nn.Module, stored: Mapping[str, Any]) -> None:
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


def load_adam(optimiser: torch.optim.Adam, stored: Mapping[str, Any]) -> None:
    """Put back what `adam_arrays` gave."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in stored.items():
        if name.startswith("adam."):
            _, number, key = name.split(".")
            state.setdefault(int(number), {})[key] = torch.from_numpy(value)
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})


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
    put_weights(network, seat.layers)
    frozen = FrozenLayers(seat.layers, seat.activation)
    return NetworkPlayer(name, network, features, greedy=not seat.sample, frozen=frozen)
