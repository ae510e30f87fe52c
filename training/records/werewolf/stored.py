"""Records of Werewolf in parlour's own form (see `published`), read back as played games."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.werewolf.vocabulary import DRAW, ROLES
from parlour.training.measure.werewolf.played import GAME, WINNERS, DayVote, Judgement, Judgements, WerewolfGame
from parlour.training.records.json_objects import JsonObject, read_lines
from parlour.training.records.werewolf.published import ADVERSARY, ALLY, FORMAT, PASS

_VOTE: Final = "a list of [day, voter, target]"
_JUDGEMENT: Final = '[observer, target, "ally" or "adversary", number] each'


def read_result(path: str | Path) -> WerewolfGame:
    """Read one record. A game without a winner counts as a draw.

    Raises:
        ParlourError: The file cannot be read or is no such record; the message names the file, the line and the place.
    """
    records = list(read_lines(path))
    if len(records) != 1:
        raise ParlourError(f"{str(path)!r} holds {len(records)} lines; accepted: one record in one line")
    at = records[0]
    at.expect("parlour_record", FORMAT, "the form of records")
    at.expect("game", GAME, "the game of these records")
    roles = _names(at, "roles", None)
    if any(role not in ROLES for role in roles):
        raise at.refused("roles", ROLES)
    methods = _names(at, "players", len(roles))
    winner = DRAW if at.fields.get("winner") is None else at.one_of("winner", WINNERS)
    return WerewolfGame(_group(at), methods, roles, winner, _votes(at, len(roles)), _judgements(at, len(roles)))


def _group(at: JsonObject) -> str:
    group = at.record("source").fields.get("group")
    return f"group {group}" if type(group) is int else str(group or "")


def _names(at: JsonObject, key: str, size: int | None) -> tuple[str, ...]:
    names = at.texts(key)
    if not names or size not in (None, len(names)):
        raise at.refused(key, "a text for each seat")
    return tuple(names)


def _votes(at: JsonObject, seats: int) -> tuple[DayVote, ...] | None:
    if (told := _list(at, "votes", _VOTE)) is None:
        return None
    for one in told:
        fit = type(one) is list and len(one) == 3 and all(type(number) is int for number in one)
        if not fit or one[1] not in range(seats) or one[2] not in range(PASS, seats):
            raise at.refused("votes", _VOTE)
    return tuple(DayVote(voter, target) for _, voter, target in told if target != PASS)


def _judgements(at: JsonObject, seats: int) -> tuple[Judgements | None, ...]:
    """Where any are recorded, a seat without any judged nobody."""
    if (told := _list(at, "judgements", _JUDGEMENT)) is None:
        return (None,) * seats
    judged: list[list[Judgement]] = [[] for _ in range(seats)]
    for one in told:
        fit = type(one) is list and len(one) == 4 and all(type(seat) is int for seat in one[:2])
        if not fit or any(seat not in range(seats) for seat in one[:2]) or one[2] not in (ALLY, ADVERSARY):
            raise at.refused("judgements", _JUDGEMENT)
        judged[one[0]].append(Judgement(one[1], one[2] == ALLY))
    return tuple(tuple(of) for of in judged)


def _list(at: JsonObject, key: str, accepted: str) -> list[Any] | None:
    return None if at.fields.get(key) is None else at.of(list, key, accepted)
