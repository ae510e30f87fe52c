"""Delta debugging: the shortest part of a sequence that still fails.

Zeller and Hildebrandt 2002, "Simplifying and isolating failure-inducing input", algorithm ddmin, complements only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def shrink(items: Sequence[T], fails: Callable[[Sequence[T]], bool], most: int = 2000) -> list[T]:
    """Items in their order, of which none can be left out, and no half, quarter, ... either, so that `fails` is still true.

    Args:
        items: What fails; returned as it is if it does not.
        fails: Whether a part fails, too.
        most: How often `fails` is called at most, after the first time.
    """
    kept, parts, calls = list(items), 2, 0
    if not fails(kept):
        return kept
    while kept and calls < most:
        size = -(-len(kept) // parts)
        for start in range(0, len(kept), size):
            rest, calls = [*kept[:start], *kept[start + size :]], calls + 1
            if fails(rest):
                kept, parts = rest, max(parts - 1, 2)
                break
            if calls >= most:
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(kept))
    return kept


def shrink_text(text: str, fails: Callable[[str], bool], most: int = 2000) -> str:
    """The same for the characters of a text."""
    return "".join(shrink(text, lambda part: fails("".join(part)), most))
