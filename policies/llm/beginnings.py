"""How much of a game's prompts a server need not read anew: the beginnings that they share with earlier ones."""

from __future__ import annotations

from bisect import bisect
from os.path import commonprefix


class Beginnings:
    """The prompts of one game so far, of all seats."""

    def __init__(self) -> None:
        self._seen: list[str] = []
        """In alphabetical order: of all of them, a neighbour shares most with a new one."""

    def shared(self, prompt: str) -> int:
        """Characters with which a prompt begins like one before; it is one of them from then on.

        >>> seen = Beginnings()
        >>> seen.shared("the rules; night"), seen.shared("the rules; day"), seen.shared("the rules; day 2")
        (0, 11, 14)
        """
        place = bisect(self._seen, prompt)
        beside = self._seen[max(place - 1, 0) : place + 1]
        self._seen.insert(place, prompt)
        return max((len(commonprefix([prompt, other])) for other in beside), default=0)  # noqa: RUF071 - letter by letter
