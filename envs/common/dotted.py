"""Objects by their dotted name, `package.module:attribute`: games, players, metrics.

Entry points of Python packages have the same form (https://packaging.python.org/en/latest/specifications/entry-points/).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from parlour.envs.core import ParlourError, accept

_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_dotted(name: str) -> bool:
    """Whether a name has the form `module:attribute`; settings, which have `=`, never do.

    >>> is_dotted("mine:Agent"), is_dotted("a.b:c.d"), is_dotted("gratr:rho=1"), is_dotted("runs/policy.npz")
    (True, True, False, False)
    """
    return _NAME.fullmatch(name) is not None


def load(name: str, what: str, fits: Callable[[Any], bool] = callable) -> Any:
    """The object named `module:attribute`. Modules on the import path come before those in the current directory.

    Args:
        name: The dotted name.
        what: Kind of object, such as `"policy"`, for messages.
        fits: Which attributes of the module a message lists if there is none of this name.

    Raises:
        ParlourError: The name has no module, or there is no such module or attribute.
        Exception: Whatever the module itself raises.
    """
    module_name, _, attribute = name.partition(":")
    if not module_name:
        raise accept(what, name, "a dotted name, package.module:attribute")
    try:
        target: Any = _module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there; what it imports is not
        raise ParlourError(
            f"{what} {name!r}: there is no module {error.name!r}; "
            "accepted: one on the import path or in the current directory"
        ) from None
    for part in attribute.split("."):
        if not hasattr(target, part):
            own = [key for key, value in vars(target).items() if not key.startswith("_") and fits(value)]
            file = getattr(target, "__file__", None) or module_name
            raise ParlourError(
                f"{what} {name!r}: there is no {part!r} in {file}; accepted: {', '.join(own[:12]) or 'none'}"
            )
        target = getattr(target, part)
    return target


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        if os.getcwd() in sys.path or "" in sys.path:
            raise
        sys.path.append(os.getcwd())  # for good: the module may import its neighbours later
        return import_module(name)
