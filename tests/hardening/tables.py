"""Attacks on environments: whatever is done to a table, games stay what they are.

Sources: DESIGN.md sections 2, 3 and 6; PettingZoo's and Gymnasium's contracts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hardening.attack import Finding, Tried
from hardening.games import table_of, tables


class SameSeeds:
    """The same seed gives the same game."""

    name = "seeds"
    share = 0.5

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return tables(outside)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        seed = int(rng.integers(2**31))
        one, other = (table_of(subject).play(seed).moves for _ in range(2))
        findings = () if one == other else (Finding("the same seed gives another game", json.dumps({"seed": seed})),)
        return Tried(1, findings)


ATTACKS = (SameSeeds(),)
