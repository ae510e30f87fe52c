"""Requests to a chat endpoint and its replies, as data; and the errors that can occur.

A transport is anything with `complete`. The endpoint is one; cache, budget and meter are transports around another one.
The names of the parameters follow the OpenAI chat-completions protocol.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, Literal, NamedTuple, Protocol

from parlour.envs.core import ParlourError

OWNER: Final = "parlour"
"""The owner of the models of `parlour serve endpoint` in `/models`."""
INPUTS: Final = "parlour_inputs"
"""The field, beyond the protocol, in which a question's inputs go to `parlour serve endpoint`: `{"kind": ..., "inputs": {...}}`."""
NO_USAGE: Final = "usage"
"""Entry of `Completion.dropped` if the server did not report all its tokens."""
Reason = Literal["context", "content_filter", "timeout", "refused", "server"]
"""Why a call failed: the prompt is too long, a filter of the server's, no answer in time, another refusal, an error or
the loss of the server."""


class ModelUnavailable(ParlourError):  # noqa: N818 - named for what happened
    """No call can succeed, which ends a run: a wrong key, an unknown model, no quota, no server at all."""

    retries: int = 0
    """How often the call was tried again before it was given up."""


class CallFailed(ModelUnavailable):
    """One call failed after all retries, or is refused; others may succeed. It costs one decision."""

    def __init__(self, message: str, reason: Reason = "server") -> None:
        super().__init__(message)
        self.reason: Reason = reason


class PromptTooLong(CallFailed):
    """The messages and the room for the reply do not fit into the model's context.

    Args:
        message: One line.
        tokens: Tokens of the request, as the server counts; None if it does not say.
        limit: Tokens of the context; None if it does not say.
    """

    def __init__(self, message: str, tokens: int | None = None, limit: int | None = None) -> None:
        super().__init__(message, "context")
        self.tokens, self.limit = tokens, limit


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
    """Tokens that were read and written; None where the server does not say."""

    prompt: int | None
    completion: int | None
    cached: int | None = 0
    """Tokens of `prompt` that the server had in its own prompt cache."""

    @property
    def is_known(self) -> bool:
        """Whether the server said how many tokens it read and how many it wrote."""
        return None not in (self.prompt, self.completion)

    def __add__(self, other: object) -> Usage:
        """Both together; a count that is unknown in either is unknown."""
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(*(None if a is None or b is None else a + b for a, b in zip(self, other, strict=True)))


UNKNOWN_USAGE: Final = Usage(None, None, None)
"""That of a reply whose server does not report its tokens."""


TokenLogProbs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Request:
    """One call."""

    model: str
    messages: tuple[ChatMessage, ...]
    temperature: float
    max_tokens: int
    n: int = 1
    """How many texts are wanted."""
    sample: int = 0
    """Which of several samples this is; the server gets it as its seed."""
    reasoning_effort: str | None = None
    """Reasoning effort of a model that thinks, such as `"low"`; None: not sent."""
    logprobs: bool = False
    """Whether the log-probabilities of the reply's tokens are wanted."""
    stop: tuple[str, ...] = ()
    """Texts at which a reply ends."""
    extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Further parameters, beyond the protocol's, as the server calls them."""
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """The JSON schema of the answer; servers that can hold the model to it."""
    schema_name: str = ""
    ask: str = ""
    """The kind of question, and who asks: labels for the meter."""
    seat: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)
    """What the question is made from, as plain values: for servers of parlour's own, which answer without reading the prompt."""

    def key(self, server: str = "") -> str:
        """What the cache knows it by: 64 hexadecimal digits over all that shapes the reply, and no label.

        Args:
            server: Who is asked (`ServedModel.key`).
        """
        shaping = {
            "server": server,
            "model": self.model,
            "parameters": [float(self.temperature), self.max_tokens, self.n, 0],
            "further": [self.reasoning_effort, list(self.stop), dict(self.extra_body)],
            "messages": [list(message) for message in self.messages],
            "schema": None if self.schema is None else dict(self.schema),
            "sample": self.sample,
        }
        return _digest(shaping | ({"logprobs": True} if self.logprobs else {}))


@dataclass(frozen=True)
class Completion:
    """What came back."""

    texts: tuple[str, ...]
    """At least one; servers may give fewer than were wanted."""
    usage: Usage
    finish: tuple[str, ...]
    """Why each text ended: `"stop"`, `"length"` (cut), `"content_filter"`, `"tool_calls"`, another word, or `"unknown"`."""
    thinking: tuple[str, ...] = ()
    """The reasoning before each text, empty if not reported; () if the transport reports none."""
    logprobs: tuple[TokenLogProbs, ...] = ()
    """The tokens of each text with their log-probabilities; () if they were not wanted or not reported."""
    served: str = ""
    """The model that answered, as the server calls it; empty if it does not say."""
    cached: bool = False
    retries: int = 0
    seconds: float = 0.0
    dropped: tuple[str, ...] = ()
    """Parameters that the server did not take, and `NO_USAGE`. Results say so."""

    def __post_init__(self) -> None:
        if NO_USAGE in self.dropped and self.usage.is_known:  # zeros, as in caches from before 2026-12
            object.__setattr__(self, "usage", UNKNOWN_USAGE)


@dataclass(frozen=True)
class ServedModel:
    """A model at a server, as far as it is known without calling it."""

    address: str = ""
    """Scheme, host, port and path of the server; empty where there is none."""
    model: str = ""
    """As requests call it."""
    told: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """The server's details that distinguish it from another model of the same name."""
    context: int | None = None
    """Tokens that fit into it, read and written together; None if nobody tells."""
    reached: bool = False
    """Whether the server answered when it was asked."""
    is_parlours: bool = field(default=False, compare=False)
    """Whether `parlour serve endpoint` answers there: only then are its own fields sent."""

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over what the server tells; empty if it tells nothing."""
        return _digest(self.told)[:16] if self.told else ""

    @property
    def key(self) -> str:
        """What stands for it in the key of a request."""
        return f"{self.address} {self.digest}".strip()


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Transport(Protocol):
    """Brings a request to a model and its reply back."""

    def complete(self, request: Request) -> Completion:
        """The reply. Raises the errors of this module."""


class Locked:
    """Safe for threads by its `_lock`; a copy has a lock of its own."""

    def __init__(self) -> None:
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {**vars(self), "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=Lock())


class Layer(Locked):
    """A transport around another one.

    Args:
        inner: Where replies come from.
    """

    def __init__(self, inner: Transport) -> None:
        super().__init__()
        self._inner = inner
        self.address = str(getattr(inner, "address", ""))
        """The server's address at the far end, without asking it; empty where there is none."""

    def served_model(self, model: str) -> ServedModel:
        """What is known about a model at the far end; nothing where that cannot say. Asking is free."""
        asked = getattr(self._inner, "served_model", None)
        served: ServedModel = ServedModel(model=model) if asked is None else asked(model)
        return served
