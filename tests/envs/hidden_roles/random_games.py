"""Tables of the games with hidden roles, and games of random moves at them, for tests of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from parlour.envs.core import NATURE, OVER

AVALON = [
    {"num_players": 6, "rules": "paper"},
    {"num_players": 7, "rules": "official"},
    {"num_players": 5, "talk": False},
]
WEREWOLF = [
    {"num_players": 4, "rules": "official", "max_days": 3},
    {"num_players": 8, "rules": "paper"},
    {"num_players": 8, "rules": "reference", "talk": False},
    {"num_players": 8, "votes": "as_cast"},
    {"num_players": 9, "rules": "official", "roles": ["Werewolf"] * 2 + ["Witch"] + ["Villager"] * 6},
]


def asked_states(game: Any, seed: int) -> Iterator[Any]:
    """The states of a game of random moves in which a seat has the move."""
    rng = np.random.default_rng(seed)
    s = game.initial()
    while game.actor(s) != OVER:
        if game.actor(s) == NATURE:
            s = game.apply(s, game.nature(s, rng))
            continue
        yield s
        legal = game.legal(s)
        s = game.apply(s, legal[int(rng.integers(len(legal)))])
