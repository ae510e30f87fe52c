"""What the seats of one game have read so far: kept as text, and extended by the lines of new events.

`prose` equals `parlour.envs.text.render` of the seat's View at every step. Each line is put into words once: for everybody,
or for the few that saw it.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.core import Event, Game, State
from parlour.envs.wording import Wording


class SeatTexts:
    """The first two sections of every seat's observation, for one game from its beginning."""

    __slots__ = ("_lines", "_place", "_texts", "_told")

    def __init__(self, seats: int) -> None:
        self._told = ""  # the lines that everybody saw
        self._lines = 0  # events of the log that are among the lines
        self._texts = [""] * seats  # by seat; empty before it is first needed
        self._place = [0] * seats  # how much of `_told` is in it

    def prose(self, wording: Wording, game: Game[Any], state: State, seat: int, choice: str) -> str:
        """The whole observation of a seat now; `choice` is its third section."""
        log = state.log
        if self._lines < len(log):
            self._extend(wording, game, state, log)
        told, texts, place = self._told, self._texts, self._place
        text = texts[seat] or self._begin(wording, game, state, seat)
        texts[seat] = ""  # a string that nobody else holds grows in place
        text += told[place[seat] :]
        texts[seat], place[seat] = text, len(told)
        return text + choice

    def _begin(self, wording: Wording, game: Game[Any], state: State, seat: int) -> str:
        """The first section of a seat's text, which is fixed once the roles are dealt."""
        told = wording.headings
        return f"{told.who}{wording.text.who(game.view(state, seat))}{told.record}"

    def _extend(self, wording: Wording, game: Game[Any], state: State, log: tuple[Event, ...]) -> None:
        """Put the new events into words."""
        told, lines, texts, place = self._told, wording.lines, self._texts, self._place
        self._told = ""  # as above
        for event in log[self._lines :]:
            line = lines.get(event) or wording.line(event)
            to = event[2]
            if to is None:
                told += line
                continue
            for seat in to:
                text = texts[seat] or self._begin(wording, game, state, seat)
                texts[seat] = ""
                text += told[place[seat] :]
                text += line
                texts[seat], place[seat] = text, len(told)
        self._told = told
        self._lines = len(log)
