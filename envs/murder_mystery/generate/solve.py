"""Who can have done it: what follows from a set of facts about the murderer of one victim.

A seat is ruled out for a victim when somebody else tells that
(a) it was seen in another place when the victim died (place and time of death known),
(b) it could not get at the means of death (means known), or
(c) it had made peace with the victim.
A seat is proved when somebody else saw it at the place and time of death. What a seat says about itself rules nothing out,
because a murderer would say it too. Absence of knowledge proves nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.belief import PUBLIC, Told
from parlour.envs.murder_mystery.cases.case import Death
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

MATTERS: Final = frozenset(("motive", "means", "opportunity"))
"""Evidence against a seat: the three matters of the paper's sensors."""


class Evidence(NamedTuple):
    """What others say about the persons, concerning the death of one victim."""

    ruled_out: frozenset[int]
    """By rules (a) to (c)."""
    against: Mapping[int, frozenset[str]]
    """Person -> the `MATTERS` reported against it; empty without any."""

    def candidates(self, seats: int) -> tuple[int, ...]:
        """The seats that can have killed the victim, in order; those proved, if any are."""
        suspects = tuple(seat for seat in range(seats) if seat not in self.ruled_out)
        return tuple(seat for seat in suspects if "opportunity" in self.against.get(seat, ())) or suspects


def evidence(statements: Iterable[Told], victim: int) -> Evidence:
    """What the told facts come to.

    Args:
        statements: The facts and who tells each.
        victim: Person number of the victim.
    """
    statements = tuple(statements)
    died = [fact.args[1:] for _, fact in statements if fact.kind == "died" and fact.args[0] == victim]
    places, times, means = ({known[part] for known in died} - {UNKNOWN} for part in range(3))
    out: set[int] = set()
    against: dict[int, set[str]] = defaultdict(set)
    for teller, (kind, (person, *rest)) in statements:
        if teller == person:
            continue
        if kind in ("saw", "at") and places and rest[1] in times:
            if rest[0] in places:
                against[person].add("opportunity")
            else:
                out.add(person)
        elif (kind == "lacked" and rest[0] in means) or (kind == "peace" and rest[0] == victim):
            out.add(person)
        elif kind == "had" and rest[0] in means:
            against[person].add("means")
        elif kind == "motive" and rest[1] == victim:
            against[person].add("motive")
    return Evidence(frozenset(out), {person: frozenset(matters) for person, matters in against.items()})


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
    2. his motive, his access to the means and his presence at place and time of death are reported by others, so that a sighting
    contradicts the alibi he plans to give;
    3. no innocent has motive, access and presence against it;
    4. what any one innocent knows, with the briefing, leaves two others or more.

    Args:
        seats: How many play.
        deaths: Per victim.
        public: What the briefing says.
        facts: Per seat.
        lies: Per seat.
    """
    faults: list[str] = []
    briefing = [(PUBLIC, fact) for fact in public]
    known = [[(seat, fact) for fact in facts[seat]] for seat in range(seats)]
    for index, death in enumerate(deaths):
        innocent = [seat for seat in range(seats) if seat != death.murderer]
        together = evidence([*briefing, *(statement for seat in innocent for statement in known[seat])], seats + index)
        if suspects := [seat for seat in innocent if seat not in together.ruled_out]:
            faults.append(f"victim {index}: {suspects} are not cleared")
        if death.murderer in together.ruled_out:
            faults.append(f"victim {index}: the murderer is cleared")
        if lacking := MATTERS - together.against.get(death.murderer, frozenset()):
            faults.append(f"victim {index}: no {', '.join(sorted(lacking))} against the murderer")
        for seat in innocent:
            if together.against.get(seat) == MATTERS:
                faults.append(f"victim {index}: {seat} looks guilty in all three")
            alone = evidence([*briefing, *known[seat]], seats + index)
            others = [other for other in alone.candidates(seats) if other != seat]
            if len(others) < 2:
                faults.append(f"victim {index}: {seat} alone leaves {others}")
        alibis = [lie.args[1] for lie in lies[death.murderer] if lie.kind == "at" and lie.args[2] == death.time]
        if not alibis or death.place in alibis:
            faults.append(f"victim {index}: no false alibi")
    return tuple(faults)
