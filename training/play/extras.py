"""Modules that need an extra of parlour, imported when they are asked for: what needs none works without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from parlour.envs.core import ParlourError


def import_extra(module: str, extra: str) -> Any:
    """A module that needs an extra of parlour. Raises `ParlourError` where the extra is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[{extra}]'") from None
