"""The quiz of a generated case, after WellPlay: objective rows 10 points, reasoning 5, relations 2; four options each.

Everybody is asked who, how, why, relationship, where, when and the two main suspects for every victim that he did not
murder himself, a few individual matters, and the relations of other people: one relation, two, or three real relations with an
invented one. The position of the right option is drawn again for every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.generate.clues import CaseKnowledge
from parlour.envs.murder_mystery.generate.world import CaseWorld
from parlour.envs.murder_mystery.languages.texts import texts
from parlour.envs.murder_mystery.vocabulary.facts import CaseVocabulary
from parlour.envs.murder_mystery.vocabulary.quiz import QuestionKind, QuizQuestion

_OPTIONS: Final = 4
_PAIRS: Final = 5
"""Rows on relations for each seat, at most."""
_INDIVIDUAL: Final = 3
"""Rows on individual matters for each seat, at most."""
EVERYBODY: Final = -1
"""The tester of the omniscient quiz."""


class _Row(NamedTuple):
    """A question before its options are put in order."""

    name: str
    points: int
    kind: QuestionKind
    pick: int
    victim: int | None
    text: str
    right: str
    wrong: tuple[str, ...]


def quiz(
    world: CaseWorld, known: CaseKnowledge, words: CaseVocabulary, rng: np.random.Generator, tester: int
) -> tuple[QuizQuestion, ...]:
    """The questions to one seat, or (`EVERYBODY`) to a reader of all scripts: each question once."""
    asker = _Asker(world, known, words, rng, tester)
    rows = [row for victim in range(len(world.deaths)) for row in asker.about(victim)]
    rows += asker.individual() + asker.relations()
    questions = []
    for name, points, kind, pick, victim, text, right, wrong in rows:
        position = int(rng.integers(_OPTIONS))
        values: dict[str, Any] = {"points": points, "kind": kind, "pick": pick, "victim": victim, "text": text}
        values["id"] = f"{'all' if tester == EVERYBODY else tester}.{name}"
        values["options"] = (*wrong[:position], right, *wrong[position:])
        questions.append(QuizQuestion.model_construct(**values, keys=(position,)))
    return tuple(questions)


class _Asker:
    """Forms the rows for one tester."""

    def __init__(
        self, world: CaseWorld, known: CaseKnowledge, words: CaseVocabulary, rng: np.random.Generator, tester: int
    ) -> None:
        self.world, self.known, self.words, self.rng, self.tester = world, known, words, rng, tester
        self.prose = texts(words.language).prose

    def about(self, victim: int) -> list[_Row]:
        """Who, how, why, relationship, where, when, suspects; nothing for the murderer of the victim."""
        world, words, death, person = self.world, self.words, self.world.deaths[victim], self.world.seats + victim
        if death.murderer == self.tester:
            return []
        people = [words.persons[s] for s in range(world.seats) if s not in (self.tester, death.murderer)]
        murderer = words.persons[death.murderer]
        bonds = [
            f.args[1] for f in self.known.truth if f.kind == "relation" and f.args[::2] == (death.murderer, person)
        ]
        strange = [words.relations[r] for r in range(len(words.relations)) if r not in bonds]
        rows: list[tuple[QuestionKind, int, int, str, Sequence[str]]] = [
            ("who", 10, 1, murderer, people),
            ("how", 5, 1, words.means[death.means], words.means),
            ("why", 5, 1, words.motives[death.motive], words.motives),
            ("relationship", 5, 1, words.relations[bonds[0]], strange),
            ("where", 5, 1, words.places[death.place], words.places),
            ("when", 5, 1, words.times[death.time], words.times),
            ("suspect", 5, 2, murderer, people),
        ]
        wording, victim_name = self.prose.questions, words.persons[person]
        forms = ((*row, wording[row[0]].format(v=victim_name)) for row in rows)
        return [
            _Row(f"{kind}.{victim}", points, kind, pick, victim, text, right, self._wrong(right, among))
            for kind, points, pick, right, among, text in forms
        ]

    def individual(self) -> list[_Row]:
        """Who took what, where somebody was, what somebody's reason was."""
        world, words, truth, wording = self.world, self.words, self.known.truth, self.prose.questions
        rows = []

        def add(name: str, victim: int | None, text: str, right: str, among: Sequence[str]) -> None:
            rows.append(_Row(name, 5, "individual", 1, victim, text, right, self._wrong(right, among)))

        for fact in truth:
            if fact.kind == "took" and fact.args[0] != self.tester:
                thief, item = fact.args
                others = [words.persons[s] for s in range(world.seats) if s not in (self.tester, thief)]
                add(f"took.{item}", None, wording["took"].format(i=words.items[item]), words.persons[thief], others)
        motives = [f.args for f in truth if f.kind == "motive"]
        motives = [a for a in motives if a[0] not in (self.tester, world.deaths[a[2] - words.seats].murderer)]
        if motives:
            person, motive, victim = motives[int(self.rng.integers(len(motives)))]
            text = wording["reason"].format(n=words.persons[person], v=words.persons[victim])
            add(f"reason.{person}", victim - words.seats, text, words.motives[motive], words.motives)
        person = (self.tester + 1 + int(self.rng.integers(world.seats - 1))) % world.seats
        hour = int(self.rng.integers(len(words.times)))
        text = wording["whereabouts"].format(n=words.persons[person], t=words.times[hour])
        place = words.places[world.timeline[person][hour]]
        add(f"whereabouts.{person}.{hour}", None, text, place, words.places)
        return rows if self.tester == EVERYBODY else rows[:_INDIVIDUAL]

    def relations(self) -> list[_Row]:
        """Pairs of other people with one relation, two, or three and one that does not exist."""
        pairs: dict[tuple[int, int], list[int]] = {}
        for fact in self.known.truth:
            if fact.kind == "relation":
                pairs.setdefault((fact.args[0], fact.args[2]), []).append(fact.args[1])
        free = [pair for pair in sorted(pairs) if self.tester not in pair]
        drawn = [free[int(k)] for k in self.rng.permutation(len(free))]
        rows = [self._pair(pair, pairs) for pair in drawn]
        return rows if self.tester == EVERYBODY else rows[:_PAIRS]

    def _pair(self, pair: tuple[int, int], pairs: dict[tuple[int, int], list[int]]) -> _Row:
        words = self.words
        real = [words.relations[r] for r in pairs[pair]][:3]
        both = {*pairs[pair], *pairs.get(pair[::-1], ())}
        strange = [word for r, word in enumerate(words.relations) if r not in both]
        w, x, y = (strange[int(k)] for k in self.rng.permutation(len(strange))[:3])
        name, other = (words.persons[person] for person in pair)
        kind: QuestionKind
        if len(real) == 1:
            kind, right, wrong = "one_relation", real[0], [w, x, y]
        elif len(real) == 2:
            kind, right = "two_relations", self.prose.both.format(r=real[0], s=real[1])
            wrong = [self.prose.both.format(r=r, s=s) for r, s in ((real[0], w), (x, real[1]), (w, y))]
        else:
            kind, right, wrong = "three_relations", w, real
        options = [self.prose.relation_option.format(n=name, r=word, b=other) for word in (right, *wrong)]
        text = self.prose.questions[kind].format(n=name, b=other)
        return _Row(f"{kind}.{pair[0]}.{pair[1]}", 2, kind, 1, None, text, options[0], tuple(options[1:]))

    def _wrong(self, right: str, every: Sequence[str]) -> tuple[str, ...]:
        """Three wrong options in random order; "it was an accident" where there are not enough people."""
        wrong = [word for word in every if word != right]
        wrong = [wrong[int(k)] for k in self.rng.permutation(len(wrong))[: _OPTIONS - 1]]
        return tuple(wrong + [self.prose.accident] * (_OPTIONS - 1 - len(wrong)))
