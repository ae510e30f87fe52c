"""Who knows what in a generated case: clues, red herrings and lies, dealt to the seats.

For every victim each innocent gets at least one clearing fact, told by somebody else; motive, means and the sighting of
the murderer lie with different seats; one innocent looks as guilty as the murderer until he is cleared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.generate.world import HOURS, MEANS, PLACE, TIME, CaseWorld, sample
from parlour.envs.murder_mystery.languages.texts import texts
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

_SEEN, _LACKED, _PEACE = range(3)
"""How an innocent is cleared: seen elsewhere, no access to the means, no reason any more."""
_SECOND_CLEARING: Final = 0.3
_MOTIVE: Final = 0.6
"""Share of innocents, not cleared by peace, who had a reason to kill."""
_ACCESS: Final = 0.55
"""Share of innocents, not cleared by lack of access, who could get at the means."""
_HEARD: Final = 0.5
"""How likely somebody else knows of such a reason or access."""
_AGAIN: Final = 0.35
"""How likely a second seat knows of the murderer's motive, or of his access."""
_THIRD: Final = 0.35
"""How likely a third seat knows of a relation."""
_SHARES: Final = (0.6, 0.25, 0.15)
"""Of pairs with one, two, three relations."""
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
    frozenset(map(_RELATIONS.index, (one, other))) for one, others in _EXCLUDED.items() for other in others
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


class _Dealer:
    """Hands facts to seats; remembers how many seats each can rule out for each victim."""

    def __init__(self, world: CaseWorld, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng
        self.hands: list[dict[Fact, None]] = [{} for _ in range(world.seats)]
        self.load = [[0] * world.seats for _ in world.deaths]

    def give(self, seat: int, kind: str, *args: int) -> Fact:
        fact = Fact(kind, args)
        self.hands[seat][fact] = None
        return fact

    def someone(self, victim: int, *, but: Iterable[int], rather: Iterable[int] = ()) -> int:
        """An innocent of the victim, none of `but` unless nobody else is left; one of `rather` if possible.

        Of these, the one that knows the fewest facts.
        """
        world, barred = self.world, set(but)
        order = [s for s in sample(self.rng, world.seats, world.seats) if s != world.deaths[victim].murderer]
        free = [seat for seat in order if seat not in barred] or order
        free = [seat for seat in free if seat in rather] or free
        return min(free, key=lambda seat: len(self.hands[seat]))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, among: int) -> int:
        return int(self.rng.integers(among))


def deal(world: CaseWorld, rng: np.random.Generator) -> CaseKnowledge:
    """Deal the facts of a world. Whether they make a fair riddle is checked by `solve.faults_of`."""
    dealer = _Dealer(world, rng)
    public = tuple(_public(world, victim) for victim in range(len(world.deaths)))
    for seat in range(world.seats):
        for hour in range(HOURS):
            dealer.give(seat, "at", seat, world.timeline[seat][hour], hour)
    lies: list[list[Fact]] = [[] for _ in range(world.seats)]
    _relations(dealer)
    for victim in range(len(world.deaths)):
        _incriminate(dealer, victim)
        scapegoat = _innocents(dealer, victim)
        _feelings(dealer, victim, scapegoat)
        lies[world.deaths[victim].murderer] += _lies(dealer, victim, scapegoat)
    _thefts(dealer)
    _noise(dealer)
    known = {fact: None for hand in dealer.hands for fact in hand if fact.kind not in ("at", "saw")}
    facts = tuple(tuple(sorted(hand, key=order)) for hand in dealer.hands)
    return CaseKnowledge(public, facts, tuple(tuple(one) for one in lies), tuple(sorted(known, key=order)))


_KIND_ORDER: Final = {
    kind: number
    for number, kind in enumerate(
        ("relation", "feels", "motive", "peace", "had", "lacked", "took", "at", "saw", "died")
    )
}


def order(fact: Fact) -> tuple[object, ...]:
    """Facts in the order of a story: people first, then the evening by its hours."""
    hour = fact.args[2] if fact.kind in ("at", "saw") else -1
    return (_KIND_ORDER[fact.kind], hour, fact.args)


def _public(world: CaseWorld, victim: int) -> Fact:
    death, hidden = world.deaths[victim], world.hidden[victim]
    known = zip((PLACE, TIME, MEANS), (death.place, death.time, death.means), strict=True)
    return Fact("died", (world.seats + victim, *(UNKNOWN if part in hidden else value for part, value in known)))


def _incriminate(dealer: _Dealer, victim: int) -> None:
    """Motive, means and sighting of the murderer, and what the briefing hides of the death: to different seats."""
    world, death, person = dealer.world, dealer.world.deaths[victim], dealer.world.seats + victim
    murderer = death.murderer
    dealer.give(murderer, "motive", murderer, death.motive, person)
    dealer.give(murderer, "had", murderer, death.means)
    witness = dealer.someone(victim, but=())
    dealer.give(witness, "saw", murderer, death.place, death.time)
    holders = [witness]
    for kind, rest in (("motive", (death.motive, person)), ("had", (death.means,))):
        holders.append(dealer.someone(victim, but=holders))
        dealer.give(holders[-1], kind, murderer, *rest)
        if dealer.chance(_AGAIN):
            dealer.give(dealer.someone(victim, but=holders), kind, murderer, *rest)
    for part, value in enumerate((death.place, death.time, death.means)):
        if part in world.hidden[victim]:
            told = [UNKNOWN] * 3
            told[part] = value
            dealer.give(dealer.someone(victim, but=(witness,)), "died", person, *told)


def _innocents(dealer: _Dealer, victim: int) -> int:
    """Clear every innocent, and let them look guilty where they are not cleared. Returns the seat that looks guiltiest."""
    world, death = dealer.world, dealer.world.deaths[victim]
    innocents = [seat for seat in range(world.seats) if seat != death.murderer]
    scapegoat = innocents[dealer.pick(len(innocents))]
    for seat in innocents:
        cleared = {_SEEN if seat == scapegoat else dealer.pick(3)}
        if dealer.chance(_SECOND_CLEARING) and seat != scapegoat:
            cleared.add(dealer.pick(3))
        for how in sorted(cleared):
            _clear(dealer, victim, seat, how)
        _suspicion(dealer, victim, seat, cleared, sure=seat == scapegoat)
    return scapegoat


def _clear(dealer: _Dealer, victim: int, seat: int, how: int) -> None:
    world, death, person = dealer.world, dealer.world.deaths[victim], dealer.world.seats + victim
    load = dealer.load[victim]
    full = [one for one in range(world.seats) if load[one] >= world.seats - 3]
    place = world.timeline[seat][death.time]
    there = [one for one in range(world.seats) if world.timeline[one][death.time] == place] if how == _SEEN else []
    witness = dealer.someone(victim, but=(seat, *full), rather=there)
    load[witness] += 1
    if how == _SEEN:
        dealer.give(witness, "saw", seat, place, death.time)
        return
    fact = ("lacked", (seat, death.means)) if how == _LACKED else ("peace", (seat, person))
    dealer.give(witness, fact[0], *fact[1])
    dealer.give(seat, fact[0], *fact[1])


def _suspicion(dealer: _Dealer, victim: int, seat: int, cleared: set[int], *, sure: bool) -> None:
    """Motive and access of an innocent; `sure` gives both, and lets somebody else know."""
    world, death, person = dealer.world, dealer.world.deaths[victim], dealer.world.seats + victim
    motive, access = dealer.pick(len(world.motives)), dealer.chance(_ACCESS)
    had_reason = dealer.chance(_MOTIVE)
    if _PEACE not in cleared and (sure or had_reason):
        dealer.give(seat, "motive", seat, motive, person)
        if sure or dealer.chance(_HEARD):
            dealer.give(dealer.someone(victim, but=(seat,)), "motive", seat, motive, person)
    if _LACKED not in cleared and (sure or access):
        dealer.give(seat, "had", seat, death.means)
        if sure or dealer.chance(_HEARD):
            dealer.give(dealer.someone(victim, but=(seat,)), "had", seat, death.means)
    decoy = (death.means + 1 + dealer.pick(len(world.means) - 1)) % len(world.means)
    if all(decoy != other.means for other in world.deaths) and dealer.chance(_ACCESS):
        dealer.give(seat, "had", seat, decoy)


def _feelings(dealer: _Dealer, victim: int, scapegoat: int) -> None:
    world, person = dealer.world, dealer.world.seats + victim
    murderer = world.deaths[victim].murderer
    for seat in range(world.seats):
        drawn = _FEELINGS[dealer.pick(len(_FEELINGS))]
        sour = seat == scapegoat or (seat == murderer and dealer.chance(0.85))
        dealer.give(seat, "feels", seat, -1 if sour else min(drawn, 0) if seat == murderer else drawn, person)
        if victim == 0:
            for other in sample(dealer.rng, world.seats, _PAIR_FEELS + 1):
                if other != seat:
                    dealer.give(seat, "feels", seat, dealer.pick(3) - 1, other)
    sour_one = dealer.someone(victim, but=(scapegoat,))
    dealer.give(sour_one, "feels", scapegoat, -1, person)


def _relations(dealer: _Dealer) -> None:
    """Everybody to every victim, and a ring of pairs among the seats; third seats know some."""
    world = dealer.world
    ring = sample(dealer.rng, world.seats, world.seats)
    held: set[tuple[int, int]] = set()  # nobody has two heirs, two lawyers, ...
    pairs = [(seat, victim) for victim in world.victims for seat in range(world.seats)]
    pairs += [(one, ring[(k + 1) % world.seats]) for k, one in enumerate(ring)]
    for one, other in pairs:
        count = 1 + int(np.searchsorted(np.cumsum(_SHARES), dealer.rng.random(), side="right"))
        murders = other >= world.seats and world.deaths[other - world.seats].murderer == one
        third = dealer.pick(world.seats)
        third = dealer.someone(other - world.seats, but=()) if murders else third
        order = sample(dealer.rng, len(world.relations), len(world.relations))
        fitting = _compatible(world, (r for r in order if (r, other) not in held)) or order
        for relation in fitting[:count]:
            held.add((relation, other))
            dealer.give(one, "relation", one, relation, other)
            if other < world.seats:
                dealer.give(other, "relation", one, relation, other)
            if murders or dealer.chance(_THIRD):
                dealer.give(third, "relation", one, relation, other)


def _compatible(world: CaseWorld, order: Iterable[int]) -> tuple[int, ...]:
    """The relations of an order, each unless it contradicts one before it."""
    compatible: list[int] = []
    for relation in order:
        if all(frozenset((world.relations[relation], world.relations[k])) not in _OPPOSITES for k in compatible):
            compatible.append(relation)
    return tuple(compatible)


def _thefts(dealer: _Dealer) -> None:
    """One or two things were taken; somebody else noticed each."""
    world = dealer.world
    for item in range(1 + dealer.pick(2)):
        thief = dealer.pick(world.seats)
        dealer.give(thief, "took", thief, item)
        other = (thief + 1 + dealer.pick(world.seats - 1)) % world.seats
        dealer.give(other, "took", thief, item)


def _noise(dealer: _Dealer) -> None:
    """Facts without value: sightings from hours without a death, first of people in the same place, and access
    of others to things that killed nobody.
    """
    world = dealer.world
    deadly = {death.time for death in world.deaths}
    for seat in range(world.seats):
        near: list[tuple[int, int, int]] = []
        far: list[tuple[int, int, int]] = []
        for person in sample(dealer.rng, world.seats + len(world.deaths), world.seats + len(world.deaths)):
            for hour in range(HOURS):
                place = world.timeline[person][hour]
                if person == seat or hour in deadly or place < 0:
                    continue
                (near if world.timeline[seat][hour] == place else far).append((person, place, hour))
        for person, place, hour in (near + far)[:_SIGHTINGS]:
            dealer.give(seat, "saw", person, place, hour)
        harmless = [means for means in range(len(world.means)) if all(means != death.means for death in world.deaths)]
        other = (seat + 1 + dealer.pick(world.seats - 1)) % world.seats
        dealer.give(seat, "had", other, harmless[dealer.pick(len(harmless))])


def _lies(dealer: _Dealer, victim: int, scapegoat: int) -> list[Fact]:
    """A false alibi, no access, no quarrel, and somebody else seen at the place of death."""
    world, death, person = dealer.world, dealer.world.deaths[victim], dealer.world.seats + victim
    alibi = (death.place + 1 + dealer.pick(len(world.places) - 1)) % len(world.places)
    framed = [
        Fact("at", (death.murderer, alibi, death.time)),
        Fact("lacked", (death.murderer, death.means)),
        Fact("peace", (death.murderer, person)),
        Fact("saw", (scapegoat, death.place, death.time)),
    ]
    known = {fact for hand in dealer.hands for fact in hand}
    other = (death.motive + 1 + dealer.pick(len(world.motives) - 1)) % len(world.motives)
    motive = Fact("motive", (scapegoat, other, person))
    return framed if motive in known else [*framed, motive]
