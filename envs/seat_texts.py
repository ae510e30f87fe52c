"""What the seats of one game have read so far: kept in pieces of text, to which the lines of new events are added.

`prose` equals `parlour.envs.text.render` of the seat's View at every step. Each line is put into words once: for everybody,
or for the few that saw it.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.core import Event, Game, State
from parlour.envs.wording import Wording


class SeatTexts:
    """The first two sections of every seat's observation, for one game from its beginning."""

    __slots__ = ("_lines", "_pieces", "_place", "_told")

    def __init__(self, seats: int) -> None:
        self._told: list[str] = []  # the lines that everybody saw
        self._lines = 0  # events of the log that are among the lines
        self._pieces: list[list[str]] = [[] for _ in range(seats)]  # by seat; none before they are first needed
        self._place = [0] * seats  # how many of `_told` are in them

    def prose(self, wording: Wording, game: Game[Any], state: State, seat: int, choice: str) -> str:
        """The whole observation of a seat now; `choice` is its third section."""
        log = state.log
        if self._lines < len(log):
            self._extend(wording, game, state, log)
        told, pieces, place = self._told, self._pieces[seat], self._place
        if not pieces:
            pieces.append(self._begin(wording, game, state, seat))
        if place[seat] < len(told):
            pieces.append("".join(told[place[seat] :]))
            place[seat] = len(told)
        return "".join([*pieces, choice])

    def _begin(self, wording: Wording, game: Game[Any], state: State, seat: int) -> str:
        """The first section of a seat's text, which is fixed once the roles are dealt."""
        told = wording.headings
        return f"{told.who}{wording.text.who(game.view(state, seat))}{told.record}"

    def _extend(self, wording: Wording, game: Game[Any], state: State, log: tuple[Event, ...]) -> None:
        """Put the new events into words."""
        told, lines, place = self._told, wording.lines, self._place
        for event in log[self._lines :]:
            line = lines.get(event) or wording.line(event)
            to = event[2]
            if to is None:
                told.append(line)
                continue
            for seat in to:
                pieces = self._pieces[seat]
                if not pieces:
                    pieces.append(self._begin(wording, game, state, seat))
                pieces.append("".join(told[place[seat] :]) + line)
                place[seat] = len(told)
        self._lines = len(log)
