"""What an attack is: it has subjects, and makes seeded attempts at each of them, which tell what they found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

_FOLDERS = {"envs", "policies", "training", "wrappers", "hardening"}


@dataclass(frozen=True)
class Finding:
    """Something that went wrong."""

    what: str
    """One line, the same for every attempt that shows the same defect."""
    shortest: str = ""
    """The shortest input, moves or command line that shows it, as JSON or shell text."""


@dataclass(frozen=True)
class Tried:
    """What an attempt did and found."""

    tries: int
    """Re-deals compared, inputs read, kills made, ..."""
    findings: tuple[Finding, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    """Further counts for the report, such as `refused`."""


class Attack(Protocol):
    """A way to look for defects.

    An attack with an attribute `limits` that is true finds an attempt that takes over 2 s or 500 MB.
    """

    name: str
    share: float
    """Its share of the time, beside those of the other attacks."""

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        """What it attacks, each in one line: `"werewolf_v0 rules=paper"`, `"transcript"`; `outside`: `module:ATTRIBUTE` of games."""

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        """One attempt, whose only chance is `rng`; `folder` is there and empty, and emptied afterwards."""


def uncaught(error: BaseException) -> Finding:
    """The finding of an error that nobody should see: what it is and where it came from; then its words."""
    words = " ".join(str(error).split())
    return Finding(f"uncaught {type(error).__name__} ({_place(error)})", words[:300])


def _place(error: BaseException) -> str:
    """The last place in parlour or in an attack that an error came from."""
    place, trace = "elsewhere", error.__traceback__
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if not _FOLDERS.isdisjoint(path.parts) and path.name != "runner.py":
            place = f"{path.parent.name}/{path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
