"""Mediated question answering by heuristic: the mediator sends a deep search after well-connected questions, and is
silent without a signal; the modules do as they are told.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.core import Move

ADVISE: Final = "advise"
_DEEP_AND_ANSWER: Final = (1, 0, 1)  # retrieve deeply, generate, no check
_AGREE: Final = (0, 1, 1)  # retrieve shallowly, generate by consistency, no check
_NO_SIGNAL: Final = 9  # the number of the state s0, the last of ten; before it T and Q from low to high


class MediatedPlayer:
    """One seat of one game."""

    def __init__(self, view: Any, rng: np.random.Generator) -> None:
        self._rng = rng

    def act(self, view: Any) -> Move:
        """The move, one of `view.legal`."""
        kind = view.legal[0].kind
        if kind != ADVISE:
            return Move(kind, view.advice)
        good = view.signal != _NO_SIGNAL and view.signal % 3 > 0
        return Move(ADVISE, _DEEP_AND_ANSWER if good else _AGREE)
