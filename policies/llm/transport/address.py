"""A server as a client knows it: the parts of its address, its key, and its description of the model it serves.

Azure's addresses end in `?api-version=...`, which is sent with every call, and want the key in a header of its own:
https://learn.microsoft.com/azure/ai-foundry/openai/reference. Other queries are refused, as they may hold secrets. The key
comes from the environment and goes into the header of requests, nowhere else.

Where servers describe their models:
  OpenAI-compatible  `/models`: the model's entry; vLLM adds `max_model_len`, OpenRouter `context_length`, Groq
                     `context_window`, llama.cpp `meta`
  llama.cpp          `/props`: `model_path`, `chat_template`, `default_generation_settings.n_ctx` (of one slot)
  Ollama             `/api/tags`: the model's `digest`; `/api/ps`: `context_length` as loaded; `/api/show`: `num_ctx`
Sources: the pages that `tests/policies/llm/servers.py` names. What differs from start to start (times, permissions) is left out.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple, Self
from urllib.parse import parse_qsl, urlsplit

from parlour.envs.core import ParlourError
from parlour.policies.llm.transport.request import OWNER, ServedModel

OPENAI: Final = "https://api.openai.com/v1"
_QUERY: Final = "api-version"
_PORTS: Final = {"http": 80, "https": 443}
_TELLING: Final = ("id", "root", "parent", "owned_by", "canonical_slug", "meta")
"""Fields of a model's entry that tell it from others."""
_LENGTHS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
_OLLAMA_PORT: Final = ":11434"
_OLLAMA_DEFAULT: Final = 4096
"""Tokens of the context that Ollama gives a model unless told otherwise: https://docs.ollama.com/context-length."""


def secret(variable: str) -> str:
    """What an environment variable holds; empty if it is not set."""
    return os.environ.get(variable, "").strip()


@dataclass(frozen=True)
class Address:
    """Where a server is."""

    base: str
    """Scheme, host, port and path, without a slash at the end; no user, no query."""
    query: dict[str, str] = field(default_factory=dict)
    """What goes into every call."""

    @property
    def host(self) -> str:
        """Host, and port if it is not the usual one."""
        return urlsplit(self.base).netloc

    @property
    def root(self) -> str:
        """The address without `/v1`, below which servers have what is not OpenAI's."""
        return self.base.removesuffix("/v1")

    @property
    def azure(self) -> bool:
        """Whether the key goes into the header `api-key`."""
        return bool(self.query) or (urlsplit(self.base).hostname or "").endswith(".azure.com")


def read_address(base_url: str | None) -> Address:
    """An address as a user writes it; None for OpenAI's, or for that of the variable `OPENAI_BASE_URL`.

    Raises:
        ParlourError: It is no address of a server, or holds a user or a query other than `api-version`.
    """
    given = base_url or secret("OPENAI_BASE_URL") or OPENAI
    bare, _, query = given.partition("?")
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    if "@" in given or set(pairs) - {_QUERY} or (query and not pairs):
        raise ParlourError(
            f"base_url holds a user or a query; accepted: a bare address, or an address that ends in ?{_QUERY}=..., and the key "
            "in the environment"
        )
    try:
        parts = urlsplit(bare)
        usable = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ParlourError(f"base_url {base_url!r} is not accepted; accepted: such as http://localhost:8000/v1")
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else str(parts.hostname)
    port = f":{parts.port}" if parts.port not in (None, _PORTS[parts.scheme]) else ""
    return Address(f"{parts.scheme}://{host}{port}{parts.path.rstrip('/').removesuffix('/chat/completions')}", pairs)


class Fetched(NamedTuple):
    """The content at an address of a server."""

    reached: bool
    """Whether the server answered."""
    body: Any
    """JSON; None if there is none."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """From an answer's body."""
        try:
            return cls(True, json.loads(text.removeprefix("\ufeff")))
        except (ValueError, RecursionError):
            return cls(True, None)


def served_at(address: Address, model: str, fetch: Callable[..., Fetched]) -> ServedModel:
    """The description of a model by the server at an address.

    Args:
        address: Where it is.
        model: The model, as requests call it.
        fetch: `fetch(address, body=None)` gets the content there, or posts the body.
    """
    listed = fetch(f"{address.base}/models")
    if not listed.reached:
        return ServedModel(address.base, model, context=known_context(model))
    entries = _listed(listed.body, "data")
    alone = entries[0] if len(entries) == 1 and entries[0].get("owned_by") == "llamacpp" else {}
    entry = next((entry for entry in entries if entry.get("id") in (model, f"{model}:latest")), alone)
    facts = {name: entry[name] for name in _TELLING if entry.get(name)}
    if isinstance(facts.get("meta"), Mapping):
        facts["meta"] = {name: value for name, value in facts["meta"].items() if name != "n_ctx"}
    context = min(_numbers(map(entry.get, _LENGTHS)), default=None)
    if entry.get("owned_by") == "llamacpp":
        more, context = _of_llama_cpp(address, _mapping(entry.get("meta")), fetch)
        facts |= more
    elif entry.get("owned_by") == "library" or address.root.endswith(_OLLAMA_PORT):
        more, context = _of_ollama(address, model, fetch)
        facts |= more
    ours = any(entry.get("owned_by") == OWNER for entry in entries)
    return ServedModel(address.base, model, facts, context or known_context(model), reached=True, is_parlours=ours)


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
    fitting = [known for known in _contexts() if f"{name}-".startswith(f"{known}-")]
    return _contexts()[max(fitting, key=len)] if fitting else None


_Facts = tuple[dict[str, Any], int | None]
"""What tells a model from others, and its context."""


def _of_llama_cpp(address: Address, meta: Mapping[str, Any], fetch: Callable[..., Fetched]) -> _Facts:
    props = _mapping(fetch(f"{address.root}/props").body)
    slot = _mapping(props.get("default_generation_settings"))
    lengths = _numbers([slot.get("n_ctx"), meta.get("n_ctx"), meta.get("n_ctx_train")])
    return {name: props[name] for name in ("model_path", "chat_template") if props.get(name)}, next(iter(lengths), None)


def _of_ollama(address: Address, model: str, fetch: Callable[..., Fetched]) -> _Facts:
    def own(page: str) -> Mapping[str, Any]:
        models = _listed(fetch(f"{address.root}/api/{page}").body, "models")
        return next((listed for listed in models if listed.get("name") in (model, f"{model}:latest")), {})

    known = own("tags")
    facts = {"digest": known.get("digest")} if known else {}
    if loaded := _numbers([own("ps").get("context_length")]):
        return facts, loaded[0]
    shown = _mapping(fetch(f"{address.root}/api/show", {"model": model}).body)
    chosen = re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE)
    if chosen:
        return facts, int(chosen[1])
    trained = [int(v) for k, v in _mapping(shown.get("model_info")).items() if k.endswith(".context_length")]
    return facts, min([*trained, _OLLAMA_DEFAULT]) if shown else None


def _listed(body: object, name: str) -> list[Mapping[str, Any]]:
    listed = _mapping(body).get(name)
    return [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _numbers(values: Iterable[object]) -> list[int]:
    """The positive whole numbers among some values."""
    return [value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0]
