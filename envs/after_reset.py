"""Attributes that an environment has only from `reset` on."""

from __future__ import annotations

from typing import Any


class AfterReset:
    """Stands in the class for an attribute that instances have from `reset` on, and says so until then.

    (A `__getattr__` would say it as well, but makes every other attribute slower.)
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AttributeError(f"{self._name} cannot be accessed before reset")
