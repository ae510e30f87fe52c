"""What was said at the table, read once: the facts of each answer, and what its question asked for.

A planner goes back to all that it heard before each of its questions. What was heard does not change, so that each answer is
read when it comes. Where nothing of the case can be read in an answer, somebody else may be asked what it tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from parlour.envs.murder_mystery.vocabulary.facts import Fact
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


Reader = Callable[[Sequence[Talk]], Iterable[Sequence[Fact]]]
"""Finds the facts of each of several answers in other words."""


class HeardTalk:
    """All that a seat heard, and what its script and the briefing say.

    Args:
        memory: Of the seat.
        reader: Of answers in which no fact can be read; None: they tell nothing.
        hears: The words of an answer as the seat hears them; None: as they were said.
    """

    def __init__(
        self, memory: SeatMemory, reader: Reader | None = None, hears: Callable[[Talk], str] | None = None
    ) -> None:
        self._memory, self.seat = memory, memory.seat
        self._reader, self._hears = reader, hears
        self.misheard: list[tuple[str, str]] = []
        """What was said and what was heard in its place, since somebody took it from here."""
        self.in_other_words = False
        """Whether any answer was for the reader."""
        self._sure: list[Told] | None = None
        self._answers: list[HeardAnswer] = []

    @property
    def answers(self) -> list[HeardAnswer]:
        """Introductions and answers, oldest first."""
        new, free = self._new, self.unread()
        found = dict(zip(free, self._reader(free), strict=True)) if self._reader and free else {}
        self.in_other_words |= bool(free)
        for talk in new:
            self._answers.append(self._heard(talk, found.get(talk, ())))
            if talk not in found and (words := self._words(talk)) != talk.answer:
                self.misheard.append((talk.answer, words))
        return self._answers

    @property
    def _new(self) -> list[Talk]:
        return self._memory.talks[len(self._answers) :]

    def unread(self) -> list[Talk]:
        """New answers that are for the reader. What introductions tell is said about no death, and is not used."""
        return [talk for talk in self._new if talk.asker and self._is_free(talk)] if self._reader else []

    def _is_free(self, talk: Talk) -> bool:
        """Whether it says something in words of which no fact can be read."""
        scene, said = self._memory.scene, self._words(talk).strip()
        return said not in ("", scene.say.nothing) and not self._facts(talk)

    def _facts(self, talk: Talk) -> tuple[Told, ...]:
        words = self._words(talk)
        heard = talk if words == talk.answer else talk.model_copy(update={"answer": words})
        return tuple(one for one in collect(self._memory.scene, [], [heard]) if not one.sure)

    def _words(self, talk: Talk) -> str:
        """An answer as it was heard; introductions, which are not used, as they are."""
        return talk.answer if self._hears is None or not talk.asker else self._hears(talk)

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

    def _heard(self, talk: Talk, read: Sequence[Fact]) -> HeardAnswer:
        scene = self._memory.scene
        speaker, victim = scene.person(talk.speaker), scene.person(talk.victim)
        told = self._facts(talk) or tuple(Told(fact, speaker, False, victim) for fact in read)
        if not talk.asker:
            return HeardAnswer(speaker, talk.victim, told, frozenset(), (), (), ())
        asks = wanted(scene, talk.question, speaker, victim)
        return HeardAnswer(speaker, talk.victim, told, asks.kinds, asks.topics, asks.about, asks.times)
