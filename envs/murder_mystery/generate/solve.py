"""Who can have done it: what follows from a set of facts about the murderer of one victim.

A seat is ruled out for a victim when somebody else tells that
(a) it was seen in another place when the victim died (place and time of death known),
(b) it could not get at the means of death (means known), or
(c) it had made peace with the victim.
A seat is proved when somebody else saw it at the place and time of death. What a seat says of itself rules nothing out,
because a murderer would say it too. Absence of knowledge proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.cases.case import Death
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

PUBLIC: Final = -1
"""The teller of what everybody knows."""
Told = tuple[int, Fact]
"""Who tells (a seat or `PUBLIC`), and what."""


class KnownDeath(NamedTuple):
    """What is known of a death; each set holds what was told."""

    places: frozenset[int]
    times: frozenset[int]
    means: frozenset[int]


class Against(NamedTuple):
    """What others tell against a seat: the three matters of the paper's sensors."""

    motive: bool
    means: bool
    opportunity: bool


def death_of(told: Iterable[Told], victim: int) -> KnownDeath:
    """What the told facts say of a victim's death.

    Args:
        told: The facts.
        victim: Person number of the victim.
    """
    known: tuple[set[int], set[int], set[int]] = (set(), set(), set())
    for _, fact in told:
        if fact.kind == "died" and fact.args[0] == victim:
            for place, value in enumerate(fact.args[1:]):
                if value != UNKNOWN:
                    known[place].add(value)
    return KnownDeath(*(frozenset(one) for one in known))


def ruled_out(told: Iterable[Told], victim: int) -> frozenset[int]:
    """Persons who cannot have killed the victim (person number), by rules (a) to (c)."""
    told = tuple(told)
    death = death_of(told, victim)
    out = set()
    for teller, fact in told:
        person, *rest = fact.args
        if teller == person:
            continue
        elsewhere = fact.kind in ("saw", "at") and death.places and rest[0] not in death.places
        if (
            (elsewhere and rest[1] in death.times)
            or (fact.kind == "lacked" and rest[0] in death.means)
            or (fact.kind == "peace" and rest[0] == victim)
        ):
            out.add(person)
    return frozenset(out)


def against(told: Iterable[Told], seat: int, victim: int) -> Against:
    """What others tell against a seat: a motive, the means of death within reach, presence at place and time."""
    told = tuple((teller, fact) for teller, fact in told)
    death = death_of(told, victim)
    motive = means = opportunity = False
    for teller, fact in told:
        if teller == seat or fact.args[0] != seat:
            continue
        motive |= fact.kind == "motive" and fact.args[2] == victim
        means |= fact.kind == "had" and fact.args[1] in death.means
        opportunity |= fact.kind in ("saw", "at") and fact.args[1] in death.places and fact.args[2] in death.times
    return Against(motive, means, opportunity)


def candidates(told: Iterable[Told], seats: int, victim: int) -> tuple[int, ...]:
    """The seats that can have killed the victim (person number), in order; those proved, if any are."""
    told = tuple(told)
    out = ruled_out(told, victim)
    left = tuple(seat for seat in range(seats) if seat not in out)
    proved = tuple(seat for seat in left if against(told, seat, victim).opportunity)
    return proved or left


def told_by(public: Iterable[Fact], facts: Sequence[Iterable[Fact]], seats: Iterable[int]) -> list[Told]:
    """Public facts and those of some seats, with their tellers."""
    return [*((PUBLIC, fact) for fact in public), *((seat, fact) for seat in seats for fact in facts[seat])]


def faults_of(
    seats: int,
    deaths: Sequence[Death],
    public: Sequence[Fact],
    facts: Sequence[Sequence[Fact]],
    lies: Sequence[Sequence[Fact]],
) -> tuple[str, ...]:
    """Why dealt facts do not make a fair riddle; empty if they do.

    For each victim:
    1. what all innocent of it know rules out everybody but the murderer;
    2. his motive, his access to the means and his presence at place and time of death are told by others, so that the
       alibi he plans to tell is contradicted by a sighting;
    3. no innocent has motive, access and presence against it;
    4. what any one innocent knows, with the briefing, leaves two others or more.

    Args:
        seats: How many play.
        deaths: Per victim.
        public: What the briefing says.
        facts: Per seat.
        lies: Per seat.
    """
    found: list[str] = []
    for index, death in enumerate(deaths):
        innocent = [seat for seat in range(seats) if seat != death.murderer]
        victim, told = seats + index, told_by(public, facts, innocent)
        out = ruled_out(told, victim)
        if left := [seat for seat in innocent if seat not in out]:
            found.append(f"victim {index}: {left} are not cleared")
        if death.murderer in out:
            found.append(f"victim {index}: the murderer is cleared")
        if (shown := against(told, death.murderer, victim)) != (True, True, True):
            found.append(f"victim {index}: against the murderer {shown}")
        for seat in innocent:
            if all(against(told, seat, victim)):
                found.append(f"victim {index}: {seat} looks guilty in all three")
            others = [one for one in candidates(told_by(public, facts, [seat]), seats, victim) if one != seat]
            if len(others) < 2:
                found.append(f"victim {index}: {seat} alone leaves {others}")
        alibis = [lie.args[1] for lie in lies[death.murderer] if lie.kind == "at" and lie.args[2] == death.time]
        if not alibis or death.place in alibis:
            found.append(f"victim {index}: no false alibi")
    return tuple(found)
