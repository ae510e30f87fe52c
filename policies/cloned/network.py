"""The network of a cloned player: one head for each kind of decision, each scores the legal moves one by one.

The score of a move with the features x, for a seat of the group g, is

    linear[g] . x  +  out . (tanh(hidden x + bias) - tanh(bias))

so that zeros have the score 0; the chances are the softmax of the scores. NumPy alone; a file holds numbers, no code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.array_files import read_arrays, write_arrays
from parlour.policies.cloned.features import COLUMNS, DECISIONS, GROUPS
from parlour.policies.cloned.record import Array
from parlour.policies.files import reading

_META: Final = "parlour_clone"
_UNUSABLE: Final = "is no cloned player; accepted: a clone.npz of `train clone`"


@dataclass(frozen=True, eq=False)
class ChoiceHead:
    """How one kind of decision is taken; D features, H hidden units.

    Raises:
        ParlourError: The shapes do not fit, or a number is not finite.
    """

    linear: Array
    """Shape (groups, D)."""
    hidden: Array
    """Shape (H, D); H may be 0."""
    bias: Array
    """Shape (H,)."""
    out: Array
    """Shape (H,)."""

    def __post_init__(self) -> None:
        size, width = self.linear.shape[-1], len(self.out)
        wanted = {"linear": (len(GROUPS), size), "hidden": (width, size), "bias": (width,), "out": (width,)}
        for name, shape in wanted.items():
            array = getattr(self, name)
            if array.shape != shape or not np.isfinite(array).all():
                raise ParlourError(f"{name} of shape {array.shape} is not accepted; accepted: finite, of shape {shape}")

    def scores(self, rows: Array, group: int) -> Array:
        """Scores of moves: (moves, D) -> (moves,)."""
        between = np.tanh(rows @ self.hidden.T + self.bias) - np.tanh(self.bias)
        scored: Array = rows @ self.linear[group] + between @ self.out
        return scored

    def chances(self, rows: Array, group: int) -> Array:
        """Probabilities of moves: (moves, D) -> (moves,)."""
        scores = self.scores(rows, group)
        weights = np.exp(scores - scores.max())
        chances: Array = weights / weights.sum()
        return chances


@dataclass(frozen=True, eq=False)
class ChoiceNetwork:
    """All heads.

    Raises:
        ParlourError: A kind of decision has no head, or one for other features.
    """

    heads: Mapping[str, ChoiceHead]
    """By decision, one of `DECISIONS`."""
    told: Mapping[str, Any]
    """What it was learned from, as plain values."""

    def __post_init__(self) -> None:
        for kind in DECISIONS:
            check_one_of("decision", kind, self.heads)
            size = self.heads[kind].linear.shape[-1]
            if size != len(COLUMNS[kind]):
                raise ParlourError(f"{kind} with {size} features is not accepted; accepted: {len(COLUMNS[kind])}")

    def save(self, path: str | Path) -> None:
        """Write it to a file, in single precision."""
        columns = {kind: list(COLUMNS[kind]) for kind in DECISIONS}
        arrays = {
            f"{kind}.{of.name}": getattr(self.heads[kind], of.name).astype(np.float32)
            for kind in DECISIONS
            for of in fields(ChoiceHead)
        }
        write_arrays(path, _META, {"columns": columns, "told": dict(self.told)}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> ChoiceNetwork:
        """Read a network. Raises `ParlourError` for a file that holds none, or one for other features."""
        with reading(path, "policy file", _UNUSABLE):
            meta, arrays = read_arrays(path, _META)
            if any(array.dtype.kind != "f" for array in arrays.values()):
                raise TypeError("weights that are no fractions")
            if meta["columns"] != {kind: list(COLUMNS[kind]) for kind in DECISIONS} or not isinstance(
                meta["told"], dict
            ):
                raise TypeError("features of another version")
            heads = {
                kind: ChoiceHead(*(arrays[f"{kind}.{of.name}"].astype(np.float64) for of in fields(ChoiceHead)))
                for kind in DECISIONS
            }
            return cls(heads, meta["told"])
