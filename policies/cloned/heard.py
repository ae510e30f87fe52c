"""What a statement says of the seats, in numbers: whom it names, whom it speaks for or against, and the acts it amounts to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs import claims as spoken
from parlour.envs import speech
from parlour.envs.core import Move

_NAMED: Final = re.compile(r"player[_ ]?(\d{1,2})(?!\w)", re.IGNORECASE)
_FOR: Final = {speech.ACCUSE: -1.0, speech.DEFEND: 1.0, speech.RECOMMEND: 1.0, spoken.PROPOSE: 1.0}
_ACT: Final = {speech.ACCUSE: speech.ACCUSE, speech.DEFEND: speech.DEFEND, spoken.PROPOSE: speech.RECOMMEND}
"""Kind of a claim -> the act that says it of one seat."""
_READ: Final = 4000
"""Characters of a statement that are read."""


class Heard(NamedTuple):
    """Of each seat of the table."""

    named: tuple[float, ...]
    """1 where the statement names it."""
    praised: tuple[float, ...]
    """Between -1 (spoken against) and 1 (spoken for, or wanted on the team)."""


@lru_cache(maxsize=20_000)
def heard(move: Move, speaker: int, seats: int) -> Heard:
    """What a speech, or a team with reasons, says of the seats beyond the team itself: by its act, and by its words."""
    named, praised = [0.0] * seats, [0.0] * seats
    said = [
        (kind, members, 1.0 / len(members) if some else 1.0) for kind, members, some in _claims(move, speaker, seats)
    ]
    if move.kind in _FOR:
        said.append((move.kind, move.args[:1], 1.0))
    for kind, members, share in said:
        for seat in members:
            named[seat] = 1.0
            praised[seat] = min(1.0, max(-1.0, praised[seat] + _FOR.get(kind, 0.0) * share))
    for found in _NAMED.findall(move.words[:_READ]):
        if int(found) < seats:
            named[int(found)] = 1.0
    return Heard(tuple(named), tuple(praised))


def _claims(move: Move, speaker: int, seats: int) -> list[tuple[str, tuple[int, ...], bool]]:
    found = spoken.claims(move.words, speaker, seats) if move.words else ()
    return [(one.kind, one.seats, one.some) for one in found if one.seats]


def acts_of(move: Move, speaker: int, seats: int, legal: Sequence[Move]) -> tuple[Move, ...]:
    """The speeches among `legal` that say of one seat what this one says in its act or, if it is silent, in its words.

    Silence where it says nothing of the kind.
    """
    if move.kind != speech.SILENT:
        return (Move(move.kind, move.args),)
    told = [
        Move(_ACT[kind], (seat,))
        for kind, members, _ in _claims(move, speaker, seats)
        if kind in _ACT
        for seat in members
    ]
    return tuple(dict.fromkeys(one for one in told if one in legal)) or (Move(speech.SILENT),)
