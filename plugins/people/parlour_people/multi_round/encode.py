"""The features of Avalon at these tables; they do not show the consultation."""

from __future__ import annotations

from parlour.envs.avalon.encode import AvalonEncoders
from parlour.envs.core import Move

from parlour_people.multi_round.rules import CONSULT


class MultiRoundEncoders(AvalonEncoders):
    """The features of a table."""

    def turned(self, move: Move, by: int) -> Move:
        if move.kind != CONSULT:
            return super().turned(move, by)
        return move._replace(args=tuple((seat + by) % self.game.seats for seat in move.args))
