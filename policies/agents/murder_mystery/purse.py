"""How many questions to the model a game may take: the purse of a table, from which all seats pay.

Ours, so that methods can be compared at the same number of questions: introductions and votes are always paid for; a
question to a player (all that it takes, the answer included) and a report are not begun if the dearest of their kind so
far would take more than what is left. The first of a kind is taken to be as dear as the dearest of any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final


class Purse:
    """What is left of a number of questions to the model.

    Args:
        spent: Tells how many questions the game has taken so far.
        limit: How many it may take.
        kept: How many of these are kept for the votes.
    """

    def __init__(self, spent: Callable[[], int], limit: int, kept: int) -> None:
        self._spent: Final = spent
        self._limit, self._kept = limit, kept
        self._dearest: dict[str, int] = {}
        self._begun: tuple[str, int] | None = None

    def release(self, count: int) -> None:
        """Keep so many fewer for the votes."""
        self._kept -= count

    def allows(self, what: str, takes: int | None = None, least: int = 1) -> bool:
        """Whether there is enough left for one more of a kind; what is begun now is taken to last until the next call.

        Args:
            what: The kind.
            takes: What it takes, where that is known; it then says nothing of others of its kind.
            least: What it takes at least, where it is not.

        >>> taken = 0
        >>> purse = Purse(lambda: taken, limit=12, kept=2)
        >>> purse.allows("question")
        True
        >>> taken = 6  # the question took 6, and only 4 are left
        >>> purse.allows("question"), purse.allows("report")
        (False, False)
        """
        now = self._spent()
        if self._begun is not None:
            begun, before = self._begun
            self._dearest[begun] = max(self._dearest.get(begun, 1), now - before)
        price = takes if takes is not None else max(least, self._price(what))
        enough = now + price <= self._limit - self._kept
        self._begun = (what, now) if enough and takes is None else None
        return enough

    def _price(self, what: str) -> int:
        return self._dearest.get(what) or max(self._dearest.values(), default=1)
