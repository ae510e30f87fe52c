"""Who knows what in a generated case: clues, red herrings and lies, dealt to the seats.

For every victim each innocent gets at least one clearing fact, told by somebody else; motive, means and the sighting of
the murderer lie with different seats; one innocent looks as guilty as the murderer until he is cleared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.generate.world import HOURS, CaseWorld, sample
from parlour.envs.murder_mystery.languages.texts import texts
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

_SEEN, _LACKED, _PEACE = range(3)
"""How an innocent is cleared: seen elsewhere, no access to the means, no reason any more."""
_SECOND_CLEARING: Final = 0.3
_MOTIVE: Final = 0.6
"""Share of innocents, not cleared by peace, who had a reason to kill."""
_ACCESS: Final = 0.55
"""Share of innocents, not cleared by lack of access, who could get at the means."""
_OTHERS_KNOW: Final = 0.5
"""Probability that somebody else knows an invented reason or access."""
_AGAIN: Final = 0.35
"""Probability that a second seat knows the murderer's motive, or his access."""
_THIRD: Final = 0.35
"""Probability that a third seat knows a relation."""
_SHARES: Final = (0.6, 0.25, 0.15)
"""Shares of pairs with one, two, three relations."""
_SIGHTINGS: Final = 4
"""How many sightings everybody has from hours without a death."""
_EXCLUDED: Final = {
    "a creditor": ("a debtor",),
    "a rival": ("an old friend", "a confidant"),
    "a former lover": ("a secret admirer",),
    "the former teacher": ("the former pupil", "a schoolmate"),
    "the former pupil": ("the guardian", "a schoolmate", "the employer"),
    "the guardian": ("the heir", "the secretary", "the landlord", "a schoolmate"),
    "the employer": ("the secretary", "the heir", "the tenant"),
    "the landlord": ("the tenant",),
    "the secretary": ("the lawyer", "the family doctor"),
    "the lawyer": ("the family doctor",),
}
"""Relation -> the relations that the same person does not have to the same other person as well."""
_RELATIONS: Final = texts("en").words.relations
_OPPOSITES: Final = frozenset(
    frozenset((_RELATIONS.index(relation), _RELATIONS.index(other)))
    for relation, others in _EXCLUDED.items()
    for other in others
)
_FEELINGS: Final = (-1, -1, 0, 0, 0, 1, 1, 1)
"""Feelings for a victim are drawn from these."""
_PAIR_FEELS: Final = 2
"""How many other characters each has feelings for."""


class CaseKnowledge(NamedTuple):
    """What the seats know."""

    public: tuple[Fact, ...]
    facts: tuple[tuple[Fact, ...], ...]
    """Per seat: true, and told in its script."""
    lies: tuple[tuple[Fact, ...], ...]
    """Per seat: false, planned by murderers."""
    truth: tuple[Fact, ...]
    """All that anybody knows besides whereabouts, each once, sorted."""


class Hands:
    """What the seats know and plan to say, while it is dealt."""

    def __init__(self, world: CaseWorld, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng
        self.facts: list[dict[Fact, None]] = [{} for _ in range(world.seats)]
        self.lies: list[list[Fact]] = [[] for _ in range(world.seats)]

    def give(self, seat: int, kind: str, *args: int) -> None:
        """Let a seat know a fact."""
        self.facts[seat][Fact(kind, args)] = None

    def pick(self, among: int) -> int:
        """A number below `among`."""
        return int(self.rng.integers(among))

    def innocents(self, victim: int) -> list[int]:
        """All seats but the murderer of a victim, in order."""
        return [seat for seat in range(self.world.seats) if seat != self.world.deaths[victim].murderer]

    def someone(self, victim: int, *, but: Iterable[int] = (), rather: Iterable[int] = ()) -> int:
        """An innocent of the victim, none of `but` unless nobody else is left; one of `rather` if possible.

        Among these, the seat that knows the fewest facts.
        """
        innocents, barred = self.innocents(victim), set(but)
        order = [seat for seat in sample(self.rng, self.world.seats, self.world.seats) if seat in innocents]
        free = [seat for seat in order if seat not in barred] or order
        free = [seat for seat in free if seat in rather] or free
        return min(free, key=lambda seat: len(self.facts[seat]))

    def knowledge(self, public: tuple[Fact, ...], before: Iterable[Fact] = ()) -> CaseKnowledge:
        """What has been dealt, in order; `before`: what was true without anybody knowing it now."""
        known = dict.fromkeys(before)
        known.update((fact, None) for hand in self.facts for fact in hand if fact.kind not in ("at", "saw"))
        facts = tuple(tuple(sorted(hand, key=_order)) for hand in self.facts)
        return CaseKnowledge(public, facts, tuple(map(tuple, self.lies)), tuple(sorted(known, key=_order)))


_KINDS: Final = ("relation", "feels", "motive", "peace", "had", "lacked", "took", "at", "saw", "died")


def _order(fact: Fact) -> tuple[object, ...]:
    """Facts in the order of a story: people first, then the evening by its hours."""
    return _KINDS.index(fact.kind), fact.args[2] if fact.kind in ("at", "saw") else -1, fact.args


def deal(world: CaseWorld, rng: np.random.Generator) -> CaseKnowledge:
    """Deal the facts of a world. Whether they make a fair riddle is checked by `solve.faults_of`."""
    dealer = _Dealer(world, rng)
    for seat in range(world.seats):
        for hour in range(HOURS):
            dealer.give(seat, "at", seat, world.timeline[seat][hour], hour)
    dealer.relations()
    for victim in range(len(world.deaths)):
        dealer.incriminate(victim)
        scapegoat = dealer.clear_innocents(victim)
        dealer.feelings(victim, scapegoat)
        dealer.plan_lies(victim, scapegoat)
    dealer.thefts()
    dealer.noise()
    public = tuple(
        Fact("died", (person, *(UNKNOWN if part in hidden else death.manner[part] for part in range(3))))
        for person, death, hidden in zip(world.victims, world.deaths, world.hidden, strict=True)
    )
    return dealer.knowledge(public)


class _Dealer(Hands):
    """Hands facts to seats; remembers how many seats each can rule out for each victim."""

    def __init__(self, world: CaseWorld, rng: np.random.Generator) -> None:
        super().__init__(world, rng)
        self.load = [[0] * world.seats for _ in world.deaths]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def other(self, number: int, count: int) -> int:
        """Another number below `count`."""
        return (number + 1 + self.pick(count - 1)) % count

    def relations(self) -> None:
        """Everybody to every victim, and a ring of pairs among the seats; third seats know some."""
        world = self.world
        ring = sample(self.rng, world.seats, world.seats)
        taken: set[tuple[int, int]] = set()  # nobody has two heirs, two lawyers, ...
        pairs = [(seat, victim) for victim in world.victims for seat in range(world.seats)]
        pairs += [(seat, ring[(k + 1) % world.seats]) for k, seat in enumerate(ring)]
        for person, other in pairs:
            count = 1 + int(np.searchsorted(np.cumsum(_SHARES), self.rng.random(), side="right"))
            murders = other >= world.seats and world.deaths[other - world.seats].murderer == person
            third = self.pick(world.seats)
            third = self.someone(other - world.seats) if murders else third
            order = sample(self.rng, len(world.relations), len(world.relations))
            fitting = self._compatible(r for r in order if (r, other) not in taken) or order
            for relation in fitting[:count]:
                taken.add((relation, other))
                self.give(person, "relation", person, relation, other)
                if other < world.seats:
                    self.give(other, "relation", person, relation, other)
                if murders or self.chance(_THIRD):
                    self.give(third, "relation", person, relation, other)

    def _compatible(self, order: Iterable[int]) -> tuple[int, ...]:
        """The relations of an order, each unless it contradicts one before it."""
        words, compatible = self.world.relations, list[int]()
        for relation in order:
            if all(frozenset((words[relation], words[k])) not in _OPPOSITES for k in compatible):
                compatible.append(relation)
        return tuple(compatible)

    def incriminate(self, victim: int) -> None:
        """Motive, means and sighting of the murderer, and what the briefing hides of the death: to different seats."""
        death, person = self.world.deaths[victim], self.world.seats + victim
        murderer = death.murderer
        self.give(murderer, "motive", murderer, death.motive, person)
        self.give(murderer, "had", murderer, death.means)
        holders = [self.someone(victim)]
        self.give(holders[0], "saw", murderer, death.place, death.time)
        for kind, rest in (("motive", (death.motive, person)), ("had", (death.means,))):
            holders.append(self.someone(victim, but=holders))
            self.give(holders[-1], kind, murderer, *rest)
            if self.chance(_AGAIN):
                self.give(self.someone(victim, but=holders), kind, murderer, *rest)
        for part in sorted(self.world.hidden[victim]):
            manner = [death.manner[k] if k == part else UNKNOWN for k in range(3)]
            self.give(self.someone(victim, but=holders[:1]), "died", person, *manner)

    def clear_innocents(self, victim: int) -> int:
        """Clear every innocent, and let them look guilty where they are not cleared. Returns the seat that looks guiltiest."""
        innocents = self.innocents(victim)
        scapegoat = innocents[self.pick(len(innocents))]
        for seat in innocents:
            cleared = {_SEEN if seat == scapegoat else self.pick(3)}
            if self.chance(_SECOND_CLEARING) and seat != scapegoat:
                cleared.add(self.pick(3))
            for how in sorted(cleared):
                self._clear(victim, seat, how)
            self._suspicion(victim, seat, cleared, sure=seat == scapegoat)
        return scapegoat

    def _clear(self, victim: int, seat: int, how: int) -> None:
        world, death, load = self.world, self.world.deaths[victim], self.load[victim]
        full = [other for other in range(world.seats) if load[other] >= world.seats - 3]
        place = world.timeline[seat][death.time]
        there = [other for other in range(world.seats) if world.timeline[other][death.time] == place and how == _SEEN]
        witness = self.someone(victim, but=(seat, *full), rather=there)
        load[witness] += 1
        if how == _SEEN:
            self.give(witness, "saw", seat, place, death.time)
            return
        kind, what = ("lacked", death.means) if how == _LACKED else ("peace", world.seats + victim)
        self.give(witness, kind, seat, what)
        self.give(seat, kind, seat, what)

    def _suspicion(self, victim: int, seat: int, cleared: set[int], *, sure: bool) -> None:
        """Motive and access of an innocent; `sure` gives both, and lets somebody else know."""
        world, death = self.world, self.world.deaths[victim]
        motive, access, had_reason = self.pick(len(world.motives)), self.chance(_ACCESS), self.chance(_MOTIVE)
        for kind, rest, way, drawn in (
            ("motive", (motive, world.seats + victim), _PEACE, had_reason),
            ("had", (death.means,), _LACKED, access),
        ):
            if way not in cleared and (sure or drawn):
                self.give(seat, kind, seat, *rest)
                if sure or self.chance(_OTHERS_KNOW):
                    self.give(self.someone(victim, but=(seat,)), kind, seat, *rest)
        decoy = self.other(death.means, len(world.means))
        if all(decoy != each.means for each in world.deaths) and self.chance(_ACCESS):
            self.give(seat, "had", seat, decoy)

    def feelings(self, victim: int, scapegoat: int) -> None:
        """Of everybody for the victim, and of each for some others."""
        world, person = self.world, self.world.seats + victim
        murderer = world.deaths[victim].murderer
        for seat in range(world.seats):
            drawn = _FEELINGS[self.pick(len(_FEELINGS))]
            sour = seat == scapegoat or (seat == murderer and self.chance(0.85))
            self.give(seat, "feels", seat, -1 if sour else min(drawn, 0) if seat == murderer else drawn, person)
            if victim == 0:
                for other in sample(self.rng, world.seats, _PAIR_FEELS + 1):
                    if other != seat:
                        self.give(seat, "feels", seat, self.pick(3) - 1, other)
        self.give(self.someone(victim, but=(scapegoat,)), "feels", scapegoat, -1, person)

    def plan_lies(self, victim: int, scapegoat: int) -> None:
        """A false alibi, no access, no quarrel, and somebody else seen at the place of death."""
        world, death, person = self.world, self.world.deaths[victim], self.world.seats + victim
        lies = self.lies[death.murderer]
        lies += [
            Fact("at", (death.murderer, self.other(death.place, len(world.places)), death.time)),
            Fact("lacked", (death.murderer, death.means)),
            Fact("peace", (death.murderer, person)),
            Fact("saw", (scapegoat, death.place, death.time)),
        ]
        motive = Fact("motive", (scapegoat, self.other(death.motive, len(world.motives)), person))
        if not any(motive in hand for hand in self.facts):
            lies.append(motive)

    def thefts(self) -> None:
        """One or two things were taken; somebody else noticed each."""
        for item in range(1 + self.pick(2)):
            thief = self.pick(self.world.seats)
            self.give(thief, "took", thief, item)
            self.give(self.other(thief, self.world.seats), "took", thief, item)

    def noise(self) -> None:
        """Facts without value: sightings from hours without a death, first of people in the same place, and access
        of others to things that killed nobody.
        """
        world = self.world
        people, deadly = world.seats + len(world.deaths), {death.time for death in world.deaths}
        harmless = [means for means in range(len(world.means)) if all(means != death.means for death in world.deaths)]
        for seat in range(world.seats):
            seen = [
                (person, world.timeline[person][hour], hour)
                for person in sample(self.rng, people, people)
                for hour in range(HOURS)
                if person != seat and hour not in deadly and world.timeline[person][hour] >= 0
            ]
            seen.sort(key=lambda sighting: world.timeline[seat][sighting[2]] != sighting[1])
            for sighting in seen[:_SIGHTINGS]:
                self.give(seat, "saw", *sighting)
            other = self.other(seat, world.seats)
            self.give(seat, "had", other, harmless[self.pick(len(harmless))])
