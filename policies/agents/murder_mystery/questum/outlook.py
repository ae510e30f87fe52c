"""What an answer may bring, worked out from what was asked and told so far, and from how riddles are made.

Ours; the numbers were set by hand, on training cases. A question that was answered in full leaves nothing of its kind, an answer as
long as answers may be leaves some, and the very same question again brings nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.vocabulary.facts import OPEN, RELATION, UNKNOWN, WHEREABOUTS
from parlour.policies.agents.murder_mystery.evidence import SourcedFact, death_of
from parlour.policies.agents.murder_mystery.heard import HeardAnswer, HeardTalk
from parlour.policies.agents.murder_mystery.questum.posterior import (
    Beliefs,
    Prospect,
    event_gains,
    expected_fall,
    uncertainty,
)
from parlour.policies.agents.murder_mystery.scene import Scene
from parlour.policies.agents.murder_mystery.wording import ABLE, DEATH, REASONS, QuestionTopic, put, wanted

_CLEARING: Final = ("saw", "lacked", "peace")
"""Kinds of facts that clear an innocent."""
_KINDS: Final = {ABLE: ("saw", "lacked"), DEATH: ("saw",), WHEREABOUTS: ("saw",), REASONS: ("peace",)}
"""Question about nobody in particular -> what it can bring that clears."""
_REACH: Final = 0.8
"""How likely what somebody knows is among the facts of an answer that is asked for everything of its kind."""
_CUT: Final = 0.4
"""Share of the untold information that may still follow an answer of full length."""
_DIM: Final = 0.4
"""The value of a sighting or an access while place, time or means of the death are unknown."""
_MISSING: Final = (0.5, 0.5, 0.25)
"""Share of the information in sightings and access that is lost while place, time or means of the death are unknown."""
_KNOWING: Final = (1.0, 2.0)
"""How many others know what the briefing does not say about a death: in plain cases, and in tougher ones."""
_ELSE: Final = {REASONS: 1.0, DEATH: 0.8, ABLE: 0.6, RELATION: 0.5, OPEN: 0.3, WHEREABOUTS: 0.3}
"""What else questions bring, in shares of the setting `curiosity`."""
TOPICS: Final = tuple(sorted(_ELSE))
"""Topics of the available questions."""


class PlannedQuestion(NamedTuple):
    """A question that could be put."""

    topic: int
    about: int
    """A seat, or -1 for nobody in particular."""


class Outlook:
    """What answers about a victim may bring to a seat.

    Args:
        scene: What everybody knows.
        talk: What the seat heard.
        victim: Name.
        statements: What is taken as known and heard about the victim.
        beliefs: What follows from that; the seats that can have done it are looked at.
        liars: How many who killed nobody may lie.
    """

    def __init__(
        self,
        scene: Scene,
        talk: HeardTalk,
        victim: str,
        statements: Sequence[SourcedFact],
        beliefs: Beliefs,
        liars: int,
    ) -> None:
        self._scene, self._victim, self._beliefs = scene, victim, beliefs
        self._asked_for: dict[PlannedQuestion, QuestionTopic] = {}
        self._others = others = sorted({*range(len(scene.players))} - {talk.seat})
        self._lying = liars > 0
        self._now = {**dict.fromkeys(others, 0.0), **beliefs.chances}
        self._uncertain = uncertainty(self._now)
        self._doubts = {seat: beliefs.doubt(seat) for seat in others}
        self._death = death_of(scene.person(victim), statements)
        self._put = {seat: list(talk.put(seat, victim)) for seat in range(len(scene.players))}
        self._left = {
            (holder, seat, kind): self._share_left(holder, seat, kind)
            for holder in others
            for seat in self._now
            for kind in _CLEARING
            if holder != seat
        }
        self._clearing = {
            seat: sum(self._left.get((holder, seat, kind), 0.0) for holder in others for kind in _CLEARING)
            for seat in self._now
        }
        self._sightings = {
            seat: sum(self._left.get((holder, seat, "saw"), 0.0) for holder in others) for seat in {*self._now, *others}
        }
        places = [(f.args, teller, sure) for f, teller, sure, _ in statements if f.kind in ("at", "saw")]
        at_death = [(args[0], teller, sure) for args, teller, sure in places if args[2] == self._death.time]
        self._claimed = {teller for person, teller, sure in at_death if not sure and person == teller}
        self._seen = {person for person, teller, _ in at_death if person != teller}
        self._bad = {
            seat: np.array([world.bad >> seat & 1 and world.murderer != seat for world in beliefs.worlds], bool)
            for seat in others
        }
        self._murders = {seat: np.array([world.murderer == seat for world in beliefs.worlds], bool) for seat in others}

    def _share_left(self, holder: int, seat: int, kind: str) -> float:
        """The share of what a holder might know of a seat that it was not asked for, or had no room to tell."""
        left = 1.0
        for answer in self._put[holder]:
            if kind in answer.kinds and (not answer.about or seat in answer.about):
                left *= _CUT if answer.full and not self._beyond(answer, kind) else 0.0
        return left

    def _beyond(self, answer: HeardAnswer, kind: str) -> bool:
        """Whether an answer went on to sightings at other hours than it was asked for, so that there are no more at that."""
        if kind != "saw" or not answer.times:
            return False
        return any(f.kind == "saw" and f.args[2] not in answer.times for f, _, _, _ in answer.statements)

    def gain(self, question: PlannedQuestion, target: int, liars: float) -> float:
        """Expected information of an answer about the murderer, in nats, plus `liars` times its information about liars."""
        if not self._uncertain or self._repeated(question, target):
            return 0.0
        prospect = self.prospect(question, target)
        fall = expected_fall(self._now, target, prospect, self._doubts[target]) if prospect.clears else 0.0
        who, lying = self.exposure(question, target)
        fall += who + liars * min(1.0, self._uncertain) * lying + self.of_death(question, target)
        return min(fall, self._uncertain)

    def _repeated(self, question: PlannedQuestion, target: int) -> bool:
        """Whether the target has answered the very question: it would say the same again."""
        if question not in self._asked_for:
            words = put(self._scene, question.topic, self._victim, **self._death._asdict(), about=question.about)
            self._asked_for[question] = wanted(self._scene, words, -1, self._scene.person(self._victim))
        asks = self._asked_for[question]
        very = (asks.topics, asks.times, set(asks.about) - {target})
        return any((answer.topics, answer.times, set(answer.about)) == very for answer in self._put[target])

    # -- who did it --------------------------------------------------------------------------------------------

    def prospect(self, question: PlannedQuestion, target: int) -> Prospect:
        """Who may be cleared or shown by an answer."""
        death = self._death
        kinds = _CLEARING if question.about >= 0 and question.topic == ABLE else _KINDS.get(question.topic, ())
        lit = {
            "saw": 1.0 if UNKNOWN not in (death.place, death.time) else _DIM,
            "lacked": 1.0 if death.means != UNKNOWN else _DIM,
            "peace": 1.0,
        }
        reach = 1.0 if question.about >= 0 else _REACH
        clears, shows = {}, {}
        for seat in self._now:
            if seat == target or question.about not in (-1, seat):
                continue
            every = self._clearing[seat]
            here = sum(self._left.get((target, seat, kind), 0.0) * lit[kind] for kind in kinds)
            if every > 0 and here > 0:
                clears[seat] = reach * here / max(every, 1.0)
            seeing = self._sightings[seat]
            if "saw" in kinds and seeing > 0:
                shows[seat] = reach * lit["saw"] * self._left.get((target, seat, "saw"), 0.0) / max(seeing, 1.0)
        return Prospect(clears, shows)

    # -- who lies ----------------------------------------------------------------------------------------------

    def exposure(self, question: PlannedQuestion, target: int) -> tuple[float, float]:
        """What catching a liar is expected to tell, in nats: of who did it, and of who else lies.

        A witness who lies claims another place than its own. That is caught by its claim and the sighting of another, whichever
        comes last; a claim that may be caught later counts half.
        """
        if not self._lying or self._death.time == UNKNOWN:
            return 0.0, 0.0
        caught = []
        if question.topic in (ABLE, DEATH, WHEREABOUTS):
            caught += self._seen_elsewhere(question, target)
        if question.topic == WHEREABOUTS and question.about < 0 and target not in self._claimed:
            share = 1.0 if target in self._seen else 0.5 * min(1.0, self._sightings[target])
            caught.append(share * self._bad[target])
        gains = [event_gains(self._beliefs, likelihood) for likelihood in caught]
        return sum(gain[0] for gain in gains), sum(gain[1] for gain in gains)

    def _seen_elsewhere(
        self, question: PlannedQuestion, target: int
    ) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """In each world, that an answer contradicts what another seat claims of itself; for each such seat."""
        honest = ~(self._bad[target] | self._murders[target])
        seats = [s for s in self._claimed if s != target and question.about in (-1, s) and s in self._bad]
        share = {s: self._left.get((target, s, "saw"), 0.0) / max(self._sightings[s], 1.0) for s in seats}
        return [here * (honest & self._bad[seat]) for seat, here in share.items() if here > 0]

    # -- what else ---------------------------------------------------------------------------------------------

    def of_death(self, question: PlannedQuestion, target: int) -> float:
        """What is expected of an answer on how the victim died, without which sightings tell nothing."""
        missing = [weight for value, weight in zip(self._death, _MISSING, strict=True) if value == UNKNOWN]
        if question.about >= 0 or question.topic not in (DEATH, ABLE, OPEN) or not missing:
            return 0.0
        fresh = [s for s in self._others if not any("died" in answer.kinds for answer in self._put[s])]
        if target not in fresh:
            return 0.0
        share = {DEATH: 1.0, ABLE: 0.7, OPEN: 0.5}[question.topic]
        known = min(1.0, _KNOWING[self._lying] / len(fresh))
        return share * known * (1 - self._now.get(target, 0.0)) * min(1.0, sum(missing)) * self._uncertain

    def other(self, question: PlannedQuestion, target: int) -> float:
        """What else an answer brings that was not asked for yet, 0 .. 1."""
        if question.topic not in _ELSE:
            return 0.0
        before = self._put[target]
        if question.about >= 0:
            fresh = not any(question.about in answer.about for answer in before)
            return 0.5 * _ELSE[question.topic] if fresh else 0.0
        scene = self._scene
        topics = set(wanted(scene, put(scene, question.topic, scene.victims[0]), -1, -1).topics)
        fresh = not any(topics <= set(answer.topics) and not answer.about for answer in before)
        return _ELSE[question.topic] if fresh else 0.0
