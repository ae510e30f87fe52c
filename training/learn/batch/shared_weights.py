"""Layers with one set of weights for all other seats: who sits where in the frame of a seat does not matter to them.

Features and actions come in families with one member for each seat, such as "seat +3: lives" and the votes for seat +3; hidden
units are divided among the seats likewise. An output about another seat sees the own inputs, those about its seat, and the sum
of those about all; an own output sees the own inputs and the sum. So turning the other seats turns the logits of their aims, and
what is learned about one seat holds for all, after fewer decisions and with less arithmetic. After Zaheer et al., "Deep Sets"
(arXiv 1703.06114). To the outside they are linear layers: a trained seat holds their weights in full.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import torch
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import ParlourError, accept
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
