"""Formats of records of Avalon: `avalonlogs` and `proavalon`, the records of two sites where people play."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from parlour.envs.registry import lookup


@lru_cache(maxsize=128)
def table_of(num_players: int, rules: str, roles: tuple[str, ...], guesser: str | None = None) -> tuple[Any, Any]:
    """The rules of Avalon without talk and their wording, made once for all games of a file; `guesser`: who names Merlin."""
    spec = lookup("avalon_v0").spec
    given = {"num_players": num_players, "rules": rules, "roles": roles, "talk": False, "guesser": guesser}
    game = spec.build(spec.options.from_plain(given))
    return game, spec.text(game)


def record_notes(form: str, at: Any, game_id: str | None, names: Sequence[str]) -> dict[str, Any]:
    """The origin and the seating, for the header of a transcript; `memory`: whether players remembered earlier games."""
    source = {"format": form, "source": at.fields.get("source"), "game_id": game_id}
    return source | {"model": None, "reasoning_effort": None, "memory": False, "names": list(names)}
