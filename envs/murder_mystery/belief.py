"""The possible murderers if some players may lie: the worlds that agree with the statements, and their verdict on each seat.

Ours. A world is a seat that killed the victim and, in cases with liars, so many innocents who may lie as the case tells. What
those say counts for nothing in it; all the others tell the truth. A world falls if what they tell
1. contradicts itself (one person at two places at one hour, the means within reach and out of it, two ways of death),
2. clears its murderer: seen elsewhere when the victim died, without access to the means, or at peace with the victim,
3. shows somebody else where and when the victim died: nobody but murderer and victim was there.
Everything follows from statements and their authors, so that a seat may add its own knowledge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import combinations
from operator import or_
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

PUBLIC: Final = -1
"""The teller of what everybody knows."""
Told = tuple[int, Fact]
"""Who tells (a seat or `PUBLIC`), and what."""
_Marked = tuple[int, Fact]
"""Bits that a clause with the statement has, among them the seat whose statement it is, and the fact."""


class World(NamedTuple):
    """Who did it, and who else may lie."""

    murderer: int
    bad: int
    """Bits of the seats whose words count for nothing: the murderer and the liars."""


class Clauses(NamedTuple):
    """The statements, as sets of speakers (bits of seats) that cannot all be truthful."""

    always: frozenset[int]
    """Whoever did it: they contradict each other."""
    cleared: Mapping[int, frozenset[int]]
    """Seat -> if it did it: they clear it together."""
    shown: Mapping[int, frozenset[int]]
    """Seat -> if another did it: they show it at place and time of death together."""


@lru_cache(maxsize=64)
def worlds(seats: int, liars: int) -> tuple[World, ...]:
    """All worlds, before any statement.

    >>> worlds(2, 0), len(worlds(5, 1))
    ((World(murderer=0, bad=1), World(murderer=1, bad=2)), 20)

    Args:
        seats: How many play.
        liars: How many innocents may lie.
    """
    return tuple(
        World(murderer, 1 << murderer | sum(1 << other for other in others))
        for murderer in range(seats)
        for others in combinations([seat for seat in range(seats) if seat != murderer], liars)
    )


def clauses(statements: Iterable[Told], victim: int) -> Clauses:
    """Statements about a victim (person number), as sets of speakers."""
    return _clauses([(_bit(teller), fact) for teller, fact in dict.fromkeys(statements)], victim)


def _clauses(statements: Sequence[_Marked], victim: int) -> Clauses:
    died = _died(statements, victim)
    always: set[int] = set()
    cleared: dict[int, set[int]] = {}
    shown: dict[int, set[int]] = {}
    for part in died:
        always |= _contradicting(part.items())
    always |= _contradictions(statements)
    places, times, means = died
    for own, (kind, args) in statements:
        person = args[0]
        if kind in ("saw", "at") and person != victim:
            for when in times.get(args[2], ()):
                for place, marks in places.items():
                    shows = shown if place == args[1] else cleared
                    shows.setdefault(person, set()).update(own | when | bits for bits in marks)
        elif kind == "lacked":
            cleared.setdefault(person, set()).update(own | bits for bits in means.get(args[1], ()))
        elif kind == "peace" and args[1] == victim:
            cleared.setdefault(person, set()).add(own)
    return Clauses(frozenset(always), _frozen(cleared), _frozen(shown))


def consistent(clashes: Clauses, every: Iterable[World]) -> Iterator[World]:
    """The worlds that agree with the statements."""
    for world in every:
        murderer, bad = world
        broken = any(not clause & bad for clause in clashes.always)
        broken = broken or any(not clause & bad for clause in clashes.cleared.get(murderer, ()))
        broken = broken or any(
            not clause & bad for seat, of in clashes.shown.items() if seat != murderer for clause in of
        )
        if not broken:
            yield world


def possible(statements: Iterable[Told], seats: int, victim: int, liars: int) -> tuple[int, ...]:
    """The seats that can have killed a victim (person number), in order.

    Args:
        statements: Statements, with their speakers.
        seats: How many play.
        victim: Person number.
        liars: How many innocents may lie.
    """
    agreeing = consistent(clauses(statements, victim), worlds(seats, liars))
    return tuple(sorted({world.murderer for world in agreeing}))


def proof(statements: Iterable[Told], seats: int, victim: int, liars: int) -> tuple[Told, ...]:
    """A minimal set of statements that leaves only one seat; empty if all statements do not suffice.

    The briefing is taken as known and not counted. The statements are tried in their order, so that the same ones come out
    for the same input; another choice may be shorter.
    """
    statements = tuple(dict.fromkeys(statements))
    # bits of a statement: the lowest `seats` for who tells it, then one of its own; none for the briefing
    own = [0 if teller == PUBLIC else 1 << (seats + number) for number, (teller, _) in enumerate(statements)]
    marked = [(_bit(teller) | bit, fact) for bit, (teller, fact) in zip(own, statements, strict=True)]
    clashes = _clauses(marked, victim)
    every = worlds(seats, liars)
    left = {world.murderer for world in consistent(clashes, every)}
    if len(left) != 1:
        return ()
    falling = _falling(clashes, [world for world in every if world.murderer not in left])
    all_fall = reduce(or_, falling.values(), 0)
    needed = []
    for bit, statement in zip(own, statements, strict=True):
        if statement[0] == PUBLIC:
            continue
        less = {clause: fall for clause, fall in falling.items() if not clause & bit}
        if reduce(or_, less.values(), 0) == all_fall:
            falling = less
        else:
            needed.append(statement)
    return tuple(needed)


def _falling(clashes: Clauses, every: Sequence[World]) -> dict[int, int]:
    """Clause -> the worlds that fall by it, as bits."""
    falling: dict[int, int] = {}
    for number, (murderer, bad) in enumerate(every):
        shown = (of for seat, of in clashes.shown.items() if seat != murderer)
        for of in (clashes.always, clashes.cleared.get(murderer, ()), *shown):
            for clause in of:
                if not clause & bad:
                    falling[clause] = falling.get(clause, 0) | 1 << number
    return falling


def _bit(teller: int) -> int:
    return 0 if teller == PUBLIC else 1 << teller


_Values = dict[int, set[int]]


def _died(statements: Iterable[_Marked], victim: int) -> tuple[_Values, _Values, _Values]:
    """Place, time and means of a death: value -> bits of each who tells it."""
    died: tuple[_Values, _Values, _Values] = ({}, {}, {})
    for own, (kind, args) in statements:
        if kind == "died" and args[0] == victim:
            for part, value in zip(died, args[1:], strict=True):
                if value != UNKNOWN:
                    part.setdefault(value, set()).add(own)
    return died


def _contradictions(statements: Iterable[_Marked]) -> set[int]:
    """Who tells different places of a person at an hour, or means both within reach and out of it."""
    where: dict[tuple[int, int], _Values] = {}
    reach: dict[tuple[int, ...], _Values] = {}
    for own, (kind, args) in statements:
        if kind in ("at", "saw"):
            where.setdefault((args[0], args[2]), {}).setdefault(args[1], set()).add(own)
        elif kind in ("had", "lacked"):
            reach.setdefault(args, {}).setdefault(kind == "had", set()).add(own)
    return {clause for values in (*where.values(), *reach.values()) for clause in _contradicting(values.items())}


def _contradicting(values: Iterable[tuple[int, set[int]]]) -> set[int]:
    """Tellers of two different values, together."""
    pairs = combinations(values, 2)
    return {a | b for (_, tellers), (_, others) in pairs for a in tellers for b in others}


def _frozen(sets: Mapping[int, set[int]]) -> dict[int, frozenset[int]]:
    return {seat: frozenset(members) for seat, members in sets.items()}
