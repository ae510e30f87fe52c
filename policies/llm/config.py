"""Settings of a model. They import no model, so that `--help` of a command that has them starts at once."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.policies.llm.transport.cache import MODES
from parlour.policies.llm.transport.endpoint import KEY_ENV
from parlour.policies.llm.transport.payload import RESERVED
from parlour.policies.names import OFFLINE

_OF_ANY: Final = ("model", "concurrency")
"""Settings that the offline model has as well."""
_LEAST: Final = {"timeout": 0.1, "tries": 1, "patience": 1} | dict.fromkeys(
    ("max_retries", "max_dollars", "max_calls", "max_seconds"), 0
)


@dataclass(frozen=True)
class ModelConfig:
    """Settings of a model. `ModelConfig()` is the offline one, which takes no others but `concurrency`.

    Raises:
        ParlourError: A value cannot be used, or has no use.
    """

    model: str = OFFLINE
    """Model that answers: `offline` (heuristics, no language model), or its name at the endpoint."""
    base_url: str | None = None
    """OpenAI-compatible endpoint, such as http://localhost:11434/v1; Azure's with ?api-version=...; None: OpenAI."""
    key_env: str = KEY_ENV
    """Environment variable that holds the API key."""
    temperature: float = 0.3
    """Sampling temperature."""
    timeout: float = 60.0
    """Seconds to wait for a reply."""
    max_retries: int = 6
    """Number of retries of a call that fails."""
    tries: int = 3
    """Number of invalid replies to a question after which the heuristic answers it."""
    patience: int | None = None
    """Number of consecutive questions without a readable reply after which the model is given up; None: it never is."""
    max_tokens: int | None = None
    """Least room for a reply in tokens, such as 4000 for a model that thinks first; None: as each question has it."""
    reasoning_effort: str | None = None
    """Reasoning effort of a model that thinks, such as low; None: not sent."""
    stop: tuple[str, ...] = ()
    """Text at which a reply ends, repeatable."""
    extra_body: str | Mapping[str, Any] | None = None
    """Further parameters of each call, a JSON object such as {"top_k": 20}."""
    context: int | None = None
    """Tokens of the model's context; None: what the server or a built-in table tells."""
    prompts: str | None = None
    """Folder of prompts that replace parlour's own, laid out as en/avalon_agent.act.md; None: none."""
    concurrency: int | None = None
    """Number of calls under way at once, over all games and seats, and of games played at once. The result does not depend
    on it. None: 8; offline 1."""
    cache: str | None = None
    """File that stores replies, so that a second run is free and identical; None: no cache."""
    cache_mode: str = "record"
    """Use of the cache: `record`, `replay` (no calls) or `off`."""
    max_dollars: float | None = None
    """Stop at this cost in dollars; None: no limit."""
    max_calls: int | None = None
    """Stop after this number of calls; None: no limit."""
    max_seconds: float | None = None
    """Stop after this time in seconds; None: no limit."""
    prices: str | None = None
    """File with prices that replace the built-in ones; None: built-in prices."""
    price: tuple[float, float] | None = None
    """Dollars per million prompt and completion tokens, such as 0.15,0.6; None: as in the price list."""

    def __post_init__(self) -> None:
        if self.price is not None:
            if len(self.price) != 2:
                raise ParlourError(
                    f"price {self.price} is not accepted; accepted: dollars for tokens read, and written"
                )
            object.__setattr__(self, "price", tuple(self.price))  # JSON has lists
        object.__setattr__(self, "stop", tuple(self.stop))
        object.__setattr__(self, "extra_body", _object_text(self.extra_body))
        if self.model == OFFLINE:
            idle = [f.name for f in fields(self) if f.name not in _OF_ANY and getattr(self, f.name) != f.default]
            if idle:
                raise ParlourError(
                    f"model {OFFLINE!r} with {', '.join(idle)}; accepted: no other settings, it calls nobody"
                )
        if not self.model.strip():
            raise ParlourError("model '' is not accepted; accepted: 'offline' or the name of a model")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ParlourError(f"temperature {self.temperature} is not accepted; accepted: a number >= 0")
        for name, least in _LEAST.items():
            if getattr(self, name) is not None and not getattr(self, name) >= least:
                raise accept(name, getattr(self, name), f"a number from {least}")
        for name in ("max_tokens", "context", "concurrency"):
            if getattr(self, name) is not None:
                check_from(name, getattr(self, name), 1)
        if self.reasoning_effort == "" or "" in self.stop:
            raise ParlourError("an empty reasoning_effort or stop is not accepted; accepted: a text, or none at all")
        check_one_of("cache mode", self.cache_mode, MODES)
        if self.cache is None and self.cache_mode == "replay":
            raise ParlourError("cache mode 'replay' without a cache; accepted: the file that was recorded")


def _object_text(further: str | Mapping[str, Any] | None) -> str | None:
    """Parameters as the text of a JSON object; None for none. Raises `ParlourError` for other texts."""
    if further is None:
        return None
    try:
        read = json.loads(further) if isinstance(further, str) else dict(further)
        text = json.dumps(read, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise accept("extra_body", further, 'a JSON object, such as {"top_k": 20}')
    taken = sorted(RESERVED & set(read))
    if taken:
        raise accept("extra_body", ", ".join(taken), "parameters that have no option of their own")
    return text
