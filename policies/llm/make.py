"""From settings to a model: endpoint, budget, cache and meter, put together in this order.

The budget stands inside the cache, so that stored replies are free; the meter stands outermost and sees everything. Reading
errors, if any are set, wrap all of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.chat import ChatModel, ChatSettings
from parlour.policies.llm.config import ModelConfig as ModelConfig
from parlour.policies.llm.model import CONCURRENCY, OFFLINE, Answered, Model, OfflineModel, RequestContext
from parlour.policies.llm.noise import MisreadingModel, ReadingNoise
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.budget import Budget, Limits, Prices
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.endpoint import PATIENCE, Endpoint
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Transport

_SEAT = "player_"


class NoisyModel(Model):
    """A model to which questions come as their readers hear them.

    Args:
        inner: Who answers.
        noise: The rates of error.
    """

    def __init__(self, inner: Model, noise: ReadingNoise) -> None:
        self.inner, self.noise = inner, noise
        self.name = f"{inner.name}, noise {noise}" if noise else inner.name
        self.is_language_model = inner.is_language_model  # type: ignore[misc]  # whatever the inner one is
        self.concurrency = inner.concurrency
        self.meter: Any = getattr(inner, "meter", None)

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        if not self.noise.reaches(context.player) or not question.reads():
            return self.inner.answer(question, context)
        ear = self._ear(question, context)
        misread = question.misheard(ear)
        answered = self.inner.answer(misread, context)
        value = misread.restated(answered.value, ear)
        if not ear.told and value == answered.value:
            return answered
        noise: dict[str, Any] = {"misheard": ear.told, "answer": value.model_dump(mode="json")}
        calls = [*answered.calls[:-1], {**(answered.calls or ({},))[-1], "noise": noise}]
        return replace(answered, value=value, calls=tuple(calls))

    def _ear(self, question: Ask[Any], context: RequestContext) -> MisreadingModel:
        """With what errors the asker reads the question."""
        seat = context.seat.removeprefix(_SEAT)
        return MisreadingModel(
            self.noise, context.game, int(seat) if seat.isdigit() else -1, f"{question.kind} {context.sample}"
        )

    def as_heard(self, question: Ask[A], context: RequestContext) -> Ask[A]:
        if not self.noise.reaches(context.player) or not question.reads():
            return question
        return question.misheard(self._ear(question, context))

    def asks_alone(self, player: str) -> bool:
        return self.noise.reaches(player)

    def settings(self) -> dict[str, Any]:
        return {**self.inner.settings(), **({"noise": str(self.noise)} if self.noise else {})}


def make_model(config: ModelConfig) -> Model:
    """The model that the settings describe.

    Raises:
        ParlourError: A key is needed and not set, the cache or the prices cannot be read, or dollars are limited for a
            model without a price.
    """
    if config.noise is not None:
        return NoisyModel(make_model(replace(config, noise=None)), ReadingNoise.parse(config.noise))
    if config.model == OFFLINE:
        return OfflineModel(config.concurrency or 1)
    prices = Prices.load(config.prices)
    if config.price is not None:
        prices = prices.with_price(config.model, *config.price)
    endpoint = Endpoint(
        config.base_url, config.key_env, config.timeout, config.max_retries, patience=config.patience or PATIENCE
    )
    limits = Limits(config.max_dollars, config.max_calls, config.max_seconds)
    inner: Transport = Budget(endpoint, config.model, prices, limits)
    if config.cache is not None:
        inner = Cache(inner, config.cache, config.cache_mode)
    if config.cache_mode != "replay":
        endpoint.require_key()
    chosen = ChatSettings(
        temperature=config.temperature,
        tries=config.tries,
        patience=config.patience,
        templates=Templates(config.prompts),
        max_tokens=config.max_tokens,
        reasoning_effort=config.reasoning_effort,
        stop=config.stop,
        extra_body=json.loads(config.extra_body) if isinstance(config.extra_body, str) else {},
        concurrency=config.concurrency or CONCURRENCY,
        made_from={name: value for name, value in json.loads(json.dumps(asdict(config))).items() if name != "noise"},
    )
    return ChatModel(config.model, Meter(inner, prices, config.context), chosen)


def measured_apart(model: Model) -> Model:
    """The same model, with calls that do not depend on the server's prompt cache (`ChatSettings.measured_apart`).

    A run that is killed and resumed then has the same transcripts as an undisturbed run, if the replies are the same.
    """
    if isinstance(model, NoisyModel):
        return NoisyModel(measured_apart(model.inner), model.noise)
    if isinstance(model, ChatModel):
        return ChatModel(model.name, model.meter, replace(model.chosen, measured_apart=True))
    return model
