"""The settings of a live table: its clock and its limits. Needs no extra."""

from __future__ import annotations

import base64
import hmac
import secrets
from typing import Annotated, Final

from parlour.envs.core import ParlourError
from parlour.envs.language.text import MAX_WORDS
from parlour.envs.settings import COMMON, Settings
from pydantic import Field

LONGEST_ESCAPE = 12
"""Characters of JSON that one character may take: a pair of surrogates, each escaped (RFC 8259, 7)."""


class TableSettings(Settings):
    """How a table treats the people at it.

    Raises:
        ParlourError: One of them is outside what is accepted.
    """

    clock: Annotated[float | None, COMMON] = Field(default=None, gt=0)
    """Seconds that a person has for a move; then the table makes the move that the rules of the game prescribe for unusable
    words, which is counted; None: no clock."""
    pause: float = Field(default=5.0, ge=0)
    """Seconds between two games at a table without people; people begin the next one themselves."""
    max_watchers: int = Field(default=50, ge=0)
    """Number of watchers at once; the next one is refused."""
    max_message: int = Field(default=131_072, ge=MAX_WORDS * LONGEST_ESCAPE + 1000)
    """Longest message of a browser in bytes; a longer one is refused."""
    message_rate: float = Field(default=5.0, gt=0)
    """Messages that a browser may send each second, on average; its connection ends beyond that."""
    message_burst: int = Field(default=40, ge=2)
    """Messages that a browser may send at once."""
    sit_timeout: float = Field(default=10.0, gt=0)
    """Seconds in which a connected browser must send its key."""


WATCHING: Final = -1
"""Instead of a seat: somebody who watches."""
LEAST: Final = 16
"""Characters that a secret has at least."""
_BYTES: Final = 18


class Keys:
    """The keys of one table.

    Args:
        seats: The seats at which people sit.
        secret: What the keys are made from; None: something new, for this table alone.

    Raises:
        ParlourError: The secret is too short.
    """

    def __init__(self, seats: tuple[int, ...], secret: str | None = None) -> None:
        if secret is not None and len(secret) < LEAST:
            raise ParlourError(f"a secret of {len(secret)} characters is not accepted; accepted: {LEAST} or more")
        self._secret = secrets.token_bytes(32) if secret is None else secret.encode()
        self._places = {place: self._key(f"seat {place}") for place in seats} | {WATCHING: self._key("watch")}

    def of(self, place: int) -> str:
        """The key of a seat, or of `WATCHING`."""
        return self._places[place]

    def of_replay(self, game: int) -> str:
        """The name under which the replay of a game is found."""
        return self._key(f"replay {game}")

    def place(self, key: str) -> int | None:
        """The seat that a key opens, or `WATCHING`; None for a key of no place."""
        chosen = None
        for place, own in self._places.items():  # all of them, so that time tells nothing
            if hmac.compare_digest(own.encode(), key.encode("utf-8", "replace")):
                chosen = place
        return chosen

    def _key(self, what: str) -> str:
        made = hmac.digest(self._secret, what.encode(), "sha256")[:_BYTES]
        return base64.urlsafe_b64encode(made).decode()
