"""The format `gratr`: published games of Werewolf, stored as records of our own, one file a game.

The form read is that of the games published with GRATR (Zhu et al. 2024), one JSON object a line:

    {"game": 51, "group": 1, "seats_1_4": "Baseline", "seats_5_8": "GRATR", "roles": {"1": "werewolf", ...},
     "winner": "werewolf", "winner_seats": [1, 2, 4], "alive_at_end": [2],
     "day_votes": {"1": {"1": "pass", "2": "1", ...}, ...}, "night_actions": {"1": {"seer": {"7": "1"}, ...}, ...},
     "last_inference": {"1": {"2": ["enemy", 0.238], ...}, ...}}

`game`, `roles` and the blocks `seats_a_b` must be there. Without `winner`, `winner_seats` decides; with neither, or with
null or "draw", nobody won: this game still counts in the published rates. Any other part that is missing
or null was not recorded; what it would count is left out of the count. Within `last_inference` an observer that is missing said
nothing. Seats are numbered from 1 without gaps, any number of them, and each is in one block. A judgement about the
observer itself or about nobody at the table is left out, and so is an "unsure" judgement. Players may vote though others
saw them die: who was dead is not recorded day by day. Fields that are not named here are left alone. Whatever else
contradicts the form, or itself, is refused, and with it the file.

Speeches and deaths are not in these records: they cannot be played again by the rules, so they do not become transcripts.
A record of our own is one line of JSON, seats numbered from 0, the moderator's pass -1:

    {"parlour_record": 1, "game": "werewolf_v0", "source": {"game": 51, "group": 1}, "players": [method of each seat],
     "roles": [...], "winner": "werewolf", "votes": [[day, voter, target], ...], "nights": [[night, role, seat, target],
     ...], "judgements": [[observer, target, "ally" | "adversary", number], ...], "alive": [...]}

Records of Werewolf in parlour's own form (see `published`), read back as played games.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.werewolf.vocabulary import DRAW, LEADERS, VILLAGER, WEREWOLF, side_of
from parlour.training.records.json_objects import JsonObject, read_lines
from parlour.training.records.reading import RecordFormat
from parlour.training.records.werewolf.played import GAME, WINNERS, DayVote, Judgement, Judgements, WerewolfGame

FORMAT: Final = 1
PASS: Final = -1
ALLY, ADVERSARY = "ally", "adversary"
_ROLES: Final = (WEREWOLF, *LEADERS, VILLAGER)
_NAMES: Final = {role.lower(): role for role in _ROLES}
_BLOCK: Final = re.compile(r"seats_(\d{1,3})_(\d{1,3})")
_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}")
_PASSES: Final = ("pass", None)
_LABELS: Final = {"teammate": ALLY, "enemy": ADVERSARY, "unsure": None}
_SEAT: Final = "the number of a seat"

Form = dict[str, Any]


def _named(at: JsonObject) -> str:
    accepted = "a whole number, or a name of up to 100 letters, digits and _ - . that begins with no dot"
    given = at.fields.get("game")
    if type(given) is int and given >= 0:
        return str(given)
    name = at.of(str, "game", accepted)
    if not _ID.fullmatch(name):
        raise at.refused("game", accepted)
    return name


# -- one game --------------------------------------------------------------------------------------------------


def _form(at: JsonObject) -> Form:
    roles = _roles(at)
    source = {key: at.fields[key] for key in ("game", "group", "upstream_config") if at.fields.get(key) is not None}
    if type(at.fields.get("group")) not in (int, str, type(None)):
        raise at.refused("group", "a number or a text")
    return {
        "parlour_record": FORMAT,
        "game": GAME,
        "source": source,
        "players": _methods(at, len(roles)),
        "roles": roles,
        "winner": _winner(at, roles),
        "votes": _votes(at, len(roles)),
        "nights": _nights(at, roles),
        "judgements": _judgements(at, len(roles)),
        "alive": None if at.fields.get("alive_at_end") is None else _seats(at, "alive_at_end", len(roles)),
    }


def _roles(at: JsonObject) -> list[str]:
    given = at.record("roles", "an object with the role of each seat")
    names = [str(number) for number in range(1, len(given.fields) + 1)]
    if not names or set(given.fields) != set(names):
        raise at.refused("roles", "an object with a role for each seat, the seats numbered from 1 without gaps")
    return [_NAMES[given.one_of(name, list(_NAMES))] for name in names]


def _methods(at: JsonObject, seats: int) -> list[str]:
    methods: dict[int, str] = {}
    for key in at.fields:
        block = _BLOCK.fullmatch(key)
        if block is None:
            continue
        method = at.of(str, key, "the name of a method")
        if not method.strip():
            raise at.refused(key, "the name of a method")
        for seat in range(int(block[1]), int(block[2]) + 1):
            if seat in methods:
                raise at.error(f"seat {seat} is in two blocks", "each seat in one block")
            methods[seat] = method
    if set(methods) != set(range(1, seats + 1)):
        blocks = ", ".join(key for key in at.fields if _BLOCK.fullmatch(key)) or "no blocks"
        raise at.error(f"{blocks}: not the seats 1..{seats}", "fields seats_a_b that hold each seat once")
    return [methods[seat] for seat in range(1, seats + 1)]


def _winner(at: JsonObject, roles: list[str]) -> str | None:
    """The side that won; None if nobody did as far as the record tells."""
    seats = None if at.fields.get("winner_seats") is None else _seats(at, "winner_seats", len(roles))
    winner: str | None = None
    if at.fields.get("winner") is not None:
        winner = at.one_of("winner", WINNERS)
    elif seats:
        sides = {side_of(roles[seat]) for seat in seats}
        winner = sides.pop() if len(sides) == 1 else None
    if seats is not None and seats != [k for k, role in enumerate(roles) if side_of(role) == winner]:
        raise at.refused("winner_seats", f"the seats of the side that won ({winner or 'nobody'})")
    return winner


def _seats(at: JsonObject, key: str, seats: int) -> list[int]:
    """A list of seats, counted from 0, in order."""
    return sorted(seat - 1 for seat in at.some_of(key, range(1, seats + 1), range(seats + 1)))


def _votes(at: JsonObject, seats: int) -> list[list[int]] | None:
    if (days := _part(at, "day_votes")) is None:
        return None
    return [[day, *vote] for day, votes in _turns(days) for vote in _choices(votes, seats)]


def _nights(at: JsonObject, roles: list[str]) -> list[list[Any]] | None:
    if (nights := _part(at, "night_actions")) is None:
        return None
    actions: list[list[Any]] = []
    for night, by_role in _turns(nights):
        for role in by_role.fields:
            if role not in _NAMES:
                raise by_role.refused(role, f"actions of {', '.join(_NAMES)}")
            for seat, target in _choices(by_role.record(role), len(roles)):
                if roles[seat] != _NAMES[role]:
                    raise by_role.refused(role, "actions of seats that hold the role")
                actions.append([night, _NAMES[role], seat, target])
    return actions


def _judgements(at: JsonObject, seats: int) -> list[list[Any]] | None:
    if (observers := _part(at, "last_inference")) is None:
        return None
    judgements: list[list[Any]] = []
    for key in observers.fields:
        observer = _seat(observers, key, seats)
        if observers.fields[key] is None:
            continue
        judged = observers.record(key, "an object with a judgement of each player")
        for target in judged.fields:
            label, number = _judgement(judged, target)
            about = _number(target) - 1
            if label is not None and about != observer and about in range(seats):
                judgements.append([observer, about, label, number])
    return judgements


def _judgement(at: JsonObject, target: str) -> tuple[str | None, float | None]:
    """The judgement and the number that goes with it; none for an unsure one."""
    accepted = '["teammate" or "enemy" or "unsure", a number or null]'
    given = at.fields[target]
    if given is None or given == "unsure":
        return None, None
    if type(given) is not list or len(given) not in (1, 2) or type(given[0]) is not str or given[0] not in _LABELS:
        raise at.refused(target, accepted)
    number = given[1] if len(given) == 2 else None
    if number is not None and (type(number) not in (int, float) or not math.isfinite(number)):
        raise at.refused(target, accepted)
    return _LABELS[given[0]], number


def _part(at: JsonObject, key: str) -> JsonObject | None:
    return None if at.fields.get(key) is None else at.record(key)


def _turns(at: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    """What is recorded turn by turn, in order."""
    for key in at.fields:
        if _number(key) < 1:
            raise at.refused(key, "turns numbered from 1")
    for key in sorted(at.fields, key=_number):
        if at.fields[key] is not None:
            yield _number(key), at.record(key)


def _choices(at: JsonObject, seats: int) -> Iterator[tuple[int, int]]:
    """Who chose whom; `PASS` for nobody."""
    for key in at.fields:
        yield _seat(at, key, seats), _target(at, key, seats)


def _seat(at: JsonObject, key: str, seats: int) -> int:
    if _number(key) not in range(1, seats + 1):
        raise at.refused(key, f"entries of the seats 1..{seats}")
    return _number(key) - 1


def _target(at: JsonObject, key: str, seats: int) -> int:
    given = at.fields[key]
    if given in _PASSES:
        return PASS
    number = given if type(given) is int else _number(given) if type(given) is str else 0
    if number not in range(1, seats + 1):
        raise at.refused(key, f"a seat of 1..{seats}, or pass")
    return number - 1


def _number(text: str) -> int:
    """A whole number from 1 as the records write it; 0 for anything else."""
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,5}", text) else 0


GRATR: Final = RecordFormat(
    game=GAME,
    name="gratr",
    fields=("game", "roles"),
    key="game",
    named=_named,
    transcript=lambda at, _logs: f"{json.dumps(_form(at))}\n",
    prefix="werewolf-",
)


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
    if any(role not in _ROLES for role in roles):
        raise at.refused("roles", _ROLES)
    methods = _names(at, "players", len(roles))
    winner = DRAW if at.fields.get("winner") is None else at.one_of("winner", WINNERS)
    number = at.record("source").fields.get("group")
    group = f"group {number}" if type(number) is int else str(number or "")
    votes, judgements = _stored_votes(at, len(roles)), _stored_judgements(at, len(roles))
    return WerewolfGame(group, methods, roles, winner, votes, judgements)


def _names(at: JsonObject, key: str, size: int | None) -> tuple[str, ...]:
    names = at.texts(key)
    if not names or size not in (None, len(names)):
        raise at.refused(key, "a text for each seat")
    return tuple(names)


def _stored_votes(at: JsonObject, seats: int) -> tuple[DayVote, ...] | None:
    if (votes := _list(at, "votes", _VOTE)) is None:
        return None
    for vote in votes:
        fit = type(vote) is list and len(vote) == 3 and all(type(number) is int for number in vote)
        if not fit or vote[1] not in range(seats) or vote[2] not in range(PASS, seats):
            raise at.refused("votes", _VOTE)
    return tuple(DayVote(voter, target) for _, voter, target in votes if target != PASS)


def _stored_judgements(at: JsonObject, seats: int) -> tuple[Judgements | None, ...]:
    """Where any are recorded, a seat without any judged nobody."""
    if (judgements := _list(at, "judgements", _JUDGEMENT)) is None:
        return (None,) * seats
    judged: list[list[Judgement]] = [[] for _ in range(seats)]
    for judgement in judgements:
        fit = type(judgement) is list and len(judgement) == 4 and all(type(seat) is int for seat in judgement[:2])
        if not fit or any(seat not in range(seats) for seat in judgement[:2]) or judgement[2] not in (ALLY, ADVERSARY):
            raise at.refused("judgements", _JUDGEMENT)
        judged[judgement[0]].append(Judgement(judgement[1], judgement[2] == ALLY))
    return tuple(tuple(of) for of in judged)


def _list(at: JsonObject, key: str, accepted: str) -> list[Any] | None:
    return None if at.fields.get(key) is None else at.of(list, key, accepted)
