"""PettingZoo's own test suites, imported without the warning that their import makes, and what is by design in parlour's games."""

from __future__ import annotations

import warnings

import pytest

with warnings.catch_warnings():  # PettingZoo's tests import one of its games in a way that it warns of itself
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, render_test, seed_test

__all__ = [
    "api_test",
    "by_design",
    "max_cycles_test",
    "parallel_api_test",
    "parallel_seed_test",
    "render_test",
    "seed_test",
]

by_design = [
    pytest.mark.filterwarnings(f"ignore:{message}")
    for message in (
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be",
        "Action space for each agent probably should be",
        "Action mask numpy array is all zeros",
        "Observation numpy array is all zeros",
    )
]
"""Prose is no array, the action of words is no number, and a seat that waits has an empty mask."""
