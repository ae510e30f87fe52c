"""What a seat holds possible: for search, and for players that act on the records of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from parlour.envs.plugins import Places

HISTORIES: Final = Places("parlour.histories", {"avalon_v0": "parlour.envs.avalon.histories:histories"})
"""Game -> dotted name of `(game, view) -> parlour.envs.hidden_roles.rules.History, ...`: all that the seat holds possible."""
ROUNDS: Final[Mapping[str, str]] = {"werewolf_v0": "parlour.envs.batch.werewolf.rounds:WerewolfRounds"}
"""Game -> dotted name of `game -> rounds`: the knowledge of a seat, round by round, for search where hidden moves are too many to list
(`parlour.envs.batch.werewolf.rounds`)."""
