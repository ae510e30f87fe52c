"""The wait that a server asks one call for, kept by all calls."""

from __future__ import annotations

import time
from typing import Any, Final

from parlour.policies.llm.transport.request import Locked

LONGEST_ASKED: Final = 60.0
"""Seconds that are waited at most because a server asks for it; who asks for more is asked again after these."""


class Gate(Locked):
    """Open, or closed for a while. Copies in other processes are open."""

    def __init__(self) -> None:
        super().__init__()
        self._opens = 0.0

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
        while (left := self._opens - time.monotonic()) > 0:
            time.sleep(left)
            waited = True
        if waited:
            time.sleep(behind)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_opens": 0.0}
