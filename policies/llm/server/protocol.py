"""The bodies of requests that the server takes, checked, and the errors with which it refuses them.

After the public reference of OpenAI's API. Parameters that shape how a language model samples are taken and have no
effect, for there is none; parameters that would change what a reply is made of and that are not offered are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import Ask, from_inputs, read_back
from parlour.policies.llm.server.replies import CompletionRequest
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, field_validator

MOST_MESSAGES: Final = 4096
MOST_TEXTS: Final = 2048
"""Texts of one request for embeddings."""
MOST_FEATURES: Final = 65_536


class _FirstFault(FailFast):
    """Of a thousand faults in a long list the first is told, and the others are not looked for."""

    def __hash__(self) -> int:  # unions hash their parts
        return hash(type(self))


_Item = TypeVar("_Item")
Items = Annotated[tuple[_Item, ...], _FirstFault()]


class Refused(Exception):  # noqa: N818 - what becomes of the request, not of the server
    """A request that gets an error in place of an answer.

    Args:
        status: The HTTP status.
        message: One line.
        param: Which parameter is to blame.
        code: The protocol's word for it.
        headers: More headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.param, self.code, self.headers = status, param, code, headers

    def body(self) -> dict[str, Any]:
        """The error in the protocol's shape."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        kind = "rate_limit_error" if self.status == 429 else kind
        message = " ".join(str(self).split())
        return {"error": {"message": message, "type": kind, "param": self.param, "code": self.code}}


class Body(BaseModel):
    """The body of a request. Nothing is guessed: a parameter that it does not name is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


B = TypeVar("B", bound=Body)


class ContentPart(BaseModel):
    """A part of a message. Only text is taken."""

    model_config = ConfigDict(frozen=True, strict=True)
    type: Literal["text"]
    text: str


class MessageBody(BaseModel):
    """A message; whatever else clients put into one has no effect."""

    model_config = ConfigDict(frozen=True, strict=True)
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Items[ContentPart] | None = None

    def words(self) -> str:
        """What it says."""
        if isinstance(self.content, tuple):
            return "".join(part.text for part in self.content)
        return self.content or ""


class SchemaFormat(BaseModel):
    """The schema of an answer, with its name."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(BaseModel):
    """The form of a reply: words, JSON, or JSON that fits a schema."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaFormat | None = None


class StreamOptions(BaseModel):
    """What belongs to a streamed reply."""

    model_config = ConfigDict(frozen=True, strict=True)
    include_usage: bool = False


class SeatNumbers(BaseModel):
    """Beyond the protocol: what a seat reads in numbers, for a served policy that reads them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    features: Items[float] = Field(min_length=1, max_length=MOST_FEATURES)
    action_mask: Items[Literal[0, 1]] = Field(min_length=1, max_length=MOST_FEATURES)


class AskedInputs(BaseModel):
    """Beyond the protocol: a typed question as data, as `ChatModel` sends it beside the prompt."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")
    kind: str
    inputs: dict[str, Any]


class ChatBody(Body):
    """The body of a request for a chat completion."""

    model: str = Field(min_length=1)
    messages: Items[MessageBody] = Field(min_length=1, max_length=MOST_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=128)
    seed: int | None = Field(default=None, ge=0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    logprobs: bool | None = None
    top_logprobs: int | None = Field(default=None, ge=0, le=20)
    response_format: ResponseFormat | None = None
    parlour: SeatNumbers | None = None
    parlour_inputs: AskedInputs | None = None

    # taken, without effect
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, ge=0, le=1)
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    metadata: dict[str, str] | None = Field(default=None, max_length=16)
    store: bool | None = None
    user: str | None = None

    @property
    def with_usage(self) -> bool:
        """Whether a streamed reply ends with its usage."""
        return self.stream_options is not None and self.stream_options.include_usage

    def wanted(self, untaken: Iterable[str] = ()) -> CompletionRequest:
        """What is asked for. Raises `Refused` for parameters that do not go together, or are not to be taken."""
        for name in untaken:
            if getattr(self, name) is not None:
                raise Refused(400, f"this server does not take {name}", name, "unsupported_parameter")
        if self.top_logprobs is not None and not self.logprobs:
            raise Refused(400, "top_logprobs goes with logprobs: true", "top_logprobs")
        if self.stream_options is not None and not self.stream:
            raise Refused(400, "stream_options goes with stream: true", "stream_options")
        shape = self.response_format
        if shape is not None and (shape.type == "json_schema") != (shape.json_schema is not None):
            raise Refused(400, "json_schema goes with type json_schema", "response_format")
        longest = [limit for limit in (self.max_tokens, self.max_completion_tokens) if limit is not None]
        return CompletionRequest(
            self.model,
            tuple((message.role, message.words()) for message in self.messages),
            self.seed or 0,
            self.n or 1,
            min(longest, default=None),
            (self.top_logprobs or 0) if self.logprobs else None,
        )


class EmbeddingsBody(Body):
    """The body of a request for embeddings."""

    model: str = Field(min_length=1)
    input: str | Items[str]
    dimensions: int | None = Field(default=None, ge=1, le=16_384)
    encoding_format: Literal["float", "base64"] | None = None
    user: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts, one or several."""
        return (self.input,) if isinstance(self.input, str) else self.input

    @field_validator("input")
    @classmethod
    def _not_empty(cls, given: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not given or "" in (given if isinstance(given, tuple) else ()):
            raise ValueError("there is no text in it")
        if not isinstance(given, str) and len(given) > MOST_TEXTS:
            raise ValueError(f"{len(given)} texts are not accepted; accepted: up to {MOST_TEXTS}")
        return given


def parsed(kind: type[B], raw: bytes) -> B:
    """The body of a request. Raises `Refused` in one line that names the parameter."""
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        told = error.errors(include_url=False)
        idle = {one["loc"][0] for one in told if one["type"] == "extra_forbidden" and one["input"] is None}
        if idle:  # some clients send what they do not use as null
            return parsed(kind, json.dumps({k: v for k, v in json.loads(raw).items() if k not in idle}).encode())
        first = told[0]
        where = [str(part) for part in first["loc"]]
        if not where:
            raise Refused(400, f"the body is not a JSON object that can be used: {first['msg']}") from None
        if first["type"] == "extra_forbidden" and len(where) == 1:
            accepted = ", ".join(kind.model_fields)
            raise Refused(
                400,
                f"parameter {where[0]!r} is not accepted; accepted: {accepted}",
                where[0],
                "unsupported_parameter",
            ) from None
        raise Refused(400, f"{'.'.join(where)}: {first['msg']}", where[0], "invalid_value") from None


def question(body: ChatBody, wanted: CompletionRequest) -> Ask[Any] | None:
    """The question that a request puts: in `parlour_inputs`, or else in the last message of the user that puts one.

    Raises `Refused` where it cannot be read, or where words are no answer.
    """
    asked = body.parlour_inputs
    try:
        if asked is not None:
            return from_inputs(asked.kind, asked.inputs)
        read = (read_back(words) for role, words in reversed(wanted.messages) if role == "user")
        found = next((question for question in read if question is not None), None)
    except ParlourError as error:
        raise Refused(400, str(error), "messages" if asked is None else "parlour_inputs") from None
    shape = body.response_format
    if found is None and shape is not None and shape.type != "text":
        raise Refused(
            400, "no question in the messages, so there is no JSON to give; accepted: text", "response_format"
        )
    return found
