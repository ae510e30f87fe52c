"""What autodoc2 looks at: the modules of parlour, and no library that they import.

It reads sources without importing them, and would follow base classes into PyTorch and pydantic: four times as long, and
pages full of members that are not ours. astroid leaves out the modules of `module_denylist`.
"""

from __future__ import annotations

import astroid

_READ = ("parlour", "abc", "builtins", "collections", "dataclasses", "enum", "typing")


class _Foreign(set[str]):
    """All modules but ours and those of the language itself."""

    def __contains__(self, name: object) -> bool:
        return str(name).partition(".")[0] not in _READ


def read_parlour_alone() -> None:
    """Keep astroid, in this process, to the modules of parlour."""
    astroid.MANAGER.module_denylist = _Foreign()
