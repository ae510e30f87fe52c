"""Passages and questions: their types, and a generator of original multi-hop corpora from a made-up world.

Bridge questions go over one or two other articles, comparisons and yes/no questions over two; some have no answer in the
passages, because a fact, an article, or the subject itself is missing. A question's own fields about its answer (`answer`,
`facts`, `decoys`) are for the judge and the simulated memory; the graph is built from passages and question texts alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.mediated_qa.world import TABLES, FictionalWorld, Person, Town, Work, WorldFact, gossip, make_world


class Passage(NamedTuple):
    """An article."""

    title: str
    sentences: tuple[str, ...]


class CorpusQuestion(NamedTuple):
    """A question with what is known about it."""

    text: str
    answer: str
    """Empty if there is none: then whatever is answered is wrong."""
    kind: str
    """`bridge`, `comparison` or `yes_no`."""
    facts: tuple[WorldFact, ...]
    """What one has to know to answer it from memory."""
    decoys: tuple[str, ...]
    """Wrong answers of the right kind."""
    id: str = ""
    """As the file of questions has it; empty for a generated one."""
    others: tuple[str, ...] = ()
    """Further answers that count as right."""


class Corpus(NamedTuple):
    """Passages, and questions about them."""

    passages: tuple[Passage, ...]
    questions: tuple[CorpusQuestion, ...]


@dataclass(frozen=True)
class Knobs:
    """What makes a corpus difficult. Shares are 0..1."""

    hops: tuple[float, float, float]
    """Shares of one, two and three articles to read, among bridge questions."""
    bridge: float
    """Share of bridge questions; the rest are comparisons and yes/no questions, in equal parts."""
    dropped: float
    """Facts that are missing from the article of an unknown subject; a famous subject's article lacks a quarter of that."""
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
    """Questions about somebody without an article."""


DIFFICULTIES: Final = {
    "easy": Knobs((0.3, 0.6, 0.1), 0.7, 0.1, 0.95, 0.5, 0.1, 0.05, 0.0, 0.02),
    "medium": Knobs((0.1, 0.6, 0.3), 0.6, 0.3, 0.75, 1.5, 0.3, 0.2, 0.1, 0.06),
    "hard": Knobs((0.0, 0.6, 0.4), 0.55, 0.4, 0.6, 2.5, 0.5, 0.4, 0.2, 0.1),
}


def generate(*, seed: int, size: int, difficulty: str) -> Corpus:
    """A corpus with `size` questions, no two alike.

    Args:
        seed: Everything follows from it, the size and the difficulty.
        size: Number of questions, 1..20000.
        difficulty: One of `DIFFICULTIES`.

    Raises:
        ParlourError: An argument is not accepted.
    """
    check_one_of("difficulty", difficulty, DIFFICULTIES)
    check_one_of("size of a corpus", size, range(1, 20_001))
    rng = np.random.default_rng((seed, size))
    knobs = DIFFICULTIES[difficulty]
    world = make_world(rng, towns=20 + size // 20, people=30 + size // 3, works=30 + size // 2)
    absent = {person.name for person in world.people if rng.random() < knobs.strangers}
    passages = _articles(rng, world, knobs, absent)
    order = rng.permutation(len(passages))
    return Corpus(tuple(passages[k] for k in order), _questions(rng, world, knobs, size))


# -- articles --------------------------------------------------------------------------------------------------


def _articles(rng: np.random.Generator, world: FictionalWorld, knobs: Knobs, absent: set[str]) -> list[Passage]:
    articles = []
    for kind, templates in TABLES["sentences"].items():
        for subject in getattr(world, kind):
            if subject.name in absent or (kind == "works" and subject.maker.name in absent and rng.random() < 0.5):
                continue
            sentences = _fact_sentences(rng, subject, knobs, list(templates.values()))
            count = rng.poisson(knobs.gossip * (0.3 + subject.fame))
            sentences += [gossip(rng, world, subject.name, knobs.lure) for _ in range(count)]
            if sentences:
                articles.append(Passage(subject.name, tuple(sentences)))
            if rng.random() < knobs.distractors:
                articles.append(_distractor(rng, world, subject.name, knobs))
    return articles


def _fact_sentences(
    rng: np.random.Generator, subject: Town | Person | Work, knobs: Knobs, templates: list[list[str]]
) -> list[str]:
    """The facts of an article, less those that are missing."""
    chosen = [forms[0] if len(forms) == 1 or rng.random() < knobs.plain else forms[1] for forms in templates]
    missing = knobs.dropped * (1 - 0.75 * subject.fame)
    return [template.format(subject) for template in chosen if rng.random() >= missing]


def _distractor(rng: np.random.Generator, world: FictionalWorld, name: str, knobs: Knobs) -> Passage:
    year = int(rng.integers(1900, 2020))
    what = ("Prize", "Society", "Festival", "Regatta")[rng.integers(4)]
    title = f"{name} {what}"
    first = f"The {what.lower()} was founded in {year} and bears the name of {name}."
    return Passage(title, (first, gossip(rng, world, title, knobs.lure)))


# -- questions -------------------------------------------------------------------------------------------------


def _questions(rng: np.random.Generator, world: FictionalWorld, knobs: Knobs, size: int) -> tuple[CorpusQuestion, ...]:
    questions: dict[str, CorpusQuestion] = {}
    for _ in range(size * 60):
        if len(questions) == size:
            break
        draw = rng.random()
        if draw < knobs.bridge:
            hops = 1 + int(rng.choice(3, p=knobs.hops))
            kinds = TABLES["bridges"][str(hops)]
            question = _bridge(rng, world, **kinds[rng.integers(len(kinds))])
        elif draw < (1 + knobs.bridge) / 2:
            question = _comparison(rng, world)
        else:
            question = _yes_no(rng, world)
        if rng.random() < knobs.typos:
            question = question._replace(text=_misspelt(rng, question.text))
        questions.setdefault(question.text, question)
    if len(questions) < size:
        raise ParlourError(
            f"size of a corpus {size} is not accepted; accepted: up to {len(questions)} with this difficulty"
        )
    return tuple(questions.values())


def _bridge(rng: np.random.Generator, world: FictionalWorld, start: str, facts: list[str], text: str) -> CorpusQuestion:
    """A question about a town, person or work; each fact leads to the next, the last one to the answer."""
    things = getattr(world, start)
    subject: Any = things[rng.integers(len(things))]
    thing, facts_needed = subject, []
    for relation in facts:
        facts_needed.append(WorldFact(thing.name, relation, thing.fame))
        thing = getattr(thing, relation)
    answer = getattr(thing, "name", thing)
    return CorpusQuestion(text.format(subject), str(answer), "bridge", tuple(facts_needed), _decoys(rng, world, answer))


def _decoys(rng: np.random.Generator, world: FictionalWorld, answer: object) -> tuple[str, ...]:
    """Five other answers of the same kind."""
    if isinstance(answer, int):
        return tuple(str(answer + int(step)) for step in rng.permutation([-31, -12, -5, 4, 9, 17, 40])[:5])
    pools = [[t.name for t in world.towns], [t.river for t in world.towns], [p.name for p in world.people]]
    pool = sorted(set(next(pool for pool in pools if answer in pool)) - {str(answer)})
    return tuple(pool[k] for k in rng.permutation(len(pool))[:5])


def _facts(relation: str, *subjects: Person | Work) -> tuple[WorldFact, ...]:
    return tuple(WorldFact(subject.name, relation, subject.fame) for subject in subjects)


def _comparison(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    pair: list[Any]
    if rng.random() < 0.5:
        pair, relation = _two(rng, world.people), "born"
        text = f"Who was born first, {pair[0].name} or {pair[1].name}?"
    else:
        pair, relation = _two(rng, world.works), "year"
        text = f"Which came out first, {pair[0].name} or {pair[1].name}?"
    first = min(pair, key=lambda subject: getattr(subject, relation)).name  # of equals the first
    decoys = tuple(subject.name for subject in pair if subject.name != first)
    return CorpusQuestion(text, first, "comparison", _facts(relation, *pair), decoys)


def _two(rng: np.random.Generator, among: Sequence[Any]) -> list[Any]:
    return [among[k] for k in rng.permutation(len(among))[:2]]


def _yes_no(rng: np.random.Generator, world: FictionalWorld) -> CorpusQuestion:
    if rng.random() < 0.5:
        person = world.people[rng.integers(len(world.people))]
        same = [p for p in world.people if p.town == person.town and p != person]
        others = same if same and rng.random() < 0.5 else [p for p in world.people if p != person]
        two = others[rng.integers(len(others))]
        yes, facts = person.town == two.town, _facts("town", person, two)
        text = f"Were {person.name} and {two.name} born in the same town?"
    else:
        a, b = _two(rng, world.works)
        yes, facts = a.kind == b.kind, _facts("kind", a, b)
        text = f"Are {a.name} and {b.name} both {a.kind}s?"
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
