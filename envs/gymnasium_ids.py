"""Ids of the games in Gymnasium's registry: `gymnasium.make("parlour/avalon-v0")` is one seat of `avalon_v0`.

Gymnasium's grammar for ids is `namespace/name-vN` (`gymnasium.envs.registration.ENV_ID_RE`); the name is the game's.
Importing `parlour.envs` registers them. Gymnasium has had no entry points for plugins since 1.0
(https://github.com/Farama-Foundation/Gymnasium/releases/tag/v1.0.0a1); it imports a package by the id itself:
`gymnasium.make("parlour.envs:parlour/avalon-v0")`.
"""

from __future__ import annotations

import re
from typing import Final

import gymnasium

FACTORY: Final = "parlour.training.play.single_seat:make_seat"
"""Dotted name of the function that makes the environments; Gymnasium imports it at the first `make`."""


def gymnasium_id(name: str) -> str:
    """The id of the game that the registry calls `name`.

    >>> gymnasium_id("murder_mystery_v0")
    'parlour/murder_mystery-v0'
    """
    return "parlour/" + re.sub(r"_v(\d+)$", r"-v\1", name)


def register_seat(name: str) -> None:
    """Register a game of the registry with Gymnasium; again is harmless."""
    if gymnasium_id(name) not in gymnasium.registry:
        gymnasium.register(gymnasium_id(name), entry_point=FACTORY, kwargs={"game": name})
