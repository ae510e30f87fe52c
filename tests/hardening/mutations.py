"""Mutated inputs: a text or file that a reader takes, changed in one or two places, by its structure or by its bytes.

The structure is that of JSON, of JSON Lines and, near enough, of TOML. Sources: the limits of RFC 8259, section 9; what readers
of JSON disagree about (Seriot, "Parsing JSON is a minefield", 2016); what fuzzers do to bytes (AFL's deterministic stages).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

FRAGMENTS = (
    *("null", "true", "0", "-1", "1", "2", "99", "1.5", "-0", "1e999", "-1e308", "1e-400", "NaN", "-Infinity", "0x10", "1_000"),
    *("18446744073709551616", "9" * 400, "9" * 5000, "1e5", "+1", ".", "[]", "{}", "[[]]", "[0]", "[1, 1]", '["x"]'),
    *('""', '"x"', '"player_0"', '"player_99"', '"nature"', '"0"', '"a:b"', '"os:system"', '"forfeit"', '"draw"', '"我"'),
    *('"\\ud800"', '"\\u0000"', '"\\u202e\\u001b[2J"', '"[/]"', '"\\u2028"', '"a\\nb"', '"' + "a" * 5000 + '"'),
    *('"../../x"', '"/dev/zero"', '"seed:1"', '"seed:' + "9" * 5000 + '"', '"' + "x" * 300 + '"', '"2026-13-45"'),
    *('{"a": 1, "a": 2}', '{"": 0}', "[" * 120 + "]" * 120, "[" * 5000, '{"a":' * 2000 + "1" + "}" * 2000),
    *("[" + "0," * 500 + "0]", '"unclosed', "'single'", "//", "", '"move"', '"words"', '"outcome"', '"__class__"'),
)  # fmt: skip
"""What is put in the place of a value or of a name."""
PIECES = (
    *(b"\x00", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x1b[2J", b"\n", b"\r\n", b'"', b"\\", b"{", b"]"),
    *(b"\xff\xfe", b"\xe2\x80\xa8"),
)
_TOKENS = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\],:=]|[^\s{}\[\],:="]+')


def spans(text: str) -> list[tuple[int, int]]:
    """Where the values and the names of a text stand: from, to; a whole object or array is a value, too."""
    found, begun = [(0, len(text))], list[int]()
    for token in _TOKENS.finditer(text):
        if token[0] in "{[":
            begun.append(token.start())
        elif token[0] in "}]":
            found += [(begun.pop(), token.end())] if begun else []
        elif token[0] not in ",:=":
            found.append(token.span())
    return found


@st.composite
def in_structure(draw: st.DrawFn, text: str) -> str:
    """One value or name replaced, by a fragment, by another part of the text, or by a number near it; or a line moved."""
    places = spans(text)
    start, end = draw(st.sampled_from(places))
    how = draw(st.sampled_from(["fragment", "fragment", "fragment", "part", "number", "twice", "lines"]))
    if how == "lines":
        lines = text.split("\n")
        at = draw(st.integers(0, len(lines) - 1))
        return "\n".join(
            [*lines[:at], *draw(st.permutations(lines[at : at + 3])), *lines[at + 3 + draw(st.booleans()) :]]
        )
    new = draw(st.sampled_from(FRAGMENTS))
    if how == "part":
        other = draw(st.sampled_from(places))
        new = text[slice(*other)]
    elif how == "number" and re.fullmatch(r"-?\d{1,9}", text[start:end]):
        value = int(text[start:end])
        new = str(draw(st.sampled_from([value + 1, value - 1, -value, value * 10, value * 2**31, value * 10**100])))
    elif how == "twice":
        new = f"{text[start:end]}: {new}, {text[start:end]}"
    return text[:start] + new + text[end:]


@st.composite
def in_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """Cut off, with something put in, doubled, or with bits changed; or any bytes."""
    at = draw(st.integers(0, len(content)))
    changed = bytearray(content)
    if content:
        for place in draw(st.lists(st.integers(0, len(content) - 1), max_size=8)):
            changed[place] ^= 1 << draw(st.integers(0, 7))
    piece = draw(st.sampled_from(PIECES))
    ways = [content[:at], content[:at] + piece + content[at:], piece + content, content * 2, bytes(changed)]
    return draw(st.sampled_from(ways) | st.binary(max_size=200))


@st.composite
def mutants(draw: st.DrawFn, originals: Sequence[bytes]) -> bytes:
    """One of the originals, changed: by structure, or, one time in four, by bytes."""
    content = draw(st.sampled_from(originals))
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    if not text or draw(st.integers(0, 3)) == 0:
        return draw(in_bytes(content))
    for _ in range(draw(st.integers(1, 2))):
        if len(text) < 20_000:
            text = draw(in_structure(text))
    return text.encode("utf-8", "surrogatepass")
