"""What models cost: dollars per million tokens, from `data/prices.json` and from the caller.

A model without a price has an unknown price, not none: its cost is None wherever costs are told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from parlour.envs.core import ParlourError, value_shown
from parlour.envs.json_values import json_value
from parlour.policies.llm.transport.request import NO_USAGE, Completion

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
                told = str(error) if isinstance(error, ParlourError) else type(error).__name__
                raise ParlourError(
                    f'{str(path)!r} holds no prices ({told}); accepted: JSON {{"models": {{name: [read, written]}}}}'
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
        price = self.price(model)
        if price is None or (NO_USAGE in reply.dropped and any(price)):
            return None
        return (reply.usage.prompt * price.prompt + reply.usage.completion * price.completion) / _MILLION


def _table(stored: Any) -> dict[str, Price]:
    return {name: _price(name, pair) for name, pair in stored["models"].items()}


def _price(model: str, pair: Any) -> Price:
    if len(pair) != 2 or not all(isinstance(x, int | float) and 0 <= x < math.inf for x in pair):
        raise ParlourError(
            f"price {value_shown(list(pair))} of {value_shown(model)} is not accepted; accepted: two numbers >= 0"
        )
    return Price(float(pair[0]), float(pair[1]))
