"""Who answers questions: the Model, the offline one, and the SeatModel through which one seat asks in one game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, ClassVar, Final, Generic, NamedTuple

import numpy as np
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.at_once import SharedCalls, at_once
from parlour.policies.llm.transport.request import TokenLogProbs
from parlour.policies.names import OFFLINE as OFFLINE

CONCURRENCY: Final = 8
"""Calls to a language model that are under way at once, where nothing else is said: a vote of eight seats is asked at once."""


class RequestContext(NamedTuple):
    """On whose behalf a question is put."""

    seat: str
    """Who pays: `"player_3"`, or another name for the meter."""
    sample: int = 0
    """Which of several samples of the same question this is; the same number gives the same answer again."""

    rules: str = ""
    """The rules of its table in words, for the system message."""

    game: int = 0
    """The game's seed; whatever is drawn once in a game is drawn by it."""

    player: str = ""
    """The name of the player that asks, without its settings."""

    unclear: str = ""
    """Rule of the player for questions without a usable reply: see `Ask.fallback`."""

    temperature: float | None = None
    """Sampling temperature of the player, for questions that have none; None: the model's."""

    def other(self, k: int) -> RequestContext:
        """The same asker with the k-th of several samples; number 0 is the sample itself."""
        return self._replace(sample=mixed(self.sample, k)) if k else self


@dataclass(frozen=True)
class Answered(Generic[A]):
    """An answer, with how it came about."""

    value: A
    tries: int = 1
    """Replies that were read."""
    reason: str | None = None
    """Why the heuristic, or a paper's rule, answered in the model's place; None if the model did."""
    calls: tuple[dict[str, Any], ...] = field(default=())
    """For the transcript, a call each: `ask`, `answer` or `prompt`, `reply`, `usage`, `cost`."""
    cut: int = 0
    """Lines that were left out of the prompt for want of room."""
    logprobs: TokenLogProbs = ()
    """Tokens of the reply with their log-probabilities; () if they were not asked for, or the endpoint has none."""
    rule: str = ""
    """The paper's rule that answered; empty for the heuristic."""

    @property
    def valid(self) -> bool:
        """Whether the model's first reply was the answer."""
        return self.reason is None and self.tries == 1

    @property
    def counted(self) -> dict[str, Any]:
        """The answer as fields of `Decisions`."""
        if self.reason is not None:
            return {"paper": {self.rule: 1}} if self.rule else {"heuristic": {self.reason: 1}}
        return {"first": 1} if self.valid else {"again": 1}

    @property
    def fell_back(self) -> bool:
        """Whether the heuristic, or a paper's rule, had to answer in the model's place."""
        return self.reason is not None


class Model(ABC):
    """Answers questions. One model serves all seats of all concurrent games; it is safe for threads, and picklable."""

    name: str
    """What results call it."""
    is_language_model: ClassVar[bool]
    asks_alone: ClassVar[bool] = False
    """Whether each seat must ask for itself what is the same for all seats, because each may misread it."""
    concurrency: int = 1
    """How many questions are under way at once, over all seats and games; commands play as many games at once."""

    @property
    def called(self) -> str:
        """How results name who answered. Heuristics are never called a language model.

        >>> OfflineModel().called
        'heuristics (no language model)'
        """
        return (
            self.name if self.is_language_model else f"heuristics (no language model){self.name.removeprefix(OFFLINE)}"
        )

    @property
    def waits(self) -> bool:
        """Whether others may ask while one waits for an answer: seats and questions are then asked in threads."""
        return self.is_language_model and self.concurrency > 1

    def measured_apart(self) -> Model:
        """The same model, with calls that do not depend on the server's prompt cache.

        A run that is killed and resumed then has the same transcripts as an undisturbed run, if the replies are the same.
        """
        return self

    @abstractmethod
    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        """Answer one question."""

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        """`n` independent answers to the same question."""
        return [self.answer(question, context.other(k)) for k in range(n)]

    def answer_all(self, asked: Sequence[tuple[Ask[A], RequestContext]]) -> list[Answered[A]]:
        """Answers to questions that do not wait for each other, in order. Raises what the first of them raised."""
        if not self.waits or len(asked) < 2:
            return [self.answer(question, context) for question, context in asked]
        return [
            question.result()
            for question in at_once([partial(self.answer, *question) for question in asked], self.concurrency)
        ]

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Plain values from which the same model can be made again; no secrets."""


class OfflineModel(Model):
    """Answers every question by its heuristic: the embedded default. It is not a language model.

    Args:
        concurrency: How many games commands play at once; questions are answered at once in any case.
    """

    name = OFFLINE
    is_language_model: ClassVar[bool] = False

    def __init__(self, concurrency: int = 1) -> None:
        self.concurrency = concurrency

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        value = question.heuristic(np.random.default_rng(context.sample))
        return Answered(value, calls=({"ask": question.kind, "answer": value.model_dump(mode="json")},))

    def settings(self) -> dict[str, Any]:
        return {"model": OFFLINE}


class SeatModel:
    """The questions of one seat in one game. Numbers them, so that the same game asks for the same samples again.

    Args:
        model: Who answers.
        seat: The seat's number.
        seed: The game's seed.
        rules: See `rules`.
        player: The name of the player that sits there.
    """

    def __init__(self, model: Model, seat: int, seed: int, rules: str = "", player: str = "") -> None:
        self._model, self._seat, self._seed, self._player = model, seat, seed, player
        self._payer = f"player_{seat}"
        self.is_language_model = model.is_language_model
        """Whether a language model answers, not a heuristic."""
        self.rules = rules
        """The rules of the table in words, as the game tells them."""
        self.unclear = ""
        """See `RequestContext.unclear`."""
        self.temperature: float | None = None
        """See `RequestContext.temperature`."""
        self.shared: SharedCalls[Answered[Any]] = SharedCalls()
        """Questions that are the same for all seats; loops give the seats of one table the same object."""
        self._asked = 0
        self._calls: list[dict[str, Any]] = []

    def ask(self, question: Ask[A]) -> A:
        """The model's answer."""
        return self.hear(question).value

    def hear(self, question: Ask[A]) -> Answered[A]:
        """The whole answer, with whether the model itself gave it."""
        return self.hear_all([question])[0]

    def ask_all(self, questions: Sequence[Ask[A]]) -> list[A]:
        """The model's answers to questions that do not wait for each other, in order.

        They are asked at once where the model takes its time; samples and transcript are as if one was asked after another.
        """
        return [answered.value for answered in self.hear_all(questions)]

    def hear_all(self, questions: Sequence[Ask[A]]) -> list[Answered[A]]:
        """The whole answers, as `ask_all`."""
        return self._heard([(question, self._context()) for question in questions])

    def _heard(self, asked: Sequence[tuple[Ask[A], RequestContext]]) -> list[Answered[A]]:
        answers = self._model.answer_all(asked)
        self._calls += [call for answered in answers for call in answered.calls]
        return answers

    def ask_shared(self, questions: Sequence[Ask[A]]) -> list[A]:
        """The answers to questions that are the same for all seats: each is asked once in a game.

        The sample is that of the game and the question. The calls are in the transcript of the seat that came first.
        If the model's seats ask alone, each seat asks, for the same sample.
        """
        return [answered.value for answered in self.hear_shared(questions)]

    def hear_shared(self, questions: Sequence[Ask[A]]) -> list[Answered[A]]:
        """The whole answers, as `ask_shared`."""
        if self._model.asks_alone:
            return self._heard([(question, self._shared_context(question, self._payer)) for question in questions])

        def answered(question: Ask[A], payer: str) -> Answered[A]:
            return self._model.answer(question, self._shared_context(question, payer))

        calls = {_key(question): partial(answered, question) for question in questions}
        most = self._model.concurrency if self._model.waits else 1
        answers = dict(zip(calls, self.shared.results(self._payer, calls, most), strict=True))
        return [answers[_key(question)] for question in questions]

    def shared_keys(self, questions: Sequence[Ask[Any]]) -> list[str]:
        """Names of questions for `ask_shared`: equal for seats that share an answer, and for no others."""
        alone = f" {self._payer}" if self._model.asks_alone else ""
        return [f"{_key(question)}{alone}" for question in questions]

    def claim_shared(self, questions: Sequence[Ask[Any]]) -> None:
        """Come first with questions that `ask_shared` will put."""
        if not self._model.asks_alone:
            self.shared.claim(self._payer, map(_key, questions))

    def pass_over(self) -> None:
        """Leave out a question whose answer is known. Those after it keep their numbers, and with them their samples."""
        self._asked += 1

    def calls(self) -> list[dict[str, Any]]:
        """What was asked since the last time, for the transcript: what is shared comes first."""
        calls, self._calls = self._calls, []
        return [*(call for answered in self.shared.news(self._payer) for call in answered.calls), *calls]

    def _shared_context(self, question: Ask[Any], payer: str) -> RequestContext:
        number = int.from_bytes(sha256(_key(question).encode()).digest()[:4])
        return RequestContext(payer, mixed(self._seed, number), self.rules, self._seed, self._player)

    def _context(self) -> RequestContext:
        self._asked += 1
        sample = mixed(self._seed, self._seat, self._asked)
        return RequestContext(self._payer, sample, self.rules, self._seed, self._player, self.unclear, self.temperature)


def _key(question: Ask[Any]) -> str:
    return f"{question.kind} {question.model_dump_json()}"


def mixed(*numbers: int) -> int:
    """One number of 31 bits from several; what servers take for a seed."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0]) >> 1
