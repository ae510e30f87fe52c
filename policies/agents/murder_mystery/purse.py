"""How many questions to the model a game may take: the purse of a table, from which all seats pay.

Ours, so that methods can be compared at the same number of questions: introductions and votes are always paid for; a
question to a player (all that it takes, the answer included) and a report are not begun if the dearest of their kind so
far would take more than what is left. The first of a kind is taken to be as dear as the dearest of any other. What several
seats read together is read if there is one left for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
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
        self._shared: dict[str, bool] = {}
        self._open: set[str] = set()
        self._lock = Lock()

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
        enough = now + len(self._open) + price <= self._limit - self._kept
        self._begun = (what, now) if enough and takes is None else None
        return enough

    def allows_shared(self, keys: Sequence[str]) -> list[bool]:
        """Of questions that several seats share and that one now puts, in order, whether each is paid for.

        It is decided once for all who share it, so that it does not matter which of them comes first. Safe for threads.

        >>> purse = Purse(lambda: 9, limit=12, kept=2)
        >>> purse.allows_shared(["a", "b"]), purse.allows_shared(["b", "a"])
        ([True, False], [False, True])
        """
        with self._lock:
            for key in keys:
                if key not in self._shared:
                    self._shared[key] = self._spent() + len(self._open) < self._limit - self._kept
                    self._open |= {key} if self._shared[key] else set()
            return [self._shared[key] for key in keys]

    def answered(self, keys: Sequence[str]) -> None:
        """Questions of `allows_shared` are answered, and counted among those that were taken."""
        with self._lock:
            self._open.difference_update(keys)

    def _price(self, what: str) -> int:
        return self._dearest.get(what) or max(self._dearest.values(), default=1)
