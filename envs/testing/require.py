"""What a check demands, raised where it does not hold; unlike `assert`, also under `python -O`."""

from __future__ import annotations


def require(holds: object, what: str) -> None:
    """Raise `AssertionError` with `what` must hold unless `holds` is true."""
    if not holds:
        raise AssertionError(what)


def require_equal(found: object, expected: object, what: str) -> None:
    """Raise `AssertionError` with both values unless they are equal."""
    if found != expected:
        raise AssertionError(f"{what}: {_short(found)}; expected: {_short(expected)}")


def _short(value: object, most: int = 300) -> str:
    words = repr(value)
    return words if len(words) <= most else f"{words[:most]}…"
