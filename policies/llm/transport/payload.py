"""What goes over the wire: the parameters of a call, in a form that the server takes, and what a server's refusal is about.

What a server does not take is a set of names: of parameters, those in `DONE`, and the names of schemas (`schema_names`).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any, Final, NamedTuple

from parlour.policies.llm.reading import MAX_LENGTH, without_lengths
from parlour.policies.llm.transport.answers import ABOUT_SCHEMA, Failure
from parlour.policies.llm.transport.request import INPUTS, ChatMessage, Request

RESERVED: Final = frozenset({"model", "messages", "temperature", "max_tokens", "max_completion_tokens", "seed", "n", "stop",
                             "logprobs", "top_logprobs", "response_format", "reasoning_effort", "stream", INPUTS})  # fmt: skip
"""Parameters that a request has places for; `stream` would change the answer's form."""

SYSTEM_ROLE: Final = "system role"
SYSTEM_NOT_DEVELOPER: Final = "system role instead of developer"
REPEATED_ROLES: Final = "repeated roles"
WHOLE_ANSWERS: Final = "answers in one piece"
NO_REASONING: Final = "calls without reasoning"
LEAST_REASONING: Final = "low"
DONE: Final = {
    MAX_LENGTH: "schemas do not bound texts",
    SYSTEM_ROLE: "its words begin the user's message",
    SYSTEM_NOT_DEVELOPER: "the message is sent as the developer's",
    REPEATED_ROLES: "neighbouring messages become one",
    WHOLE_ANSWERS: "answers are streamed",
    NO_REASONING: f"reasoning_effort {LEAST_REASONING!r} is sent",
}
"""What is done from then on; whatever else a server does not take is left out."""

_REFUSING: Final = (400, 404, 422, 501)
"""Statuses with which servers refuse a parameter; with others they do where their words say so."""
_REFUSES: Final = re.compile(
    r"\b(?:not|never|un)[ -]?(?:supported|allowed|accepted|permitted|implemented|recogni[sz]ed|known|expected|available)\b"
    r"|\bdo(?:es)?(?: not|n't) (?:support|accept|allow|take|recogni[sz]e)|\b(?:invalid|illegal|extra|extra_forbidden|forbidden)\b|\bno such\b"
    r"|\b(?:must|should|can only) be\b|\bcannot be\b|\bonly supports?\b|\b(?:literal|value|type)_error\b",
    re.IGNORECASE,
)
"""How words refuse something. `literal_error` is Pydantic's; llama-cpp-python sends it with status 500."""
_OTHER_KINDS: Final = ("context", "content_filter", "key", "quota")
"""Failures that are no refusal of a parameter, whatever their message names."""
_NAMES: Final = {
    "response_format": r"\bresponse_format\b|\bjson_schema\b|\bgrammar\b",
    **{
        name: rf"\b{name}\b"
        for name in ("seed", "temperature", "max_tokens", "max_completion_tokens", "stream_options")
    },
    "logprobs": r"\blog_?probs\b",
    "reasoning_effort": r"\breasoning_effort\b|\breasoning\.effort\b",
    "stop": r"""(?<=['"`])stop(?=['"`])""",
    "n": r"""(?<=['"`])n(?=['"`])|^n must be\b""",
}
"""Parameter that may be dropped -> how a refusal names it; short names only in quotation marks."""
_TOO_MUCH: Final = re.compile(r"too (?:large|long|many|high)|exceed", re.IGNORECASE)
"""A request that is too big is no refusal of a parameter, whatever the message names."""
_LATER: Final = re.compile(
    r"\bload(?:ing|ed)\b|overload|\bbusy\b|capacity|unavailable|temporar|try again|retry|time[d -]*out|too many requests",
    re.IGNORECASE,
)
"""Errors of a server that will be over after a while."""
_STREAM: Final = re.compile(
    r"\bstream(?:ing)?\b.{0,60}\b(?:required|mandatory|must)\b|\b(?:requires?|only supports?|must|enable)\b.{0,40}\bstream",
    re.IGNORECASE,
)
_REASONING: Final = re.compile(
    r"\b(?:reasoning|thinking)\b.{0,60}\b(?:mandatory|required|cannot be disabled)|\brequires? (?:reasoning|thinking)\b",
    re.IGNORECASE,
)
_RAISED: Final = re.compile(r"raise_exception\s*\(.*?\)", re.DOTALL)
"""In the source of a chat template, which some servers show, and which holds all words that it could have raised."""
_NO_SYSTEM: Final = re.compile(
    r"system (?:role|message|prompt)s?\b.{0,40}not (?:supported|allowed)|only user and assistant roles"
    r"|developer instruction is not enabled|role\b.{0,40}not support.{0,3}\b(?:system|developer)\b"
    r"|\b(?:system|developer)\b.{0,3} (?:role )?is (?:not supported|unsupported|not allowed|invalid)",
    re.IGNORECASE,
)
_DEVELOPER: Final = re.compile(r"\buse\b.{0,20}\bdeveloper\b|\bdeveloper\b.{0,30}\binstead\b", re.IGNORECASE)
_ALTERNATE: Final = re.compile(r"\balternate\b", re.IGNORECASE)


class Form(NamedTuple):
    """A call in a form that a server takes."""

    sent: dict[str, Any]
    """The parameters."""
    dropped: frozenset[str]
    """What of the request is not sent, and what was done to its messages."""


def parameters(request: Request, off: frozenset[str]) -> Form:
    """A call without what the server does not take. Where `max_tokens` is not taken, its newer name is used."""
    wanted = _wanted(request)
    asked, names, further = wanted["messages"], set(wanted), wanted.get("extra_body", {})
    wanted["messages"] = [message._asdict() for message in _messages(request.messages, off)]
    if "max_tokens" in off:
        wanted["max_completion_tokens"] = wanted.pop("max_tokens")
    unbounded = MAX_LENGTH in off and bounds_texts(wanted)
    if unbounded:
        named = wanted["response_format"]["json_schema"]
        named["schema"] = without_lengths(named["schema"])
    if WHOLE_ANSWERS in off:
        wanted |= {"stream": True, "stream_options": {"include_usage": True}}
    if NO_REASONING in off:
        wanted.setdefault("reasoning_effort", LEAST_REASONING)
    hidden = off | ({"response_format"} if off.intersection(schema_names(wanted)) else frozenset())
    sent = {name: value for name, value in wanted.items() if name not in hidden}
    if further:
        sent["extra_body"] = {name: value for name, value in further.items() if name not in off}
    changed = off & {SYSTEM_ROLE, REPEATED_ROLES} if sent["messages"] != asked else frozenset()
    missing = names - set(sent) - ({"max_tokens"} if "max_completion_tokens" in sent else set())
    changed |= {MAX_LENGTH} if unbounded and "response_format" in sent else frozenset()
    return Form(sent, frozenset(missing | (set(further) & off) | changed | (off & {NO_REASONING})))


def bounds_texts(sent: Mapping[str, Any]) -> bool:
    """Whether a call has a schema that bounds the length of texts."""
    return MAX_LENGTH in json.dumps(sent.get("response_format", ""))


def schema_names(sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The name of a call's schema among what a server does not take, and that of all schemas of its answer; () without a schema."""
    if "response_format" not in sent:
        return ()
    answer = str(sent["response_format"]["json_schema"]["name"]).replace(" ", "_") or "answer"
    form = json.dumps(sent["response_format"], sort_keys=True)
    return f"schema {answer} {hashlib.sha256(form.encode()).hexdigest()[:16]}", f"schemas {answer}"


def refused(failure: Failure, sent: dict[str, Any]) -> str | None:
    """What of a call a server refused, of what need not be sent; None if the failure is of another kind.

    A refusal of one schema is none of a parameter: see `may_be_schema`.
    """
    role = _refused_role(failure, sent["messages"])
    if role is not None or not _is_refusal(failure):
        return role
    if MAX_LENGTH in failure.told and bounds_texts(sent):
        return MAX_LENGTH
    if _STREAM.search(failure.told) and "stream" not in sent:
        return WHOLE_ANSWERS
    if _REASONING.search(failure.told):
        effort = sent.get("reasoning_effort")
        return NO_REASONING if effort is None else "reasoning_effort" if effort in ("none", "minimal") else None
    if _TOO_MUCH.search(failure.told) or ABOUT_SCHEMA.search(failure.told):
        return None
    further = sent.get("extra_body", {})
    forms = {**_NAMES, **{name: rf"\b{re.escape(name)}\b" for name in further}}
    head = re.split(r"[.\[]", failure.parameter or "")[0]
    message = f"'{head}'" if head else _without_name(failure.told, str(sent["model"]))
    matches = {name: re.search(form, message) for name, form in forms.items() if name in sent or name in further}
    places = {name: match.start() for name, match in matches.items() if match}
    return min(places, key=lambda name: places[name], default=None)


def may_be_schema(failure: Failure, sent: Mapping[str, Any]) -> bool:
    """Whether a refusal may be of the schema, whatever its words: the call is then made without it.

    An error of the server may be one, too, if its words are about a schema.
    """
    is_about_schema = failure.kind == "server" and ABOUT_SCHEMA.search(failure.told)
    return "response_format" in sent and (failure.kind == "refused" or bool(is_about_schema))


def is_unexplained(failure: Failure) -> bool:
    """Whether a call ended in an error of the server that does not speak of waiting."""
    return (failure.status or 0) >= 500 and not failure.waits and not _LATER.search(failure.told)


def _is_refusal(failure: Failure) -> bool:
    """Whether a failure may be a refusal of a parameter: by its status, or by its words."""
    if failure.status is None or failure.kind in _OTHER_KINDS:
        return False
    says_later = failure.again and failure.status < 500  # a rate limit, which may name `max_tokens`
    is_named = failure.parameter is not None or _REFUSES.search(failure.told) is not None
    return failure.status in _REFUSING or (is_named and not says_later)


def _without_name(message: str, model: str) -> str:
    """A server's words without the model's name, which may hold the name of a parameter; not where it is one."""
    return message if model in _NAMES else re.sub(rf"(?<![\w.-]){re.escape(model)}(?![\w-])", "", message)


def _refused_role(failure: Failure, messages: list[dict[str, str]]) -> str | None:
    reason, roles = _RAISED.sub("", failure.told), [message["role"] for message in messages]
    has_system = "system" in roles or "developer" in roles
    if failure.status is None or failure.status < 400:
        return None
    if _ALTERNATE.search(reason):
        has_repeated = any(a == b for a, b in pairwise(roles))
        return REPEATED_ROLES if has_repeated else SYSTEM_ROLE if has_system else None
    if "system" in roles and _DEVELOPER.search(reason):
        return SYSTEM_NOT_DEVELOPER
    return SYSTEM_ROLE if has_system and _NO_SYSTEM.search(reason) else None


def _messages(messages: tuple[ChatMessage, ...], off: frozenset[str]) -> tuple[ChatMessage, ...]:
    if SYSTEM_ROLE in off:
        general = [message.content for message in messages if message.role == "system"]
        others = [message for message in messages if message.role != "system"]
        if general and others and others[0].role == "user":
            messages = (ChatMessage("user", "\n\n".join([*general, others[0].content])), *others[1:])
    if REPEATED_ROLES in off:
        runs = ((role, list(run)) for role, run in groupby(messages, key=lambda message: message.role))
        messages = tuple(ChatMessage(role, "\n\n".join(message.content for message in run)) for role, run in runs)
    if SYSTEM_NOT_DEVELOPER in off:
        messages = tuple(ChatMessage("developer" if role == "system" else role, text) for role, text in messages)
    return messages


def _wanted(request: Request) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "model": request.model,
        "messages": [message._asdict() for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "seed": request.sample,
    }
    if request.reasoning_effort is not None:
        wanted["reasoning_effort"] = request.reasoning_effort
    more = {"stop": list(request.stop), "extra_body": dict(request.extra_body), "n": request.n if request.n > 1 else 0}
    more["logprobs"] = request.logprobs
    wanted |= {name: value for name, value in more.items() if value}
    if request.schema is not None:
        schema_format = {"name": request.schema_name, "schema": dict(request.schema), "strict": True}
        wanted["response_format"] = {"type": "json_schema", "json_schema": schema_format}
    return wanted
