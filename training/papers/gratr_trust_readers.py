"""What a trust graph is held against, as `parlour train gratr-trust` wrote it: Bayes' habits and a logistic model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.json_values import json_value
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.training.papers.logistic import TERMS

TRAINED: Final = "trained"
"""Name of those that come with parlour."""


@dataclass(frozen=True)
class TrustReaders:
    """Both, learned from the same episodes."""

    habits: WerewolfHabits
    logistic: tuple[float, ...]
    """Weights of the terms."""


def read_readers(path: str | Path) -> TrustReaders:
    """Read readers.json, or what comes with parlour for `"trained"`. Raises `ParlourError` for anything else."""
    try:
        shipped = resources.files("parlour.training.papers").joinpath("data/gratr_readers.json")
        stored = json_value((shipped if str(path) == TRAINED else Path(path)).read_bytes())
        return TrustReaders(_habits(stored["habits"]), _weights(stored["logistic"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ParlourError(
            f"readers {str(path)!r} cannot be read ({error}); accepted: {TRAINED!r}, readers.json of `parlour train gratr-trust`"
        ) from None


def _habits(rates_by_name: Mapping[str, Any]) -> WerewolfHabits:
    rates = {field.name: float(rates_by_name[field.name]) for field in fields(WerewolfHabits)}
    for name, rate in rates.items():
        if not 0 < rate < 1:
            raise ValueError(f"{name} {rate}")
    return WerewolfHabits(**rates)


def _weights(values: Any) -> tuple[float, ...]:
    weights = tuple(float(value) for value in values)
    if len(weights) != TERMS or not np.isfinite(weights).all():
        raise ValueError(f"{len(weights)} weights, not {TERMS} numbers")
    return weights
