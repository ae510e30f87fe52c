"""The questions of ThinkThrice, after Wu et al. 2024 (decisions 4.7, Questum paper C.3).

A question comes from a summary of the character and the memories of it; an answer is held against a timeline: the model says
whether each entry is useful, and later whether the answer contains it; missing entries are added.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, OPEN, RELATION, SIGHTING, WHEREABOUTS, say
from parlour.policies.agents.murder_mystery import heuristics, wording
from parlour.policies.agents.murder_mystery.asks import (
    AnswerAsk,
    CaseAsk,
    CharacterAsk,
    Questions,
    VictimAsk,
    WithExcerpts,
    Words,
)
from parlour.policies.agents.murder_mystery.evidence import death_of, facts_in
from parlour.policies.agents.murder_mystery.sensors import answered, topics_put
from parlour.policies.llm.ask import Answer
from pydantic import Field

ENTRIES: Final = 5
"""Entries of a timeline, at most."""


class ThinkSummary(WithExcerpts, CharacterAsk[Words], kind="questum.think_summary"):
    """What is known about a character."""

    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        known = self.known
        facts = [statement.fact for statement in known.statements if known.person in statement.fact.args[:1]]
        said = [say(fact, self.scene.vocabulary, None) for fact in dict.fromkeys(facts)]
        return Words(words=self.scene.join(said) or self.about)


class ThinkQuestion(WithExcerpts, CharacterAsk[Questions], kind="questum.think_question"):
    """A question to a character, from its summary and the memories of it."""

    summary: str
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        """On what the summary does not hold, first; then on what the character was not asked about."""
        known = self.known
        known_kinds = {fact.kind for fact in facts_in(self.summary, self.scene.vocabulary, None)}
        asked = topics_put(answered(self.excerpts, known.person))
        missing = [topic for topic, kinds in _MISSING if not known_kinds & kinds]
        rest = [topic for topic, _ in _MISSING if topic not in missing]
        fresh = [topic for topic in (*missing, *rest) if topic not in asked] or [OPEN]
        words = death_of(known.victim, known.statements)._asdict()
        return Questions(
            questions=[wording.put(self.scene, topic, self.victim, **words) for topic in fresh[: self.number]]
        )


_MISSING: Final = (
    (WHEREABOUTS, {"at", "saw"}),
    (MOTIVE, {"motive", "peace"}),
    (MEANS, {"had", "lacked"}),
    (RELATION, {"relation", "feels"}),
    (SIGHTING, {"died"}),
)
"""Topic -> the kinds of facts about a character that it would bring."""


class Entries(Answer):
    """Entries of a timeline, in order."""

    entries: list[str] = Field(max_length=ENTRIES)


class YesNo(Answer):
    """Yes or no."""

    reason: str
    yes: bool


class ThinkTimeline(VictimAsk[Entries], kind="questum.think_timeline"):
    """Parts of the player's script that concern the victim, in order of time."""

    question: str
    script: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Entries:
        """The facts that answer the question best, in order of time; for free prose, sentences."""
        facts = heuristics.chosen_facts(self.excerpts, self.question)[:ENTRIES]
        if not facts:
            sentences = heuristics.prose_answer(self.question, self.script, guilty=False)
            return Entries(entries=[sentences] if sentences else [])
        timed = [fact for fact in facts if fact.kind in ("at", "saw")]
        rest = [fact for fact in facts if fact not in timed]
        ordered = sorted(timed, key=lambda fact: fact.args[2]) + rest
        return Entries(entries=[say(fact, self.scene.vocabulary, self.excerpts.seat) for fact in ordered])


class ThinkUseful(VictimAsk[YesNo], kind="questum.think_useful"):
    """Whether an entry helps to answer."""

    question: str
    entry: str
    stance: str

    def heuristic(self, rng: np.random.Generator) -> YesNo:
        seat, victim = self.scene.person(self.me.name), self.scene.person(self.victim)
        facts = facts_in(self.entry, self.scene.vocabulary, seat if seat >= 0 else None)
        asks = wording.wanted(self.scene, self.question, seat, victim)
        return YesNo(
            reason="",
            yes=any(heuristics.answers(fact, asks, seat, victim) for fact in facts)
            if facts
            else wording.overlap(self.question, self.entry) > 0,
        )


class ThinkAnswer(WithExcerpts, AnswerAsk[Words], kind="questum.think_answer"):
    """An answer from the useful entries."""

    useful: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=heuristics.reply(self.excerpts, self.question))


class ThinkContained(CaseAsk[YesNo], kind="questum.think_contained"):
    """Whether an answer holds an entry."""

    entry: str
    answer: str

    def heuristic(self, rng: np.random.Generator) -> YesNo:
        return YesNo(reason="", yes=self.entry.strip() in self.answer)


class ThinkRefine(AnswerAsk[Words], kind="questum.think_refine"):
    """The answer with what it had left out."""

    answer: str
    missing: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        """As many of the missing entries as the limit of an answer leaves room for."""
        vocabulary, seat = self.scene.vocabulary, self.scene.person(self.me.name)
        said = len(facts_in(self.answer, vocabulary, seat if seat >= 0 else None)) or 1
        if self.answer == self.scene.say.nothing and self.missing:
            return Words(words=self.scene.join(self.missing[: heuristics.LIMIT]))
        return Words(words=self.scene.join([self.answer, *self.missing[: max(0, heuristics.LIMIT - said)]]))
