"""What models cost, and a limit on what a run may spend: dollars, calls, seconds.

Prices come from `data/prices.json` and from the caller. A model without a price has an unknown price, not none: its cost is None
in every report. The end of a budget is an exception, never an empty answer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, value_shown
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.transport.request import BudgetSpent, Completion, Layer, Request, Transport, Usage
from pydantic import BaseModel, Field, ValidationError

_Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(NamedTuple):
    """Dollars per million tokens that are read and written."""

    prompt: _Dollars
    completion: _Dollars


class _Table(BaseModel, strict=True):
    models: dict[str, Price]


@dataclass(frozen=True)
class Prices:
    """A table of prices by the exact name of the model.

    >>> prices = Prices.load()
    >>> prices.price("gpt-4o-mini")
    Price(prompt=0.15, completion=0.6)
    >>> prices.price("my-own-model") is None
    True
    """

    models: Mapping[str, Price] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """The built-in table, and over it that of a file of the same layout: `{"models": {name: [read, written]}}`.

        Raises:
            ParlourError: The file is no such table.
        """
        table = _read(resources.files(__package__ or "").joinpath("data", "prices.json").read_bytes())
        try:
            return cls(table if path is None else table | _read(Path(path).read_bytes()))
        except (OSError, ValueError) as error:
            reason = _fault(error) if isinstance(error, ValidationError) else type(error).__name__
            raise ParlourError(
                f'{str(path)!r} holds no prices ({reason}); accepted: JSON {{"models": {{name: [read, written]}}}}'
            ) from None

    @classmethod
    def of(cls, config: ModelConfig) -> Self:
        """The prices that settings name. Raises `ParlourError` if their file is no table."""
        prices = cls.load(config.prices)
        return prices if config.price is None else prices.with_price(config.model, *config.price)

    def with_price(self, model: str, prompt: float, completion: float) -> Self:
        """The same table with one price more, or another one."""
        return type(self)({**self.models, model: Price(float(prompt), float(completion))})

    def price(self, model: str) -> Price | None:
        """The price of a model; None if it is unknown."""
        return self.models.get(model)

    def cost(self, model: str, usage: Usage) -> float | None:
        """Dollars that a reply costs when it is first given; None if the price or the number of tokens is unknown."""
        price = self.price(model)
        if price is None or (usage.prompt is None and price.prompt) or (usage.completion is None and price.completion):
            return None
        return ((usage.prompt or 0) * price.prompt + (usage.completion or 0) * price.completion) / 1_000_000


def _fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{value_shown('.'.join(map(str, first['loc'])))}: {first['msg']}"


def _read(content: bytes) -> dict[str, Price]:
    json_value(content)  # refuses what is nested too deeply
    return _Table.model_validate_json(content.removeprefix(b"\xef\xbb\xbf")).models


class Budget(Layer):
    """A transport that lets calls pass until a limit is reached.

    Calls under way are not cancelled, so they may exceed the limit on dollars and seconds. The number of calls is
    exact. Tokens that a server does not report are charged as the bytes of the messages and the whole room of the reply, so that
    the limit on dollars is reached early rather than late; a reply that got more room from the endpoint may have used more.
    Copies in other processes count for themselves.

    Args:
        inner: Where replies come from; inside a cache, so that stored replies are free.
        limits: The model that will be asked, and what may be spent; calls that fail count, and seconds since the first call.
        prices: What it costs.

    Raises:
        ParlourError: Dollars are limited and the price is unknown.
    """

    def __init__(self, inner: Transport, limits: ModelConfig, prices: Prices) -> None:
        super().__init__(inner)
        self._prices, self.limits = prices, limits
        self._check_price(limits.model)
        self.dollars, self.calls = 0.0, 0
        """Spent, and let through. Models without a price add nothing; they are accepted only without `max_dollars`."""
        self._seconds = 0.0
        self._started: float | None = None

    def complete(self, request: Request) -> Completion:
        """The inner reply.

        Raises:
            BudgetSpent: A limit is reached.
        """
        self._check_price(request.model)
        with self._lock:
            self._admit()
            self.calls += 1
        reply = self._inner.complete(request)
        cost = self._prices.cost(request.model, _most(request, reply.usage)) or 0.0
        with self._lock:
            self.dollars += cost
        return reply

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_started": None, "_seconds": self._elapsed()}

    def _admit(self) -> None:
        self._started = self._started or time.monotonic()
        limits, seconds = self.limits, self._elapsed()
        for what, spent, limit in (
            (f"{self.calls} calls", self.calls, limits.max_calls),
            (f"{self.dollars:.4f} dollars", self.dollars, limits.max_dollars),
            (f"{seconds:.1f} seconds", seconds, limits.max_seconds),
        ):
            if limit is not None and spent >= limit:
                raise BudgetSpent(f"{what} spent, limit {limit:.9g}")

    def _elapsed(self) -> float:
        return self._seconds + (0.0 if self._started is None else time.monotonic() - self._started)

    def _check_price(self, model: str) -> None:
        if self.limits.max_dollars is not None and self._prices.price(model) is None:
            raise ParlourError(
                f"max_dollars {self.limits.max_dollars:g}, but the price of {model!r} is unknown; accepted: --price 0.15,0.6 "
                "(dollars per million tokens read, written), or --prices FILE"
            )


def _most(request: Request, used: Usage) -> Usage:
    """The tokens of a reply; the most that they can be where the server does not say."""
    # no tokenizer makes more tokens than there are bytes; each message takes a few besides
    most_read = sum(len(message.content.encode()) + 8 for message in request.messages)
    read = most_read if used.prompt is None else used.prompt
    return Usage(read, request.n * request.max_tokens if used.completion is None else used.completion)
