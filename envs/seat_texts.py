"""What the seats of one game have read so far: one text of what everybody saw, and for each seat what comes before it.

`prose` equals `parlour.envs.text.render` of the seat's View at every step. Each line is put into words once: for everybody,
or for the few that saw it.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.core import Event, Game, State
from parlour.envs.wording import Wording


class SeatTexts:
    """The first two sections of every seat's observation, for one game from its beginning."""

    __slots__ = ("_lines", "_own", "_place", "_public", "_unread")

    def __init__(self, seats: int) -> None:
        self._public = ""  # the lines that everybody saw
        self._lines = 0  # events of the log that are among the lines
        # by seat: its text up to the last line that it had read and not everybody saw; empty before it is first needed
        self._own = [""] * seats
        self._unread: list[list[str]] = [[] for _ in range(seats)]  # what comes next, up to the last such line
        self._place = [0] * seats  # where in `_public` it goes on

    def prose(self, wording: Wording, game: Game[Any], state: State, seat: int, choice: str) -> str:
        """The whole observation of a seat now; `choice` is its third section."""
        log = state.log
        if self._lines < len(log):
            self._extend(wording, log)
        own, unread = self._own[seat], self._unread[seat]
        if not own:
            own = self._own[seat] = self._begin(wording, game, state, seat)
        if unread:
            own = self._own[seat] = own + "".join(unread)
            unread.clear()
        return f"{own}{self._public[self._place[seat] :]}{choice}"

    def _begin(self, wording: Wording, game: Game[Any], state: State, seat: int) -> str:
        """The first section of a seat's text, which is fixed once the roles are dealt."""
        told = wording.headings
        return f"{told.who}{wording.text.who(game.view(state, seat))}{told.record}"

    def _extend(self, wording: Wording, log: tuple[Event, ...]) -> None:
        """Put the new events into words."""
        public, lines, place = self._public, wording.lines, self._place
        for event in log[self._lines :]:
            line = lines.get(event) or wording.line(event)
            to = event[2]
            if to is None:
                public += line
                continue
            for seat in to:
                self._unread[seat] += public[place[seat] :], line
                place[seat] = len(public)
        self._public, self._lines = public, len(log)
