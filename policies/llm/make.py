"""From settings to a model: endpoint, budget, cache and meter, put together in this order.

The budget stands inside the cache, so that stored replies are free; the meter stands outermost and sees everything.
"""

from __future__ import annotations

from pathlib import Path

from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig as ModelConfig
from parlour.policies.llm.model import OFFLINE, Model, OfflineModel
from parlour.policies.llm.transport.budget import Budget, Prices
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Transport


def make_model(config: ModelConfig, remembered: Path | None = None) -> Model:
    """The model that the settings describe.

    Args:
        config: The settings.
        remembered: File in which is kept what calls show about the server; None for none.

    Raises:
        ParlourError: A key is needed and not set, the cache or the prices cannot be read, or dollars are limited for a
            model without a price.
    """
    if config.model == OFFLINE:
        return OfflineModel(config.concurrency or 1)
    prices = Prices.of(config)
    endpoint = Endpoint(config, remembered)
    inner: Transport = Budget(endpoint, config, prices)
    if config.cache is not None:
        inner = Cache(inner, config.cache, config.cache_mode)
    if config.cache_mode != "replay":
        endpoint.require_key()
    return ChatModel(config, Meter(inner, prices, config.context))
