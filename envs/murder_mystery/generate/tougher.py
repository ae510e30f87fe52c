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

At level 5 a murderer may have up to four victims: the same two innocents confirm all alibis, and each murder is a riddle of its own.
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
    victims: range = range(1, 2)
    """Number of victims that can be asked for."""


TOUGHNESS: Final = (
    Toughness(0, secret=False, backed=0, deductions=0, players=range(4, 7)),
    Toughness(1, secret=True, backed=0, deductions=8, players=range(5, 8)),
    Toughness(1, secret=False, backed=1, deductions=9, players=range(5, 8)),
    Toughness(2, secret=True, backed=1, deductions=11, players=range(6, 9)),
    Toughness(3, secret=True, backed=2, deductions=16, players=range(8, 10)),
    Toughness(
        2,
        secret=False,
        backed=2,
        deductions=11,
        players=range(6, 7),
        herrings=4,
        rumours=3,
        crowd=True,
        victims=range(1, 5),
    ),
)
LEVELS: Final = range(len(TOUGHNESS))
"""Levels of difficulty; 0 is a plain case."""
_ATTEMPTS: Final = 24
"""Clues that are added, one after another, before a draw is given up; and draws of one of several murders."""


class _Hands(Hands):
    """What the seats of a plain case know, while one of its murders is made tougher. All have one murderer."""

    def __init__(self, plain: Hands, public: Sequence[Fact], index: int) -> None:
        super().__init__(plain.world, plain.rng)
        self.public, self.died, self.death = public, public[index], self.world.deaths[index]
        self.victim = self.world.seats + index
        self.facts, self.lies = plain.facts, plain.lies  # shared by all murders
        lies = [lie for lie in self.lies[self.death.murderer] if lie.args[2:] == (self.death.time,)]
        planned = {lie.kind: lie for lie in reversed(lies)}
        self.scapegoat, self.alibi = planned["saw"].args[0], planned["at"].args[1]
        self.informed = self.innocents(0)
        """Who may know what the briefing hides of the death."""

    def seclude(self) -> None:
        """Let only honest innocents who did not see the murderer know what the briefing hides: others would know it alone, or lie."""
        honest = [
            seat for seat in self.innocents(0) if not self.lies[seat] and self.at_the_scene not in self.facts[seat]
        ]
        for seat in set(self.innocents(0)).difference(honest):
            for fact in [fact for fact in self.facts[seat] if fact.kind == "died" and fact.args[0] == self.victim]:
                del self.facts[seat][fact]
                self.give(self.someone(0, rather=honest), "died", *fact.args)
        self.informed = honest

    def conceal(self, seat: int, place: int) -> None:
        """Let a seat claim another place at the hour of the death."""
        self.lies[seat].append(Fact("at", (seat, place, self.death.time)))

    @property
    def at_the_scene(self) -> Fact:
        """The sighting of the murderer when the victim died."""
        return Fact("saw", (self.death.murderer, self.death.place, self.death.time))

    def may_back(self, seat: int) -> bool:
        """Whether an innocent can confirm the alibi: nothing that it knows or that the murderer says of it speaks against that."""
        return seat != self.scapegoat and self.where(seat) != self.alibi and self.at_the_scene not in self.facts[seat]

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


def proof_of(case: Case, victim: int = 0) -> tuple[Told, ...]:
    """Statements of a tougher case that prove a murder, as `belief.proof`: full statements of all players except the murderer."""
    statements = [(PUBLIC, fact) for fact in case.public]
    for seat, character in enumerate(case.characters):
        if not character.murders[victim]:
            statements += [(seat, fact) for fact in said_by(character.facts, character.lies)]
    return belief.proof(statements, case.seats, case.seats + victim, case.liars)


def complicate(world: CaseWorld, known: CaseKnowledge, rng: np.random.Generator, level: int) -> CaseKnowledge | None:
    """The knowledge of a plain case made tougher; None if this draw does not give a fair case of the level.

    Args:
        world: What happened, with one murderer.
        known: Who knows what.
        rng: Where chance comes from.
        level: 1..5.
    """
    wanted, plain = TOUGHNESS[level], Hands(world, rng)
    plain.facts, plain.lies = [dict.fromkeys(facts) for facts in known.facts], [list(lies) for lies in known.lies]
    murders = [_Hands(plain, known.public, index) for index in range(len(world.deaths))]
    if wanted.secret:
        _secret(murders[0])
    if not all(_backed(murders) for _ in range(wanted.backed)):
        return None
    if not all(_hardened(hands, wanted) for hands in murders):
        return None
    if not all(_riddle(hands, wanted) for hands in murders[:-1]):  # what was taken away since may have been needed
        return None
    return plain.knowledge(known.public, known.truth)


def _hardened(hands: _Hands, wanted: Toughness) -> bool:
    """Deal what makes one murder hard; of several, until it is a fair riddle. Whether that was reached."""
    several, before = len(hands.public) > 1, [dict(facts) for facts in hands.facts]
    for _ in range(_ATTEMPTS if several else 1):
        hands.facts[:] = map(dict, before)
        if several:
            hands.seclude()
        herrings = list[int]()
        for _ in range(wanted.herrings):
            herrings.append(_herring(hands, herrings, wanted.rumours))
        if wanted.crowd:
            _crowd(hands)
        if _proved(hands, wanted.liars) and _riddle(hands, wanted):
            return True
    return False


def _secret(hands: _Hands) -> None:
    """The scapegoat took something when the victim died, claims another place, and was seen by one who tells."""
    seat, item = hands.scapegoat, len(hands.world.items) - 1
    places = [p for p in range(len(hands.world.places)) if p not in (hands.where(seat), hands.death.place)]
    hands.conceal(seat, places[hands.pick(len(places))])
    hands.uncleared(seat)  # by anything but the secret
    hands.give(seat, "took", seat, item)
    hands.sighted(seat)
    hands.give(hands.someone(0, but=(seat,)), "took", seat, item)


def _backed(murders: Sequence[_Hands]) -> bool:
    """An innocent claims to have been with the murderer at the place of each alibi; somebody saw where it really was."""
    first = murders[0]
    free = [
        seat for seat in first.innocents(0) if not first.lies[seat] and all(each.may_back(seat) for each in murders)
    ]
    if not free:
        return False
    liar, murderer = free[first.pick(len(free))], first.death.murderer
    for hands in murders:
        hands.conceal(liar, hands.alibi)
        hands.lies[liar].append(Fact("saw", (murderer, hands.alibi, hands.death.time)))
        hands.facts[liar] = {f: None for f in hands.facts[liar] if f[0] != "feels" or f[1][::2] != (liar, murderer)}
        hands.give(liar, "feels", liar, 1, murderer)
        hands.sighted(liar, next(seat for seat in hands.innocents(0) if hands.at_the_scene in hands.facts[seat]))
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
    innocents, time = list(dict.fromkeys((*hands.informed, *hands.innocents(0)))), hands.death.time
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
    for part in (0, 1):
        if hands.died.args[part + 1] == UNKNOWN:
            manner = tuple(hands.death.manner[k] if k == part else UNKNOWN for k in range(3))
            fact = Fact("died", (hands.victim, *manner))
            knowing = [seat for seat in hands.informed if fact in hands.facts[seat]]
            if len(knowing) < len(hands.informed):
                hands.give(hands.someone(0, but=knowing, rather=hands.informed), "died", *fact.args)


def _riddle(hands: _Hands, wanted: Toughness) -> bool:
    """Whether no innocent knows it alone, nobody but the murderer looks guilty in all, and the proof is long enough."""
    public = [(PUBLIC, fact) for fact in hands.public]
    for seat in hands.innocents(0):
        own = [(seat, fact) for fact in hands.facts[seat]]
        alone = belief.possible([*public, *own], hands.world.seats, hands.victim, 0)
        if len([other for other in alone if other != seat]) < 2:
            return False
    return len(belief.proof(hands.statements(), hands.world.seats, hands.victim, wanted.liars)) >= wanted.deductions
