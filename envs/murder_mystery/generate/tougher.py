"""Tougher cases from a seed: innocents who lie, secrets that clear who keeps them, alibis that two statements break, herrings.

Ours. A level adds to the facts of a plain case:
1. One innocent hides where it was when the victim died (it took something), and claims another place. It has a reason and the
   means, the murderer points at it, and only the sighting that uncovers its secret clears it.
2. One innocent lies for the murderer: it claims to have been with him at the place of his alibi. Somebody saw the murderer,
   somebody else saw the liar: only both together break the alibi.
3. Both, with two liars.
4. Both, and a second innocent confirms the murderer's alibi: three liars.

A second innocent looks guilty at all levels. Then more is dealt until the solver, which does not know who lies but how many
(`belief`), is left with the murderer alone though he says nothing; and the case counts only if its proof takes as many
statements as the level asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery import belief
from parlour.envs.murder_mystery.belief import PUBLIC, Told
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.generate.clues import CaseKnowledge, order
from parlour.envs.murder_mystery.generate.world import CaseWorld, sample
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

LEVELS: Final = range(5)
"""Of difficulty; 0 is a plain case."""


class Toughness(NamedTuple):
    """What a level asks for."""

    liars: int
    """Innocents who may lie."""
    secret: bool
    """Whether one of them hides where it was."""
    backed: int
    """How many of them confirm the murderer's alibi."""
    deductions: int
    """Statements that the solver's proof must take at least."""
    players: range
    """How many are drawn to play, if no number is given: liars need others to be told apart from."""


TOUGHNESS: Final = (
    Toughness(0, secret=False, backed=0, deductions=0, players=range(4, 7)),
    Toughness(1, secret=True, backed=0, deductions=8, players=range(5, 8)),
    Toughness(1, secret=False, backed=1, deductions=9, players=range(5, 8)),
    Toughness(2, secret=True, backed=1, deductions=11, players=range(6, 9)),
    Toughness(3, secret=True, backed=2, deductions=16, players=range(8, 10)),
)
_ATTEMPTS: Final = 24
"""Clues that are added, one after another, before a draw is given up."""


class _Hands:
    """What the seats know, while it is changed."""

    def __init__(self, world: CaseWorld, known: CaseKnowledge, rng: np.random.Generator) -> None:
        self.world, self.rng, self.public = world, rng, known.public
        self.facts = [dict.fromkeys(one) for one in known.facts]
        self.lies = [list(one) for one in known.lies]
        self.death, self.victim = world.deaths[0], world.seats
        framed = [lie.args[0] for lie in known.lies[self.death.murderer] if lie.kind == "saw"]
        self.scapegoat = framed[0]
        self.alibi = next(lie.args[1] for lie in known.lies[self.death.murderer] if lie.kind == "at")

    @property
    def innocents(self) -> list[int]:
        return [seat for seat in range(self.world.seats) if seat != self.death.murderer]

    def give(self, seat: int, kind: str, *args: int) -> None:
        self.facts[seat][Fact(kind, args)] = None

    def conceal(self, seat: int, place: int) -> None:
        """Let a seat claim another place at the hour of the death."""
        self.lies[seat].append(Fact("at", (seat, place, self.death.time)))

    def where(self, seat: int) -> int:
        """The place of a seat at the hour of the death."""
        return self.world.timeline[seat][self.death.time]

    def witness(self, *but: int) -> int:
        """An innocent, none of `but`, of those that know least."""
        free = [s for s in sample(self.rng, self.world.seats, self.world.seats) if s in self.innocents and s not in but]
        return min(free, key=lambda seat: len(self.facts[seat]))

    def sighted(self, seat: int, *but: int) -> None:
        """Let one more innocent have seen a seat when the victim died."""
        fact = Fact("saw", (seat, self.where(seat), self.death.time))
        knowing = [other for other in self.innocents if fact in self.facts[other]]
        if len({*knowing, *but, seat, self.death.murderer}) < self.world.seats:
            self.give(self.witness(seat, *but, *knowing), *_flat(fact))

    def told(self) -> list[Told]:
        """What all but the murderer say: their lies, and what does not contradict them."""
        found = [(PUBLIC, fact) for fact in self.public]
        for seat in self.innocents:
            found += [(seat, fact) for fact in said_by(list(self.facts[seat]), self.lies[seat])]
        return [one for one in found if one[1].kind in ("died", "saw", "at", "had", "lacked", "peace")]


def said_by(facts: Sequence[Fact], lies: Sequence[Fact]) -> list[Fact]:
    """What an innocent tells: its lies, and of what it knows what does not contradict them."""
    claimed = {(lie.args[0], lie.args[2]) for lie in lies if lie.kind in ("at", "saw")}
    return [*lies, *(f for f in facts if f.kind not in ("at", "saw") or (f.args[0], f.args[2]) not in claimed)]


def proof_of(case: Case) -> tuple[Told, ...]:
    """Statements of a tougher case that prove it, as `belief.proof`: of all but the murderer, each told in full."""
    told = [(PUBLIC, fact) for fact in case.public]
    for seat, one in enumerate(case.characters):
        if not one.murders[0]:
            told += [(seat, fact) for fact in said_by(one.facts, one.lies)]
    return belief.proof(told, case.seats, case.seats, case.liars)


def complicate(world: CaseWorld, known: CaseKnowledge, rng: np.random.Generator, level: int) -> CaseKnowledge | None:
    """The knowledge of a plain case made tougher; None if this draw does not give a fair case of the level.

    Args:
        world: What happened, with one victim.
        known: Who knows what.
        rng: Where chance comes from.
        level: 1..4.
    """
    wanted, hands = TOUGHNESS[level], _Hands(world, known, rng)
    if wanted.secret:
        _secret(hands)
    if not all(_backed(hands) for _ in range(wanted.backed)):
        return None
    _herring(hands)
    if not _proved(hands, wanted.liars) or not _riddle(hands, wanted):
        return None
    truth = dict.fromkeys(known.truth)
    truth.update((fact, None) for hand in hands.facts for fact in hand if fact.kind not in ("at", "saw"))
    facts = tuple(tuple(sorted(hand, key=order)) for hand in hands.facts)
    return CaseKnowledge(known.public, facts, tuple(map(tuple, hands.lies)), tuple(sorted(truth, key=order)))


def _secret(hands: _Hands) -> None:
    """The scapegoat took something when the victim died, claims another place, and was seen by one who tells."""
    one, item = hands.scapegoat, len(hands.world.items) - 1
    places = [p for p in range(len(hands.world.places)) if p not in (hands.where(one), hands.death.place)]
    hands.conceal(one, places[int(hands.rng.integers(len(places)))])
    for hand in hands.facts:  # nothing but the secret clears it
        for fact in [f for f in hand if f.kind in ("lacked", "peace") and f.args[0] == one]:
            del hand[fact]
    hands.give(one, "took", one, item)
    hands.sighted(one)
    hands.give(hands.witness(one), "took", one, item)


def _backed(hands: _Hands) -> bool:
    """An innocent claims to have been with the murderer at the place of his alibi; somebody saw where it really was."""
    murderer, time = hands.death.murderer, hands.death.time
    free = [s for s in hands.innocents if not hands.lies[s] and s != hands.scapegoat and hands.where(s) != hands.alibi]
    seen = Fact("saw", (murderer, hands.death.place, time))
    free = [seat for seat in free if seen not in hands.facts[seat]]
    if not free:
        return False
    liar = free[int(hands.rng.integers(len(free)))]
    hands.conceal(liar, hands.alibi)
    hands.lies[liar].append(Fact("saw", (murderer, hands.alibi, time)))
    hands.facts[liar] = {f: None for f in hands.facts[liar] if f[0] != "feels" or f[1][::2] != (liar, murderer)}
    hands.give(liar, "feels", liar, 1, murderer)
    witness = next(seat for seat in hands.innocents if seen in hands.facts[seat])
    hands.sighted(liar, witness)
    return True


def _herring(hands: _Hands) -> None:
    """One more innocent with a reason and the means, of which others know; others clear it by what they saw."""
    others = [seat for seat in hands.innocents if seat != hands.scapegoat]
    one = others[int(hands.rng.integers(len(others)))]
    for hand in hands.facts:
        for fact in [f for f in hand if f.kind in ("lacked", "peace") and f.args[0] == one]:
            del hand[fact]
    motive = int(hands.rng.integers(len(hands.world.motives)))
    motive = next((f[1][1] for f in hands.facts[one] if f[0] == "motive" and f[1][::2] == (one, hands.victim)), motive)
    for seat in (one, hands.witness(one)):
        hands.give(seat, "motive", one, motive, hands.victim)
    for seat in (one, hands.witness(one)):
        hands.give(seat, "had", one, hands.death.means)
    hands.sighted(one)


def _proved(hands: _Hands, liars: int) -> bool:
    """Deal more until what all but the murderer tell leaves him alone. Whether that was reached."""
    for _ in range(_ATTEMPTS):
        left = belief.possible(hands.told(), hands.world.seats, hands.victim, liars)
        if left == (hands.death.murderer,):
            return True
        if hands.death.murderer not in left:
            return False
        others = [seat for seat in left if seat != hands.death.murderer]
        if hands.rng.random() < 0.3:
            _died_again(hands)
        else:
            hands.sighted(others[int(hands.rng.integers(len(others)))])
    return False


def _died_again(hands: _Hands) -> None:
    """Let one more seat know what the briefing does not say of place or time of the death."""
    (public,) = hands.public
    for part, value in ((1, hands.death.place), (2, hands.death.time)):
        if public.args[part] == UNKNOWN:
            told = [hands.victim, UNKNOWN, UNKNOWN, UNKNOWN]
            told[part] = value
            knowing = [s for s in hands.innocents if Fact("died", tuple(told)) in hands.facts[s]]
            if len(knowing) < len(hands.innocents):
                hands.give(hands.witness(*knowing), "died", *told)


def _riddle(hands: _Hands, wanted: Toughness) -> bool:
    """Whether no innocent knows it alone, nobody but the murderer looks guilty in all, and the proof is long enough."""
    seats, public = hands.world.seats, [(PUBLIC, fact) for fact in hands.public]
    for seat in hands.innocents:
        own = public + [(seat, fact) for fact in hands.facts[seat]]
        alone = belief.possible(own, seats, hands.victim, 0)
        if len([one for one in alone if one != seat]) < 2:
            return False
    return len(belief.proof(hands.told(), seats, hands.victim, wanted.liars)) >= wanted.deductions


def _flat(fact: Fact) -> tuple[str, *tuple[int, ...]]:
    return (fact.kind, *fact.args)
