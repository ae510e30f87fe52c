"""Settings of a model. They import no model, so that `--help` of a command that has them starts at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import COMMON, Settings
from parlour.policies.llm.transport.payload import RESERVED
from parlour.policies.names import OFFLINE
from pydantic import Field, field_validator, model_validator

KEY_ENV: Final = "OPENAI_API_KEY"
_OF_ANY: Final = ("model", "concurrency")
"""Settings that the offline model has as well."""
_Words = Annotated[str, Field(min_length=1)]
_Dollars = Annotated[float, Field(ge=0)]


class ModelConfig(Settings):
    """Settings of a model. `ModelConfig()` is the offline one, which takes no others but `concurrency`.

    Raises:
        ParlourError: A value cannot be used, or has no use.
    """

    model: Annotated[str, COMMON] = Field(default=OFFLINE, pattern=r"\S")
    """Model that answers: `offline` (heuristics, no language model), or its name at the endpoint."""
    base_url: Annotated[str | None, COMMON] = None
    """OpenAI-compatible endpoint, such as http://localhost:11434/v1; Azure's with ?api-version=...; None: OpenAI."""
    key_env: str = KEY_ENV
    """Environment variable that holds the API key."""
    temperature: float = Field(default=0.3, ge=0)
    """Sampling temperature."""
    timeout: float = Field(default=60.0, ge=0.1)
    """Seconds to wait for a reply."""
    max_retries: int = Field(default=6, ge=0)
    """Number of retries of a call that fails."""
    tries: int = Field(default=3, ge=1)
    """Number of invalid replies to a question after which the heuristic answers it."""
    patience: int | None = Field(default=None, ge=1)
    """Number of consecutive questions without a readable reply after which the model is given up; None: it never is."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Most tokens of a reply, such as 4000 for a model that thinks first, or 200 for a slow one. A reply that this cut is asked
    for again with twice as many, once. None: as each question has it, 800 for most."""
    reason_length: int = Field(default=600, ge=0)
    """Most characters of a text before a choice, such as its reason, where the server takes schemas with `maxLength`. What is
    said may be twice as long; 0: no bound."""
    reasoning_effort: _Words | None = None
    """Reasoning effort of a model that thinks, such as low; None: not sent."""
    stop: tuple[_Words, ...] = ()
    """Text at which a reply ends, repeatable."""
    extra_body: str | Mapping[str, Any] | None = None
    """Further parameters of each call, a JSON object such as {"top_k": 20}."""
    context: int | None = Field(default=None, ge=1)
    """Tokens of the model's context; None: what the server or a built-in table tells."""
    prompts: str | None = None
    """Folder of prompts that replace parlour's own, laid out as en/avalon_agent.act.md; None: none."""
    concurrency: Annotated[int | None, COMMON] = Field(default=None, ge=1)
    """Number of calls under way at once, over all games and seats, and of games played at once. The result does not depend
    on it. None: 8; offline 1."""
    cache: Annotated[str | None, COMMON] = None
    """File that stores replies, so that a second run is free and identical; None: no cache."""
    cache_mode: Literal["record", "replay", "off"] = "record"
    """Use of the cache: `record`, `replay` (no calls) or `off`."""
    max_dollars: Annotated[float | None, COMMON] = Field(default=None, gt=0)
    """Stop at this cost in dollars; None: no limit."""
    max_calls: int | None = Field(default=None, gt=0)
    """Stop after this number of calls; None: no limit."""
    max_seconds: float | None = Field(default=None, gt=0)
    """Stop after this time in seconds; None: no limit."""
    prices: str | None = None
    """File with prices that replace the built-in ones; None: built-in prices."""
    price: tuple[_Dollars, _Dollars] | None = None
    """Dollars per million prompt and completion tokens, such as 0.15,0.6; None: as in the price list."""

    @field_validator("extra_body", mode="before")
    @classmethod
    def _as_text(cls, further: Any) -> Any:
        """Parameters as the text of a JSON object."""
        if further is None:
            return None
        try:
            read = json.loads(further) if isinstance(further, str) else dict(further)
            text = json.dumps(read, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            read = None
        if not isinstance(read, dict):
            raise accept("extra_body", further, 'a JSON object, such as {"top_k": 20}')
        if taken := sorted(RESERVED & set(read)):
            raise accept("extra_body", ", ".join(taken), "parameters that have no option of their own")
        return text

    @model_validator(mode="after")
    def _fits(self) -> Self:
        idle = [name for name in self.plain(sparse=True) if name not in _OF_ANY]
        if self.model == OFFLINE and idle:
            raise ParlourError(
                f"model {OFFLINE!r} calls no language model and takes no {', '.join(idle)}; accepted: --model NAME with them"
            )
        if self.cache is None and self.cache_mode == "replay":
            raise ParlourError("cache mode 'replay' without a cache; accepted: the file that was recorded")
        return self

    @property
    def further(self) -> dict[str, Any]:
        """The parameters of `extra_body`."""
        return json.loads(self.extra_body) if isinstance(self.extra_body, str) else {}
