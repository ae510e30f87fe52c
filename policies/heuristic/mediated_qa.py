"""Mediated question answering by heuristic: the mediator sends a deep search after well-connected questions, and is
silent without a signal; the modules obey. At a table with other actions it recommends the first joint action.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from parlour.envs.core import Move
from parlour.envs.mediated_qa import vocabulary as game
from parlour.envs.mediated_qa.vocabulary import MediatedView

_DEEP_AND_ANSWER: Final = game.Joint(game.Retrieve.DEEP, game.Generate.FROM_EVIDENCE, game.Check.SKIP)
_AGREE: Final = game.Joint(game.Retrieve.SHALLOW, game.Generate.CONSISTENT, game.Check.SKIP)


class MediatedPlayer:
    """One seat of one game."""

    def __init__(self, view: MediatedView, rng: np.random.Generator) -> None:
        self._rng = rng

    def act(self, view: MediatedView) -> Move:
        """The move, one of `view.legal`."""
        kind = view.legal[0].kind
        if kind != game.ADVISE:
            return Move(kind, view.advice)
        if view.own:
            return view.legal[0]
        good = game.STATES[view.signal] != game.NO_SIGNAL and view.signal % 3 > 0
        return Move(game.ADVISE, _DEEP_AND_ANSWER if good else _AGREE)
