"""Modules that need an extra of parlour, imported when they are asked for: what needs none works without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from parlour.envs.common.extras import not_installed


def import_extra(module: str, extra: str) -> Any:
    """A module that needs an extra of parlour. Raises `ParlourError` where the extra is not installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise not_installed(error.name, extra) from None
