"""Tougher cases from a seed: innocents who lie, secrets that clear who keeps them, alibis that two statements break, herrings.

Ours. A level adds to the facts of a plain case:
1. One innocent hides where it was when the victim died (it took something), and claims another place. It has a reason and the
   means, the murderer points at it, and only the sighting that uncovers its secret clears it.
2. One innocent lies for the murderer: it claims to have been with him at the place of his alibi. Somebody saw the murderer,
   somebody else saw the liar: only both together break the alibi.
3. Both, with two liars.
4. Both, and a second innocent confirms the murderer's alibi: three liars.
5. Two innocents confirm the alibi. Five look guilty, and most know so. Everybody saw the same three innocents, so that answers to
   general questions name these: what clears the others takes a question about the right player to the right player.

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
from parlour.envs.murder_mystery.generate.clues import CaseKnowledge, Hands
from parlour.envs.murder_mystery.generate.world import CaseWorld
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact


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
    """Number of players to draw if none is given: liars must be distinguishable from others."""
    herrings: int = 1
    """Innocents who look guilty until others tell that they saw them."""
    rumours: int = 1
    """How many others know the reason, and how many the means, of each of these."""
    crowd: bool = False
    """Whether everybody saw the first three innocents when the victim died: an answer of three facts tells nothing else."""


TOUGHNESS: Final = (
    Toughness(0, secret=False, backed=0, deductions=0, players=range(4, 7)),
    Toughness(1, secret=True, backed=0, deductions=8, players=range(5, 8)),
    Toughness(1, secret=False, backed=1, deductions=9, players=range(5, 8)),
    Toughness(2, secret=True, backed=1, deductions=11, players=range(6, 9)),
    Toughness(3, secret=True, backed=2, deductions=16, players=range(8, 10)),
    Toughness(2, secret=False, backed=2, deductions=11, players=range(6, 7), herrings=4, rumours=3, crowd=True),
)
LEVELS: Final = range(len(TOUGHNESS))
"""Levels of difficulty; 0 is a plain case."""
_ATTEMPTS: Final = 24
"""Clues that are added, one after another, before a draw is given up."""


class _Hands(Hands):
    """What the seats of a plain case know, while it is made tougher."""

    def __init__(self, world: CaseWorld, known: CaseKnowledge, rng: np.random.Generator) -> None:
        super().__init__(world, rng)
        self.public, self.death, self.victim = known.public, world.deaths[0], world.seats
        self.facts = [dict.fromkeys(facts) for facts in known.facts]
        self.lies = [list(lies) for lies in known.lies]
        planned = {lie.kind: lie for lie in reversed(self.lies[self.death.murderer])}
        self.scapegoat, self.alibi = planned["saw"].args[0], planned["at"].args[1]

    def conceal(self, seat: int, place: int) -> None:
        """Let a seat claim another place at the hour of the death."""
        self.lies[seat].append(Fact("at", (seat, place, self.death.time)))

    def where(self, seat: int) -> int:
        """The place of a seat at the hour of the death."""
        return self.world.timeline[seat][self.death.time]

    def sighted(self, seat: int, *but: int) -> None:
        """Let one more innocent have seen a seat when the victim died."""
        seen = Fact("saw", (seat, self.where(seat), self.death.time))
        knowing = [other for other in self.innocents(0) if seen in self.facts[other]]
        if len({*knowing, *but, seat, self.death.murderer}) < self.world.seats:
            self.give(self.someone(0, but=(seat, *but, *knowing)), "saw", *seen.args)

    def uncleared(self, seat: int) -> None:
        """Take away whatever but sightings clears a seat."""
        for hand in self.facts:
            for fact in [fact for fact in hand if fact.kind in ("lacked", "peace") and fact.args[0] == seat]:
                del hand[fact]

    def statements(self) -> list[Told]:
        """What all but the murderer say: their lies, and what does not contradict them."""
        statements = [(PUBLIC, fact) for fact in self.public]
        for seat in self.innocents(0):
            statements += [(seat, fact) for fact in said_by(list(self.facts[seat]), self.lies[seat])]
        return [each for each in statements if each[1].kind in ("died", "saw", "at", "had", "lacked", "peace")]


def said_by(facts: Sequence[Fact], lies: Sequence[Fact]) -> list[Fact]:
    """What an innocent tells: its lies, and of what it knows what does not contradict them."""
    claimed = {(lie.args[0], lie.args[2]) for lie in lies if lie.kind in ("at", "saw")}
    return [*lies, *(f for f in facts if f.kind not in ("at", "saw") or (f.args[0], f.args[2]) not in claimed)]


def proof_of(case: Case) -> tuple[Told, ...]:
    """Statements of a tougher case that prove it, as `belief.proof`: full statements of all players except the murderer."""
    statements = [(PUBLIC, fact) for fact in case.public]
    for seat, character in enumerate(case.characters):
        if not character.murders[0]:
            statements += [(seat, fact) for fact in said_by(character.facts, character.lies)]
    return belief.proof(statements, case.seats, case.seats, case.liars)


def complicate(world: CaseWorld, known: CaseKnowledge, rng: np.random.Generator, level: int) -> CaseKnowledge | None:
    """The knowledge of a plain case made tougher; None if this draw does not give a fair case of the level.

    Args:
        world: What happened, with one victim.
        known: Who knows what.
        rng: Where chance comes from.
        level: 1..5.
    """
    wanted, hands = TOUGHNESS[level], _Hands(world, known, rng)
    if wanted.secret:
        _secret(hands)
    if not all(_backed(hands) for _ in range(wanted.backed)):
        return None
    herrings = list[int]()
    for _ in range(wanted.herrings):
        herrings.append(_herring(hands, herrings, wanted.rumours))
    if wanted.crowd:
        _crowd(hands)
    if not _proved(hands, wanted.liars) or not _riddle(hands, wanted):
        return None
    return hands.knowledge(known.public, known.truth)


def _secret(hands: _Hands) -> None:
    """The scapegoat took something when the victim died, claims another place, and was seen by one who tells."""
    seat, item = hands.scapegoat, len(hands.world.items) - 1
    places = [p for p in range(len(hands.world.places)) if p not in (hands.where(seat), hands.death.place)]
    hands.conceal(seat, places[hands.pick(len(places))])
    hands.uncleared(seat)  # by anything but the secret
    hands.give(seat, "took", seat, item)
    hands.sighted(seat)
    hands.give(hands.someone(0, but=(seat,)), "took", seat, item)


def _backed(hands: _Hands) -> bool:
    """An innocent claims to have been with the murderer at the place of his alibi; somebody saw where it really was."""
    murderer, time = hands.death.murderer, hands.death.time
    seen = Fact("saw", (murderer, hands.death.place, time))
    free = [
        seat
        for seat in hands.innocents(0)
        if not hands.lies[seat]
        and seat != hands.scapegoat
        and hands.where(seat) != hands.alibi
        and seen not in hands.facts[seat]
    ]
    if not free:
        return False
    liar = free[hands.pick(len(free))]
    hands.conceal(liar, hands.alibi)
    hands.lies[liar].append(Fact("saw", (murderer, hands.alibi, time)))
    hands.facts[liar] = {f: None for f in hands.facts[liar] if f[0] != "feels" or f[1][::2] != (liar, murderer)}
    hands.give(liar, "feels", liar, 1, murderer)
    hands.sighted(liar, next(seat for seat in hands.innocents(0) if seen in hands.facts[seat]))
    return True


def _herring(hands: _Hands, before: Sequence[int], rumours: int) -> int:
    """One more innocent with a reason and the means, of which others know; others clear it by what they saw. Returns its seat."""
    others = [seat for seat in hands.innocents(0) if seat not in (hands.scapegoat, *before)]
    seat = others[hands.pick(len(others))]
    hands.uncleared(seat)
    motive, own = hands.pick(len(hands.world.motives)), (seat, hands.victim)
    motive = next((f.args[1] for f in hands.facts[seat] if f.kind == "motive" and f.args[::2] == own), motive)
    for kind, rest in (("motive", (motive, hands.victim)), ("had", (hands.death.means,))):
        knowing = [seat]
        for _ in range(rumours):
            knowing.append(hands.someone(0, but=knowing))
        for each in knowing:
            hands.give(each, kind, seat, *rest)
    hands.sighted(seat)
    return seat


def _crowd(hands: _Hands) -> None:
    """Everybody saw the first three innocents; each of the others is cleared by one of the others alone, who saw it."""
    innocents, time = hands.innocents(0), hands.death.time
    for seat in innocents[:3]:
        for other in innocents:
            if other != seat:
                hands.give(other, "saw", seat, hands.where(seat), time)
    for seat, other in zip(innocents[3:], (innocents[-1], *innocents[3:-1]), strict=True):
        hands.uncleared(seat)
        for hand in hands.facts:
            hand.pop(Fact("saw", (seat, hands.where(seat), time)), None)
        hands.give(other, "saw", seat, hands.where(seat), time)


def _proved(hands: _Hands, liars: int) -> bool:
    """Deal more until what all but the murderer tell leaves him alone. Whether that was reached."""
    murderer = hands.death.murderer
    for _ in range(_ATTEMPTS):
        suspects = belief.possible(hands.statements(), hands.world.seats, hands.victim, liars)
        if suspects == (murderer,) or murderer not in suspects:
            return murderer in suspects
        others = [seat for seat in suspects if seat != murderer]
        if hands.rng.random() < 0.3:
            _died_again(hands)
        else:
            hands.sighted(others[hands.pick(len(others))])
    return False


def _died_again(hands: _Hands) -> None:
    """Let one more seat know what the briefing does not say of place or time of the death."""
    (public,) = hands.public
    for part in (0, 1):
        if public.args[part + 1] == UNKNOWN:
            manner = tuple(hands.death.manner[k] if k == part else UNKNOWN for k in range(3))
            fact = Fact("died", (hands.victim, *manner))
            knowing = [seat for seat in hands.innocents(0) if fact in hands.facts[seat]]
            if len(knowing) < len(hands.innocents(0)):
                hands.give(hands.someone(0, but=knowing), "died", *fact.args)


def _riddle(hands: _Hands, wanted: Toughness) -> bool:
    """Whether no innocent knows it alone, nobody but the murderer looks guilty in all, and the proof is long enough."""
    public = [(PUBLIC, fact) for fact in hands.public]
    for seat in hands.innocents(0):
        own = [(seat, fact) for fact in hands.facts[seat]]
        alone = belief.possible([*public, *own], hands.world.seats, hands.victim, 0)
        if len([other for other in alone if other != seat]) < 2:
            return False
    return len(belief.proof(hands.statements(), hands.world.seats, hands.victim, wanted.liars)) >= wanted.deductions
