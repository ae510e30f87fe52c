"""What comes back over the wire, as data: the body of a completion, or why the call failed.

Servers that call themselves compatible differ in how they tell the same: content is a text or a list of parts, thinking is
called `reasoning_content` (DeepSeek, vLLM, llama.cpp, Groq) or `reasoning` (OpenRouter, Ollama, newer vLLM), tokens read from a
prompt cache are in one of four places, errors come in different words, places and statuses, and some models only stream.
Sources: the pages that `tests/servers.py` names for each of them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Final, Literal, get_args

from parlour.policies.llm.transport.request import (
    NO_USAGE,
    UNKNOWN_USAGE,
    CallFailed,
    Completion,
    ModelUnavailable,
    PromptTooLong,
    Reason,
    Usage,
)
from parlour.policies.llm.transport.streamed import is_streamed, put_together

BYTE_ORDER_MARK: Final = "\ufeff"
"""What some servers send before JSON; `json` refuses it."""
LONGEST: Final = 200
"""Characters of a server's words that an error shows."""

Fatal = Literal["key", "model", "quota", "unreachable"]
"""What no other call will fare better with: a wrong key, an unknown model, no quota, no connection ever."""

_AGAIN: Final = (408, 409, 425, 429, 498)
"""Statuses below 500 that another attempt may not meet; 498 is Groq's "capacity exceeded"."""
_TIMEOUTS: Final = (408, 504)

_QUOTA: Final = re.compile(
    r"insufficient_quota|exceeded your current quota|insufficient (?:credits|balance|funds)|billing_(?:hard_limit|not_active)",
    re.IGNORECASE,
)
_CONTEXT: Final = re.compile(
    r"context[_ ](?:length|window|size)|prompt (?:is )?too long|input is too long|too many (?:input )?tokens"
    r"|reduce (?:the length|your message size)|request too large|maximum prompt length|exceeds the limit of \d+ tokens",
    re.IGNORECASE,
)
ABOUT_SCHEMA: Final = re.compile(
    r"\bschema\b.{0,40}\b(?:invalid|too|complex)|\binvalid (?:json )?schema|\bgrammar\b|\benum\b", re.IGNORECASE
)
"""Errors about the schema of a call; it may be too large, which does not make the prompt too long."""
_FILTER: Final = re.compile(
    r"content[_ ](?:filter|management policy|policy_violation)|ResponsibleAIPolicyViolation|moderation|flagged",
    re.IGNORECASE,
)
_MODEL: Final = re.compile(
    r"model_not_found|DeploymentNotFound|not a valid model|model_decommissioned|unknown model|invalid model"
    r"|(?:model|deployment)\b.{0,120}?(?:not found|(?:does|do) not exist|decommissioned)",
    re.IGNORECASE | re.DOTALL,
)

# numbers in the words of an error: of the context, and of the request
_LIMIT: Final = (
    r"(?:maximum |available )?context (?:length|window|size)(?: is| of)?(?: only)?[ (:]+(\d+)",
    r"\blimit[ :]+(\d+)",
)
_TOKENS: Final = (
    r"request \((\d+) tokens",
    r"request has (\d+)",
    r"request(?:ed)?:? (?:about )?(\d+)",
    r"(?:resulted in|has) (\d+) (?:input )?tokens",
    r"prompt contains (?:at least )?(\d+)",
)


@dataclass(frozen=True)
class Failure:
    """A call without a usable answer."""

    told: str
    """What went wrong, if need be in the server's words."""
    kind: Fatal | Reason = "server"
    again: bool = False
    """Whether another attempt may succeed."""
    unreadable: bool = False
    """Whether it is an answer of the right status that is no completion."""
    status: int | None = None
    parameter: str | None = None
    """The parameter that the server found fault with, if it says so in the place for it."""
    wait: float | None = None
    """Seconds that the server asks to wait."""
    tokens: int | None = None
    """Tokens of the request that was too long."""
    limit: int | None = None
    """Tokens of the context."""

    def line(self) -> str:
        """One line, not too long."""
        words = " ".join(self.told.split())
        words = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
        return words if self.status is None else f"status {self.status}: {words}"

    def error(self, message: str) -> ModelUnavailable:
        """The exception that it ends in."""
        if self.kind == "context":
            return PromptTooLong(message, self.tokens, self.limit)
        return CallFailed(message, self.kind) if self.kind in get_args(Reason) else ModelUnavailable(message)  # type: ignore[arg-type]


def refusal(status: int, text: str, headers: Mapping[str, str] | None = None) -> Failure:
    """What an answer with an error's status, or an error in the body of another, means."""
    fields = _fields(text)
    message = str(fields.get("message") or text.strip() or "no reason given")
    words = " ".join([message, *(str(code) for code in _codes(fields))])
    kind, again = _kind(status, words)
    parameter = fields.get("param")
    return Failure(
        told=message,
        kind=kind,
        again=again,
        status=status,
        parameter=parameter if isinstance(parameter, str) else None,
        wait=retry_after(headers or {}) if again else None,
        tokens=_number(fields.get("n_prompt_tokens"), _TOKENS, message) if kind == "context" else None,
        limit=_number(fields.get("n_ctx"), _LIMIT, message) if kind == "context" else None,
    )


def read_error(status: int, text: str, headers: Mapping[str, str]) -> Completion | Failure:
    """What an answer with an error's status means.

    What a model wrote that a server kept back because it did not fit the schema (Groq's `json_validate_failed`) is a reply: its reader
    will say what is wrong with it.
    """
    failure, fields = refusal(status, text, headers), _fields(text)
    if fields.get("code") != "json_validate_failed":
        return failure
    cut = re.search(r"max(?:imum)? (?:completion )?tokens", failure.told, re.IGNORECASE)
    written, finish = str(fields.get("failed_generation") or ""), "length" if cut else "stop"
    return Completion((written,), UNKNOWN_USAGE, (finish,), thinking=("",), dropped=(NO_USAGE,))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, in any of the three ways to say so; None if it does not."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is None:
            return None
        if value.strip()[:1].isdigit():
            return max(0.0, float(value))
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of an error: below `error` (OpenAI), at the top (older vLLM), a bare text (Ollama's own API), in a list (Gemini)."""
    try:
        body = json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return {}
    body = body[0] if isinstance(body, list) and body else body
    if not isinstance(body, Mapping):
        return {}
    error = body.get("error", body)
    return error if isinstance(error, Mapping) else {"message": str(error)}


def _codes(fields: Mapping[str, Any]) -> list[object]:
    """Codes and the words of whoever stands behind a gateway: Azure's `innererror`, OpenRouter's `metadata`."""
    inner, behind = fields.get("innererror"), fields.get("metadata")
    codes = [fields.get("code"), fields.get("type"), fields.get("detail")]
    codes += [inner.get("code")] if isinstance(inner, Mapping) else []
    if isinstance(behind, Mapping):
        codes += [behind.get("raw"), "flagged" if behind.get("reasons") else None]
    return [code for code in codes if code]


def _kind(status: int, words: str) -> tuple[Fatal | Reason, bool]:
    """What kind of failure it is, and whether another attempt may succeed."""
    if status == 402 or _QUOTA.search(words):
        return "quota", False
    if status == 413 or (_CONTEXT.search(words) and not ABOUT_SCHEMA.search(words)):
        return "context", False
    if status in (400, 403, 422, 451) and _FILTER.search(words):
        return "content_filter", False
    if status in (401, 403):
        return "key", False
    if status == 404 or (status in (400, 422) and _MODEL.search(words)):
        return "model", False
    if status in _AGAIN or status >= 500 or status < 400:
        return "timeout" if status in _TIMEOUTS else "server", True
    return "refused", False


def _number(field: object, patterns: tuple[str, ...], text: str) -> int | None:
    if isinstance(field, int):
        return field
    matches = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((int(match[1]) for match in matches if match), None)


_TEXTS: Final = ("text", "output_text")
"""Types of parts of a content that are said, not thought."""
_FINISH: Final = {"max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop", "eos": "stop"}
"""Words of some servers -> words of the protocol."""


def read_reply(text: str) -> Completion | Failure:
    """A chat completion from the text of an answer's body; or the error in it despite status 200."""
    text = text.removeprefix(BYTE_ORDER_MARK)
    try:
        body = put_together(text) if is_streamed(text) else json.loads(text)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError):
        return Failure(f"the answer is not JSON: {text[:LONGEST]!r}", again=True, unreadable=True)
    try:
        return _failed(body) or _completion(body)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError):
        return Failure(f"the answer is no chat completion: {text[:LONGEST]!r}", again=True, unreadable=True)


def _failed(body: Any) -> Failure | None:
    """OpenRouter's errors after the start of a reply, for the whole or for a choice, with a status of their own."""
    error = body.get("error") or next(
        (choice.get("error") for choice in body.get("choices") or () if choice.get("error")), None
    )
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    return refusal(code if isinstance(code, int) and code >= 400 else 500, json.dumps({"error": error}))


def _completion(body: Any) -> Completion:
    choices = body["choices"]
    messages = [choice["message"] for choice in choices]
    if not messages:
        raise KeyError("choices")
    usage = _usage(body.get("usage"), body.get("timings"))
    ends = [str(choice.get("finish_reason") or "unknown") for choice in choices]
    return Completion(
        texts=tuple(map(_text, messages)),
        usage=usage,
        finish=tuple(_FINISH.get(word, word) for word in ends),
        thinking=tuple(map(_thinking, messages)),
        served=str(body.get("model") or ""),
        dropped=() if usage.is_known else (NO_USAGE,),
    )


def _text(message: Mapping[str, Any]) -> str:
    """The content; without any, what else holds an answer.

    That is an object that the server made from the content, the arguments of the first tool called, or the words of a refusal.
    """
    content = message.get("content")
    if isinstance(content, Mapping):
        content = [content] if content.get("type") in _TEXTS else json.dumps(content, ensure_ascii=False)
    said = content if isinstance(content, str) else _joined(content, _TEXTS, "text")
    parsed = message.get("parsed")
    said = said or (json.dumps(parsed, ensure_ascii=False) if isinstance(parsed, Mapping) else "")
    return said or _called(message) or str(message.get("refusal") or _joined(content, ("refusal",), "refusal"))


def _thinking(message: Mapping[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            return str(message[name])
    return _joined(message.get("content"), ("thinking", "reasoning"), "thinking", "reasoning", "text")


def _joined(content: object, kinds: Collection[str], *fields: str) -> str:
    """The parts of some kinds of a content in parts; a part's text may be parts itself (Mistral's thinking)."""
    if not isinstance(content, list):
        return ""
    said = []
    for part in content:
        if isinstance(part, Mapping) and part.get("type") in kinds:
            part_text = next((part[name] for name in fields if part.get(name)), "")
            said.append(part_text if isinstance(part_text, str) else _joined(part_text, ("text",), "text"))
        elif isinstance(part, str) and "text" in fields[:1]:
            said.append(part)
    return "".join(said)


def _called(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls") or (
        [{"function": message["function_call"]}] if message.get("function_call") else []
    )
    if not calls:
        return ""
    arguments = (calls[0].get("function") or {}).get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _usage(usage: object, timings: object) -> Usage:
    """Tokens by the protocol's names. Other names, such as `input_tokens`, count other things at other services: unknown."""
    if not isinstance(usage, Mapping):
        return UNKNOWN_USAGE
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None:
        return Usage(None, completion, None)
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    places = (details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cache_read_input_tokens"))
    counts = (*places, timings.get("cache_n")) if isinstance(timings, Mapping) else places
    return Usage(prompt, completion, next(filter(None, map(_count, counts)), 0))


def _count(value: object) -> int | None:
    """A number of tokens; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return None
    return int(value)
