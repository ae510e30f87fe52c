"""A recorded game on its way through the rules: the state, and what is written down. All formats of all games use it.

A record holds choices and consequences. The choices are moves and go through `Game.apply`, which alone decides what is
legal; the consequences are compared, by the reader of the format, with the state that the moves lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from parlour.envs import replay
from parlour.envs.core import Game, GameText, IllegalMove, Move, Outcome, ParlourError
from parlour.envs.entries import Entry, entry_of
from parlour.training.records.json_objects import JsonObject

CUT: Final = "the record ends here"
"""Why a transcript of a record that stops before the end of the game is unfinished."""


class Logged(Protocol):
    """A state that keeps what was seen."""

    @property
    def log(self) -> Any: ...


S = TypeVar("S", bound=Logged)


class RecordedMoves(Generic[S]):
    """A game at its table, as far as its record was read.

    Args:
        game_id: By which the registry knows it.
        game: Its rules.
        text: Its wording.
    """

    def __init__(self, game_id: str, game: Game[S], text: GameText[Any]) -> None:
        self._game_id, self._game, self._text = game_id, game, text
        self.state: S = game.initial()
        self.entries: list[Entry] = []

    @property
    def actor(self) -> int:
        """The seat to move, `NATURE` or `OVER`."""
        return self._game.actor(self.state)

    def play(self, move: Move, at: JsonObject, raw: str | None = None) -> None:
        """Make a move; `raw` are the words that came with it. Raises `ParlourError`, with where it stands, if it is illegal."""
        before = self.state
        try:
            self.state = self._game.apply(before, move)
        except IllegalMove as error:
            raise ParlourError(f"{at.where}: {error}") from None
        self.entries.append(entry_of(self._game, before, self.state, move, raw, ""))

    def read(self, words: str, at: JsonObject, raw: str | None) -> None:
        """The seat to move says these words, which the game's own reader takes for a move; `raw` is how they came in."""
        self.play(self._text.parse(words, self._game.view(self.state, self.actor)), at, raw)

    @property
    def over(self) -> bool:
        return self._game.outcome(self.state) is not None

    @property
    def outcome(self) -> Outcome:
        """How the game ended, once it has."""
        outcome = self._game.outcome(self.state)
        assert outcome is not None
        return outcome

    def transcript(self, notes: Mapping[str, Any]) -> str:
        """The game as a transcript; `notes` go into the header."""
        header = replay.header_line(self._game_id, self._game.config, notes)
        lines = [replay.entry_line(number, entry, self._text) for number, entry in enumerate(self.entries)]
        last = replay.outcome_line(self.outcome) if self.over else replay.unfinished_line(CUT)
        return "".join([header, *lines, last])
