"""Which plugin has a name that the core does not know: the line that a refusal adds. The names are in `plugins.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files


def hint(arguments: Sequence[str], why: str) -> str:
    """The plugins, of those not installed, that would know a word of a command line or a file that was refused; empty for none.

    Args:
        arguments: The command line.
        why: The refusal, which shows the word.

    >>> hint(["play", "nobody_v0"], "game 'nobody_v0' is not accepted")
    ''
    """
    parts = {part for argument in arguments for part in (argument, *re.split(r"[:=,+]", argument))}
    words = {part for part in parts if part in why} | set(re.findall(r"'([^']+)' is not accepted", why))
    with files(__package__).joinpath("plugins.toml").open("rb") as file:
        known = tomllib.load(file)
    missing = [name for name, plugin in known.items() if words & set(plugin["names"]) and not _installed(name)]
    return "".join(
        f"; the plugin {name} is not installed: pip install ./plugins/{name} in a checkout of parlour"
        for name in missing
    )


def _installed(name: str) -> bool:
    try:
        version(f"parlour-{name}")
    except PackageNotFoundError:
        return False
    return True
