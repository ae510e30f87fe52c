"""Names of recorded players in what was said: each becomes the name of a seat, `player_0` and so on.

A name counts where it stands as a whole word, spelt as the record spells it: "Eve's plan" and "Alice+Eve" name Eve,
"Everyone" and "Steve" do not. Short forms ("me, D, and E") are left as they are: which player a letter means is a guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from parlour.envs.english import name
from parlour.envs.text import clean
from parlour.training.records.json_objects import JsonObject

LONGEST: Final = 100
"""Characters of a name."""


class Names:
    """The players of one record, by seat.

    >>> Names(["Eve", "Bob"]).heard("Everyone trusts Eve's team, Bob.")
    "Everyone trusts player_0's team, player_1."
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._seats = {one: seat for seat, one in enumerate(names)}
        longest_first = "|".join(re.escape(one) for one in sorted(names, key=len, reverse=True))
        self._named = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)")

    def __len__(self) -> int:
        return len(self.names)

    def heard(self, words: str) -> str:
        """The words as the table hears them: names of seats for names of players, through the one door for words."""
        return clean(self._named.sub(lambda found: name(self._seats[found[0]]), clean(words)))

    def seat(self, at: JsonObject, key: str) -> int:
        """The seat of the player that a field names. Raises `ParlourError` for a field that names none."""
        return self._seats[at.one_of(key, self.names)]

    def seats(self, at: JsonObject, key: str) -> list[int]:
        """The seats of a list of different players, in its order. Raises `ParlourError` for any other list."""
        given = at.texts(key)
        if not set(given) <= set(self.names) or len(set(given)) != len(given):
            raise at.refused(key, f"a list of different players of {', '.join(self.names)}")
        return [self._seats[one] for one in given]


def names_of(players: Sequence[JsonObject], key: str) -> Names:
    """The names of a record's players. Raises `ParlourError` for one that is empty, too long or another player's."""
    accepted = f"a name of its own for each player, of 1 to {LONGEST} characters"
    found: list[str] = []
    for at in players:
        one = at.of(str, key, accepted)
        if not one.strip() or len(one) > LONGEST or one in found:
            raise at.refused(key, accepted)
        found.append(one)
    return Names(found)
