"""Passages and questions: their types, and a generator of original multi-hop corpora from a made-up world.

Bridge questions go over one or two other articles, comparisons and yes/no questions over two; some have no answer in the
passages, because a fact, an article, or the subject itself is missing. What a question knows of its answer (`answer`,
`facts`, `decoys`) is for the judge and for the simulated memory; the graph is built from passages and question texts alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import world as w
from parlour.envs.mediated_qa.world import WORK_KINDS, FictionalWorld, Person, Town, Work, WorldFact


class Passage(NamedTuple):
    """An article."""

    title: str
    sentences: tuple[str, ...]


class CorpusQuestion(NamedTuple):
    """A question with what is known of it."""

    text: str
    answer: str
    kind: str
    """`bridge`, `comparison` or `yes_no`."""
    facts: tuple[WorldFact, ...]
    """What one has to know to answer it from memory."""
    decoys: tuple[str, ...]
    """Wrong answers of the right kind."""


class Corpus(NamedTuple):
    """Passages, and questions about them."""

    passages: tuple[Passage, ...]
    questions: tuple[CorpusQuestion, ...]


@dataclass(frozen=True)
class Knobs:
    """What makes a corpus difficult. Shares are 0..1."""

    hops: tuple[float, float, float]
    """Of one, two and three articles to read, among bridge questions."""
    bridge: float
    """Share of bridge questions; the rest are comparisons and yes/no questions, in equal parts."""
    dropped: float
    """Facts that are missing from the article of an unknown subject; of a famous one a quarter of that."""
    plain: float
    """Facts told in the words in which they are asked for."""
    gossip: float
    """Sentences beside the point in an article, on average."""
    lure: float
    """Share of these that use the words of the questions."""
    distractors: float
    """Articles about something that bears almost the same name, for one of the world's."""
    typos: float
    """Questions that misspell a name."""
    strangers: float
    """Questions about somebody of whom there is no article at all."""


DIFFICULTIES: Final = {
    "easy": Knobs((0.3, 0.6, 0.1), 0.7, 0.1, 0.95, 0.5, 0.1, 0.05, 0.0, 0.02),
    "medium": Knobs((0.1, 0.6, 0.3), 0.6, 0.3, 0.75, 1.5, 0.3, 0.2, 0.1, 0.06),
    "hard": Knobs((0.0, 0.6, 0.4), 0.55, 0.4, 0.6, 2.5, 0.5, 0.4, 0.2, 0.1),
}


def generate(*, seed: int, size: int, difficulty: str) -> Corpus:
    """A corpus with so many questions, no two alike.

    Args:
        seed: Everything follows from it, the size and the difficulty.
        size: Number of questions, 1..20000.
        difficulty: One of `DIFFICULTIES`.

    Raises:
        ParlourError: An argument is not accepted.
    """
    if difficulty not in DIFFICULTIES:
        raise accept("difficulty", difficulty, DIFFICULTIES)
    if type(size) is not int or size not in range(1, 20_001):
        raise accept("size of a corpus", size, range(1, 20_001))
    rng = np.random.default_rng((seed, size))
    knobs = DIFFICULTIES[difficulty]
    world = w.make_world(rng, towns=20 + size // 20, people=30 + size // 3, works=30 + size // 2)
    absent = {person.name for person in world.people if rng.random() < knobs.strangers}
    passages = _articles(rng, world, knobs, absent)
    order = rng.permutation(len(passages))
    return Corpus(tuple(passages[k] for k in order), _questions(rng, world, knobs, size))


# -- articles --------------------------------------------------------------------------------------------------


def _articles(rng: np.random.Generator, world: FictionalWorld, knobs: Knobs, absent: set[str]) -> list[Passage]:
    subjects: list[Town | Person | Work] = [*world.towns, *world.people, *world.works]
    found = []
    for subject in subjects:
        name = subject.title if isinstance(subject, Work) else subject.name
        author = subject.maker.name if isinstance(subject, Work) else ""
        if name in absent or (author in absent and rng.random() < 0.5):
            continue
        told = _told(rng, subject, knobs)
        count = rng.poisson(knobs.gossip * (0.3 + subject.fame))
        told += [w.gossip(rng, world, name, knobs.lure) for _ in range(count)]
        if told:
            found.append(Passage(name, tuple(told)))
        if rng.random() < knobs.distractors:
            found.append(_distractor(rng, world, name, knobs))
    return found


def _told(rng: np.random.Generator, subject: Town | Person | Work, knobs: Knobs) -> list[str]:
    """The facts of an article, less those that are missing."""

    def is_plain() -> bool:
        return bool(rng.random() < knobs.plain)

    if isinstance(subject, Town):
        told = [w.lies(subject, plain=is_plain()), w.founded(subject, plain=is_plain())]
    elif isinstance(subject, Person):
        told = [w.trade(subject), w.born(subject, plain=is_plain(), pronoun=True)]
    else:
        told = [w.made(subject, plain=is_plain()), w.released(subject, plain=is_plain())]
    missing = knobs.dropped * (1 - 0.75 * subject.fame)
    return [sentence for sentence in told if rng.random() >= missing]


def _distractor(rng: np.random.Generator, world: FictionalWorld, name: str, knobs: Knobs) -> Passage:
    year = int(rng.integers(1900, 2020))
    what = ("Prize", "Society", "Festival", "Regatta")[rng.integers(4)]
    title = f"{name} {what}"
    first = f"The {what.lower()} was founded in {year} and bears the name of {name}."
    return Passage(title, (first, w.gossip(rng, world, title, knobs.lure)))


# -- questions -------------------------------------------------------------------------------------------------


def _questions(rng: np.random.Generator, world: FictionalWorld, knobs: Knobs, size: int) -> tuple[CorpusQuestion, ...]:
    found: dict[str, CorpusQuestion] = {}
    for _ in range(size * 60):
        if len(found) == size:
            break
        draw = rng.random()
        if draw < knobs.bridge:
            hops = 1 + int(rng.choice(3, p=knobs.hops))
            question = _BRIDGES[hops][rng.integers(len(_BRIDGES[hops]))](rng, world)
        elif draw < (1 + knobs.bridge) / 2:
            question = _comparison(rng, world)
        else:
            question = _yes_no(rng, world)
        if rng.random() < knobs.typos:
            question = question._replace(text=_misspelt(rng, question.text))
        found.setdefault(question.text, question)
    if len(found) < size:
        raise ParlourError(
            f"size of a corpus {size} is not accepted; accepted: up to {len(found)} with this difficulty"
        )
    return tuple(found.values())


def _work(rng: np.random.Generator, world: FictionalWorld) -> Work:
    return world.works[rng.integers(len(world.works))]


def _person(rng: np.random.Generator, world: FictionalWorld) -> Person:
    return world.people[rng.integers(len(world.people))]


def _bridge(
    rng: np.random.Generator, text: str, answer: object, facts: tuple[WorldFact, ...], world: FictionalWorld
) -> CorpusQuestion:
    return CorpusQuestion(text, str(answer), "bridge", facts, _decoys(rng, world, answer))


def _decoys(rng: np.random.Generator, world: FictionalWorld, answer: object) -> tuple[str, ...]:
    """Five other answers of the same kind."""
    if isinstance(answer, int):
        return tuple(str(answer + int(step)) for step in rng.permutation([-31, -12, -5, 4, 9, 17, 40])[:5])
    pools = [[t.name for t in world.towns], [t.river for t in world.towns], [p.name for p in world.people]]
    pool = sorted(set(next(pool for pool in pools if answer in pool)) - {str(answer)})
    return tuple(pool[k] for k in rng.permutation(len(pool))[:5])


def _made(work: Work) -> WorldFact:
    return WorldFact(work.title, "maker", work.fame)


def _born(person: Person) -> WorldFact:
    return WorldFact(person.name, "born", person.fame)


def _home(person: Person) -> WorldFact:
    return WorldFact(person.name, "town", person.fame)


def _year_of_maker(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    work = _work(rng, world)
    text = f"In which year was the {WORK_KINDS[work.kind]} of {work.title} born?"
    return _bridge(rng, text, work.maker.born, (_made(work), _born(work.maker)), world)


def _town_of_maker(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    work = _work(rng, world)
    text = f"In which town was the {WORK_KINDS[work.kind]} of {work.title} born?"
    return _bridge(rng, text, work.maker.town.name, (_made(work), _home(work.maker)), world)


def _river_of_person(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    person = _person(rng, world)
    text = f"Which river runs through the town where {person.name} was born?"
    return _bridge(rng, text, person.town.river, (_home(person), _river(person.town)), world)


def _river(town: Town) -> WorldFact:
    return WorldFact(town.name, "river", town.fame)


def _founding(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    person = _person(rng, world)
    text = f"In which year was the town where {person.name} was born founded?"
    fact = WorldFact(person.town.name, "founded", person.town.fame)
    return _bridge(rng, text, person.town.founded, (_home(person), fact), world)


def _river_of_maker(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    work = _work(rng, world)
    person = work.maker
    text = f"Which river runs through the town where the {WORK_KINDS[work.kind]} of {work.title} was born?"
    return _bridge(rng, text, person.town.river, (_made(work), _home(person), _river(person.town)), world)


def _year_of_person(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    person = _person(rng, world)
    return _bridge(rng, f"In which year was {person.name} born?", person.born, (_born(person),), world)


def _maker(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    work = _work(rng, world)
    verb = {"novel": "written", "film": "directed", "opera": "composed", "painting": "painted"}[work.kind]
    return _bridge(rng, f"Who is {work.title} {verb} by?", work.maker.name, (_made(work),), world)


_BRIDGES: Final[dict[int, tuple[Callable[[np.random.Generator, FictionalWorld], CorpusQuestion], ...]]] = {
    1: (_year_of_person, _maker),
    2: (_year_of_maker, _town_of_maker, _river_of_person, _founding),
    3: (_river_of_maker,),
}


def _comparison(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    if rng.random() < 0.5:
        one, two = (world.people[k] for k in rng.permutation(len(world.people))[:2])
        first, facts = (one if one.born <= two.born else two).name, (_born(one), _born(two))
        pair = (one.name, two.name)
        text = f"Who was born first, {one.name} or {two.name}?"
    else:
        a, b = (world.works[k] for k in rng.permutation(len(world.works))[:2])
        first = (a if a.year <= b.year else b).title
        facts = (WorldFact(a.title, "year", a.fame), WorldFact(b.title, "year", b.fame))
        pair = (a.title, b.title)
        text = f"Which came out first, {a.title} or {b.title}?"
    return CorpusQuestion(text, first, "comparison", facts, tuple(name for name in pair if name != first))


def _yes_no(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    if rng.random() < 0.5:
        one = _person(rng, world)
        same = [p for p in world.people if p.town == one.town and p != one]
        others = same if same and rng.random() < 0.5 else [p for p in world.people if p != one]
        two = others[rng.integers(len(others))]
        yes, facts = one.town == two.town, (_home(one), _home(two))
        text = f"Were {one.name} and {two.name} born in the same town?"
    else:
        a, b = (world.works[k] for k in rng.permutation(len(world.works))[:2])
        yes, facts = a.kind == b.kind, (WorldFact(a.title, "kind", a.fame), WorldFact(b.title, "kind", b.fame))
        text = f"Are {a.title} and {b.title} both {a.kind}s?"
    return CorpusQuestion(text, "yes" if yes else "no", "yes_no", facts, ("no" if yes else "yes",))


def _misspelt(rng: np.random.Generator, text: str) -> str:
    """The text with two neighbouring letters of a capitalised word exchanged, not the first one."""
    words = text.split(" ")
    long = [k for k, word in enumerate(words) if k and word[0].isupper() and len(word) > 4]
    if not long:
        return text
    k = long[rng.integers(len(long))]
    at = int(rng.integers(1, len(words[k]) - 2))
    word = words[k]
    words[k] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)
