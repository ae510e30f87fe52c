"""The key of a server: it comes from the environment and goes into the header of requests, nowhere else."""

from __future__ import annotations

import os
from typing import Final

from parlour.envs.core import ParlourError

PLACEHOLDER: Final = "none"
"""What the SDK, which needs a key, sends to servers that need none."""


def secret(variable: str) -> str:
    """What an environment variable holds; empty if it is not set."""
    return os.environ.get(variable, "").strip()


def read_key(variable: str, *, required: bool) -> str:
    """The key in an environment variable, or the placeholder. Raises `ParlourError` if it is missing, or is no key."""
    key = secret(variable)
    if not key and required:
        raise ParlourError(f"environment variable {variable} is not set; accepted: the key of the endpoint")
    if not key.isascii() or not key.isprintable():
        raise ParlourError(f"environment variable {variable} holds no key; accepted: printable ASCII characters")
    return key or PLACEHOLDER
