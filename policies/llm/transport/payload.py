"""What goes over the wire: the parameters of a call, and which of them a server's refusal means."""

from __future__ import annotations

import re
from typing import Any, Final

from parlour.policies.llm.transport.bodies import Failure
from parlour.policies.llm.transport.request import Request

RESERVED: Final = frozenset({"model", "messages", "temperature", "max_tokens", "max_completion_tokens", "seed", "n", "stop",
                             "logprobs", "top_logprobs", "response_format", "reasoning_effort", "stream"})  # fmt: skip
"""Parameters that a request has places for; `stream` would change the answer's form."""

_REFUSING: Final = (400, 404, 422)
"""Statuses with which servers refuse a parameter."""

# parameter that may be dropped -> how a refusal names it; `n` only in quotation marks
_NAMES: Final = {
    "response_format": r"\bresponse_format\b|\bjson_schema\b",
    "top_logprobs": r"\b(?:top_)?logprobs\b",
    "seed": r"\bseed\b",
    "temperature": r"\btemperature\b",
    "max_tokens": r"\bmax_tokens\b",
    "max_completion_tokens": r"\bmax_completion_tokens\b",
    "reasoning_effort": r"\breasoning_effort\b|\breasoning\.effort\b",
    "stop": r"""(?<=['"`])stop(?=['"`])""",
    "n": r"""(?<=['"`])n(?=['"`])""",
}
_TOO_MUCH: Final = re.compile(r"context (?:length|window|size)|too (?:large|long|many|high)|exceed", re.IGNORECASE)
"""A request that is too big is no refusal of a parameter, whatever the message names."""


def parameters(request: Request, off: frozenset[str]) -> dict[str, Any]:
    """The parameters of a call, without those that the server does not take.

    Where `max_tokens` is not taken, its newer name is used.
    """
    wanted = _wanted(request)
    if "max_tokens" in off:
        wanted["max_completion_tokens"] = wanted.pop("max_tokens")
    hidden = off | {"logprobs"} if "top_logprobs" in off else off
    return {name: value for name, value in wanted.items() if name not in hidden}


def dropped_from(request: Request, sent: dict[str, Any]) -> set[str]:
    """Which parameters of a request were not sent."""
    missing = set(_wanted(request)) - set(sent) - {"logprobs"}
    return missing - {"max_tokens"} if "max_completion_tokens" in sent else missing


def refused(failure: Failure, sent: dict[str, Any]) -> str | None:
    """The optional parameter, of those sent, that a server refused; None if the failure is of another kind."""
    if failure.status not in _REFUSING or _TOO_MUCH.search(failure.told):
        return None
    told = failure.told.replace(str(sent["model"]), "")
    if failure.parameter:
        head = re.split(r"[.\[]", failure.parameter)[0]
        told = f"'{head}'"
    found = {name: re.search(form, told) for name, form in _NAMES.items() if name in sent}
    places = {name: match.start() for name, match in found.items() if match}
    return min(places, key=lambda name: places[name]) if places else None


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
    if request.top_logprobs:
        wanted |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None:
        held = {"name": request.schema_name, "schema": dict(request.schema), "strict": True}
        wanted["response_format"] = {"type": "json_schema", "json_schema": held}
    return wanted
