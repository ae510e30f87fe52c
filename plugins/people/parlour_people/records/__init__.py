"""Formats of records of Avalon: `avalonlogs` and `proavalon`, the records of two sites where people play."""

from __future__ import annotations

from collections.abc import Sequence

from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import ASSASSIN
from parlour.envs.core import ParlourError
from parlour.training.records.avalon.table import table_of
from parlour.training.records.json_objects import JsonObject


def table_at(at: JsonObject, roles: Sequence[str], guesser: str = ASSASSIN) -> tuple[Avalon, AvalonText]:
    """The table of a record, without talk. Raises `ParlourError` for roles that make no game, with the record's place."""
    other = None if guesser == ASSASSIN else guesser
    try:
        return table_of(len(roles), "official", tuple(sorted(roles)), talk=False, guesser=other)
    except ParlourError as error:
        raise ParlourError(f"{at.where}: {error}") from None
