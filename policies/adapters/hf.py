"""Checkpoints of `transformers` at our tables: `--policy hf:DIR,temperature=1`. Extra `hf`.

The player hears its seat as a conversation: the rules and its role once, then only the news, as `parlour.wrappers.Conversation`
tells them; it answers in words, and the table reads them. Words that cannot be used, and no words at all, are what the table's
rules make of them. It is a language model, small or large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.language.headings import ENGLISH, SeatNews, sections_of
from parlour.envs.settings import Settings
from parlour.policies.base import Policy
from parlour.policies.llm.at_once import ask_along
from parlour.policies.local_lm.model import LanguageModel, Prompt, Reply, Sampling, shared
from parlour.policies.local_lm.prompts import Fitting, ToldTurn
from parlour.policies.local_lm.settings import CheckpointSettings
from parlour.policies.seating import Seating


@dataclass(frozen=True)
class _Together:
    """Answers the questions of all seats of one player. Satisfies `AnswersTogether`."""

    model: LanguageModel
    how: Sampling

    def together(self, asked: Sequence[tuple[Prompt, np.random.Generator]]) -> list[Reply]:
        return self.model.replies([prompt for prompt, _ in asked], [rng for _, rng in asked], self.how)


class HfPlayer(Policy):
    """Plays by a checkpoint.

    Args:
        **settings: Fields of `CheckpointSettings`.

    Raises:
        ParlourError: A setting is not accepted, or there is no such checkpoint.
    """

    name: ClassVar[str] = "hf"
    wants: ClassVar[str] = "text"
    settings_type: ClassVar[type[Settings]] = CheckpointSettings

    @classmethod
    def make(cls, settings: CheckpointSettings, at: Seating) -> Self:
        return cls(**dict(settings))

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.chosen = chosen = CheckpointSettings(**settings)
        self.language_model = shared(chosen.dir, chosen.device, chosen.dtype, chosen.batch)
        own = self.language_model.context
        self.context = own if chosen.context is None else chosen.context
        if self.context is not None and own is not None and self.context > own:
            raise ParlourError(f"context {self.context} is not accepted; accepted: 1..{own}, as the checkpoint has it")
        self._begin(0)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self._seed, self._turns = seed, list[ToldTurn]()
        self._gone = 0
        self._news = SeatNews(list_options=self.chosen.list_options)
        self._notes: dict[str, Any] = {}

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        prose = observation["text"]
        news = self._news.tell_prose(prose)
        sections = sections_of(prose)
        turn = ToldTurn(news.heading, tuple(news.record.splitlines(keepends=True)), news.choice)
        self._turns.append(turn)
        language = ENGLISH if sections is None else sections.language
        fitted = Fitting(self._fits, self.chosen.history, language)(self._turns, self._gone)
        self._gone = fitted.gone
        prompt = self.language_model.prompt(fitted.messages)
        how = Sampling(self.chosen.temperature, self.chosen.max_new_tokens)
        together = _Together(self.language_model, how)
        reply: Reply = ask_along(together, (prompt, self.rng), (self._seed, self.seat, len(self._turns)))
        self._turns[-1] = turn._replace(words=reply.words)
        self._notes = _noted(news.message, prompt, reply, fitted.left_out)
        return reply.words

    def notes(self) -> dict[str, Any]:
        """The call of the last turn, for the transcript: what was new to the model, what it answered, the tokens of both."""
        notes, self._notes = self._notes, {}
        return notes

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    def _fits(self, messages: Sequence[tuple[str, str]]) -> bool:
        if self.context is None:
            return True
        return len(self.language_model.prompt(messages).ids) + self.chosen.max_new_tokens <= self.context


def _noted(message: str, prompt: Prompt, reply: Reply, left_out: int) -> dict[str, Any]:
    call: dict[str, Any] = {
        "ask": "hf.words",
        "prompt": [{"role": "user", "content": message}],
        "reply": reply.words,
        "usage": {"prompt": len(prompt.ids), "completion": len(reply.ids)},
        "cost": 0.0,
    }
    if not reply.ended:
        call["cut_off"] = True
    return {"calls": [call | ({"cut": left_out} if left_out else {})]}
