"""The wait that a server asks one call for, kept by all calls."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any, Final

LONGEST_ASKED: Final = 60.0
"""Seconds that are waited at most because a server asks for it; who asks for more is asked again after these."""


class Gate:
    """Open, or closed for a while. Copies in other processes are open."""

    def __init__(self) -> None:
        self._opens = 0.0
        self._lock = Lock()

    def close(self, seconds: float) -> None:
        """Let nobody pass for some seconds from now, at most `LONGEST_ASKED`; a longer wait under way stays."""
        with self._lock:
            self._opens = max(self._opens, time.monotonic() + min(seconds, LONGEST_ASKED))

    def wait(self, behind: float) -> None:
        """Pass, or wait until it opens and then some more.

        Args:
            behind: Seconds after the opening at which this call continues, so that calls do not arrive together.
        """
        waited = False
        while (left := self._left()) > 0:
            time.sleep(left)
            waited = True
        if waited:
            time.sleep(behind)

    def _left(self) -> float:
        with self._lock:
            return self._opens - time.monotonic()

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._opens, self._lock = 0.0, Lock()
