"""A recorded game of Avalon on its way through the rules: the state, and what is written down. All formats use it.

A record holds choices and consequences. The choices are moves and go through `Game.apply`, which alone decides what is
legal; the consequences are compared, by the reader of the format, with the state that the moves lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import DONE, DRAW, QUEST, AvalonState
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import DEALT, EVIL, FAILS, GOOD
from parlour.envs.core import IllegalMove, Move, Outcome, ParlourError
from parlour.envs.entries import Entry, entry_of
from parlour.training.json_objects import JsonObject

CUT: Final = "the record ends here"
"""Why a transcript of a record that stops before the end of the game is unfinished."""


Table = tuple[Avalon, AvalonText]
"""Rules with their wording."""


@lru_cache(maxsize=32)
def table_of(num_players: int, rules: str, roles: tuple[str, ...] | None = None, *, talk: bool = True) -> Table:
    """The rules of a preset with their wording, made once for all games of a file."""
    game = GAME.build(num_players=num_players, rules=rules, roles=roles, talk=talk)
    return game, GAME.text(game)


class RecordedGame:
    """A game at its table."""

    def __init__(self, table: Table) -> None:
        self.game, self.text = table
        self.state: AvalonState = self.game.initial()
        self.entries: list[Entry] = []

    def deal(self, roles: list[str], leader: int, at: JsonObject) -> None:
        """Deal these roles, by seat; `leader` makes the first proposal."""
        self.play(Move(DEALT, (*(self.game.role_names.index(role) for role in roles), leader)), at)

    def play(self, move: Move, at: JsonObject, raw: str | None = None) -> None:
        """Make a move. Raises `ParlourError`, with where it stands, if the rules do not allow it."""
        before = self.state
        try:
            self.state = self.game.apply(before, move)
        except IllegalMove as error:
            raise ParlourError(f"{at.where}: {error}") from None
        self.entries.append(entry_of(self.game, before, self.state, move, raw, ""))

    def read(self, words: str, at: JsonObject, raw: str) -> None:
        """The seat to move says these words, which the game's own reader takes for a move; `raw` is how they came in."""
        self.play(self.text.parse(words, self.game.view(self.state, self.state.actor)), at, raw)

    @property
    def over(self) -> bool:
        return self.state.phase == DONE

    @property
    def goes(self) -> bool:
        """Whether a team of this round is to go."""
        return self.state.phase in (DRAW, QUEST)

    @property
    def results(self) -> list[tuple[int, ...]]:
        """Of each quest: its number, the fail cards, and 1 if it succeeded."""
        return [event.move.args for event in self.state.log if event.move.kind == FAILS]

    @property
    def score(self) -> dict[str, int]:
        return {GOOD: self.state.standing.good, EVIL: self.state.standing.evil}

    @property
    def outcome(self) -> Outcome:
        """How the game ended, once it has."""
        outcome = self.game.outcome(self.state)
        assert outcome is not None
        return outcome

    def transcript(self, notes: Mapping[str, Any]) -> str:
        """The game as a transcript; `notes` go into the header."""
        header = replay.header_line(GAME.id, self.game.config, notes)
        lines = [replay.entry_line(number, entry, self.text) for number, entry in enumerate(self.entries)]
        last = replay.outcome_line(self.outcome) if self.over else replay.unfinished_line(CUT)
        return "".join([header, *lines, last])
