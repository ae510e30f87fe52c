"""What the server takes and says: bodies of requests, checked, the errors with which it refuses them, chat completions.

After the public reference of OpenAI's API. Parameters that shape how a language model samples are taken and have no
effect, for there is none; parameters that would change what a reply is made of and that are not offered are refused. A reply
states the truth about this server: no language model is behind it, and `system_fingerprint` says so.

Tokens are an estimate, the same for the same text everywhere: up to six Latin letters with the blank before them, up to
three digits, up to three signs, or one character of anything else; for each message of a prompt there are four more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import numpy as np
from parlour.envs.common.json_values import check_size, json_value
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import ASKS, Ask, from_inputs, read_back
from parlour.policies.llm.model import mixed
from parlour.policies.llm.prompt import QUESTION
from parlour.policies.llm.transport.request import OWNER
from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

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
    "This is `parlour serve endpoint`: it answers the typed questions of parlour's players by heuristics. There is no "
    "language model here, and no such question in your message."
)
SPOILT: Final = {
    "prose": "I would rather listen for another round before I commit myself to anything.",
    "schema": '{"weather": "fair", "degrees": 21, "wind": {"from": "west", "force": 3}}',
    "empty": "",
}
"""Fault -> what a reply says under it."""
_PER_MESSAGE: Final = 4
"""Tokens of a message beside its words."""
_TOKEN: Final = re.compile(r" ?[A-Za-z]{1,6}|[0-9]{1,3}| ?[!-/:-@\[-`{-~]{1,3}|\s+|.", re.DOTALL)
_TOKENS_AT_ONCE: Final = 8192

AnswerText = Callable[[int], str]
"""A seed -> the text of a reply: the same seed gives the same text, unless a served player has chance of its own."""
Stopped = Callable[[], bool]
"""Whether nobody waits for the work any more, because the client has gone."""


class AbandonedWork(Exception):  # noqa: N818 - what became of the work
    """Nobody waits for it any more."""


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


# -- requests --------------------------------------------------------------------------------------------------------


class _FirstFault(FailFast):
    """Of a thousand faults in a long list the first is told, and the others are not looked for."""

    def __hash__(self) -> int:  # unions hash their parts
        return hash(type(self))


_Item = TypeVar("_Item")
Items = Annotated[tuple[_Item, ...], _FirstFault()]


class Part(BaseModel):
    """A part of the body of a request; whatever else clients put into one has no effect."""

    model_config = ConfigDict(frozen=True, strict=True)


class Body(Part):
    """The body of a request, or a part of one. Nothing is guessed: a parameter that it does not name is refused."""

    model_config = ConfigDict(extra="forbid")


class ContentPart(Part):
    """A part of a message. Only text is taken."""

    type: Literal["text"]
    text: str


class MessageBody(Part):
    """A message."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Items[ContentPart] | None = None

    @property
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

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.type == "json_schema") != (self.json_schema is not None):
            raise ValueError("json_schema goes with type json_schema")
        return self


class StreamOptions(Part):
    """What belongs to a streamed reply."""

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
    messages: Items[MessageBody] = Field(min_length=1, max_length=4096)
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

    @field_validator("stream_options")
    @classmethod
    def _is_streamed(cls, options: StreamOptions | None, info: ValidationInfo) -> StreamOptions | None:
        if options is not None and not info.data.get("stream"):
            raise ValueError("stream_options goes with stream: true")
        return options

    @property
    def longest(self) -> int | None:
        """Most tokens of a reply; None: as many as it has."""
        return min(
            (limit for limit in (self.max_tokens, self.max_completion_tokens) if limit is not None), default=None
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


def question(body: ChatBody, stopped: Stopped = lambda: False) -> Ask[Any] | None:
    """The question that a request puts: in `parlour_inputs`, or else in the last message of the user that puts one.

    Raises `Refused` where it cannot be read, or where words are no answer; `AbandonedWork`.
    """
    asked, known = body.parlour_inputs, None
    if asked is not None and asked.kind not in ASKS:
        raise _unknown(asked.kind)
    try:
        if asked is not None:
            return from_inputs(asked.kind, asked.inputs)
        for message in reversed(body.messages):
            check_wanted(stopped)
            heading = QUESTION.search(message.words) if message.role == "user" else None
            if heading is not None and heading["kind"] not in ASKS:
                raise _unknown(heading["kind"])
            if heading is not None and (known := read_back(message.words)) is not None:
                break
    except ParlourError as error:
        raise Refused(400, str(error), "messages" if asked is None else "parlour_inputs") from None
    shape = body.response_format
    if known is None and shape is not None and shape.type != "text":
        why = "no question in the messages, so there is no JSON to give; accepted: text"
        raise Refused(400, why, "response_format")
    return known


def _unknown(kind: str) -> Refused:
    """The refusal of a question of which this process has no class: no parameter is to blame, so a client need not leave out any."""
    own = "those of a player of your own if the server has them (parlour serve endpoint --policy MODULE:CLASS)"
    why = f"question {kind[:_SHOWN]!r} is not accepted; accepted: {own}, {', '.join(sorted(ASKS))}"
    return Refused(400, why, "messages")


def by_heuristic(question: Ask[Any] | None) -> AnswerText:
    """Who answers a question: its heuristic; without a question, a short text that says what this is."""
    if question is None:
        return lambda _: CANNED
    return lambda seed: question.heuristic(np.random.default_rng(seed)).model_dump_json()


# -- replies ---------------------------------------------------------------------------------------------------------


def check_wanted(stopped: Stopped) -> None:
    """Raise `AbandonedWork` if nobody waits for the work any more."""
    if stopped():
        raise AbandonedWork


def tokens(text: str) -> list[str]:
    """The text in estimated tokens; joined, they are the text again.

    >>> tokens('{"vote": true}')
    ['{"', 'vote', '":', ' true', '}']
    """
    return _TOKEN.findall(text)


def _count_tokens(text: str, stopped: Stopped) -> int:
    matches, count = _TOKEN.finditer(text), 0
    while some := sum(1 for _ in islice(matches, _TOKENS_AT_ONCE)):
        check_wanted(stopped)
        count += some
    return count


def completion(
    body: ChatBody, answer: AnswerText, fault: str | None, head: Mapping[str, Any], stopped: Stopped
) -> dict[str, Any]:
    """A whole chat completion, as the protocol has it.

    Args:
        body: What is asked for.
        answer: Answers with the seed it is given; the first seed is that of the request.
        fault: The fault to simulate; only faults of the text matter.
        head: Its identifier, its time, and who made it.
        stopped: Whether nobody waits for it any more; it is looked at between choices, and while tokens are counted.

    Raises:
        AbandonedWork: It was stopped.
    """
    choices, answered, seed = [], 0, body.seed or 0
    for index in range(body.n or 1):
        check_wanted(stopped)
        text = answer(mixed(seed, index) if index else seed)
        whole = tokens(text[: len(text) // 2] if fault == "cut" else SPOILT.get(fault or "", text))
        said = whole[: body.longest]
        answered += len(said)
        end = "length" if fault == "cut" or len(said) < len(whole) else "stop"
        message = {"role": "assistant", "content": "".join(said), "refusal": None}
        choices.append({"index": index, "message": message, "finish_reason": end, "logprobs": None})
    asked = sum(_PER_MESSAGE + _count_tokens(message.words, stopped) for message in body.messages)
    usage = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
    return {**head, "object": "chat.completion", "choices": choices, "usage": usage}


def events(done: dict[str, Any], *, with_usage: bool) -> Iterator[bytes]:
    """A chat completion in server-sent events, one for each token; the last one says that it is over."""
    head = {**done, "object": "chat.completion.chunk", "usage": None}
    if not with_usage:
        del head["usage"]

    def chunk(choice: int, delta: dict[str, str], end: str | None = None) -> bytes:
        return _event({**head, "choices": [{"index": choice, "delta": delta, "finish_reason": end, "logprobs": None}]})

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
