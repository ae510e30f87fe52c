"""What was said at the table, read once: the facts of each answer, and what its question asked for.

A planner goes back to all that it heard before each of its questions. What was heard does not change, so that each answer is
read when it comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from parlour.policies.agents.murder_mystery.evidence import Told, collect
from parlour.policies.agents.murder_mystery.replies import LIMIT
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.agents.murder_mystery.seat_memory import SeatMemory
from parlour.policies.agents.murder_mystery.topics import wanted


class HeardAnswer(NamedTuple):
    """One answer, or an introduction."""

    speaker: int
    victim: str
    """Whose death it is about; empty for an introduction."""
    told: tuple[Told, ...]
    kinds: frozenset[str]
    """Kinds of facts that the question asked for; empty for an introduction."""
    topics: tuple[int, ...]
    about: tuple[int, ...]
    """Persons that the question named."""
    times: tuple[int, ...]
    """Hours that the question named."""

    @property
    def full(self) -> bool:
        """Whether it was as long as answers may be, so that there may be more."""
        return len(self.told) >= LIMIT


class HeardTalk:
    """All that a seat heard, and what its script and the briefing say.

    Args:
        memory: Of the seat.
    """

    def __init__(self, memory: SeatMemory) -> None:
        self._memory, self.seat = memory, memory.seat
        self._sure: list[Told] | None = None
        self._answers: list[HeardAnswer] = []

    @property
    def answers(self) -> list[HeardAnswer]:
        """Introductions and answers, oldest first."""
        new = self._memory.talks[len(self._answers) :]
        self._answers += [self._heard(talk) for talk in new]
        return self._answers

    def told(self, victim: int) -> list[Told]:
        """All that the seat knows, and heard about a victim (person number); each once."""
        memory = self._memory
        if self._sure is None:
            self._sure = collect(memory.scene, [(memory.seat, memory.script)], [])
        heard = (one for answer in self.answers for one in answer.told if one.victim == victim)
        return list(dict.fromkeys((*self._sure, *heard)))

    def put(self, seat: int, victim: str) -> Iterator[HeardAnswer]:
        """What a seat answered about a victim when it was asked."""
        return (one for one in self.answers if one.kinds and one.speaker == seat and one.victim == victim)

    def _heard(self, talk: Talk) -> HeardAnswer:
        scene = self._memory.scene
        told = tuple(one for one in collect(scene, [], [talk]) if not one.sure)
        speaker = scene.person(talk.speaker)
        if not talk.asker:
            return HeardAnswer(speaker, talk.victim, told, frozenset(), (), (), ())
        asks = wanted(scene, talk.question, speaker, scene.person(talk.victim))
        return HeardAnswer(speaker, talk.victim, told, asks.kinds, asks.topics, asks.about, asks.times)
