"""The deals of Avalon that a seat cannot rule out, as arrays: the hypotheses of `belief.py`.

Deals that no event can distinguish are one hypothesis: each represents equally many deals, so that sums over them are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as game

Array = np.ndarray[Any, np.dtype[np.float64]]
Numbers = np.ndarray[Any, np.dtype[np.intp]]


class Key(NamedTuple):
    """What the hypotheses of a belief depend on."""

    roles: tuple[str, ...]
    """The roles in play, one for each seat."""
    seat: int
    """Whose knowledge it is; -1 for an onlooker who knows nothing."""
    role: str
    """Its role; empty for an onlooker."""
    knows: tuple[Any, ...]
    """What the night showed it."""
    apart: tuple[str, ...] = ()
    """Roles that are distinguished from all others, because conduct depends on them."""

    def tables(self) -> DealTables:
        """What each seat is in each deal."""
        return _tables(self)

    def sides(self) -> tuple[Array, Numbers]:
        """The different evil sides of the deals, 0/1 of shape (E, n), and which of them each deal has, shape (H,)."""
        return _sides(self)

    def clean(self, size: int) -> Array:
        """1 where a team has no member of an evil side, shape (E, number of teams)."""
        return _clean(self, size)

    def kinds(self) -> Numbers:
        """What each seat is in each deal: 0 evil that knows, 1 Merlin, 2 good, 3 Oberon; shape (H, n)."""
        return _kinds(self)

    def known_evil(self) -> KnownEvil:
        """What the seats are and know in each deal."""
        return _known_evil(self)


def merged(roles: Sequence[str], knows: Sequence[Any], apart: Sequence[str] = ()) -> dict[str, str]:
    """Role -> the first role that no event and no fact distinguishes from it.

    Distinguished are the sides, Merlin, players who know their fellows, the seat's own night knowledge, and the roles of `apart`.

    >>> merged(("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"), ())
    {'Merlin': 'Merlin', 'Percival': 'Percival', 'Loyal Servant': 'Percival', 'Morgana': 'Morgana', 'Assassin': 'Morgana'}
    """
    first: dict[Any, str] = {}
    return {
        role: first.setdefault(
            (
                role in game.EVIL_ROLES,
                role == game.MERLIN,
                role in game.SEES_NOTHING,
                role in apart and role,
                *(role in fact.roles for fact in knows),
            ),
            role,
        )
        for role in dict.fromkeys(roles)
    }


@lru_cache(maxsize=256)
def deals(
    roles: tuple[str, ...], seat: int, role: str, knows: tuple[Any, ...], apart: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], np.ndarray[Any, np.dtype[np.int8]]]:
    """The deals that a seat cannot rule out before the first word, up to `merged`.

    Args:
        roles: The roles in play, one for each seat.
        seat: Whose knowledge it is; -1 for an onlooker who knows nothing.
        role: Its role.
        knows: Facts (roles, seats): among the other seats exactly these hold one of these roles.
        apart: Roles that are distinguished from all others.

    Returns:
        The names of the distinguished roles, and the deals, shape (H, n): numbers into the names.
    """
    same = merged(roles, knows, apart)
    names = tuple(dict.fromkeys(same.values()))
    counts = [sum(same[r] == name for r in roles) for name in names]
    n = len(roles)
    rows: list[tuple[int, ...]] = []

    def fits(at: int, number: int) -> bool:
        if at == seat:
            return names[number] == same[role]
        return all((names[number] in fact.roles) == (at in fact.seats) for fact in knows)

    def extend(deal: tuple[int, ...]) -> None:
        at = len(deal)
        if at == n:
            rows.append(deal)
            return
        for number in range(len(names)):
            if counts[number] and fits(at, number):
                counts[number] -= 1
                extend((*deal, number))
                counts[number] += 1

    extend(())
    return names, np.array(rows, dtype=np.int8).reshape(len(rows), n)


class DealTables(NamedTuple):
    """For each deal and seat, 0 or 1, each of shape (H, n)."""

    evil: Array
    merlin: Array
    blind: Array
    """Knows nobody."""
    mordred: Array
    """Is Mordred; all 0 unless he is distinguished."""


@lru_cache(maxsize=256)
def _tables(key: Key) -> DealTables:
    names, table = deals(*key)
    evil = np.array([name in game.EVIL_ROLES for name in names], dtype=np.float64)[table]
    merlin = np.array([name == game.MERLIN for name in names], dtype=np.float64)[table]
    blind = np.array([name in game.SEES_NOTHING for name in names], dtype=np.float64)[table]
    apart = game.MORDRED in key.apart
    mordred = np.array([apart and name == game.MORDRED for name in names], dtype=np.float64)[table]
    return DealTables(evil, merlin, blind, mordred)


@lru_cache(maxsize=256)
def may_name(key: Key, guesser: str) -> Array:
    """For each deal and seat whether it may hold the role that names Merlin, or a role not distinguished from it; (H, n), 0 or
    1.
    """
    names, table = deals(*key)
    shared = merged(key.roles, key.knows, key.apart).get(guesser)
    may: Array = np.array([name == shared for name in names], dtype=np.float64)[table]
    return may


@lru_cache(maxsize=256)
def _sides(key: Key) -> tuple[Array, Numbers]:
    rows, inverse = np.unique(_tables(key).evil, axis=0, return_inverse=True)
    return rows, inverse.ravel()


@lru_cache(maxsize=256)
def _clean(key: Key, size: int) -> Array:
    mask: Array = (_sides(key)[0] @ team_rows(len(key.roles), size).T == 0).astype(np.float64)
    return mask


@lru_cache(maxsize=64)
def teams(seats: int, size: int) -> tuple[tuple[int, ...], ...]:
    """All teams of a size, in the order of the game's catalogue."""
    return tuple(combinations(range(seats), size))


@lru_cache(maxsize=64)
def team_rows(seats: int, size: int) -> Array:
    """All teams of a size as 0/1 rows, shape (number of teams, seats)."""
    return np.array([[float(seat in team) for seat in range(seats)] for team in teams(seats, size)])


@lru_cache(maxsize=64)
def _kinds(key: Key) -> Numbers:
    evil, merlin, blind, _ = _tables(key)
    return np.where(merlin == 1, 1, np.where(blind == 0, 0, np.where(evil == 1, 3, 2)))


class KnownEvil(NamedTuple):
    """What the seats are and know in each deal."""

    kinds: Numbers
    """What each seat is, a number into `LEADERS`, shape (H, n)."""
    known: Numbers
    """1 for the evil seats that a kind of seat (`LEADERS`) knows, shape (4, H, n)."""


@lru_cache(maxsize=256)
def _known_evil(key: Key) -> KnownEvil:
    """An evil seat does not know Oberon, Merlin not Mordred; for seats that know nobody, all evil seats count."""
    evil, _, blind, mordred = _tables(key)
    known = np.stack([evil * (1 - blind), evil * (1 - mordred), evil, evil])
    return KnownEvil(_kinds(key), known.astype(np.intp))
