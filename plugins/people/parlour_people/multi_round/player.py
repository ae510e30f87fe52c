"""The heuristic of Avalon with the consultation: it learns who is evil, and names whom it holds for Merlin."""

from __future__ import annotations

import numpy as np
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move
from parlour.policies.heuristic.avalon import AvalonPlayer

from parlour_people.multi_round.rules import CONSULT, GATHERS


def take_gathering(belief: AvalonBelief, move: Move) -> None:
    """Let the belief of a seat know the evil side, if the move is the gathering to which the seat belongs."""
    if move.kind == GATHERS and belief.seat in move.args:
        belief.add(np.where(belief.evil[:, list(move.args)].all(axis=1), 0.0, -50.0))


class MultiRoundPlayer(AvalonPlayer):
    """One seat of one game, of `avalon_v0` too."""

    def act(self, view: AvalonView) -> Move:
        if view.legal[0].kind != CONSULT:
            return super().act(view)
        self.read(view)
        return Move(CONSULT, (self._likely_merlin(),))

    def read(self, view: AvalonView) -> None:
        for event in view.events[self._seen :]:
            take_gathering(self.belief, event.move)
            if event.move.kind == GATHERS:
                self._fellows = frozenset(event.move.args)
        super().read(view)
