"""What goes over the wire: the parameters of a call, and how a completion, an error and a refusal are read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from parlour.policies.llm.transport.request import NO_USAGE, Completion, Request, Usage

LONGEST: Final = 200
"""Characters of a server's words that an error shows."""

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
    "n": r"""(?<=['"`])n(?=['"`])""",
}
_TOO_MUCH: Final = re.compile(r"context (?:length|window|size)|too (?:large|long|many|high)|exceed", re.IGNORECASE)
"""A request that is too big is no refusal of a parameter, whatever the message names."""


@dataclass(frozen=True)
class Failure:
    """A call without a usable answer."""

    told: str
    """What went wrong, if need be in the server's words."""
    retries: int
    """How often the SDK had tried again."""
    again: bool = False
    """Whether to try again here; otherwise the SDK has done so, or it is no use."""
    status: int | None = None
    parameter: str | None = None
    """The parameter that the server found fault with, if it says so in the place for it."""

    def line(self) -> str:
        """One line, not too long."""
        told = " ".join(self.told.split())
        told = told if len(told) <= LONGEST else told[: LONGEST - 1] + "…"
        return told if self.status is None else f"status {self.status}: {told}"


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


def told_by(body: object, text: str) -> tuple[str, str | None]:
    """The words of an error's body and the parameter it names, if any. The SDK has unpacked the field `error`."""
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        parameter = body.get("param")
        return body["message"] or "no reason given", parameter if isinstance(parameter, str) else None
    return text.strip() or "no reason given", None


def read_reply(text: str, retries: int) -> Completion | Failure:
    """A chat completion from the text of an answer's body."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return Failure(f"the answer is no JSON: {text[:LONGEST]!r}", retries, again=True)
    try:
        return _completion(body, retries)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return Failure(f"the answer is no chat completion: {text[:LONGEST]!r}", retries, again=True)


def _wanted(request: Request) -> dict[str, Any]:
    wanted: dict[str, Any] = {
        "model": request.model,
        "messages": [message._asdict() for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "seed": request.sample,
    }
    if request.n > 1:
        wanted["n"] = request.n
    if request.top_logprobs:
        wanted |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None:
        held = {"name": request.schema_name, "schema": dict(request.schema), "strict": True}
        wanted["response_format"] = {"type": "json_schema", "json_schema": held}
    return wanted


def _completion(body: Any, retries: int) -> Completion:
    choices = body["choices"]
    texts = tuple(_text(choice["message"]) for choice in choices)
    if not texts:
        raise KeyError("choices")
    logprobs = tuple(_first_token(choice.get("logprobs")) for choice in choices)
    usage = body.get("usage")
    return Completion(
        texts=texts,
        usage=Usage(int(usage["prompt_tokens"]), int(usage.get("completion_tokens", 0))) if usage else Usage(0, 0),
        finish=tuple(str(choice.get("finish_reason")) for choice in choices),
        logprobs=logprobs if any(logprobs) else (),
        retries=retries,
        dropped=() if usage else (NO_USAGE,),
    )


def _text(message: Any) -> str:
    """A refusal has no content but is an answer: an unusable one, which its reader will say."""
    content = message.get("content")
    return content if isinstance(content, str) else str(message.get("refusal") or "")


def _first_token(logprobs: Any) -> dict[str, float]:
    places = (logprobs or {}).get("content") or []
    return {str(top["token"]): float(top["logprob"]) for top in places[0]["top_logprobs"]} if places else {}
