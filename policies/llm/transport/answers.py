"""What comes back over the wire, as data: a completion, or why the call failed.

Servers that call themselves compatible differ in how they tell the same: content is a text or a list of parts, thinking is
called `reasoning_content` (DeepSeek, vLLM, llama.cpp, Groq) or `reasoning` (OpenRouter, Ollama, newer vLLM), tokens read from a
prompt cache are in one of four places, errors come in different words, places and statuses, and some models only stream
(https://html.spec.whatwg.org/multipage/server-sent-events.html). Sources: the pages that `tests/policies/llm/servers.py` names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from parlour.policies.llm.transport.request import (
    NO_USAGE,
    UNKNOWN_USAGE,
    CallFailed,
    Completion,
    ModelUnavailable,
    PromptTooLong,
    Reason,
    TokenLogProbs,
    Usage,
)

LONGEST: Final = 200
"""Characters of a server's words that an error shows."""
Fatal = Literal["key", "model", "quota"]
"""What no other call will fare better with: a wrong key, an unknown model, no quota."""

_AGAIN: Final = (408, 409, 425, 429, 498)
"""Statuses below 500 that another attempt may not meet; 498 is Groq's "capacity exceeded"."""
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
_LIMIT: Final = re.compile(
    r"(?:maximum |available )?context (?:length|window|size)(?: is| of)?(?: only)?[ (:]+(\d+)|\blimit[ :]+(\d+)",
    re.IGNORECASE,
)
"""Tokens of the context in the words of an error; then tokens of the request."""
_TOKENS: Final = re.compile(
    r"request \((\d+) tokens|request has (\d+)|request(?:ed)?:? (?:about )?(\d+)"
    r"|(?:resulted in|has) (\d+) (?:input )?tokens|prompt contains (?:at least )?(\d+)",
    re.IGNORECASE,
)
_CUT: Final = re.compile(r"max(?:imum)? (?:completion )?tokens", re.IGNORECASE)
_MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
"""What reading raises where a body has another form than the protocol's."""


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
    waits: bool = False
    """Whether the server asks to wait."""
    tokens: int | None = None
    """Tokens of the request that was too long, and of the context."""
    limit: int | None = None

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


def read_answer(
    status: int, text: str, headers: Mapping[str, str], clean: Callable[[str], str] = str
) -> Completion | Failure:
    """What an answer means.

    What a model wrote that a server kept back because it did not fit the schema (Groq's `json_validate_failed`) is a reply: its reader
    will say what is wrong with it.

    Args:
        status: The HTTP status.
        text: The body.
        headers: The headers.
        clean: Takes out of the words what nobody may read.
    """
    outcome = read_reply(text) if status < 400 else refusal(status, text, headers)
    if isinstance(outcome, Failure):
        return replace(outcome, told=clean(outcome.told))
    texts, thinking = tuple(map(clean, outcome.texts)), tuple(map(clean, outcome.thinking))
    return replace(outcome, texts=texts, thinking=thinking, served=clean(outcome.served))


# -- errors ----------------------------------------------------------------------------------------------------------


def refusal(status: int, text: str, headers: Mapping[str, str] | None = None) -> Completion | Failure:
    """What an answer with an error's status, or an error in the body of another, means."""
    fields = _fields(text)
    message = str(fields.get("message") or text.strip() or "no reason given")
    if fields.get("code") == "json_validate_failed":
        written, finish = str(fields.get("failed_generation") or ""), "length" if _CUT.search(message) else "stop"
        return Completion((written,), UNKNOWN_USAGE, (finish,), thinking=("",), dropped=(NO_USAGE,))
    kind, again = _kind(status, " ".join([message, *map(str, _codes(fields))]))
    parameter = fields.get("param")
    return Failure(
        told=message,
        kind=kind,
        again=again,
        status=status,
        parameter=parameter if isinstance(parameter, str) else None,
        waits=bool({"retry-after", "retry-after-ms"} & {name.lower() for name in headers or ()}),
        tokens=_number(fields.get("n_prompt_tokens"), _TOKENS, message),
        limit=_number(fields.get("n_ctx"), _LIMIT, message),
    )


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of an error: below `error` (OpenAI), at the top (older vLLM), a bare text (Ollama's own API), in a list (Gemini)."""
    try:
        body = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    body = body[0] if isinstance(body, list) and body else body
    error = body.get("error", body) if isinstance(body, Mapping) else {}
    return error if isinstance(error, Mapping) else {"message": str(error)}


def _codes(fields: Mapping[str, Any]) -> list[object]:
    """Codes and the words of whoever stands behind a gateway: Azure's `innererror`, OpenRouter's `metadata`."""
    inner, behind = _mapping(fields.get("innererror")), _mapping(fields.get("metadata"))
    codes = [*map(fields.get, ("code", "type", "detail")), inner.get("code"), behind.get("raw")]
    return [code for code in (*codes, "flagged" if behind.get("reasons") else None) if code]


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
        return "timeout" if status in (408, 504) else "server", True
    return "refused", False


def _number(field: object, pattern: re.Pattern[str], text: str) -> int | None:
    if isinstance(field, int):
        return field
    match = pattern.search(text)
    return int(next(filter(None, match.groups()))) if match else None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# -- replies ---------------------------------------------------------------------------------------------------------

_TEXTS: Final = ("text", "output_text")
"""Types of parts of a content that are said, not thought."""
_FINISH: Final = {"max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop", "eos": "stop"}
"""Words of some servers -> words of the protocol."""


def read_reply(text: str) -> Completion | Failure:
    """A chat completion from the text of an answer's body; or the error in it despite status 200."""
    text, what = text.removeprefix("\ufeff"), "not JSON"
    try:
        body = _put_together(text) if text.lstrip().startswith(_STREAM_FIELDS) else json.loads(text)
        what = "no chat completion"
        return _failed(body) or _completion(body)
    except _MALFORMED:
        return Failure(f"the answer is {what}: {text!r}", again=True, unreadable=True)


def _failed(body: Any) -> Completion | Failure | None:
    """OpenRouter's errors after the start of a reply, for the whole or for a choice, with a status of their own."""
    errors = [body.get("error"), *(choice.get("error") for choice in body.get("choices") or ())]
    error = next(filter(None, errors), None)
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    return refusal(code if isinstance(code, int) and code >= 400 else 500, json.dumps({"error": error}))


def _completion(body: Any) -> Completion:
    choices = body["choices"]
    messages = [choice["message"] for choice in choices]
    if not messages:
        raise KeyError("choices")
    usage = _usage(_mapping(body.get("usage")), _mapping(body.get("timings")))
    ends = [str(choice.get("finish_reason") or "unknown") for choice in choices]
    return Completion(
        texts=tuple(map(_text, messages)),
        usage=usage,
        finish=tuple(_FINISH.get(word, word) for word in ends),
        thinking=tuple(map(_thinking, messages)),
        logprobs=tuple(map(_logprobs, choices)) if any(choice.get("logprobs") for choice in choices) else (),
        served=str(body.get("model") or ""),
        dropped=() if usage.is_known else (NO_USAGE,),
    )


def _logprobs(choice: Mapping[str, Any]) -> TokenLogProbs:
    tokens = _mapping(choice.get("logprobs")).get("content") or ()
    return tuple((str(token["token"]), float(token["logprob"])) for token in tokens)


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
    said = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") in kinds:
            part_text = next((part[name] for name in fields if part.get(name)), "")
            said.append(part_text if isinstance(part_text, str) else _joined(part_text, ("text",), "text"))
        elif isinstance(part, str) and "text" in fields[:1]:
            said.append(part)
    return "".join(said)


def _called(message: Mapping[str, Any]) -> str:
    old = message.get("function_call")
    calls = message.get("tool_calls") or ([{"function": old}] if old else [])
    if not calls:
        return ""
    arguments = (calls[0].get("function") or {}).get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _usage(usage: Mapping[str, Any], timings: Mapping[str, Any]) -> Usage:
    """Tokens by the protocol's names. Other names, such as `input_tokens`, count other things at other services: unknown."""
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if prompt is None:
        return Usage(None, completion, None)
    details = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    places = (details, *map(usage.get, ("prompt_cache_hit_tokens", "cache_read_input_tokens")), timings.get("cache_n"))
    return Usage(prompt, completion, next(filter(None, map(_count, places)), 0))


def _count(value: object) -> int | None:
    """A number of tokens; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return None
    return int(value)


# -- streams ---------------------------------------------------------------------------------------------------------

_STREAM_FIELDS: Final = ("data:", "event:", "id:", "retry:", ":")
"""How lines of an event stream begin."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""The only ends of lines. A text of JSON may hold U+2028, U+2029 and U+0085; `str.splitlines` would split it there."""
_MOST_ENTRIES: Final = 1000
"""Most entries of a list in a message."""
_DONE: Final = "[DONE]"
"""What the last event says instead of JSON."""


def _put_together(text: str) -> dict[str, Any]:
    """The body that the events of a stream stand for.

    Raises:
        ValueError: An event is no JSON object, or the stream broke off: it has neither `[DONE]` nor a reason why each text ended.
    """
    data = [line[5:].strip() for line in _LINE_END.split(text) if line.startswith("data:")]
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in (json.loads(event) for event in data if event and event != _DONE):
        body |= {name: value for name, value in event.items() if value}
        for piece in event.get("choices") or ():
            choice = choices.setdefault(int(piece.get("index") or 0), {"message": {}})
            choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
            _append(choice["message"], piece.get("delta") or {})
    ended = _DONE in data or all(choice["finish_reason"] for choice in choices.values())
    if "error" not in body and not (choices and ended):
        raise ValueError("the stream has no end")
    return body | {"choices": [choices[index] for index in sorted(choices)]}


def _append(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a piece to what was streamed of a message: texts go on, lists go on by the index of their entries."""
    for name, value in delta.items():
        if isinstance(value, str) and name not in ("role", "id", "type"):
            message[name] = (message.get(name) or "") + value
        elif isinstance(value, Mapping):
            _append(message.setdefault(name, {}), value)
        elif isinstance(value, list):
            entries = message.setdefault(name, [])
            for place, entry in enumerate(value):
                at = entry.get("index", place)
                if at > _MOST_ENTRIES:
                    raise ValueError("an entry of a list lies too far away")
                entries += [{} for _ in range(at + 1 - len(entries))]
                _append(entries[at], entry)
