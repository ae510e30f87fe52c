"""A made-up world of people, towns and works, and how its facts are put into sentences. All of it is invented here.

Famous people have more works and are mentioned more often; obscure ones have short articles. A `WorldFact` knows how famous
its subject is, because what a reader remembers without a book goes by that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.english import word_list

_FIRST: Final = word_list(
    "Edda Alwin Berit Caspar Doriel Emeric Fenna Gorran Hilde Isko Jorun Kaspian Liesel Mattis Nadja "
    "Oskar Petra Quirin Runa Stellan Tamsin Ulrik Vesna Wendel Xenia Yorick Zelda Anselm Brisa Corvin "
    "Delia Egon Frida Gustaf"
)
_START: Final = word_list(
    "Mar Tel Bro Sun Hal Ver Kest Dun Lor Pell Grim Ash Fen Ral Wes Tor Nor Cal Hel Bran Sker Ost Vin Mor"
)
_END: Final = word_list("low den vik mere stad wick holt ner gard by sand brook ström field mund ley thal rup")
_RIVERS: Final = word_list("Ilse Orra Venn Thule Maren Doss Arvel Siln Keld Ommer Brae Luth Wenz Issel Tarn Rhode")
_REGIONS: Final = ["Upper Vale", "Salt Coast", "Northmark", "Amber Plain", "Lake Country", "Grey Hills"]
_ADJECTIVES: Final = word_list(
    "Glass Silent Crimson Hollow Northern Golden Broken Winter Paper Iron Distant Salt Burning Hidden "
    "Patient Velvet Drowned Wandering Copper Last Blue Narrow Quiet Borrowed"
)
_NOUNS: Final = word_list(
    "Harbour Orchard Lantern Garden Bridge Mirror Station River Staircase Kingdom Letter Meadow Compass "
    "Tower Voyage Window Carpet Island Clock Market Shadow Ferry Library Forest Bell Engine"
)
WORK_KINDS: Final = {"novel": "author", "film": "director", "opera": "composer", "painting": "painter"}


class WorldFact(NamedTuple):
    """One fact: whose, which, and how well known it is."""

    subject: str
    relation: str
    fame: float
    """0..1."""


@dataclass(frozen=True)
class Town:
    """A town."""

    name: str
    river: str
    region: str
    founded: int
    fame: float


@dataclass(frozen=True)
class Person:
    """Somebody who makes works of one kind."""

    name: str
    she: bool
    born: int
    town: Town
    kind: str
    fame: float


@dataclass(frozen=True)
class Work:
    """Something made by a person."""

    title: str
    kind: str
    maker: Person
    year: int
    fame: float


@dataclass(frozen=True)
class FictionalWorld:
    """All there is."""

    towns: tuple[Town, ...]
    people: tuple[Person, ...]
    works: tuple[Work, ...]


def make_world(rng: np.random.Generator, *, towns: int, people: int, works: int) -> FictionalWorld:
    """A world of a size; fewer than asked for where the names run out."""
    places = [
        Town(
            name,
            _RIVERS[rng.integers(len(_RIVERS))],
            _REGIONS[rng.integers(len(_REGIONS))],
            int(rng.integers(1100, 1700)),
            float(rng.random()),
        )
        for name in _towns(rng, towns)
    ]
    crowd = [
        Person(
            name,
            bool(rng.integers(2)),
            int(rng.integers(1840, 1970)),
            places[rng.integers(len(places))],
            list(WORK_KINDS)[rng.integers(len(WORK_KINDS))],
            float(rng.random() ** 2),
        )
        for name in _people(rng, people)
    ]
    chance = np.array([0.1 + person.fame for person in crowd])
    makers = rng.choice(len(crowd), size=works, p=chance / chance.sum())
    made = []
    for title, maker in zip(_titles(rng, works), makers, strict=False):
        person = crowd[maker]
        fame = float(np.clip(0.7 * person.fame + 0.3 * rng.random(), 0, 1))
        made.append(Work(title, person.kind, person, person.born + int(rng.integers(22, 70)), fame))
    return FictionalWorld(tuple(places), tuple(crowd), tuple(made))


def _towns(rng: np.random.Generator, count: int) -> list[str]:
    return _some(rng, [a + b for a in _START for b in _END], count)


def _people(rng: np.random.Generator, count: int) -> list[str]:
    last = _some(rng, [b + a.lower() + c for b in _START[:12] for a in _END[:9] for c in ("", "s", "sen")], 240)
    return _some(rng, [f"{first} {name}" for first in _FIRST for name in last], count)


def _titles(rng: np.random.Generator, count: int) -> list[str]:
    plain = [f"The {adjective} {noun}" for adjective in _ADJECTIVES for noun in _NOUNS]
    longer = [f"{title} of {start + end}" for title in plain for start in _START[:6] for end in ("heim", "fors")]
    return _some(rng, plain, count) + _some(rng, longer, max(0, count - len(plain)))


def _some(rng: np.random.Generator, every: list[str], count: int) -> list[str]:
    return [every[k] for k in rng.permutation(len(every))[:count]]


# -- sentences -------------------------------------------------------------------------------------------------


def born(person: Person, *, plain: bool, pronoun: bool) -> str:
    """When and where somebody was born; not plainly: without the word."""
    who = ("She" if person.she else "He") if pronoun else person.name
    if plain:
        return f"{who} was born in {person.born} in {person.town.name}."
    return f"{who} came into the world in {person.town.name} in the spring of {person.born}."


def trade(person: Person) -> str:
    """What somebody is."""
    return f"{person.name} is known as {_article(WORK_KINDS[person.kind])} {WORK_KINDS[person.kind]}."


def made(work: Work, *, plain: bool) -> str:
    """Who made a work, and when."""
    verb = {"novel": "written", "film": "directed", "opera": "composed", "painting": "painted"}[work.kind]
    if plain:
        who = f"the author {work.maker.name}" if work.kind == "novel" else work.maker.name
        return f"{work.title} is {_article(work.kind)} {work.kind} {verb} by {who}."
    return f"{work.title} is {_article(work.kind)} {work.kind} from the hand of {work.maker.name}."


def released(work: Work, *, plain: bool) -> str:
    """When a work came out."""
    return f"It came out in {work.year}." if plain else f"The public saw it for the first time in {work.year}."


def lies(town: Town, *, plain: bool) -> str:
    """Where a town lies."""
    if plain:
        return f"The river {town.river} runs through {town.name}, a town in the {town.region}."
    return f"{town.name} is a town in the {town.region}, on both banks of the {town.river}."


def founded(town: Town, *, plain: bool) -> str:
    """How old a town is."""
    return f"It was founded in {town.founded}." if plain else f"Its charter dates from {town.founded}."


def gossip(rng: np.random.Generator, world: FictionalWorld, name: str, lure: float) -> str:
    """A sentence that says nothing to the point, but holds names and years; famous people come up more often.

    So large a share of them uses the very words that questions use.
    """
    chance = np.array([0.05 + person.fame**2 for person in world.people])
    other = world.people[rng.choice(len(world.people), p=chance / chance.sum())]
    town, year = world.towns[rng.integers(len(world.towns))], int(rng.integers(1900, 2020))
    if rng.random() < lure:
        said = (
            f"{other.name}, born a neighbour, kept a diary about {name} until {year}.",
            f"A society founded in {year} by {other.name} meets in {town.name} to discuss {name}.",
        )
    else:
        said = (
            f"In {year} {other.name} gave a lecture on {name} in {town.name}.",
            f"A street in {town.name} was named after {name} in {year}.",
        )
    return said[rng.integers(len(said))]


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"
