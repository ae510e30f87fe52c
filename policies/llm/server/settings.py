"""The settings of the server (`app`), and faults on purpose: errors at given rates, for chosen clients. Needs no extra.

Chance has no part in faults. Which one a request meets follows from the seed, the bytes of its body and how often that body has come
before: so the same requests meet the same faults again, in whatever order they arrive, and a request that is sent again is drawn for
again. How often is remembered of the last `REMEMBERED` bodies.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final, Self

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.settings import Settings
from parlour.policies.llm.server import protocol
from pydantic import Field, model_validator

FAULTS: Final[Mapping[str, str]] = {
    "429": "refused as one request too many, with Retry-After",
    "500": "refused as an error of the server",
    "503": "refused as too much to do",
    "filter": "refused by a content filter",
    "timeout": "no answer before the time is up, then 504",
    "cut": "the text of the reply ends half way, as if it had become too long",
    "prose": "words in place of JSON",
    "schema": "JSON that fits another schema",
    "empty": "a reply that says nothing",
    "html": "a page in place of JSON, with status 200, as from a proxy",
    "gzip": "says that it is packed, and is not",
    "utf16": "JSON in another encoding than its own",
    "reset": "the connection is reset half way through the reply",
    "chunks": "the connection ends half way through the reply, in the middle of its chunks",
    "slow": "the whole reply, but its bytes trickle in until the time is up",
}
"""Kind of fault -> what it looks like from outside."""
OF_BODY: Final = frozenset({"html", "gzip", "utf16", "reset", "chunks", "slow"})
"""Those that spoil a reply on its way, whatever it says."""
REMEMBERED: Final = 32_768
"""Number of bodies whose repetitions are counted; about 200 bytes each."""


def parse_faults(text: str) -> dict[str, float]:
    """Rates from the words of a command line.

    >>> parse_faults("429=0.2,cut=0.1")
    {'429': 0.2, 'cut': 0.1}

    Raises:
        ParlourError: A part is not KIND=RATE, a kind stands twice, or `check_faults` refuses the rates.
    """
    rates: dict[str, float] = {}
    for part in text.split(","):
        kind, equals, rate = part.strip().partition("=")
        if not equals or kind in rates:
            raise accept("fault", part, "KIND=RATE[,KIND=RATE], each kind once, such as 429=0.2,cut=0.1")
        try:
            rates[kind] = float(rate)
        except ValueError:
            raise accept(f"rate of fault {kind}", rate, "a number in 0..1") from None
    check_faults(rates)
    return rates


def check_faults(rates: Mapping[str, float]) -> None:
    """Raise `ParlourError` for an unknown kind, a rate outside 0..1, or rates that add up to more than 1."""
    for kind, rate in rates.items():
        check_one_of("fault", kind, FAULTS)
        if not 0 <= rate <= 1:
            raise accept(f"rate of fault {kind}", rate, "a number in 0..1")
    if math.fsum(rates.values()) > 1:
        raise accept(
            "sum of the rates of faults", math.fsum(rates.values()), "at most 1, for a request meets one fault"
        )


class FaultDraw:
    """Says which fault a request meets. Safe for threads.

    Args:
        rates: Kind -> share of the requests, in 0..1.
        seed: Another seed deals the faults to other requests.
    """

    def __init__(self, rates: Mapping[str, float], seed: int) -> None:
        check_faults(rates)
        self._rates, self._seed = dict(rates), seed
        self._seen: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, body: bytes) -> str | None:
        """The kind of fault for a request with this body; None for none."""
        if not self._rates:
            return None
        digest = hashlib.sha256(body).digest()
        with self._lock:
            before = self._seen.pop(digest, 0)
            self._seen[digest] = before + 1
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        drawn = hashlib.sha256(f"{self._seed} {before} ".encode() + digest).digest()
        point = int.from_bytes(drawn[:8], "big") / 2**64
        for kind, rate in self._rates.items():
            if point < rate:
                return kind
            point -= rate
        return None


class ServerSettings(Settings):
    """How a server behaves.

    Raises:
        ParlourError: One of them is outside what is accepted.
    """

    faults: Mapping[str, float] = Field(default_factory=dict)
    """Kind of fault -> share of the requests with this fault."""
    latency: float = Field(default=0.0, ge=0)
    """Least time for a completion in seconds."""
    hang: float = Field(default=30.0, ge=0)
    """Duration of the faults `timeout` and `slow` in seconds."""
    retry_after: float = Field(default=0.1, ge=0)
    """Seconds to wait that the fault 429 asks for."""
    seed: int = Field(default=0, ge=0)
    """Seed of the faults."""
    refuse: tuple[str, ...] = ()
    """Parameters of completions that are refused with 400, such as `response_format`."""
    key: str | None = Field(default=None, repr=False)
    """Bearer token that every request must have; None: no token."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        check_faults(self.faults)
        for parameter in self.refuse:
            check_one_of("parameter to refuse", parameter, protocol.ChatBody.model_fields)
        if self.key == "":
            raise ParlourError("the key is empty; accepted: a bearer token, or none at all")
        return self
