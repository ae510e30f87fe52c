"""A recorded game of Avalon on its way through the rules: what is compared with the records of all formats."""

from __future__ import annotations

from functools import lru_cache

from parlour.envs.avalon import GAME
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonPhase, AvalonState
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import DEALT, EVIL, FAILS, GOOD
from parlour.envs.core import Move
from parlour.training.records.json_objects import JsonObject
from parlour.training.records.reading import RecordedMoves

Table = tuple[Avalon, AvalonText]
"""Rules with their wording."""


@lru_cache(maxsize=128)
def table_of(
    num_players: int,
    rules: str,
    roles: tuple[str, ...] | None = None,
    *,
    talk: bool = True,
    guesser: str | None = None,
) -> Table:
    """The rules of a preset with their wording, made once for all games of a file; `guesser`: who names Merlin, if not the
    Assassin.
    """
    game = GAME.build(GAME.options(num_players=num_players, rules=rules, roles=roles, talk=talk, guesser=guesser))
    return game, AvalonText(game)


class RecordedGame(RecordedMoves[AvalonState]):
    """A game at its table."""

    def __init__(self, table: Table, game_id: str = GAME.id) -> None:
        self.game, text = table
        super().__init__(game_id, self.game, text)
        self.assumed: list[int] = []
        """Numbers of the moves that the record does not tell."""

    def suppose(self, move: Move, at: JsonObject) -> None:
        """Make a move that the record does not tell."""
        self.assumed.append(len(self.entries))
        self.play(move, at)

    def deal(self, roles: list[str], leader: int, at: JsonObject) -> None:
        """Deal these roles, by seat; `leader` makes the first proposal."""
        self.play(Move(DEALT, (*(self.game.role_names.index(role) for role in roles), leader)), at)

    @property
    def goes(self) -> bool:
        """Whether a team of this round is to go."""
        return self.state.phase in (AvalonPhase.DRAW, AvalonPhase.QUEST)

    @property
    def results(self) -> list[tuple[int, ...]]:
        """For each quest: its number, the fail cards, and 1 if it succeeded."""
        return [event.move.args for event in self.state.log if event.move.kind == FAILS]

    @property
    def score(self) -> dict[str, int]:
        return {GOOD: self.state.standing.good, EVIL: self.state.standing.evil}
