"""What every method does alike: introduce oneself, answer, report and vote; and the room in which it asks its model.

The murderer's procedure is the same in all methods (Questum, section 4.3), and so is the vote, for which no code was
published: a direct question with the other players as options (decisions 4.8).

`QuestionBudget` limits how many questions a game may put to the model, so that methods can be compared at the same number:
introductions and votes are always paid for; a question to a player and a report are not begun if the dearest of their kind so
far would take more than what is left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import say
from parlour.policies.agents.murder_mystery.asks import Introduce, ReplyToQuestion, Vote, stance_of
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, me_of, named
from parlour.policies.agents.murder_mystery.seat_memory import Exchange, SeatMemory
from parlour.policies.agents.murder_mystery.sensors import SensorSummary
from parlour.policies.agents.murder_mystery.wording import naming
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.model import Answered, SeatModel


class QuestionBudget:
    """What is left of a number of questions to the model.

    Args:
        spent: Returns the number of questions that the game has taken so far.
        limit: How many it may take.
        kept: How many of these are kept for the votes.
    """

    def __init__(self, spent: Callable[[], int], limit: int, kept: int) -> None:
        self._spent: Final = spent
        self._limit, self._kept = limit, kept
        self._dearest: dict[str, int] = {}
        self._begun: tuple[str, int] | None = None
        self._shared: dict[str, bool] = {}
        self._open: set[str] = set()
        self._lock = Lock()

    def release(self, count: int) -> None:
        """Keep so many fewer for the votes."""
        self._kept -= count

    def allows(self, what: str, takes: int | None = None, least: int = 1) -> bool:
        """Whether there is enough left for one more of a kind; what is begun now is taken to last until the next call.

        Args:
            what: The kind.
            takes: What it takes, where that is known; it then says nothing of others of its kind.
            least: What it takes at least, where it is not.

        >>> taken = 0
        >>> budget = QuestionBudget(lambda: taken, limit=12, kept=2)
        >>> budget.allows("question")
        True
        >>> taken = 6  # the question took 6, and only 4 are left
        >>> budget.allows("question"), budget.allows("report")
        (False, False)
        """
        now = self._spent()
        if self._begun is not None:
            begun, before = self._begun
            self._dearest[begun] = max(self._dearest.get(begun, 1), now - before)
        dearest = self._dearest.get(what) or max(self._dearest.values(), default=1)
        price = max(least, dearest) if takes is None else takes
        enough = now + len(self._open) + price <= self._limit - self._kept
        self._begun = (what, now) if enough and takes is None else None
        return enough

    def allows_shared(self, keys: Sequence[str]) -> list[bool]:
        """Whether each shared question of this seat may be charged, in order.

        It is decided once for all who share it, so that it does not matter which of them comes first. Safe for threads.

        >>> budget = QuestionBudget(lambda: 9, limit=12, kept=2)
        >>> budget.allows_shared(["a", "b"]), budget.allows_shared(["b", "a"])
        ([True, False], [False, True])
        """
        with self._lock:
            for key in keys:
                if key not in self._shared:
                    self._shared[key] = self._spent() + len(self._open) < self._limit - self._kept
                    self._open |= {key} if self._shared[key] else set()
            return [self._shared[key] for key in keys]

    def answered(self, keys: Sequence[str]) -> None:
        """Questions of `allows_shared` are answered, and counted among those that were taken."""
        with self._lock:
            self._open.difference_update(keys)


INTRODUCTION: Final = 12000
"""Tokens of script in an introduction (decisions 4.5)."""
QUESTION, PRUNING, READING = "question", "pruning", "reading"
"""What can fail: a question is then not put, a list stays as it was, nothing was heard."""


@dataclass
class Room:
    """The model, memory and knowledge of one seat in one game."""

    seat_model: SeatModel
    seat_memory: SeatMemory
    me: CharacterInfo
    lies: list[str]
    rng: Any
    liars: int = 0
    """How many who murdered nobody may lie."""
    budget: QuestionBudget | None = None
    """What the game may take of the model; None: whatever is asked."""
    failed: Counter[str] = field(default_factory=Counter)
    """How often the model's answer could not be used, by question."""

    @classmethod
    def of(cls, view: MysteryView, seat_model: SeatModel, seat_memory: SeatMemory, rng: Any) -> Room:
        """The room of the seat whose View this is."""
        return cls(
            seat_model,
            seat_memory,
            me_of(view),
            [say(lie, view.vocabulary, view.seat) for lie in view.lies],
            rng,
            view.liars,
        )

    @property
    def scene(self) -> Scene:
        return self.seat_memory.scene

    @property
    def others(self) -> tuple[int, ...]:
        """The other seats, from the next one on."""
        n, seat = len(self.scene.players), self.seat_memory.seat
        return tuple((seat + k) % n for k in range(1, n))

    def name(self, seat: int) -> str:
        return self.scene.players[seat]

    def about(self, victim: str) -> dict[str, Any]:
        """The inputs that every question about a victim has."""
        return {"scene": self.scene, "me": self.me, "victim": victim, "stance": self.stance(victim)}

    def recalled(self, query: str) -> dict[str, Any]:
        """The excerpts of a question: what the memory finds for a query, of the own script and of the talk."""
        return {"script": self.seat_memory.excerpts(query), "dialogue": self.seat_memory.dialogue(query)}

    def about_player(self, seat: int, victim: str) -> dict[str, Any]:
        """The inputs of a question about another player and a victim; the memory finds "player,victim"."""
        name = self.name(seat)
        return {**self.about(victim), "about": name, **self.recalled(f"{name},{victim}")}

    @property
    def secretive(self) -> bool:
        """Whether the seat killed nobody and has planned lies all the same, as in tougher cases."""
        return bool(self.lies) and not self.me.killed

    def stance(self, victim: str) -> str:
        """What the seat may say about a victim's death."""
        return self.scene.say.secretive if self.secretive else stance_of(self.scene, self.me, victim)

    def put(self, questions: Sequence[str], victim: str, number: int) -> list[str]:
        """Questions as they are put at the table: not blank, as many as allowed, each with the victim's name."""
        said = [words for words in questions if words.strip()][:number]
        return [naming(self.scene, victim, words) for words in said]

    def ask_or_fail(self, question: Ask[A], what: str) -> A | None:
        """The model's answer; None, and counted, if it had none that can be used."""
        return self._usable(self.seat_model.hear(question), what)

    def hear_shared(self, questions: Sequence[Ask[A]], what: str) -> list[A | None]:
        """The answers to questions that are the same for all seats; None where the budget has nothing left, and where, counted,
        the model had no answer that can be used.
        """
        keys = self.seat_model.shared_keys(questions)
        paid = self.budget.allows_shared(keys) if self.budget is not None else [True] * len(keys)
        put = [question for question, is_paid in zip(questions, paid, strict=True) if is_paid]
        answered = iter(self.seat_model.hear_shared(put))
        if self.budget is not None:
            self.budget.answered(keys)
        return [self._usable(next(answered), what) if is_paid else None for is_paid in paid]

    def _usable(self, answered: Answered[A], what: str) -> A | None:
        if answered.fell_back:
            self.failed[what] += 1
            return None
        return answered.value


class Procedure(ABC):
    """How one seat plays one game, with what its room holds."""

    def __init__(self, room: Room) -> None:
        self.room = room

    @abstractmethod
    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        """The seat to ask next about `view.victim`, after `asked`; None for nobody."""

    @abstractmethod
    def questions(self, target: int, victim: str, number: int) -> list[str]:
        """The questions; none if the model's answer could not be used, which skips the turn."""

    def listen(self) -> None:
        """Take in what was said, before a choice, a report or a vote, where that takes questions to the model."""
        return

    def notes(self) -> dict[str, Any]:
        """What the seat made of others since the last time, for the transcript."""
        return {}

    def come_first(self) -> None:
        """Claim the questions, the same for all seats, that `listen` will put."""
        return

    def introduce(self) -> str:
        """Who one is."""
        room = self.room
        question = Introduce(
            scene=room.scene,
            me=room.me,
            script=room.seat_memory.excerpts("who are you?", INTRODUCTION),
            lies=room.lies,
            stance=room.stance(room.me.killed[0] if room.me.killed else ""),
        )
        return room.seat_model.ask(question).words

    def reply(self, exchange: Exchange) -> str:
        """The answer to a question."""
        room = self.room
        question = ReplyToQuestion(**self.asked(exchange), **room.recalled(exchange.question), lies=room.lies)
        return room.seat_model.ask(question).words

    def report(self, victim: str) -> int:
        """The main suspect of now, after a round."""
        return self.vote(victim)

    def takes(self, kind: str) -> int | None:
        """How many questions to the model a kind of move takes, where that is known beforehand; else None."""
        return None

    def least(self, kind: str) -> int:
        """How many questions to the model a kind of move takes at least."""
        return 1

    def vote(self, victim: str) -> int:
        """Who did it."""
        room = self.room
        question = Vote(
            **room.about(victim),
            options=[room.name(seat) for seat in room.others],
            **room.recalled(f"{room.me.name},{victim}"),
            suspects=self.suspects_of(victim),
            summaries=self.summaries_of(victim),
        )
        name = named(room.seat_model.ask(question).name, question.options)
        return room.scene.person(name if name is not None else question.options[0])

    def suspects_of(self, victim: str) -> list[str]:
        """The own list of suspects; empty for a method that keeps none."""
        return []

    def summaries_of(self, victim: str) -> list[SensorSummary]:
        """What sensors read last; empty for a method without."""
        return []

    def asked(self, exchange: Exchange) -> dict[str, Any]:
        """Inputs of an answer: who asks, and what."""
        victim = self.room.scene.victims[exchange.victim]
        return {**self.room.about(victim), "asker": self.room.name(exchange.asker), "question": exchange.question}
