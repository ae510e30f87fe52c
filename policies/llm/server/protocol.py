"""What the server takes and says: bodies of requests, checked, the errors with which it refuses them, chat completions.

After the public reference of OpenAI's API. Parameters that shape how a language model samples are taken and have no
effect, for there is none; parameters that would change what a reply is made of and that are not offered are refused. A reply
states the truth about this server: no language model is behind it, and `system_fingerprint` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeVar

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.json_values import check_size, json_value
from parlour.policies.llm.ask import Ask, from_inputs, read_back
from parlour.policies.llm.model import mixed
from parlour.policies.llm.server.work import Stopped, check_wanted, count_tokens, never, tokens
from parlour.policies.llm.transport.request import OWNER
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

MOST_MESSAGES: Final = 4096
MOST_FEATURES: Final = 65_536
MOST_KEYS: Final = 32_768
"""Keys of all objects in a body together; a message has a few."""
MOST_ITEMS: Final = 3 * MOST_FEATURES
"""Items of all lists in a body together."""
_SHOWN: Final = 60
"""Characters of an unknown parameter that are shown."""

MODEL_ID: Final = "heuristic"
FINGERPRINT: Final = "parlour-heuristics-no-language-model"
CANNED: Final = (
    "This is `parlour serve`: it answers the typed questions of parlour's players by heuristics. There is no "
    "language model here, and no such question in your message."
)

AnswerText = Callable[[int], str]
"""A seed -> the text of a reply: the same seed gives the same text, unless a served player has chance of its own."""

_PER_MESSAGE: Final = 4
"""Tokens of a message beside its words."""
_PROSE: Final = "I would rather listen for another round before I commit myself to anything."
_OTHER_SCHEMA: Final = '{"weather": "fair", "degrees": 21, "wind": {"from": "west", "force": 3}}'


class CompletionRequest(NamedTuple):
    """The request for a completion."""

    model: str
    messages: tuple[tuple[str, str], ...]
    """Role and words of each."""
    seed: int = 0
    n: int = 1
    max_tokens: int | None = None


class _FirstFault(FailFast):
    """Of a thousand faults in a long list the first is told, and the others are not looked for."""

    def __hash__(self) -> int:  # unions hash their parts
        return hash(type(self))


_Item = TypeVar("_Item")
Items = Annotated[tuple[_Item, ...], _FirstFault()]


class Refused(Exception):  # noqa: N818 - what becomes of the request, not of the server
    """A request that gets an error instead of an answer.

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
    """The body of a request, or a part of one. Nothing is guessed: a parameter that it does not name is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


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


class SchemaFormat(Body):
    """The schema of an answer, with its name."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    description: str | None = None
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(Body):
    """The form of a reply: words, JSON, or JSON that fits a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: SchemaFormat | None = None


class StreamOptions(BaseModel):
    """What belongs to a streamed reply."""

    model_config = ConfigDict(frozen=True, strict=True)
    include_usage: bool = False


class SeatNumbers(Body):
    """Beyond the protocol: what a seat reads in numbers, for a served policy that reads them."""

    features: Items[float] = Field(min_length=1, max_length=MOST_FEATURES)
    action_mask: Items[Literal[0, 1]] = Field(min_length=1, max_length=MOST_FEATURES)


class AskedInputs(Body):
    """Beyond the protocol: a typed question as data, as `ChatModel` sends it beside the prompt."""

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

    def wanted(self, untaken: Iterable[str] = ()) -> CompletionRequest:
        """What is asked for. Raises `Refused` for parameters that do not go together, or are not to be taken."""
        for name in untaken:
            if getattr(self, name) is not None:
                raise Refused(400, f"this server does not take {name}", name, "unsupported_parameter")
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
        )


def parsed(raw: bytes) -> ChatBody:
    """The body of a request. Raises `Refused` in one line that names the parameter."""
    try:
        return ChatBody.model_validate_json(_known(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = [str(part) for part in first["loc"]]
        if not where:
            raise Refused(400, f"the body is not a JSON object that can be used: {first['msg']}") from None
        raise Refused(400, f"{'.'.join(where)}: {first['msg']}", where[0], "invalid_value") from None


def _known(raw: bytes) -> bytes:
    """The body, without parameters that are null and that the server does not know: some clients send what they do not use as null.

    Raises `Refused` for the first other parameter that it does not know, and for more than a request needs.
    """
    try:
        body = json_value(raw)
        check_size(body, keys=MOST_KEYS, items=MOST_ITEMS)
    except ValueError as error:
        raise Refused(400, f"the body is not a JSON object that can be used: {error}") from None
    unknown = [name for name in body if name not in ChatBody.model_fields] if isinstance(body, dict) else []
    for name in unknown:
        if body.pop(name) is not None:
            shown, accepted = name[:_SHOWN], ", ".join(ChatBody.model_fields)
            why = f"parameter {shown!r} is not accepted; accepted: {accepted}"
            raise Refused(400, why, shown, "unsupported_parameter")
    return json.dumps(body).encode() if unknown else raw


def question(body: ChatBody, wanted: CompletionRequest, stopped: Stopped = never) -> Ask[Any] | None:
    """The question that a request puts: in `parlour_inputs`, or else in the last message of the user that puts one.

    Raises `Refused` where it cannot be read, or where words are no answer; `AbandonedWork`.
    """
    asked, known = body.parlour_inputs, None
    try:
        if asked is not None:
            return from_inputs(asked.kind, asked.inputs)
        for role, words in reversed(wanted.messages):
            check_wanted(stopped)
            if role == "user" and (known := read_back(words)) is not None:
                break
    except ParlourError as error:
        raise Refused(400, str(error), "messages" if asked is None else "parlour_inputs") from None
    shape = body.response_format
    if known is None and shape is not None and shape.type != "text":
        raise Refused(
            400, "no question in the messages, so there is no JSON to give; accepted: text", "response_format"
        )
    return known


def by_heuristic(question: Ask[Any] | None) -> AnswerText:
    """Who answers a question: its heuristic; without a question, a short text that says what this is."""
    if question is None:
        return lambda _: CANNED
    return lambda seed: question.heuristic(np.random.default_rng(seed)).model_dump_json()


def spoil(text: str, fault: str | None) -> str:
    """What a reply says under a fault; without one, or under one of another sort, the text itself."""
    match fault:
        case "cut":
            return text[: len(text) // 2]
        case "prose":
            return _PROSE
        case "schema":
            return _OTHER_SCHEMA
        case "empty":
            return ""
        case _:
            return text


def completion(
    wanted: CompletionRequest,
    answer: AnswerText,
    fault: str | None,
    name: str,
    now: int,
    fingerprint: str = FINGERPRINT,
    stopped: Stopped = never,
) -> dict[str, Any]:
    """A whole chat completion, as the protocol has it.

    Args:
        wanted: What is asked for.
        answer: Answers with the seed it is given; the first seed is that of the request.
        fault: The fault to simulate; only faults of the text matter.
        name: Its identifier.
        now: The time, in seconds since 1970.
        fingerprint: Says what answered.
        stopped: Whether nobody waits for it any more; it is looked at between choices, and while tokens are counted.

    Raises:
        AbandonedWork: It was stopped.
    """
    choices, answered = [], 0
    for index in range(wanted.n):
        check_wanted(stopped)
        whole = tokens(spoil(answer(mixed(wanted.seed, index) if index else wanted.seed), fault))
        said = whole[: wanted.max_tokens]
        answered += len(said)
        cut_off = fault == "cut" or len(said) < len(whole)
        choices.append(
            {
                "index": index,
                "message": {"role": "assistant", "content": "".join(said), "refusal": None},
                "finish_reason": "length" if cut_off else "stop",
                "logprobs": None,
            }
        )
    asked = sum(_PER_MESSAGE + count_tokens(words, stopped) for _, words in wanted.messages)
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": now,
        "model": wanted.model,
        "system_fingerprint": fingerprint,
        "choices": choices,
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }


def events(done: dict[str, Any], *, with_usage: bool) -> Iterator[bytes]:
    """A chat completion in server-sent events, one for each token; the last one says that it is over."""
    head = {key: done[key] for key in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    if with_usage:
        head["usage"] = None

    def chunk(choice: int, delta: dict[str, str], end: str | None = None) -> bytes:
        choice_part = {"index": choice, "delta": delta, "finish_reason": end, "logprobs": None}
        return _event({**head, "choices": [choice_part]})

    for choice in done["choices"]:
        yield chunk(choice["index"], {"role": "assistant", "content": ""})
        for token in tokens(choice["message"]["content"]):
            yield chunk(choice["index"], {"content": token})
        yield chunk(choice["index"], {}, choice["finish_reason"])
    if with_usage:
        yield _event({**head, "choices": [], "usage": done["usage"]})
    yield b"data: [DONE]\n\n"


def model(name: str) -> dict[str, Any]:
    """The model that answers, under the name of what it is."""
    return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"
