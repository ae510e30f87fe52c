"""Limits autodoc2 to parlour's modules.

autodoc2 reads sources without importing them, but follows base classes into PyTorch and pydantic. That takes four times as long
and fills pages with other libraries' members. astroid skips the modules of `module_denylist`.
"""

from __future__ import annotations

import astroid

_READ = ("parlour", "abc", "builtins", "collections", "dataclasses", "enum", "typing")


class _Foreign(set[str]):
    """All modules except parlour and the standard library."""

    def __contains__(self, name: object) -> bool:
        return str(name).partition(".")[0] not in _READ


def read_parlour_alone() -> None:
    """Limit astroid, in this process, to the modules of parlour."""
    astroid.MANAGER.module_denylist = _Foreign()
