"""Questum as a planner: it chooses player, topic and end of the questions by the expected information about the murderer.

Ours, and the default (`mode=plan`). Each question that could be put is worth what it is expected to take off the entropy
over who did it (`posterior`), and a little for what else it brings (the ways of death, reasons, relations). The best one is
put unless its worth is below the price of a question. Suspicion and vote follow from the same posterior; the model is asked
for introductions and answers only and, if it is a language model, for the facts of answers in words of their own.
`mode=random` asks at random and reads the answers in the same way, as a baseline. In cases of prose, which contain no readable
facts, both use sensors (`interview`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from parlour.envs.murder_mystery.vocabulary import CHOOSE, SUSPECT, VOTE, MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import OPEN, RELATION, WHEREABOUTS, Fact
from parlour.policies.agents.murder_mystery.evidence import NOBODY, SourcedFact, death_of, judge
from parlour.policies.agents.murder_mystery.heard import HeardTalk, ReadFacts
from parlour.policies.agents.murder_mystery.procedure import READING, Room
from parlour.policies.agents.murder_mystery.questum.interview import Interview, InterviewSettings
from parlour.policies.agents.murder_mystery.questum.outlook import TOPICS, Outlook, PlannedQuestion
from parlour.policies.agents.murder_mystery.questum.posterior import Beliefs, believed
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.agents.murder_mystery.wording import ABLE, DEATH, REASONS, put


class DeathKnowledge(NamedTuple):
    """What is taken as known about a victim's death, and what follows from it."""

    answers: int
    """Number of introductions and answers that it is based on."""
    statements: list[SourcedFact]
    beliefs: Beliefs


class PlannedInterview(Interview):
    """How a seat plays by expected information."""

    def __init__(self, room: Room, settings: InterviewSettings) -> None:
        super().__init__(room, settings)
        self._next: dict[str, list[PlannedQuestion]] = {}
        self._heard = HeardTalk(room.seat_memory, self._read if room.seat_model.is_language_model else None)
        self._views: dict[tuple[str, int], DeathKnowledge] = {}
        self._judged: dict[str, dict[str, float]] = {}
        """Victim -> the chances that the last decision about it went by, until they are noted."""

    @property
    def has_facts(self) -> bool:
        """Whether the case tells facts that can be read; else all is as in `Interview`."""
        return bool(self.room.scene.places)

    def takes(self, kind: str) -> int | None:
        """A question to another seat takes its answer, and its reading where answers have had to be read; a report and a vote
        are the planner's own.
        """
        return {CHOOSE: 1 + self._heard.in_other_words, SUSPECT: 0, VOTE: 0}.get(kind) if self.has_facts else None

    # -- what is heard -----------------------------------------------------------------------------------------

    def listen(self) -> None:
        if self.has_facts:
            _ = self._heard.answers

    def come_first(self) -> None:
        if self.has_facts:
            self.room.seat_model.claim_shared(self._questions(self._heard.unread()))

    def _read(self, talks: Sequence[Talk]) -> list[list[Fact]]:
        """What answers in free words tell, as the model reads them."""
        questions = self._questions(talks)
        answers = self.room.hear_shared(questions, READING)
        return [
            [] if answer is None else question.read_in(answer.facts)
            for question, answer in zip(questions, answers, strict=True)
        ]

    def _questions(self, talks: Sequence[Talk]) -> list[ReadFacts]:
        return [ReadFacts.of(self.room.scene, talk) for talk in talks]

    # -- what is believed --------------------------------------------------------------------------------------

    def own_view(self, victim: str) -> DeathKnowledge:
        """What the seat knows and heard about a victim, and the worlds in which another seat killed it."""
        room = self.room
        return self._known(victim, room.seat_memory.seat, max(0, room.liars - room.secretive))

    def table_view(self, victim: str) -> DeathKnowledge:
        """What the table has heard about a victim, and what follows from it without the own script."""
        return self._known(victim, NOBODY, self.room.liars)

    def _known(self, victim: str, me: int, liars: int) -> DeathKnowledge:
        """From all that was heard so far; worked out once until more is heard."""
        scene, number = self.room.scene, len(self._heard.answers)
        stored = self._views.get((victim, me))
        if stored is None or stored.answers != number:
            person = scene.person(victim)
            every = self._heard.statements(person)
            statements = [statement for statement in every if me >= 0 or not statement.sure or statement.teller < 0]
            stored = DeathKnowledge(number, statements, believed(statements, len(scene.players), person, me, liars))
            self._views[victim, me] = stored
        return stored

    def chances(self, victim: str) -> dict[int, float]:
        """The probability of each other seat to have killed a victim."""
        others = dict.fromkeys(sorted(self.room.others), 0.0)
        return {**others, **self.own_view(victim).beliefs.chances}

    def notes(self) -> dict[str, Any]:
        """... and `chances`: victim -> character -> own chance to have killed it, of the victims that a decision was about."""
        judged, self._judged = self._judged, {}
        return {**super().notes(), "chances": judged}

    def _judge(self, victim: str) -> dict[int, float]:
        """The chances that a decision goes by, for the notes, too."""
        chances = self.chances(victim)
        self._judged[victim] = {self.room.name(seat): round(chance, 6) for seat, chance in chances.items()}
        return chances

    # -- asking ------------------------------------------------------------------------------------------------

    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        if not self.has_facts:
            return super().choose(view, asked)
        victim = view.victims[view.victim]
        possible = [seat for seat in self.room.others if seat not in asked]
        if not possible:
            return None
        if self.settings.mode == "random":
            target = possible[int(self.room.rng.integers(len(possible)))]
            topic = TOPICS[int(self.room.rng.integers(len(TOPICS)))]
            self._next[victim] = [PlannedQuestion(topic, -1)]
            return target
        self._judge(victim)
        worth = self.worth(victim, possible)
        (target, _), best = max(worth.items(), key=lambda entry: entry[1])
        if best < self.settings.price:
            return None
        ranked = sorted((q for q in worth if q[0] == target), key=lambda q: -worth[q])
        self._next[victim] = [question for _, question in ranked]
        return target

    def questions(self, target: int, victim: str, number: int) -> list[str]:
        if not self.has_facts:
            return super().questions(target, victim, number)
        scene = self.room.scene
        words = death_of(scene.person(victim), self.own_view(victim).statements)._asdict()
        self.times[victim, target] += 1
        planned = self._next.get(victim) or [PlannedQuestion(OPEN, -1)]
        return self.room.put([put(scene, q.topic, victim, **words, about=q.about) for q in planned], victim, number)

    def worth(self, victim: str, targets: list[int]) -> dict[tuple[int, PlannedQuestion], float]:
        """What each question to each target is worth, in nats: the mean of what it is worth to the seat and to the table.

        The table votes: what one seat knows from its own script alone finds nobody.
        """
        scene, share, lying = self.room.scene, self.settings.table, self.room.liars
        views = ((1 - share, self.own_view(victim)), (share, self.table_view(victim)))
        outlooks = [
            (weight, Outlook(scene, self._heard, victim, statements, beliefs, lying))
            for weight, (_, statements, beliefs) in views
            if weight
        ]
        worth: dict[tuple[int, PlannedQuestion], float] = {}
        for target in targets:
            for question in self._possible(target):
                gain = sum(weight * outlook.gain(question, target, self.settings.liars) for weight, outlook in outlooks)
                worth[target, question] = gain + self.settings.curiosity * outlooks[0][1].other(question, target)
        return worth

    def _possible(self, target: int) -> Iterator[PlannedQuestion]:
        """General questions first, then those about each seat, and relations."""
        for topic in (ABLE, REASONS, DEATH, RELATION, OPEN, WHEREABOUTS):
            yield PlannedQuestion(topic, -1)
        for seat in sorted(self.room.others):
            if seat != target:
                yield PlannedQuestion(ABLE, seat)
                yield PlannedQuestion(RELATION, seat)

    # -- suspecting --------------------------------------------------------------------------------------------

    def report(self, victim: str) -> int:
        return self.vote(victim) if self.has_facts else super().report(victim)

    def vote(self, victim: str) -> int:
        """The most probable; among equals, the player with more evidence against them."""
        if not self.has_facts:
            return super().vote(victim)
        scene, now = self.room.scene, self._judge(victim)
        dossiers = judge(scene, scene.person(victim), list(now), self.own_view(victim).statements)
        return max(now, key=lambda seat: (round(now[seat], 9), dossiers[seat].weight, -seat))
