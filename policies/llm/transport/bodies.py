"""What comes back over the wire, as data: the body of a completion.

Servers that call themselves compatible differ in how they tell the same: content is a text or a list of parts, thinking is
called `reasoning_content` (DeepSeek, vLLM, llama.cpp, Groq) or `reasoning` (OpenRouter, Ollama, newer vLLM), tokens read
from a cache of prompts stand in three places. Sources: the pages that `tests/servers.py` names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from parlour.policies.llm.transport.failures import LONGEST, Failure, refusal
from parlour.policies.llm.transport.request import NO_USAGE, Completion, Usage

_FINISH: Final = {"max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop", "eos": "stop"}
"""Words of some servers -> those of the protocol."""


def read_reply(text: str) -> Completion | Failure:
    """A chat completion from the text of an answer's body; or the error that stands there although the status is 200."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return Failure(f"the answer is no JSON: {text[:LONGEST]!r}", again=True)
    try:
        return _failed(body) or _completion(body)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError):
        return Failure(f"the answer is no chat completion: {text[:LONGEST]!r}", again=True)


def kept_back(written: str, told: str) -> Completion:
    """A reply that a server kept back, as one: its reader will say what is wrong with it."""
    cut = re.search(r"max(?:imum)? (?:completion )?tokens", told, re.IGNORECASE)
    return Completion((written,), Usage(0, 0), ("length" if cut else "stop",), thinking=("",), dropped=(NO_USAGE,))


def _failed(body: Any) -> Failure | None:
    """OpenRouter's errors after the start of a reply, for the whole or for a choice, with a status of their own."""
    error = body.get("error") or next((one.get("error") for one in body.get("choices") or () if one.get("error")), None)
    if not error:
        return None
    code = error.get("code") if isinstance(error, Mapping) else None
    return refusal(code if isinstance(code, int) and code >= 400 else 500, json.dumps({"error": error}))


def _completion(body: Any) -> Completion:
    choices = body["choices"]
    messages = [choice["message"] for choice in choices]
    if not messages:
        raise KeyError("choices")
    logprobs = tuple(_first_token(choice.get("logprobs")) for choice in choices)
    usage = body.get("usage")
    return Completion(
        texts=tuple(map(_text, messages)),
        usage=_usage(usage, body.get("timings")) if usage else Usage(0, 0),
        finish=tuple(map(_finish, choices)),
        thinking=tuple(map(_thinking, messages)),
        served=str(body.get("model") or ""),
        logprobs=logprobs if any(logprobs) else (),
        dropped=() if usage else (NO_USAGE,),
    )


def _text(message: Mapping[str, Any]) -> str:
    """The content; without any, the arguments of the first tool called, or the words of a refusal: an answer, too."""
    content = message.get("content")
    said = content if isinstance(content, str) else _joined(content, ("text", "output_text"), "text")
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
            found = next((part[name] for name in fields if part.get(name)), "")
            said.append(found if isinstance(found, str) else _joined(found, ("text",), "text"))
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


def _finish(choice: Mapping[str, Any]) -> str:
    word = str(choice.get("finish_reason") or "unknown")
    return _FINISH.get(word, word)


def _usage(usage: Mapping[str, Any], timings: object) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    places = (details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"))
    told = (*places, timings.get("cache_n")) if isinstance(timings, Mapping) else places
    cached = next((int(one) for one in told if one), 0)
    return Usage(int(usage["prompt_tokens"]), int(usage.get("completion_tokens") or 0), cached)


def _first_token(logprobs: Any) -> dict[str, float]:
    places = (logprobs or {}).get("content") or []
    return {str(top["token"]): float(top["logprob"]) for top in places[0]["top_logprobs"]} if places else {}
