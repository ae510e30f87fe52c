"""JSON from files and servers that nobody answers for: read as RFC 8259 has it, or refused in one line.

Beyond that document, which leaves limits to its readers (section 9): values lie in one another `DEEPEST` times at most, so
that whatever goes through them later does not run out of stack, and a whole number has at most `DIGITS` digits, a fraction
is finite, so that each can be made a float. NaN and Infinity, which Python's reader takes, are no JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NoReturn

DEEPEST: Final = 100
DIGITS: Final = 300
_LONGEST: Final = 120
"""Characters of a refused value that are shown."""

Pairs = list[tuple[str, Any]]


def json_value(text: str | bytes, pairs: Callable[[Pairs], Any] | None = None, *, finite: bool = True) -> Any:
    """The value of a JSON text; bytes are UTF-8, with a byte order mark or without.

    Args:
        text: The whole text.
        pairs: Makes an object of its names and values; None for a dictionary, in which the last of equal names counts.
        finite: Refuse NaN and Infinity here, where the caller does not say where they stand.

    Raises:
        ValueError: It is not JSON, or beyond the limits above; in one line.
    """
    try:
        whole = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value = (_DECODER if pairs is None and finite else _decoder(pairs, finite)).decode(whole)
    except RecursionError:
        raise _too_deep() from None
    if isinstance(value, dict | list) and whole.count("[") + whole.count("{") > DEEPEST:
        check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise `ValueError` if values lie in one another more than `DEEPEST` times."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise _too_deep()


def check_size(value: Any, *, keys: int, items: int) -> None:
    """Raise `ValueError` if the objects in a value have more keys together, or its lists more items, whatever they are.

    For readers that take long to tell everything that is wrong.

    >>> check_size(7, keys=0, items=0)
    >>> check_size({"a": [1, 2]}, keys=1, items=2)
    """
    waiting = [value] if isinstance(value, dict | list | tuple) else []
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            keys -= len(inner)
        else:
            items -= len(inner)
        if keys < 0 or items < 0:
            raise ValueError("too many keys of objects" if keys < 0 else "too many items of lists")
        parts = inner.values() if isinstance(inner, dict) else inner
        waiting.extend(part for part in parts if isinstance(part, dict | list | tuple))


def _too_deep() -> ValueError:
    return ValueError(f"values lie in one another more than {DEEPEST} times")


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(f"a number of {len(digits)} digits; accepted: at most {DIGITS}")
    return int(digits)


def _fraction(text: str) -> float:
    fraction = float(text)
    if fraction in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is too large a number")
    return fraction


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_NUMBERS: Final[dict[str, Any]] = {"parse_int": _whole, "parse_float": _fraction}
_DECODER: Final = json.JSONDecoder(**_NUMBERS, parse_constant=_no_number)


def _decoder(pairs: Callable[[Pairs], Any] | None, finite: bool) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_no_number if finite else float, **_NUMBERS)


def json_shown(value: object) -> str:
    """A value as JSON, cut where it is too long for a message.

    >>> json_shown({"leader": 3, "short": False})
    '{"leader": 3, "short": false}'
    """
    text = json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
