"""The attacks there are. A module of an attack exports them as `ATTACKS` and is named here."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hardening.attack import Attack

MODULES = ("redeals", "tables", "utterances", "inputs", "kills", "faults", "callers", "abandoned")


def all_attacks() -> dict[str, Attack]:
    """By name."""
    modules: list[Any] = [import_module(f"hardening.{name}") for name in MODULES if find_spec(f"hardening.{name}")]
    return {attack.name: attack for module in modules for attack in module.ATTACKS}
