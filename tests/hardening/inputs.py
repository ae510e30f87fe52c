"""Mutated inputs: each is read, or refused in one line; none takes over 2 s or 500 MB.

The readers are those of `hardening.readers`, in this process; command lines run whole. Inputs of cheap readers are many in an
attempt and those of dear ones few: the report tells how the count divides.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from hardening import command_lines, originals
from hardening.attack import Finding, Tried, uncaught
from hardening.mutations import Mutator
from hardening.readers import READERS, REFUSED, Reader
from hardening.shrink import shrink

COMMAND_LINE = "command line"
LINES_AT_ONCE = 2
LONGEST = 4000
"""Characters of the line with which an input is refused."""
_SHRINKING = 60
"""Times that a reader is called to find the shortest input."""
_SHOWN = 2000
"""Characters of a shortest input that are reported."""


class MutatedInputs:
    """Satisfies `hardening.attack.Attack`."""

    name = "inputs"
    share = 2.0
    limits = True

    def __init__(self, readers: Sequence[Reader] = READERS) -> None:
        self._readers = {reader.name: reader for reader in readers}

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        originals.warm()
        return [*self._readers, COMMAND_LINE]

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        if subject == COMMAND_LINE:
            return _command_lines(rng, folder)
        reader, counts, findings = self._readers[subject], Counter[str](), dict[str, Finding]()
        mutator = Mutator(reader.originals(), rng)
        for _ in range(reader.batch):
            content = reader.spoil(mutator, rng)
            became, finding = read(reader, content, folder)
            counts[became] += 1
            if finding is not None and finding.what not in findings:
                findings[finding.what] = Finding(finding.what, _shortest(reader, content, finding.what, folder))
        return Tried(reader.batch, tuple(findings.values()), counts)


def read(reader: Reader, content: bytes, folder: Path) -> tuple[str, Finding | None]:
    """What became of an input, and what is wrong with that."""
    try:
        reader.read(content, folder)
    except REFUSED as error:
        message = str(error)
        if not message.strip() or "\n" in message:
            return "refused", Finding("not refused in one line")
        return "refused", Finding(f"refused in over {LONGEST} characters") if len(message) > LONGEST else None
    except Exception as error:
        return "read", Finding(uncaught(error).what)
    return "read", None


def _shortest(reader: Reader, content: bytes, what: str, folder: Path) -> str:
    """The shortest part of an input that shows the same, as text in which every byte can be seen."""

    def fails(parts: Sequence[bytes]) -> bool:
        finding = read(reader, b"".join(parts), folder)[1]
        return finding is not None and finding.what == what

    lines = shrink(content.splitlines(keepends=True), fails, _SHRINKING // 3)
    letters = shrink([bytes([byte]) for byte in b"".join(lines)], fails, _SHRINKING)
    return ascii(b"".join(letters))[:_SHOWN]


def _command_lines(rng: np.random.Generator, folder: Path) -> Tried:
    command_lines.lay_out(folder, rng)
    counts, findings = Counter[str](), list[Finding]()
    for _ in range(LINES_AT_ONCE):
        words = command_lines.changed(rng)
        try:
            became, finding = command_lines.tried(words, folder)
        except Exception as error:
            became, finding = "read", Finding(uncaught(error).what, ascii(shlex.join(words)))
        counts[became] += 1
        findings += [] if finding is None else [finding]
    return Tried(LINES_AT_ONCE, tuple(findings), counts)


ATTACKS = (MutatedInputs(),)
