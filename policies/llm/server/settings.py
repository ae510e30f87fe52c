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

    def __post_init__(self) -> None:
        check_faults(self.faults)
        for name in ("latency", "hang", "retry_after"):
            seconds = getattr(self, name)
            if not (math.isfinite(seconds) and seconds >= 0):
                raise accept(name, seconds, "seconds, at least 0")
        check_from("seed", self.seed, 0)
        for parameter in self.refuse:
            check_one_of("parameter to refuse", parameter, protocol.ChatBody.model_fields)
        if self.key == "":
            raise ParlourError("the key is empty; accepted: a bearer token, or none at all")
