"""What may be chosen, asked and told in a murder mystery: the action numbering and the one source of legality.

The catalogue is made of the case's public words alone: it says all that could be said, not what is so. The facts that a seat may
state depend only on its own script. Rule 3 of Questum's appendix A: a civilian states everything it knows; only a murderer, asked
about its own victim, may say something else or be silent. In a tougher case so many others as it tells
may tell the lies that they planned, or be silent.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

from parlour.envs.core import Move, ParlourError
from parlour.envs.hidden_roles.rules import Options
from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.vocabulary import ANYBODY, ENOUGH, NOBODY, SAYS
from parlour.envs.murder_mystery.vocabulary.facts import (
    FEELINGS,
    KINDS,
    MEANS,
    MOTIVE,
    OPEN,
    PARAMETERS,
    RELATION,
    SIGHTING,
    UNKNOWN,
    WHEREABOUTS,
    CaseVocabulary,
    Fact,
    relevant,
)

# what a murderer may make up, in the words of the case: topic -> kinds; all else that it tells is known or planned
_INVENTED: Final = {
    WHEREABOUTS: ("at",),
    RELATION: ("relation", "feels"),
    MOTIVE: ("motive",),
    SIGHTING: ("saw",),
    MEANS: ("had", "lacked"),
    OPEN: (),
}
_OF_SEATS: Final = ("motive", "had", "took", "lacked", "peace")
_ON_VICTIMS: Final = ("motive", "peace")
_CACHE_SIZE: Final = 20_000

_Pool = tuple[tuple[int, ...], int, int]


class Table:
    """All options of one case."""

    def __init__(self, case: Case) -> None:
        self._case, self._seats = case, case.seats
        self._cache: dict[Any, Any] = {}
        seats = range(case.seats)
        self.tells = tuple(map(tell, tellable(case.vocabulary)))
        self.bits = {move: bit for bit, move in enumerate(self.tells)}
        """Tell -> its number, for sets of facts as bits of one number."""
        self._chooses = tuple(Move(vocabulary.CHOOSE, (j,)) for j in seats)
        self._asks = _questions(case.seats, len(case.victims))
        introduce = Move(vocabulary.INTRODUCE)
        self.introduction = Options((introduce,))
        names = [tuple(Move(kind, (j,)) for j in seats) for kind in (vocabulary.SUSPECT, vocabulary.VOTE)]
        self.names = [[Options(tuple(m for m in moves if m.args != (i,))) for i in seats] for moves in names]
        """Of a report (0) and a vote (1), for each seat: nobody names himself."""
        self.catalogue = (
            introduce,
            NOBODY,
            *self._chooses,
            *self._asks,
            *self.tells,
            SAYS,
            ENOUGH,
            *(move for moves in names for move in moves),
        )
        for character in case.characters:
            for fact in (*character.facts, *character.lies):
                if tell(fact) not in self.bits:
                    raise ParlourError(
                        f"{character.name} has the fact {fact.kind} {list(fact.args)}, which nobody can tell"
                    )

    def choices(self, asker: int, asked: tuple[int, ...]) -> Options:
        """The next player to ask: any other player not yet asked, or nobody."""
        options: Options = self._cached(self._choices, asker, asked)
        return options

    def _choices(self, asker: int, asked: tuple[int, ...]) -> Options:
        return Options((NOBODY, *(m for m in self._chooses if m.args[0] != asker and m.args[0] not in asked)))

    def questions(self, asker: int, target: int, victim: int) -> Options:
        """What `asker` may ask `target` about a victim."""
        options: Options = self._cached(self._questions, asker, target, self._seats + victim)
        return options

    def _questions(self, asker: int, target: int, victim: int) -> Options:
        return Options(tuple(m for m in self._asks if _askable(m, asker, target, victim)))

    def replies(self, target: int, topic: int, about: int, victim: int, stated: int) -> Options:
        """What `target` may answer, given the facts that have been heard from it, as bits."""
        pool: _Pool = self._cached(self._pool, target, topic, about, victim)
        lies = self._case.may_lie(target, victim)
        options: Options = self._cached(self._replies, pool, lies, stated & pool[2])
        return options

    def _replies(self, pool: _Pool, lies: bool, stated: int) -> Options:
        bits, truth, _ = pool
        tells = (self.tells[bit] for bit in bits if not stated >> bit & 1)
        return Options((*tells, SAYS, *((ENOUGH,) if lies or not truth & ~stated else ())))

    def _pool(self, target: int, topic: int, about: int, victim: int) -> _Pool:
        """The facts that may answer a question: their bits ascending; those that are known, and all, as one number."""
        character, person = self._case.characters[target], self._seats + victim

        def fits(fact: Fact) -> bool:
            return relevant(fact, topic, target, about, person)

        known = {self.bits[tell(fact)] for fact in character.facts if fits(fact)}
        pool = set(known)
        if self._case.may_lie(target, victim):
            pool |= {self.bits[tell(fact)] for fact in character.lies if fits(fact)}
        if character.murders[victim]:
            pool |= {self.bits[tell(fact)] for fact in self._invented(target, topic, about, person)}
        return tuple(sorted(pool)), sum(1 << bit for bit in known), sum(1 << bit for bit in pool)

    def _cached(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """The result of `make`, cached: the same options are the same object. A cache for each case, which goes with it."""
        key = (make.__name__, arguments)
        cached = self._cache.get(key)
        if cached is None:
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            cached = self._cache[key] = make(*arguments)
        return cached

    def _invented(self, target: int, topic: int, about: int, victim: int) -> list[Fact]:
        """What a murderer may make up: about itself, or about the person it is asked about."""
        person = target if about == ANYBODY else about
        if person == target and topic in (MOTIVE, SIGHTING):
            return []
        invented = []
        for move in self.tells:
            fact = fact_of(move)
            if fact.kind in _INVENTED[topic] and relevant(fact, topic, target, about, victim):
                first = fact.args[0]
                own_relation = (
                    topic == RELATION and first == target and fact.args[-1] == (victim if about == ANYBODY else about)
                )
                if own_relation or (topic != RELATION and first == person):
                    invented.append(fact)
        return invented


def tell(fact: Fact) -> Move:
    """The move that tells a fact.

    >>> tell(Fact("had", (2, 1)))
    Move(kind='tell', args=(4, 2, 1), words='')
    """
    return Move(vocabulary.TELL, (KINDS.index(fact.kind), *fact.args))


def fact_of(move: Move) -> Fact:
    """The fact that a move tells.

    >>> fact_of(Move("tell", (4, 2, 1)))
    Fact(kind='had', args=(2, 1))
    """
    return Fact(KINDS[move.args[0]], move.args[1:])


def tellable(vocabulary: CaseVocabulary) -> tuple[Fact, ...]:
    """All facts in the words of a case, whether they are so or not; none for a case of prose only."""
    words = (vocabulary.places, vocabulary.times, vocabulary.means, vocabulary.motives, vocabulary.relations)
    if not any((*words, vocabulary.items)):
        return ()
    return tuple(
        Fact(kind, args) for kind in KINDS for args in product(*_ranges(kind, vocabulary)) if _sound(kind, args)
    )


def _ranges(kind: str, vocabulary: CaseVocabulary) -> list[tuple[int, ...]]:
    ranges: list[tuple[int, ...]] = []
    for place, letter in enumerate(PARAMETERS[kind]):
        if letter == "f":
            ranges.append(FEELINGS)
        elif (kind == "died" and letter == "a") or (kind in _ON_VICTIMS and place > 0 and letter == "b"):
            ranges.append(tuple(vocabulary.victims))
        elif kind in _OF_SEATS and letter == "a":
            ranges.append(tuple(range(vocabulary.seats)))
        else:
            least = UNKNOWN if kind == "died" else 0
            ranges.append(tuple(range(least, len(vocabulary.words(letter)))))
    return ranges


def _sound(kind: str, args: tuple[int, ...]) -> bool:
    """Whether a fact says something at all, and of two persons if of two."""
    if kind == "died":
        return set(args[1:]) != {UNKNOWN}
    return kind not in ("relation", "feels") or args[0] != args[-1]


def _askable(question: Move, asker: int, target: int, victim: int) -> bool:
    topic, about = question.args
    if about == ANYBODY:
        return True
    if topic == RELATION:  # that to the victim is the question about nobody in particular
        return about not in (target, victim)
    return about != (target if topic == SIGHTING else asker)


def _questions(seats: int, victims: int) -> tuple[Move, ...]:
    """All questions: about nobody in particular, and where it makes sense about a person."""
    about = {RELATION: seats + victims, MOTIVE: seats, SIGHTING: seats + victims, MEANS: seats}
    return tuple(
        Move(vocabulary.ASK, (topic, person))
        for topic in range(OPEN + 1)
        for person in range(ANYBODY, about.get(topic, 0))
    )
