"""The scripted players over arrays, for `parlour.envs.batch`: one module for each game, named in its `GameSpec`.

Each has `choose(tables, where, actions)`: it writes what the heuristic does to `actions`, (B,) whole numbers, where `where`,
(B,), is nonzero and the game is not over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.compiled import use_threads
from parlour.envs.core import ParlourError


def acting(tables: Any, where: Any) -> Any:
    """Where heuristics act, (B,) uint8, in the threads of their tables. Raises `ParlourError` if the tables keep no beliefs."""
    if not tables.rules[0].believes:
        raise ParlourError("the heuristic needs tables with beliefs; accepted: beliefs=True, or features with belief")
    use_threads(tables.threads)
    return np.asarray(where, np.uint8)
