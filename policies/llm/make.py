"""From settings to a model: endpoint, budget, cache and meter, put together in this order.

The budget stands inside the cache, so that stored replies are free; the meter stands outermost and sees everything.
"""

from __future__ import annotations

import json
from dataclasses import replace

from parlour.policies.llm.chat import ChatModel, ChatSettings
from parlour.policies.llm.config import ModelConfig as ModelConfig
from parlour.policies.llm.model import CONCURRENCY, OFFLINE, Model, OfflineModel
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.budget import Budget, Limits, Prices
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.endpoint import PATIENCE, Endpoint
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Transport


def make_model(config: ModelConfig) -> Model:
    """The model that the settings describe.

    Raises:
        ParlourError: A key is needed and not set, the cache or the prices cannot be read, or dollars are limited for a
            model without a price.
    """
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
        made_from=config.plain(),
    )
    return ChatModel(config.model, Meter(inner, prices, config.context), chosen)


def measured_apart(model: Model) -> Model:
    """The same model, with calls that do not depend on the server's prompt cache (`ChatSettings.measured_apart`).

    A run that is killed and resumed then has the same transcripts as an undisturbed run, if the replies are the same.
    """
    if isinstance(model, ChatModel):
        return ChatModel(model.name, model.meter, replace(model.chosen, measured_apart=True))
    return model
