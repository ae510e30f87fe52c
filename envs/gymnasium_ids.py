"""One seat of each game among Gymnasium's environments: `gymnasium.make("parlour/avalon-v0")`.

Gymnasium's grammar for ids is `namespace/name-vN`. It has no entry points for plugins; it imports a package by the id itself:
`gymnasium.make("parlour.envs:parlour/avalon-v0")`. Games are registered when both packages are imported, in either order,
so that `parlour.envs` alone does not import Gymnasium.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

SEAT_FACTORY: Final = "parlour.training.play.single_seat:make_seat"
"""Dotted name of the function that makes Gymnasium's environments; Gymnasium imports it at the first `make`."""


def gymnasium_id(name: str) -> str:
    """The id of the game that the registry calls `name`.

    >>> gymnasium_id("murder_mystery_v0")
    'parlour/murder_mystery-v0'
    """
    return "parlour/" + re.sub(r"_v(\d+)$", r"-v\1", name)


def register_seats(names: Iterable[str]) -> None:
    """Register games with Gymnasium if it is imported; again is harmless."""
    if "gymnasium" not in sys.modules:
        return
    import gymnasium

    for name in names:
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(gymnasium_id(name), entry_point=SEAT_FACTORY, kwargs={"game": name})


class RegisteringFinder:
    """Finds the package `gymnasium` once, and calls a function after its import. Satisfies importlib's `MetaPathFinder`."""

    def __init__(self, after_import: Callable[[], None]) -> None:
        self._after_import = after_import

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The package as it is on the path."""
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                self._after_import()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_when_imported(names: Iterable[str]) -> None:
    """Register games now if Gymnasium is imported, else once it is.

    Args:
        names: Read at that moment.
    """
    if "gymnasium" in sys.modules:
        register_seats(names)
    else:
        sys.meta_path.insert(0, RegisteringFinder(lambda: register_seats(names)))
