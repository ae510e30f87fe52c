"""What is asked of a chat endpoint and what comes back, as data; and what can go wrong on the way.

A transport is anything with `complete`. The endpoint is one; cache, budget and meter are transports around another one.
The names of the parameters are those of the OpenAI chat-completions protocol.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from parlour.envs.core import ParlourError

NO_USAGE: Final = "usage"
"""Stands in `Completion.dropped` when the server did not say how many tokens it used."""


class ModelUnavailable(ParlourError):  # noqa: N818 - named for what happened
    """The endpoint did not answer after all retries, or it refuses to."""

    retries: int = 0
    """How often the call was tried again before it was given up."""


class BudgetSpent(ParlourError):  # noqa: N818 - named for what happened
    """A limit on dollars, calls or seconds is reached; no further call is made."""


class CacheMiss(ParlourError):  # noqa: N818 - named for what happened
    """The cache, from which alone replies may come, does not hold this one."""


class ModelUnusable(ParlourError):  # noqa: N818 - named for what happened
    """The model answers, but many times in a row not with a usable answer."""


class ChatMessage(NamedTuple):
    """One message of a conversation."""

    role: str
    """`"system"`, `"user"` or `"assistant"`."""
    content: str


class Usage(NamedTuple):
    """Tokens that were read and written."""

    prompt: int
    completion: int


@dataclass(frozen=True)
class Request:
    """One call."""

    model: str
    messages: tuple[ChatMessage, ...]
    temperature: float
    max_tokens: int
    n: int = 1
    """How many texts are wanted."""
    top_logprobs: int = 0
    """For how many tokens log probabilities are wanted at each place; 0 for none."""
    sample: int = 0
    """Which of several samples this is; the server gets it as its seed."""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """The JSON schema of the answer. It stands in the messages too; servers that can hold the model to it."""
    schema_name: str = ""
    ask: str = ""
    """The kind of question, and who asks: labels for the meter."""
    seat: str = ""

    def key(self) -> str:
        """What the cache knows it by: 64 hexadecimal digits over all that shapes the reply.

        Neither labels nor the schema, which the messages hold, nor anything of the endpoint enters.
        """
        shaping = {
            "model": self.model,
            "parameters": [float(self.temperature), self.max_tokens, self.n, self.top_logprobs],
            "messages": [list(message) for message in self.messages],
            "sample": self.sample,
        }
        return hashlib.sha256(json.dumps(shaping, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Completion:
    """What came back."""

    texts: tuple[str, ...]
    """At least one; servers may give fewer than were wanted."""
    usage: Usage
    finish: tuple[str, ...]
    """Why each text ended, in the server's words: `"stop"`, `"length"`, ..."""
    logprobs: tuple[dict[str, float], ...] = ()
    """For each text, the likeliest first tokens with their log probabilities (natural); empty if the server gave none."""
    cached: bool = False
    retries: int = 0
    seconds: float = 0.0
    dropped: tuple[str, ...] = ()
    """Parameters that the server did not take, and `NO_USAGE`. Results say so."""


class Transport(Protocol):
    """Brings a request to a model and its reply back."""

    def complete(self, request: Request) -> Completion:
        """The reply. Raises the errors of this module."""
