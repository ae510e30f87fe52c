"""An invented world of people, towns and works; its words and sentences are in `data/world.toml`.

Famous people have more works and are mentioned more often; obscure ones have short articles. A `WorldFact` knows how famous
its subject is, because what a reader remembers without a book depends on that.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final, NamedTuple

import numpy as np

TABLES: Final[dict[str, Any]] = tomllib.loads(
    resources.files(__package__).joinpath("data/world.toml").read_text("utf-8")
)
"""The words, sentences and bridge questions of `data/world.toml`."""
_START, _END = TABLES["town_starts"].split(), TABLES["town_ends"].split()
_RIVERS, _REGIONS = TABLES["rivers"].split(), TABLES["regions"].split(", ")
WORK_KINDS: Final = {
    "novel": ("author", "written"),
    "film": ("director", "directed"),
    "opera": ("composer", "composed"),
    "painting": ("painter", "painted"),
}
"""Kind of work -> who makes it, and how making it is called."""


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

    @property
    def pronoun(self) -> str:
        """At the beginning of a sentence."""
        return "She" if self.she else "He"

    @property
    def profession(self) -> str:
        """What makers of such works are called."""
        return WORK_KINDS[self.kind][0]

    @property
    def trade(self) -> str:
        """The profession with its article."""
        return _with_article(self.profession)


@dataclass(frozen=True)
class Work:
    """Something made by a person."""

    name: str
    """Its title."""
    kind: str
    maker: Person
    year: int
    fame: float

    @property
    def what(self) -> str:
        """Its kind with an article."""
        return _with_article(self.kind)

    @property
    def verb(self) -> str:
        """How making it is called."""
        return WORK_KINDS[self.kind][1]

    @property
    def credit(self) -> str:
        """Its maker, as articles name them."""
        return f"the author {self.maker.name}" if self.kind == "novel" else self.maker.name


@dataclass(frozen=True)
class FictionalWorld:
    """The whole world."""

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
        for name in _some(rng, [a + b for a in _START for b in _END], towns)
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
    creations = []
    for title, maker in zip(_titles(rng, works), makers, strict=False):
        person = crowd[maker]
        fame = float(np.clip(0.7 * person.fame + 0.3 * rng.random(), 0, 1))
        creations.append(Work(title, person.kind, person, person.born + int(rng.integers(22, 70)), fame))
    return FictionalWorld(tuple(places), tuple(crowd), tuple(creations))


def _people(rng: np.random.Generator, count: int) -> list[str]:
    last = _some(rng, [b + a.lower() + c for b in _START[:12] for a in _END[:9] for c in ("", "s", "sen")], 240)
    return _some(rng, [f"{first} {name}" for first in TABLES["given_names"].split() for name in last], count)


def _titles(rng: np.random.Generator, count: int) -> list[str]:
    nouns = TABLES["nouns"].split()
    plain = [f"The {adjective} {noun}" for adjective in TABLES["adjectives"].split() for noun in nouns]
    longer = [f"{title} of {start + end}" for title in plain for start in _START[:6] for end in ("heim", "fors")]
    return _some(rng, plain, count) + _some(rng, longer, max(0, count - len(plain)))


def _some(rng: np.random.Generator, every: list[str], count: int) -> list[str]:
    return [every[k] for k in rng.permutation(len(every))[:count]]


# -- sentences -------------------------------------------------------------------------------------------------


def gossip(rng: np.random.Generator, world: FictionalWorld, name: str, lure: float) -> str:
    """A sentence that says nothing to the point, but holds names and years; famous people come up more often.

    With the chance `lure` it uses the very words that questions use.
    """
    chance = np.array([0.05 + person.fame**2 for person in world.people])
    other = world.people[rng.choice(len(world.people), p=chance / chance.sum())]
    town, year = world.towns[rng.integers(len(world.towns))], int(rng.integers(1900, 2020))
    if rng.random() < lure:
        sentences = (
            f"{other.name}, born a neighbour, kept a diary about {name} until {year}.",
            f"A society founded in {year} by {other.name} meets in {town.name} to discuss {name}.",
        )
    else:
        sentences = (
            f"In {year} {other.name} gave a lecture on {name} in {town.name}.",
            f"A street in {town.name} was named after {name} in {year}.",
        )
    return sentences[rng.integers(len(sentences))]


def _with_article(word: str) -> str:
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
