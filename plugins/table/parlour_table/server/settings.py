"""The limits of a server that strangers reach."""

from __future__ import annotations

import math
from dataclasses import dataclass

from parlour.envs.core import accept


@dataclass(frozen=True)
class Limits:
    """What the server takes of its clients.

    Raises:
        ParlourError: One of them is outside what is accepted.
    """

    max_body: int = 4 * 2**20
    """Longest body of a request in bytes; a longer one is refused with 413 before it is read."""
    max_bodies: int = 64 * 2**20
    """Room in bytes for all bodies of more than 64 KiB together; beyond it they are refused with 429."""
    max_headers: int = 16_384
    """Longest headers of a request in bytes; longer ones are refused with 431."""
    max_connections: int = 1000
    """Number of connections at once; beyond it, the connection that has been idle longest is closed."""
    header_timeout: float = 10.0
    """Seconds in which the headers of a request must arrive."""
    body_timeout: float = 30.0
    """Seconds in which the body of a request must arrive."""
    reply_timeout: float = 30.0
    """Seconds in which a client must read the reply."""
    idle_timeout: float = 120.0
    """Seconds that a connection stays open unused; longer than clients keep theirs, so that none is closed in use."""

    def __post_init__(self) -> None:
        for name in ("header_timeout", "body_timeout", "reply_timeout", "idle_timeout"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds > 0):
                raise accept(name, seconds, "seconds, more than 0")
        for name, least in (("max_body", 1), ("max_bodies", 1), ("max_headers", 1024), ("max_connections", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise accept(name, value, f"a whole number from {least}")
        if self.max_bodies < self.max_body:
            raise accept("max_bodies", self.max_bodies, f"max_body ({self.max_body}) or more")
