"""What to install where an optional package is missing: one text for every error, which works from a checkout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from parlour.envs.core import ParlourError

_VERSIONS: Final[Mapping[str, str]] = {
    "lm": "docs/integrations/train_lm.txt",
    "sb3": "docs/integrations/supersuit.txt",
    **{
        extra: f"docs/integrations/{extra}.txt"
        for extra in (
            *(
                "agilerl",
                "hf",
                "inspect",
                "llamacpp",
                "mcp",
                "openenv",
                "openspiel",
                "ray",
                "rllib",
                "textarena",
                "tianshou",
            ),
            *("torchrl", "trl", "verifiers"),
        )
    },
}
"""Extra -> the file with its tested versions, where that is another than `constraints.txt`."""


def install(extra: str) -> str:
    """The command that installs an extra.

    >>> install("train")
    'pip install -c constraints.txt ".[train]" in a checkout of parlour (nothing is on PyPI yet)'
    """
    versions = _VERSIONS.get(extra, "constraints.txt")
    return f'pip install -c {versions} ".[{extra}]" in a checkout of parlour (nothing is on PyPI yet)'


def not_installed(package: str | None, extra: str) -> ParlourError:
    """The error where a package of an extra is missing."""
    return ParlourError(f"{package} is not installed; accepted: {install(extra)}")
