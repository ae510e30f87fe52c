"""The one door to a terminal: whatever a file, a model or a person wrote reaches it as printable characters.

Escape sequences (ECMA-48) begin with control characters, in C0 as in C1; marks that turn the direction of writing and
characters without width are format characters (Unicode category Cf); and some programs break lines at U+0085, U+2028 and
U+2029, too. `str.isprintable` is false for all of them. Nothing in parlour prints but by `tell`, `tell_text` and the
console of `parlour.training.report.display`; `tests/envs/common/test_terminal.py` holds that.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO


def printable(text: str) -> str:
    r"""The text with a space for each character that is not printable, the line break included.

    >>> printable("a\x1b[2J b\u202e\nc")
    'a [2J b  c'
    """
    if text.isprintable():
        return text
    return text.translate({ord(ch): " " for ch in set(text) if not ch.isprintable()})


def printable_lines(text: str) -> str:
    r"""`printable`, line by line.

    >>> printable_lines("a\x9b\nb\n")
    'a \nb\n'
    """
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def tell(line: str, *, error: bool = False) -> None:
    """Show one line on standard output, or on standard error; line breaks within it become spaces."""
    _write(printable(line) + "\n", sys.stderr if error else sys.stdout)


def tell_text(text: str) -> None:
    """Show a text of several lines on standard output, with a line break behind it."""
    _write(printable_lines(text) + "\n", sys.stdout)


class TellingHandler(logging.Handler):
    """Shows what is logged as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).split("\n"):
            tell(f"parlour: {line}", error=True)


def _write(text: str, stream: TextIO) -> None:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if not text.isascii() and encoding.lower() not in ("utf-8", "utf8"):  # not every terminal knows every letter
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text)
    stream.flush()
