"""Mutated inputs: a text or file that a reader takes, changed in one or two places, by its structure or by its bytes.

The structure is that of JSON, of JSON Lines and, near enough, of TOML: the spans of values and of names are found once for each
original, and a mutation puts something else in the place of one. Sources: the limits of RFC 8259, section 9; what readers of
JSON disagree about (Seriot, "Parsing JSON is a minefield", 2016); what fuzzers do to bytes (AFL's deterministic stages).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:=]|[^\s{}\[\],:="]+')
FRAGMENTS: tuple[str, ...] = (
    *("null", "true", "false", "0", "-1", "1", "2", "99", "1.5", "-0", "1e999", "-1e308", "1e-400", "NaN", "-Infinity"),
    *("18446744073709551616", "9" * 400, "9" * 5000, "1e5", "0x10", "1_000", "+1", "."),
    *('""', '"x"', '"player_0"', '"player_99"', '"nature"', '"0"', '"a:b"', '"os:system"', '"forfeit"', '"draw"'),
    *('"\\ud800"', '"\\u0000"', '"\\u202e\\u001b[2J"', '"[/]"', '"\\u2028"', '"a\\nb"', '"' + "a" * 5000 + '"', '"我"'),
    *('"../../x"', '"/dev/zero"', '"seed:1"', '"seed:' + "9" * 5000 + '"', '"' + "x" * 300 + '"', '"2026-13-45"'),
    *("[]", "{}", "[[]]", "[0]", "[1, 1]", '["x"]', '{"a": 1, "a": 2}', '{"": 0}', "[" * 120 + "]" * 120, "[" * 5000),
    *('{"a":' * 2000 + "1" + "}" * 2000, "[" + "0," * 500 + "0]", '"unclosed', "'single'", "//", ""),
)
"""What is put in the place of a value."""
NAMES: tuple[str, ...] = (
    '""',
    '"x"',
    '"move"',
    '"words"',
    '"outcome"',
    '"__class__"',
    '"\\ud800"',
    '"' + "n" * 300 + '"',
    "0",
)
"""What is put in the place of a name."""
_BYTES: tuple[bytes, ...] = (
    *(b"\x00", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[2J", b"\n", b"\r\n", b'"', b"\\", b"{", b"]"),
    b"\xe2\x80\xa8",
)


@dataclass(frozen=True)
class Original:
    """An input that its reader takes."""

    content: bytes

    @cached_property
    def text(self) -> str:
        """Its text; empty of what is none."""
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return ""

    @cached_property
    def spans(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Where values and where names stand: from, to."""
        values, names, open_ones = [], [], []
        tokens = [(match[0], match.start(), match.end()) for match in _TOKENS.finditer(self.text)]
        for at, (token, start, end) in enumerate(tokens):
            following = tokens[at + 1][0] if at + 1 < len(tokens) else ""
            if token in ("{", "["):
                open_ones.append(start)
            elif token in ("}", "]"):
                if open_ones:
                    values.append((open_ones.pop(), end))
            elif token not in (",", ":", "="):
                (names if following in (":", "=") else values).append((start, end))
        return values, names


class Mutator:
    """Makes mutants of originals; all chance is one generator's."""

    def __init__(self, originals: Sequence[Original], rng: np.random.Generator) -> None:
        self.originals, self._rng = originals, rng

    def _below(self, number: int) -> int:
        return int(self._rng.random() * number)

    def mutant(self) -> bytes:
        """One mutant: one or two changes of structure, or, one time in four, of bytes."""
        original = self.originals[self._below(len(self.originals))]
        if not original.text or self._rng.random() < 0.25:
            return self._of_bytes(original.content)
        text, whole = original.text, original
        for _ in range(1 + self._below(2)):
            text = self._STRUCTURE[self._below(len(self._STRUCTURE))](self, whole)
            whole = Original(text.encode("utf-8", "surrogatepass"))
            if len(text) > 20_000:  # finding its spans again would take longer than reading it
                break
        return whole.content

    # -- structure ---------------------------------------------------------------------------------------------

    def _span(self, whole: Original, which: int = 0) -> tuple[int, int]:
        spans = whole.spans[which] or [(0, len(whole.text))]
        return spans[self._below(len(spans))]

    def _put(self, whole: Original, span: tuple[int, int], new: str) -> str:
        return whole.text[: span[0]] + new + whole.text[span[1] :]

    def _replace(self, whole: Original) -> str:
        return self._put(whole, self._span(whole), FRAGMENTS[self._below(len(FRAGMENTS))])

    def _move(self, whole: Original) -> str:
        """One value in the place of another."""
        start, end = self._span(whole)
        return self._put(whole, self._span(whole), whole.text[start:end])

    def _splice(self, whole: Original) -> str:
        """A value of another original."""
        other = self.originals[self._below(len(self.originals))]
        start, end = self._span(other)
        return self._put(whole, self._span(whole), other.text[start:end])

    def _number(self, whole: Original) -> str:
        """A number that is near, or much larger."""
        numbers = [span for span in whole.spans[0] if re.fullmatch(r"-?\d{1,9}", whole.text[span[0] : span[1]])]
        if not numbers:
            return self._replace(whole)
        span = numbers[self._below(len(numbers))]
        value = int(whole.text[span[0] : span[1]])
        changes = (value + 1, value - 1, -value, value * 10, value * 2**31, value * 10**100)
        return self._put(whole, span, str(changes[self._below(len(changes))]))

    def _name(self, whole: Original) -> str:
        return self._put(whole, self._span(whole, 1), NAMES[self._below(len(NAMES))])

    def _twice(self, whole: Original) -> str:
        """A name a second time, with another value."""
        start, end = self._span(whole, 1)
        return self._put(whole, (start, start), f"{whole.text[start:end]}: {FRAGMENTS[self._below(len(FRAGMENTS))]}, ")

    def _lines(self, whole: Original) -> str:
        """A line left out, a line again, two lines exchanged, or the end cut off."""
        lines = whole.text.split("\n")
        at, other = self._below(len(lines)), self._below(len(lines))
        which = self._below(4)
        if which == 0:
            return "\n".join([*lines[:at], *lines[at + 1 :]])
        if which == 1:
            return "\n".join([*lines[:at], lines[other], *lines[at:]])
        if which == 2:
            lines[at], lines[other] = lines[other], lines[at]
            return "\n".join(lines)
        return whole.text[: self._below(len(whole.text) + 1)]

    _STRUCTURE: tuple[Callable[[Mutator, Original], str], ...] = (
        *(_replace, _replace, _replace, _move, _splice, _number, _number, _name, _twice, _lines),
    )

    # -- bytes -------------------------------------------------------------------------------------------------

    def _of_bytes(self, content: bytes) -> bytes:
        which, at = self._below(7), self._below(len(content) + 1)
        if which == 0:
            return content[:at]
        if which == 1:
            return content[:at] + _BYTES[self._below(len(_BYTES))] + content[at:]
        if which == 2:
            return (b"\xef\xbb\xbf", b"\xff\xfe", b"\x00")[self._below(3)] + content
        if which == 3:
            return content + content
        if which == 4:
            other = self.originals[self._below(len(self.originals))].content
            return content[:at] + other[self._below(len(other) + 1) :]
        if which == 5:
            return self._rng.bytes(self._below(200))
        changed = bytearray(content)
        for _ in range(1 + self._below(8)):
            if changed:
                changed[self._below(len(changed))] ^= 1 << self._below(8)
        return bytes(changed)
