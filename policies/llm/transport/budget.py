"""What models cost, and a limit on what a run may spend: dollars, calls, seconds.

Prices come from `data/prices.json` and from the caller. A model without a price has an unknown price, not none: its cost is None
in every report. The end of a budget is an exception, never an empty answer.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from parlour.envs.core import ParlourError, value_shown
from parlour.envs.json_values import json_value
from parlour.policies.llm.transport.request import BudgetSpent, Completion, Layer, Request, Transport, Usage

_MILLION: Final = 1_000_000


class Price(NamedTuple):
    """Dollars per million tokens."""

    prompt: float
    """Read."""
    completion: float
    """Written."""


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
        built_in = resources.files(__package__ or "").joinpath("data", "prices.json").read_text(encoding="utf-8")
        table = _table(json.loads(built_in))
        if path is not None:
            try:
                table |= _table(json_value(Path(path).read_bytes()))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                reason = str(error) if isinstance(error, ParlourError) else type(error).__name__
                raise ParlourError(
                    f'{str(path)!r} holds no prices ({reason}); accepted: JSON {{"models": {{name: [read, written]}}}}'
                ) from None
        return cls(table)

    def with_price(self, model: str, prompt: float, completion: float) -> Self:
        """The same table with one price more, or another one."""
        return type(self)({**self.models, model: _price(model, (prompt, completion))})

    def price(self, model: str) -> Price | None:
        """The price of a model; None if it is unknown."""
        return self.models.get(model)

    def cost(self, model: str, reply: Completion) -> float | None:
        """Dollars that a reply costs when it is first given; None if the price or the number of tokens is unknown."""
        price, used = self.price(model), reply.usage
        if price is None or (used.prompt is None and price.prompt) or (used.completion is None and price.completion):
            return None
        return ((used.prompt or 0) * price.prompt + (used.completion or 0) * price.completion) / _MILLION


def _table(stored: Any) -> dict[str, Price]:
    return {name: _price(name, pair) for name, pair in stored["models"].items()}


def _price(model: str, pair: Any) -> Price:
    if len(pair) != 2 or not all(isinstance(x, int | float) and 0 <= x < math.inf for x in pair):
        raise ParlourError(
            f"price {value_shown(list(pair))} of {value_shown(model)} is not accepted; accepted: two numbers >= 0"
        )
    return Price(float(pair[0]), float(pair[1]))


@dataclass(frozen=True)
class Limits:
    """What a run may spend; None: no limit.

    Raises:
        ParlourError: A limit is not positive.
    """

    max_dollars: float | None = None
    max_calls: int | None = None
    """Calls, those that failed included."""
    max_seconds: float | None = None
    """Since the first call."""

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit is not None and not limit > 0:
                raise ParlourError(f"{name} {limit} is not accepted; accepted: a number > 0, or None")


class Budget(Layer):
    """A transport that lets calls pass until a limit is reached.

    Calls under way are not cancelled, so they may exceed the limit on dollars and seconds. The number of calls is
    exact. Tokens that a server does not report are charged as the bytes of the messages and the whole room of the reply, so that
    the limit on dollars is reached early rather than late; a reply that got more room from the endpoint may have used more.
    Copies in other processes count for themselves.

    Args:
        inner: Where replies come from; inside a cache, so that stored replies are free.
        model: The model that will be asked.
        prices: What it costs.
        limits: What may be spent.

    Raises:
        ParlourError: Dollars are limited and the price is unknown.
    """

    def __init__(self, inner: Transport, model: str, prices: Prices, limits: Limits) -> None:
        super().__init__(inner)
        self._prices, self.limits = prices, limits
        self._check_price(model)
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
        cost = self._cost(request, reply)
        with self._lock:
            self.dollars += cost
        return reply

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_started": None, "_seconds": self._elapsed()}

    def _admit(self) -> None:
        if self._started is None:
            self._started = time.monotonic()
        if self.limits.max_calls is not None and self.calls >= self.limits.max_calls:
            raise BudgetSpent(f"{self.calls} calls spent, limit {self.limits.max_calls}")
        if self.limits.max_dollars is not None and self.dollars >= self.limits.max_dollars:
            raise BudgetSpent(f"{self.dollars:.4f} dollars spent, limit {self.limits.max_dollars:g}")
        if self.limits.max_seconds is not None and self._elapsed() >= self.limits.max_seconds:
            raise BudgetSpent(f"{self._elapsed():.1f} seconds spent, limit {self.limits.max_seconds:g}")

    def _elapsed(self) -> float:
        return self._seconds + (0.0 if self._started is None else time.monotonic() - self._started)

    def _cost(self, request: Request, reply: Completion) -> float:
        used = reply.usage
        if not used.is_known:
            # no tokenizer makes more tokens than there are bytes; each message takes a few besides
            most_read = sum(len(message.content.encode()) + 8 for message in request.messages)
            read = most_read if used.prompt is None else used.prompt
            written = request.n * request.max_tokens if used.completion is None else used.completion
            reply = Completion(reply.texts, Usage(read, written), reply.finish)
        return self._prices.cost(request.model, reply) or 0.0

    def _check_price(self, model: str) -> None:
        if self.limits.max_dollars is not None and self._prices.price(model) is None:
            raise ParlourError(
                f"max_dollars {self.limits.max_dollars:g}, but the price of {model!r} is unknown; accepted: --price 0.15,0.6 "
                "(dollars per million tokens read, written), or --prices FILE"
            )
