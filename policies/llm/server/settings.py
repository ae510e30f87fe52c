"""The settings of the server (`app`). Needs no extra."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.policies.llm.server import protocol
from parlour.policies.llm.server.fault_injection import check_faults


@dataclass(frozen=True)
class ServerSettings:
    """How a server behaves.

    Raises:
        ParlourError: One of them is outside what is accepted.
    """

    faults: Mapping[str, float] = field(default_factory=dict)
    """Kind of fault -> share of the requests with this fault."""
    latency: float = 0.0
    """Least time for a completion in seconds."""
    hang: float = 30.0
    """Duration of the faults `timeout` and `slow` in seconds."""
    retry_after: float = 0.1
    """Seconds to wait that the fault 429 asks for."""
    seed: int = 0
    """Seed of the faults."""
    refuse: tuple[str, ...] = ()
    """Parameters of completions that are refused with 400, such as `response_format`."""
    key: str | None = field(default=None, repr=False)
    """Bearer token that every request must have; None: no token."""
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
        check_faults(self.faults)
        for name in ("latency", "hang", "retry_after"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= 0):
                raise accept(name, seconds, "seconds, at least 0")
        for name in ("header_timeout", "body_timeout", "reply_timeout", "idle_timeout"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds > 0):
                raise accept(name, seconds, "seconds, more than 0")
        for name, least in (("max_body", 1), ("max_bodies", 1), ("max_headers", 1024), ("max_connections", 1)):
            check_from(name, getattr(self, name), least)
        if self.max_bodies < self.max_body:
            raise accept("max_bodies", self.max_bodies, f"max_body ({self.max_body}) or more")
        check_from("seed", self.seed, 0)
        for parameter in self.refuse:
            check_one_of("parameter to refuse", parameter, protocol.ChatBody.model_fields)
        if self.key == "":
            raise ParlourError("the key is empty; accepted: a bearer token, or none at all")
