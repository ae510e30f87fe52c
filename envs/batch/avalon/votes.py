"""The vote that self-play can put a price on, since it tells a literal listener the opposite of what the seat is."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.batch.avalon.layout import VOTE
from parlour.envs.batch.tables import Array


def bad_approvals(tables: Any, actions: Array) -> Array:
    """Where the seat to move is good and would vote for a team with an evil seat, known to it or not: (B,) bool.

    Args:
        tables: `AvalonTables`.
        actions: (B,) what each seat to move is about to do, in its own frame.
    """
    games = tables.games
    me, evil = np.maximum(games.actor, 0), (games.side.astype(np.int32) << np.arange(tables.seats)).sum(axis=1)
    votes = (games.phase == VOTE) & (games.side[np.arange(tables.num_envs), me] == 0) & (games.team & evil != 0)
    return np.asarray(votes & (tables.tables.acts[actions, 1] == 1))
