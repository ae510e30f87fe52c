"""The most memory that this process has held at once (Linux; elsewhere since its start)."""

from __future__ import annotations

import resource
import sys

STEP = 16_000_000
"""Bytes by which the peak may rise before it is worth while to forget it."""
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, getrusage(2)


def peak() -> int:
    """The most bytes since the start, or since `forget_peak`."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


def forget_peak() -> None:
    """From now on the peak is what the process holds, where the system can do this (proc(5), clear_refs)."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return
