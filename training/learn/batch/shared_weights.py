"""Layers with one set of weights for all other seats: who sits where in the frame of a seat does not matter to them.

Features and actions that name seats come in families, such as "seat +3: accused" and the votes for seat +3. In these layers the
weight between two units depends on their families, and on whether they are about the same other seat, different ones, or the own
seat; hidden units are divided among the seats likewise. So turning the other seats turns the logits of their aims. What is learned
about one seat holds for all, from a fraction of the decisions. After sharing of weights in graph networks (Zaheer et al., "Deep
Sets", arXiv 1703.06114). To the outside they are linear layers: a trained seat holds their weights in full.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import torch
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import accept
from torch import nn
from torch.nn import functional

_SEAT: Final = re.compile(r"\+(\d+)")
_OWN_SHARE: Final = 4
"""One of so many hidden units is about no other seat, at least."""


class Unit(NamedTuple):
    """A feature, a hidden unit or an action."""

    family: Hashable
    seats: tuple[int, ...]
    """The seats that it is about, counted from the own one; empty for none."""


def feature_units(names: Sequence[str]) -> list[Unit]:
    """Features by their names, in which +3 is the third seat from the own one.

    Raises:
        ParlourError: No name tells a seat.

    >>> feature_units(["night", "seat +2: lives"])
    [Unit(family='night', seats=()), Unit(family='seat +: lives', seats=(2,))]
    """
    units = [Unit(_SEAT.sub("+", name), tuple(map(int, _SEAT.findall(name)))) for name in names]
    if not any(unit.seats for unit in units):
        raise accept("shared", True, "features in the frame of a seat, with names such as 'seat +1: lives'")
    return units


def action_units(tables: BatchTables) -> list[Unit]:
    """Actions, as seat 0 numbers them: an argument that seat 1 counts otherwise is a seat."""
    catalogue, units = tables.game.catalogue, []
    for move, number in zip(catalogue, tables.frame.order[1], strict=True):
        aimed = [a != b for a, b in zip(move.args, catalogue[number].args, strict=True)]
        others = tuple(a for a, seat in zip(move.args, aimed, strict=True) if not seat)
        seats = tuple(a for a, seat in zip(move.args, aimed, strict=True) if seat)
        units.append(Unit((move.kind, others), seats))
    return units


def hidden_units(width: int, seats: int) -> list[Unit]:
    """The same number for each other seat; the rest, a quarter at least, for none. Raises `ParlourError` if there are too few."""
    each = width * (_OWN_SHARE - 1) // _OWN_SHARE // (seats - 1)
    if each < 1:
        least = -(-(seats - 1) * _OWN_SHARE // (_OWN_SHARE - 1))
        raise accept("hidden", width, f"from {least} at a table of {seats} if weights are shared")
    own = [Unit(k, ()) for k in range(width - each * (seats - 1))]
    return own + [Unit(("seat", k), (j,)) for j in range(1, seats) for k in range(each)]


class SharedLinear(nn.Module):
    """A linear layer whose weights are equal wherever the two units stand in the same relation.

    Args:
        inputs: Its inputs.
        outputs: Its outputs.
        gain: Weights have a standard deviation of this, by the root of the number of inputs.
        generator: Draws them.
    """

    places: torch.Tensor
    bias_places: torch.Tensor

    def __init__(
        self, inputs: Sequence[Unit], outputs: Sequence[Unit], gain: float, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = len(inputs), len(outputs)
        places, weights = _numbered([_relation(unit, of) for unit in outputs for of in inputs])
        bias_places, biases = _numbered([_relation(unit, Unit("", ())) for unit in outputs])
        self.register_buffer("places", places, persistent=False)
        self.register_buffer("bias_places", bias_places, persistent=False)
        self.shared = nn.Parameter(torch.randn(weights, generator=generator) * gain / len(inputs) ** 0.5)
        self.shared_bias = nn.Parameter(torch.zeros(biases))

    @property
    def weight(self) -> torch.Tensor:
        """All weights, shape (out, in)."""
        return self.shared.index_select(0, self.places).view(self.out_features, self.in_features)

    @property
    def bias(self) -> torch.Tensor:
        """Shape (out,)."""
        return self.shared_bias.index_select(0, self.bias_places)

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        """(B, in) -> (B, out)."""
        return functional.linear(seen, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, of {self.shared.numel()} weights"


def shared_layers(
    tables: BatchTables, hidden: Sequence[int], generator: torch.Generator | None = None
) -> list[SharedLinear]:
    """Layers from the features to the actions of these tables; small weights in the last. Raises `ParlourError`, see above."""
    inside = [hidden_units(width, tables.seats) for width in hidden]
    units = [feature_units(tables.names), *inside, action_units(tables)]
    gains = [*(2**0.5 for _ in hidden), 0.01]
    return [
        SharedLinear(inputs, outputs, gain, generator)
        for (inputs, outputs), gain in zip(pairwise(units), gains, strict=True)
    ]


def _relation(of: Unit, by: Unit) -> Hashable:
    """What the weight from `by` to `of` depends on."""
    own = tuple(seat == 0 for seat in of.seats)
    seen = tuple((seat == 0, tuple(seat == other for other in of.seats)) for seat in by.seats)
    return of.family, own, by.family, seen


def _numbered(relations: Sequence[Hashable]) -> tuple[torch.Tensor, int]:
    """Equal relations have equal numbers, from 0; and how many there are."""
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(relation, len(numbers)) for relation in relations]
    return torch.tensor(places), len(numbers)
