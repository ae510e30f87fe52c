"""Types of arrays and of coefficients, and all teams of a table."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from pydantic import Field

Array = np.ndarray[Any, np.dtype[np.float64]]
Numbers = np.ndarray[Any, np.dtype[np.intp]]


@lru_cache(maxsize=64)
def teams(seats: int, size: int) -> tuple[tuple[int, ...], ...]:
    """All teams of a size, in the order of the game's catalogue."""
    return tuple(combinations(range(seats), size))


@lru_cache(maxsize=64)
def team_rows(seats: int, size: int) -> Array:
    """All teams of a size as 0/1 rows, shape (number of teams, seats)."""
    return np.array([[float(seat in team) for seat in range(seats)] for team in teams(seats, size)])


Term = Annotated[float, Field(ge=-50.0, le=50.0)]
Terms = tuple[Term, ...]
