"""Who may sit where: each seat, the watchers and each game's replay have a key of their own, made from one secret.

A key is the HMAC (RFC 2104, with SHA-256) of what it opens, so that nobody finds another key from his own, and the same
secret makes the same links when a table goes on after a kill. Keys stand behind the `#` of a link, which browsers keep to
themselves: no request line, no log and no `Referer` has them.
"""

from __future__ import annotations

import base64
import hmac
import os
import secrets
from typing import Final

from parlour.envs.core import ParlourError

WATCHING: Final = -1
"""In place of a seat: somebody who watches."""
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
        found = None
        for place, own in self._places.items():  # all of them, so that time tells nothing
            if hmac.compare_digest(own.encode(), key.encode("utf-8", "replace")):
                found = place
        return found

    def _key(self, what: str) -> str:
        made = hmac.digest(self._secret, what.encode(), "sha256")[:_BYTES]
        return base64.urlsafe_b64encode(made).decode()


def secret_in(name: str) -> str:
    """The secret in an environment variable. Raises `ParlourError` if there is none."""
    found = os.environ.get(name, "")
    if not found:
        raise ParlourError(f"the environment holds no token in {name!r}; accepted: the name of a variable that is set")
    return found
