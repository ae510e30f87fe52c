"""A model that answers in other words than the case's, as language models do, and reads such words when it is asked."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from parlour.policies.agents.murder_mystery.asks import ReplyToQuestion, Words
from parlour.policies.agents.murder_mystery.heard import ReadFacts
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext

_OWN = {"en": "Well, to put it in my own way, for the {}. time.", "zh": "用我自己的话说，这是第{}次。"}


class FreeSpeaker(OfflineModel):
    """Says what heuristics say, in words in which no fact can be read.

    Args:
        reads: Whether it knows what such words mean.
    """

    is_language_model: ClassVar[bool] = True

    def __init__(self, *, reads: bool = True) -> None:
        super().__init__()
        self.reads = reads
        self.asked: list[tuple[Ask[Any], RequestContext]] = []
        self._meant: dict[str, str] = {}

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.asked.append((question, context))
        answered = super().answer(question, context)
        if isinstance(question, ReplyToQuestion) and answered.value.words != question.scene.say.nothing:
            said = _OWN[question.language].format(len(self._meant) + 1)
            self._meant[said] = answered.value.words
            return Answered(Words(words=said))
        if isinstance(question, ReadFacts):
            meant = self._meant.get(question.words, "") if self.reads else ""
            return Answered(question.model_copy(update={"words": meant}).heuristic(np.random.default_rng(0)))
        return answered

    def read(self) -> list[ReadFacts]:
        """The questions that it was asked about words of others."""
        return [question for question, _ in self.asked if isinstance(question, ReadFacts)]
