"""Questum as a planner: whom to ask, about what, and when to stop, by what the answers are expected to tell of who did it.

Ours (`mode=plan`). Each question that could be put is worth what it is expected to take off the entropy over who did it
(`posterior`), and a little for what else it brings (the ways of death, reasons, relations). The best one is put unless its
worth is below the price of a question. Suspicion and vote follow from the same posterior; the model is asked for introductions
and answers only. `mode=random` puts questions by chance and reads the answers alike, to be compared with. In cases of prose,
of which no facts can be read, both play by sensors (`interview`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import OPEN, RELATION, UNKNOWN, WHEREABOUTS
from parlour.policies.agents.murder_mystery.evidence import Death, Told, collect, death_of, judge
from parlour.policies.agents.murder_mystery.procedure import Room
from parlour.policies.agents.murder_mystery.questum.interview import Interview, InterviewSettings
from parlour.policies.agents.murder_mystery.questum.posterior import Prospect, chances, expected_fall, uncertainty
from parlour.policies.agents.murder_mystery.replies import LIMIT
from parlour.policies.agents.murder_mystery.topics import ABLE, DEATH, REASONS, put, wanted

_CLEARING: Final = ("saw", "lacked", "peace")
"""Kinds of facts that clear an innocent, alike likely."""
_KINDS: Final = {ABLE: ("saw", "lacked"), DEATH: ("saw",), REASONS: ("peace",)}
"""Question about nobody in particular -> what it can bring that clears."""
_REACH: Final = 0.8
"""How likely what somebody knows is among the facts of an answer that is asked for everything of its kind."""
_CUT: Final = 0.4
"""Of what was not told in an answer as long as answers may be, how much may still come."""
_DIM: Final = 0.4
"""What a sighting or access is worth while it is not known where and when the victim died, or by what means."""
_ELSE: Final = {REASONS: 1.0, DEATH: 0.8, ABLE: 0.6, RELATION: 0.5, OPEN: 0.3, WHEREABOUTS: 0.3}
"""What else questions bring, in shares of the setting `curiosity`."""


class PlannedQuestion(NamedTuple):
    """A question that could be put."""

    topic: int
    about: int
    """A seat, or -1 for nobody in particular."""


class PlannedInterview(Interview):
    """How a seat plays by what questions are expected to tell.

    Args:
        room: What it works with.
        settings: What was set.
    """

    def __init__(self, room: Room, settings: InterviewSettings) -> None:
        super().__init__(room, settings)
        self._next: dict[str, list[PlannedQuestion]] = {}

    @property
    def has_facts(self) -> bool:
        """Whether the case tells facts that can be read; else all is as in `Interview`."""
        return bool(self.room.scene.places)

    # -- what is believed --------------------------------------------------------------------------------------

    def told(self, victim: str) -> list[Told]:
        """All that the seat knows and heard about a victim."""
        memory = self.room.seat_memory
        found = collect(self.room.scene, [(memory.seat, memory.script)], memory.talks)
        number = self.room.scene.person(victim)
        return [one for one in found if one.sure or one.victim == number]

    def chances(self, victim: str) -> dict[int, float]:
        """The probability of each other seat to have killed a victim."""
        room = self.room
        liars = max(0, room.liars - room.secretive)
        scene = room.scene
        return chances(self.told(victim), len(scene.players), scene.person(victim), room.seat_memory.seat, liars)

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
            topic = sorted(_ELSE)[int(self.room.rng.integers(len(_ELSE)))]
            self._next[victim] = [PlannedQuestion(topic, -1)]
            return target
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
        words = death_of(scene.person(victim), self.told(victim))._asdict()
        self.times[victim, target] += 1
        planned = self._next.get(victim) or [PlannedQuestion(OPEN, -1)]
        return self.room.put([put(scene, q.topic, victim, **words, about=q.about) for q in planned], victim, number)

    def worth(self, victim: str, targets: list[int]) -> dict[tuple[int, PlannedQuestion], float]:
        """What each question to each target is worth, in nats."""
        scene, now, told = self.room.scene, self.chances(victim), self.told(victim)
        death = death_of(scene.person(victim), told)
        put_before = {seat: list(self._put(seat, victim)) for seat in range(len(scene.players))}
        doubt = self.room.liars / max(1, len(scene.players) - 1)
        left = {
            (holder, seat, kind): self._left(put_before[holder], seat, kind)
            for holder in self.room.others
            for seat in now
            for kind in _CLEARING
            if holder != seat
        }
        found: dict[tuple[int, PlannedQuestion], float] = {}
        for target in targets:
            for question in self._possible(now, target):
                prospect = self._prospect(question, target, now, left, death)
                gain = expected_fall(now, target, prospect, doubt) if prospect.clears else 0.0
                gain += self._of_death(question, target, now, death, put_before)
                gain += self.settings.curiosity * self._else(question, put_before[target])
                found[target, question] = gain
        return found

    def _possible(self, now: dict[int, float], target: int) -> Iterator[PlannedQuestion]:
        """General questions first, then those about each who can have done it, and relations."""
        for topic in (ABLE, REASONS, DEATH, RELATION, OPEN, WHEREABOUTS):
            yield PlannedQuestion(topic, -1)
        for seat, p in now.items():
            if seat != target:
                if p > 0:
                    yield PlannedQuestion(ABLE, seat)
                yield PlannedQuestion(RELATION, seat)

    def _put(self, seat: int, victim: str) -> Iterator[tuple[frozenset[str], tuple[int, ...], tuple[int, ...], bool]]:
        """Of each question about a victim that a seat has answered: kinds, topics, persons, whether the answer was as long
        as answers may be.
        """
        scene, memory = self.room.scene, self.room.seat_memory
        number, name = scene.person(victim), scene.players[seat]
        for talk in memory.talks:
            if talk.asker and talk.speaker == name and talk.victim == victim:
                asks = wanted(scene, talk.question, seat, number)
                facts = collect(scene, [], [talk])
                full = sum(not one.sure for one in facts) >= LIMIT
                yield asks.kinds, asks.topics, asks.about, full

    def _left(
        self, put_before: list[tuple[frozenset[str], tuple[int, ...], tuple[int, ...], bool]], seat: int, kind: str
    ) -> float:
        """The share of what a holder might know of a seat that it was not asked for, or had no room to tell."""
        left = 1.0
        for kinds, _, about, full in put_before:
            if kind in kinds and (not about or seat in about):
                left *= _CUT if full else 0.0
        return left

    def _prospect(
        self,
        question: PlannedQuestion,
        target: int,
        now: dict[int, float],
        left: dict[tuple[int, int, str], float],
        death: Death,
    ) -> Prospect:
        kinds = _CLEARING if question.about >= 0 and question.topic == ABLE else _KINDS.get(question.topic, ())
        lit = {
            "saw": 1.0 if UNKNOWN not in (death.place, death.time) else _DIM,
            "lacked": 1.0 if death.means != UNKNOWN else _DIM,
            "peace": 1.0,
        }
        reach = 1.0 if question.about >= 0 else _REACH
        clears, shows = {}, {}
        for seat in now:
            if seat == target or question.about not in (-1, seat):
                continue
            every = sum(left.get((holder, seat, kind), 0.0) for holder in self.room.others for kind in _CLEARING)
            here = sum(left.get((target, seat, kind), 0.0) * lit[kind] for kind in kinds)
            if every > 0 and here > 0:
                clears[seat] = reach * here / max(every, 1.0)
            seeing = sum(left.get((holder, seat, "saw"), 0.0) for holder in self.room.others)
            if "saw" in kinds and seeing > 0:
                shows[seat] = reach * lit["saw"] * left.get((target, seat, "saw"), 0.0) / max(seeing, 1.0)
        return Prospect(clears, shows)

    def _of_death(
        self,
        question: PlannedQuestion,
        target: int,
        now: dict[int, float],
        death: Death,
        put_before: dict[int, list[tuple[frozenset[str], tuple[int, ...], tuple[int, ...], bool]]],
    ) -> float:
        """What is expected of an answer on how the victim died, without which sightings tell nothing."""
        missing = sum(value == UNKNOWN for value in death)
        if question.about >= 0 or question.topic not in (DEATH, ABLE, OPEN) or not missing:
            return 0.0
        fresh = [s for s in self.room.others if not any("died" in kinds for kinds, *_ in put_before[s])]
        if target not in fresh:
            return 0.0
        share = {DEATH: 1.0, ABLE: 0.7, OPEN: 0.5}[question.topic]
        return share * (1 - now.get(target, 0.0)) * 0.5 * uncertainty(now) * missing / (2 * len(fresh))

    def _else(
        self, question: PlannedQuestion, put_before: list[tuple[frozenset[str], tuple[int, ...], tuple[int, ...], bool]]
    ) -> float:
        """What else an answer brings that was not asked for yet."""
        if question.topic not in _ELSE:
            return 0.0
        if question.about >= 0:
            fresh = not any(question.about in about for _, _, about, _ in put_before)
            return 0.5 * _ELSE[question.topic] if fresh else 0.0
        scene = self.room.scene
        kinds = wanted(scene, put(scene, question.topic, scene.victims[0]), -1, -1).topics
        fresh = not any(set(kinds) <= set(topics) and not about for _, topics, about, _ in put_before)
        return _ELSE[question.topic] if fresh else 0.0

    # -- suspecting --------------------------------------------------------------------------------------------

    def report(self, victim: str) -> int:
        return self.vote(victim) if self.has_facts else super().report(victim)

    def vote(self, victim: str) -> int:
        """The likeliest; of equals the one that more speaks against."""
        if not self.has_facts:
            return super().vote(victim)
        scene, now = self.room.scene, self.chances(victim)
        dossiers = judge(scene, scene.person(victim), list(now), self.told(victim))
        return max(now, key=lambda seat: (round(now[seat], 9), dossiers[seat].weight, -seat))
