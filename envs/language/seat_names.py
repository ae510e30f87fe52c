"""Names of the players at a table, shown to people instead of `player_3` and read back as seats: records keep the seats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from parlour.envs.core import ParlourError, value_shown
from parlour.envs.language.english import whole_word

GIVEN: Final = (
    "Ana",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Felix",
    "Greta",
    "Hugo",
    "Ida",
    "Jonas",
    "Kira",
    "Leo",
    "Mona",
    "Nils",
    "Olga",
    "Paul",
    "Quinn",
    "Rosa",
    "Sam",
    "Tara",
    "Uma",
    "Vera",
    "Walt",
    "Yuri",
)
"""For the seats, in order, that the host gives no name."""
_SEAT: Final = re.compile(r"(?<![A-Za-z0-9_])player_(\d{1,4})(?![A-Za-z0-9_])")
_NAME: Final = re.compile(r"[^\W\d_](?:[^\W_]|[ '.-](?=[^\W_])){0,19}")
_TAKEN: Final = frozenset(("moderator", "nobody", "everybody", "player", "me", "myself", "i", "you"))
_ALSO_WORDS: Final = frozenset(
    ("will", "may", "mark", "art", "grace", "hope", "joy", "rose", "bill", "drew", "sue", "pat", "rob")
)
"""Names that are words, too: they are names where they begin with a capital letter."""


class SeatNames:
    """The names of seats, from seat 0 on.

    Args:
        names: A name for each seat; none: texts stay as they are.
        reserved: Words of the game that are no names, such as its roles.

    Raises:
        ParlourError: A name is no name, or stands twice.

    >>> table = SeatNames(("Ana", "Ben"))
    >>> table.shown("player_1 accuses player_0, not player_10."), table.seats("I trust ben and Ana's team.")
    ('Ben accuses Ana, not player_10.', "I trust player_1 and player_0's team.")
    """

    def __init__(self, names: Sequence[str] = (), reserved: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        taken = {*_TAKEN, *(word.lower() for word in reserved)}
        for called in names:
            if not _NAME.fullmatch(called) or called.lower() in taken:
                accepted = "up to 20 letters, digits and single spaces, no word of the game"
                raise ParlourError(f"name {value_shown(called)} is not accepted; accepted: {accepted}")
            taken.add(called.lower())
        self._words = [(called, f"player_{seat}", whole_word(called.lower())) for seat, called in enumerate(names)]
        self._words.sort(key=lambda word: -len(word[0]))  # "Ana Maria" before "Ana"

    def shown(self, text: str) -> str:
        """A text with names instead of seats."""
        return _SEAT.sub(self._name, text) if self.names and "player_" in text else text

    def shown_in(self, value: Any) -> Any:
        """Plain values with names in all their texts; keys of mappings stay."""
        if isinstance(value, str):
            return self.shown(value)
        if isinstance(value, dict):
            return {key: self.shown_in(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.shown_in(inner) for inner in value]
        return value

    def seats(self, words: str) -> str:
        """Somebody's words with seats instead of names, in capital or small letters."""
        for called, seat, pattern in self._words:
            exact = called.lower() in _ALSO_WORDS
            words = _replaced(words, pattern, seat, exact=exact)
        return words

    def _name(self, match: re.Match[str]) -> str:
        seat = int(match[1])
        return self.names[seat] if seat < len(self.names) else match[0]


NO_NAMES: Final = SeatNames()
"""Seats stay `player_0` and so on."""


def _replaced(words: str, pattern: re.Pattern[str], seat: str, *, exact: bool) -> str:
    lowered = words.lower()
    if len(lowered) != len(words):  # a letter whose small form is longer: then only what is written alike
        lowered, exact = words, False
    spans = [match.span() for match in pattern.finditer(lowered)]
    for start, end in reversed(spans):
        if not exact or words[start].isupper():
            words = words[:start] + seat + words[end:]
    return words


def names_for(own: Sequence[str], seats: int, reserved: Iterable[str] = ()) -> SeatNames:
    """The host's names and, for the seats behind them, names from a list.

    Raises:
        ParlourError: More names than seats, or a name that is not accepted.
    """
    if len(own) > seats:
        raise ParlourError(f"{len(own)} names for {seats} seats are not accepted; accepted: up to {seats}")
    mine = {called.lower() for called in own}
    spare = (called for called in GIVEN if called.lower() not in mine)
    return SeatNames((*own, *(called for called, _ in zip(spare, range(seats - len(own)), strict=False))), reserved)
