"""Avalon's prose read back: the View of the seat whose whole text it is.

For players away from our tables, who get the text alone (TextArena, an endpoint for language models). It inverts the
wording (`text.py`) by laying out every line that a seat can read; how the record adds up follows `rules.py`. The View that is
found must give the same prose again, word for word: what does not is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, combinations, product
from typing import Final

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import AvalonView, side_of
from parlour.envs.core import NATURE, Event, Knowledge, Move, ParlourError, announcement
from parlour.envs.language.english import seats_named
from parlour.envs.language.headings import OPTION
from parlour.envs.language.text import CHOICE, RECORD, WHO, render

_FIRST: Final = re.compile(r"You are player_(?P<seat>\d+)\. Your role is (?P<role>.+) \(\w+\)\.\n(?P<night>.*)\n")
_WORDED: Final = re.compile(r'player_(?P<seat>\d+) says: (?P<words>".*") \(taken as: (?P<claim>.+)\)')


def _unquoted(words: str) -> str | None:
    """What stands between quotation marks; None if they are not right."""
    try:
        value = json.loads(words)
    except ValueError:
        return None
    return str(value)


class AvalonProse:
    """Reads the prose of one table.

    Args:
        rules: The rules of the table.
    """

    def __init__(self, rules: Avalon) -> None:
        self._game, self._text = rules, AvalonText(rules)
        self._moves: Mapping[str, Move] = {self._text.say(move): move for move in rules.catalogue}
        self._lines = self._by_line(event for event in self._announcements())

    def __call__(self, prose: str) -> AvalonView:
        """The View that `render` puts into these words. Raises `ParlourError` for any other text."""
        view = self._parsed(prose)
        if view is None or render(self._text, view) != prose:
            raise ParlourError(
                f"the text {prose[:60]!r} cannot be read back; accepted: the whole text of a seat of avalon_v0 with "
                f"{dict(self._game.config)}"
            )
        return view

    # -- inside ------------------------------------------------------------------------------------------------

    def _parsed(self, prose: str) -> AvalonView | None:
        """Every part that can be read at all; whether it is right is seen when it is put into words again."""
        head, _, rest = prose.removeprefix(WHO).partition(RECORD)
        record, _, choice = rest.rpartition(CHOICE)
        first = _FIRST.match(head)
        if first is None or first["role"] not in self._game.role_names or int(first["seat"]) >= self._game.seats:
            return None
        seat = int(first["seat"])
        events = [self._event(line, seat) for line in record.splitlines()]
        legal = [self._moves.get(line.removeprefix(OPTION)) for line in choice.splitlines() if line.startswith(OPTION)]
        if None in events or None in legal:
            return None
        roles = game.shown_roles(first["role"], self._game.role_names)
        night = (Knowledge(roles, seats_named(first["night"])),) if roles else ()
        seen = tuple(event for event in events if event is not None)
        offered = tuple(move for move in legal if move is not None)
        own = first["role"], side_of(first["role"]), night
        table, points = self._game.shown_table, self._game.shown_points
        return AvalonView._make((seat, offered, seen, *own, *table, *self._standing(seen), *points))

    def _standing(self, events: tuple[Event, ...]) -> tuple[int, int, int, tuple[int, ...], int, int]:
        """Quest, leader, proposals counted, team, quests won by good and by evil, as the record adds up."""
        quest, leader, counted, good, evil = 0, -1, 0, 0, 0
        team: tuple[int, ...] = ()
        for _, move, _ in events:
            if move.kind == game.LEADS:
                quest, leader, _, counted, _ = move.args
                team = ()
            elif move.kind == game.TEAM:
                team = move.args
                counted += 2 if len(team) < self._game.sizes[quest] else 1  # as in `Avalon._propose`
            elif move.kind == game.DRAWN:
                team = move.args
            elif move.kind == game.SCORE:
                good, evil = move.args
        return quest, leader, counted, team, good, evil

    def _event(self, line: str, seat: int) -> Event | None:
        known = self._lines.get(line) or self._own_lines(seat).get(line)
        if known is not None:
            return known
        worded = _WORDED.fullmatch(line)
        if worded is None or worded["claim"] not in self._moves:
            return None
        words = _unquoted(worded["words"])
        claim = self._moves[worded["claim"]]
        return None if words is None else Event(int(worded["seat"]), claim._replace(words=words), None)

    # -- every line there is -----------------------------------------------------------------------------------

    def _by_line(self, events: Iterator[Event]) -> dict[str, Event]:
        return {self._text.line(event).removesuffix("\n"): event for event in events}

    @lru_cache(maxsize=16)  # noqa: B019 - one entry for each seat, and one reader lives as long as its player
    def _own_lines(self, seat: int) -> dict[str, Event]:
        """What only this seat sees, as it does it."""
        secret = (move for move in self._game.catalogue if move.kind in (game.CARD, game.GUESS))
        return self._by_line(Event(seat, move, (seat,)) for move in secret)

    def _announcements(self) -> Iterator[Event]:
        """What everybody sees: the moderator's announcements, what is said, the teams that are proposed."""
        own, seats = self._game, range(self._game.seats)
        public = [move for move in own.catalogue if move.kind in (*game.ACTS, game.TEAM)]
        yield from (Event(seat, move, None) for seat, move in product(seats, public))
        for quest, leader, counted in product(range(QUESTS), seats, range(PROPOSALS + 1)):
            yield announcement(game.LEADS, (quest, leader, own.sizes[quest], counted, own.fails_needed[quest]))
        yield from (announcement(game.VOTES, args) for args in product((0, 1), repeat=own.seats + 1))
        for quest in range(QUESTS):
            for fails in range(own.sizes[quest] + 1):
                yield announcement(game.FAILS, (quest, fails, int(fails < own.fails_needed[quest])))
        yield from (announcement(game.SCORE, args) for args in product(range(QUESTS_TO_WIN + 1), repeat=2))
        yield from (announcement(game.EXPOSED, args) for args in product(seats, seats, (0, 1)))
        drawn = chain.from_iterable(combinations(seats, size) for size in sorted(set(own.sizes)))
        yield from (Event(NATURE, Move(game.DRAWN, args), None) for args in drawn)
