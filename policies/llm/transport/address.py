"""The address of a server, taken apart: where it is, what goes into every call to it, and what its services call it.

Azure's addresses end in `?api-version=...`, which is sent with every call, and want the key in a header of its own:
https://learn.microsoft.com/azure/ai-foundry/openai/reference. Other queries are refused, as they may hold secrets.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from parlour.envs.core import ParlourError

OPENAI: Final = "https://api.openai.com/v1"
_QUERY: Final = "api-version"
_COMPLETIONS: Final = "/chat/completions"
_PORTS: Final = {"http": 80, "https": 443}


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
    given = base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or OPENAI
    bare, _, query = given.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    if "@" in given or any(name != _QUERY for name, _ in pairs) or (query and not pairs):
        raise ParlourError(
            f"base_url holds a user or a query; accepted: a bare address, or one that ends in ?{_QUERY}=..., and the key "
            "in the environment"
        )
    try:
        found = urlsplit(bare)
        usable = found.scheme in _PORTS and bool(found.hostname) and found.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ParlourError(f"base_url {base_url!r} is not accepted; accepted: such as http://localhost:8000/v1")
    host = f"[{found.hostname}]" if ":" in str(found.hostname) else str(found.hostname)
    port = f":{found.port}" if found.port not in (None, _PORTS[found.scheme]) else ""
    path = found.path.rstrip("/").removesuffix(_COMPLETIONS)
    return Address(f"{found.scheme}://{host}{port}{path}", dict(pairs))
