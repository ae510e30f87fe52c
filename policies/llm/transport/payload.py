"""What goes over the wire: the parameters of a call, and which of them a server's refusal means.

What a server does not take is kept as a set of names: of parameters; `SYSTEM_ROLE` and `REPEATED_ROLES` for what the model's
template does not take; and one name for each schema that the server cannot use, although it uses others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import groupby, pairwise
from typing import Any, Final

from parlour.policies.llm.transport.answers import Failure
from parlour.policies.llm.transport.request import INPUTS, ChatMessage, Request

RESERVED: Final = frozenset({"model", "messages", "temperature", "max_tokens", "max_completion_tokens", "seed", "n", "stop",
                             "logprobs", "top_logprobs", "response_format", "reasoning_effort", "stream", INPUTS})  # fmt: skip
"""Parameters that a request has places for; `stream` would change the answer's form."""

SYSTEM_ROLE: Final = "system role"
"""Refused: what would be the system message begins the first message of the user."""
REPEATED_ROLES: Final = "repeated roles"
"""Refused: neighbouring messages of one role become one."""

_REFUSING: Final = (400, 404, 422, 501)
"""Statuses with which servers refuse a parameter."""
_OTHER_KINDS: Final = ("context", "content_filter", "key", "quota")
"""Failures that are no refusal of a parameter, whatever their message names."""

# parameter that may be dropped -> how a refusal names it; short names only in quotation marks
_NAMES: Final = {
    "response_format": r"\bresponse_format\b|\bjson_schema\b|\bgrammar\b",
    "seed": r"\bseed\b",
    "temperature": r"\btemperature\b",
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
    "reasoning_effort": r"\breasoning_effort\b|\breasoning\.effort\b",
    "stop": r"""(?<=['"`])stop(?=['"`])""",
    "n": r"""(?<=['"`])n(?=['"`])|^n must be\b""",
}
_TOO_MUCH: Final = re.compile(r"too (?:large|long|many|high)|exceed", re.IGNORECASE)
"""A request that is too big is no refusal of a parameter, whatever the message names."""
_SCHEMA: Final = re.compile(r"\bschema\b.{0,40}\binvalid|\binvalid (?:json )?schema|\bgrammar\b", re.IGNORECASE)
"""Errors about one invalid schema, not about schemas in general."""

# chat templates raise these; the template's own source, which some servers show, holds them too
_RAISED: Final = re.compile(r"raise_exception\s*\(.*?\)", re.DOTALL)
_NO_SYSTEM: Final = re.compile(
    r"system (?:role|message|prompt)s?\b.{0,40}not (?:supported|allowed)|only user and assistant roles"
    r"|developer instruction is not enabled",
    re.IGNORECASE,
)
_ALTERNATE: Final = re.compile(r"\balternate\b", re.IGNORECASE)


def parameters(request: Request, off: frozenset[str]) -> dict[str, Any]:
    """The parameters of a call, without what the server does not take.

    Where `max_tokens` is not taken, its newer name is used.
    """
    wanted = _wanted(request)
    wanted["messages"] = [message._asdict() for message in _messages(request.messages, off)]
    if "max_tokens" in off:
        wanted["max_completion_tokens"] = wanted.pop("max_tokens")
    hidden = off
    if _schema_name(wanted) in off:
        hidden |= {"response_format"}
    sent = {name: value for name, value in wanted.items() if name not in hidden}
    if "extra_body" in sent:
        sent["extra_body"] = {name: value for name, value in sent["extra_body"].items() if name not in off}
    return sent


def dropped_from(request: Request, sent: dict[str, Any], off: frozenset[str]) -> set[str]:
    """Which parameters of a request were not sent, and what was done to its messages."""
    wanted = _wanted(request)
    missing = set(wanted) - set(sent)
    if "max_completion_tokens" in sent:
        missing -= {"max_tokens"}
    further = set(wanted.get("extra_body", ())) - set(sent.get("extra_body", ()))
    asked = [message._asdict() for message in request.messages]
    return missing | further | (off & {SYSTEM_ROLE, REPEATED_ROLES} if sent["messages"] != asked else set())


def refused(failure: Failure, sent: dict[str, Any]) -> str | None:
    """What of a call a server refused, of what need not be sent; None if the failure is of another kind."""
    role = _refused_role(failure, sent["messages"])
    if role is not None:
        return role
    if failure.status not in _REFUSING or failure.kind in _OTHER_KINDS or _TOO_MUCH.search(failure.told):
        return None
    told = failure.told.replace(str(sent["model"]), "")
    if failure.parameter:
        head = re.split(r"[.\[]", failure.parameter)[0]
        told = f"'{head}'"
    forms = {**_NAMES, **{name: rf"\b{re.escape(name)}\b" for name in sent.get("extra_body", ())}}
    present = {*sent, *sent.get("extra_body", ())}
    found = {name: re.search(form, told) for name, form in forms.items() if name in present}
    places = {name: match.start() for name, match in found.items() if match}
    if not places:
        return None
    first = min(places, key=lambda name: places[name])
    return _schema_name(sent) if first == "response_format" and _SCHEMA.search(failure.told) else first


def _refused_role(failure: Failure, messages: list[dict[str, str]]) -> str | None:
    told = _RAISED.sub("", failure.told)
    roles = [message["role"] for message in messages]
    has_system, has_repeated = "system" in roles, any(a == b for a, b in pairwise(roles))
    if failure.status is None or failure.status < 400:
        return None
    if _ALTERNATE.search(told):
        return REPEATED_ROLES if has_repeated else SYSTEM_ROLE if has_system else None
    return SYSTEM_ROLE if has_system and _NO_SYSTEM.search(told) else None


def _messages(messages: tuple[ChatMessage, ...], off: frozenset[str]) -> tuple[ChatMessage, ...]:
    if SYSTEM_ROLE in off:
        general = [message.content for message in messages if message.role == "system"]
        others = [message for message in messages if message.role != "system"]
        first = ChatMessage("user", "\n\n".join([*general, others[0].content])) if general and others else None
        messages = (first, *others[1:]) if first and others[0].role == "user" else messages
    if REPEATED_ROLES in off:
        runs = ((role, list(run)) for role, run in groupby(messages, key=lambda message: message.role))
        messages = tuple(ChatMessage(role, "\n\n".join(one.content for one in run)) for role, run in runs)
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
    if request.stop:
        wanted["stop"] = list(request.stop)
    if request.extra_body:
        wanted["extra_body"] = dict(request.extra_body)
    if request.n > 1:
        wanted["n"] = request.n
    if request.schema is not None:
        held = {"name": request.schema_name, "schema": dict(request.schema), "strict": True}
        wanted["response_format"] = {"type": "json_schema", "json_schema": held}
    return wanted


def _schema_name(parameters: Mapping[str, Any]) -> str:
    """What stands for one schema among what a server does not take."""
    form = json.dumps(parameters.get("response_format"), sort_keys=True)
    return f"schema {hashlib.sha256(form.encode()).hexdigest()[:16]}"
