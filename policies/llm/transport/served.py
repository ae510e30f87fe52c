"""What a server tells of the model it serves: enough to tell it from another of the same name, and how long its context is.

Where servers tell it:
  OpenAI-compatible  `/models`: the model's entry; vLLM adds `max_model_len`, OpenRouter `context_length`, Groq
                     `context_window`, llama.cpp `meta`
  llama.cpp          `/props`: `model_path`, `chat_template`, `default_generation_settings.n_ctx` (of one slot)
  Ollama             `/api/tags`: the model's `digest`; `/api/ps`: `context_length` as loaded; `/api/show`: `num_ctx`
Sources: the pages that `tests/servers.py` names. What differs from start to start (times, permissions) is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple, Self

from parlour.policies.llm.transport.address import Address
from parlour.policies.llm.transport.request import ServedModel

_TELLING: Final = ("id", "root", "parent", "owned_by", "canonical_slug", "meta")
"""Fields of a model's entry that tell it from others."""
_LENGTHS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
_OLLAMA_PORT: Final = ":11434"
_OLLAMA_DEFAULT: Final = 4096
"""Tokens of the context that Ollama gives a model unless told otherwise: https://docs.ollama.com/context-length."""


class Fetched(NamedTuple):
    """What stands at an address of a server."""

    reached: bool
    """Whether the server answered."""
    body: Any
    """JSON; None if there is none."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """From an answer's body."""
        try:
            return cls(True, json.loads(text))
        except (ValueError, RecursionError):
            return cls(True, None)


def served_at(address: Address, model: str, fetch: Callable[..., Fetched]) -> ServedModel:
    """What the server at an address tells of a model.

    Args:
        address: Where it is.
        model: The model, as requests call it.
        fetch: `fetch(address, body=None)` gets what stands there, or posts the body.
    """
    listed = fetch(f"{address.base}/models")
    if not listed.reached:
        return ServedModel(address.base, model, context=known_context(model))
    entry = _entry(listed.body, model)
    told = {name: entry[name] for name in _TELLING if entry.get(name)}
    if isinstance(told.get("meta"), Mapping):
        told["meta"] = {name: value for name, value in told["meta"].items() if name != "n_ctx"}
    context = min((int(entry[name]) for name in _LENGTHS if _is_number(entry.get(name))), default=None)
    if entry.get("owned_by") == "llamacpp":
        more, context = _of_llama_cpp(address, entry, fetch)
        told |= more
    elif entry.get("owned_by") == "library" or address.base.removesuffix("/v1").endswith(_OLLAMA_PORT):
        more, context = _of_ollama(address, model, fetch)
        told |= more
    return ServedModel(address.base, model, told, context or known_context(model), reached=True)


@cache
def _contexts() -> dict[str, int]:
    text = resources.files(__package__ or "").joinpath("data", "contexts.json").read_text(encoding="utf-8")
    table: dict[str, int] = json.loads(text)["models"]
    return table


def known_context(model: str) -> int | None:
    """The context of a well-known model in tokens, by the longest beginning of its name in the table; None for others.

    >>> known_context("gpt-4o-mini-2024-07-18"), known_context("openai/gpt-4o"), known_context("my-own") is None
    (128000, 128000, True)
    """
    name = model.rpartition("/")[2].lower()
    found = [known for known in _contexts() if name == known or name.startswith(f"{known}-")]
    return _contexts()[max(found, key=len)] if found else None


def _entry(body: object, model: str) -> Mapping[str, Any]:
    """The model's entry in a list of models; a server of one model has it under whatever name."""
    listed = body.get("data") if isinstance(body, Mapping) else None
    entries = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    for one in entries:
        if one.get("id") in (model, f"{model}:latest"):
            return one
    return entries[0] if len(entries) == 1 and entries[0].get("owned_by") == "llamacpp" else {}


def _of_llama_cpp(
    address: Address, entry: Mapping[str, Any], fetch: Callable[..., Fetched]
) -> tuple[dict[str, Any], int | None]:
    props = _mapping(fetch(f"{address.root}/props").body)
    told = {name: props[name] for name in ("model_path", "chat_template") if props.get(name)}
    meta = _mapping(entry.get("meta"))
    slot = _mapping(props.get("default_generation_settings"))
    lengths: list[Any] = [slot.get("n_ctx"), meta.get("n_ctx"), meta.get("n_ctx_train")]
    return told, next((int(one) for one in lengths if _is_number(one)), None)


def _of_ollama(address: Address, model: str, fetch: Callable[..., Fetched]) -> tuple[dict[str, Any], int | None]:
    names = (model, f"{model}:latest")
    digests = [one.get("digest") for one in _models(fetch(f"{address.root}/api/tags").body) if one.get("name") in names]
    told = {"digest": digests[0]} if digests else {}
    loaded = [one for one in _models(fetch(f"{address.root}/api/ps").body) if one.get("name") in names]
    if loaded and _is_number(loaded[0].get("context_length")):
        return told, int(loaded[0]["context_length"])
    shown = _mapping(fetch(f"{address.root}/api/show", {"model": model}).body)
    chosen = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    if chosen:
        return told, int(chosen[1])
    trained = [int(v) for k, v in _mapping(shown.get("model_info")).items() if k.endswith(".context_length")]
    return told, min([*trained, _OLLAMA_DEFAULT]) if shown else None


def _models(body: object) -> list[Mapping[str, Any]]:
    listed = _mapping(body).get("models")
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}


def _is_number(found: object) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and found > 0
