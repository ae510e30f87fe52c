"""`search:expert`: at each decision, play continuations of the game from what the seat holds possible, and choose by their results.

At a turn the player weighs all histories that fit its View (`posterior.py`), or in games with many hidden moves games
that it draws (`particles.py`), by how likely the families of players that may sit in the other seats make them (`others.py`). It plays
each of its own moves on in deals drawn by these weights, to the end or up to a depth at which a critic says what the game is worth
(`continuations.py`). It takes a move with a probability in proportion to the network's own, times the exponential of its
win rate over `temperature`. So it stays as unpredictable as the network where moves are level (piKL: Jacob et al. 2022, "Modeling
Strong and Human-Like Gameplay with KL-Regularized Search", arXiv 2112.07544).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.core import ParlourError, View
from parlour.envs.settings import Settings
from parlour.policies.base import TablePolicy
from parlour.policies.experts.catalogue import EXPERT, expert
from parlour.policies.network import softmax
from parlour.policies.search.continuations import Continuations, Critic, practised
from parlour.policies.search.others import OWN, others_of
from parlour.policies.search.particles import Particles
from parlour.policies.search.posterior import Posterior, SearchTable, UnknownHistoryError, posterior
from parlour.policies.seating import Seating
from parlour.policies.trained import TrainedSeat
from pydantic import Field

__all__ = ["SEARCH", "SearchPolicy", "SearchSettings"]

SEARCH: Final = "search"
_BLOCK: Final = 64
"""Deals in which every considered move is continued before the clock is read again."""


class SearchSettings(Settings):
    """What can be set."""

    player: str = EXPERT
    """Whose network plays the continuations: `expert`, or the file of a trained seat."""
    continuations: int = Field(default=1000, ge=1)
    """Games that are played on at each decision."""
    depth: int | None = Field(default=None, ge=1)
    """Moves after which a continuation is cut and valued by a critic, fitted before the first decision; None: to the end."""
    seconds: float | None = Field(default=None, ge=0)
    """Time after which no further continuations begin; a game with this limit cannot be reproduced byte for byte."""
    temperature: float = Field(default=0.1, ge=0.001)
    """The win rate, 0..1, that outweighs a move that the network takes e times as often."""
    others: tuple[str, ...] = (OWN,)
    """Who may sit in the other seats, joined by +: `own` for the same network, `expert`, `heuristic`, `random`, `logic`, `mcts`,
    files of trained seats; with one setting where they take some, such as `expert:style=strangers`."""
    slip: float = Field(default=0.02, ge=0.0001, le=1)
    """Share of the others' moves that the posterior takes for random ones."""
    least: float = Field(default=0.02, ge=0, le=1)
    """Moves that the network takes less often are not considered."""


class SearchPolicy(TablePolicy):
    """Searches at each decision with a trained network. Needs `info="full"`, and Numba (extra `batch`).

    Args:
        network: Who plays the continuations.
        chosen: The settings.

    Raises:
        ParlourError: The game has no histories or rounds or no kernels for this table, or one of the others cannot sit there.
    """

    name: ClassVar[str] = SEARCH
    wants: ClassVar[str] = "view"
    settings_type: ClassVar[type[Settings]] = SearchSettings

    def __init__(self, network: TrainedSeat, chosen: SearchSettings | None = None) -> None:
        super().__init__()
        self.network, self.chosen = network, chosen or SearchSettings()
        self.table = network.game, network.config
        self._table = SearchTable(network)
        self._others = others_of(self.chosen.others, network, self.chosen.slip)
        self._critic: Critic | None = None
        self._particles: Particles | None = None
        self._considered: dict[str, Any] = {}

    @classmethod
    def make(cls, settings: SearchSettings, at: Seating) -> Self:
        name, table = settings.player, (at.game, at.config)
        return cls(expert(*table) if name == EXPERT else TrainedSeat.load_for(name, *table), settings)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._particles = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if `info` holds no View."""
        view: View | None = info.get("view")
        if view is None:
            raise ParlourError(f"{SEARCH} reads info['view']; accepted: an environment with info='full'")
        self._considered = {}
        own, log_prob = self._table.moves_of(view)
        considered = np.flatnonzero(np.exp(log_prob) >= min(self.chosen.least, np.exp(log_prob.max())))
        chosen = int(considered[0])
        if len(considered) > 1:
            score = log_prob[considered]
            try:
                win_rates, errors = self._win_rates(view, own[considered])
            except UnknownHistoryError as error:
                self._considered = {"not searched": str(error)}
            else:
                score = score + win_rates / self.chosen.temperature
                self._note(info, considered, np.exp(log_prob), win_rates, errors)
            chosen = int(considered[self.rng.choice(len(considered), p=softmax(score))])
        return int(info["legal"][chosen])

    def notes(self) -> dict[str, Any]:
        """What the last decision considered: moves, the network's probabilities, win rates, standard errors; or why it did not search."""
        return {"search": self._considered} if self._considered else {}

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    # -- inside ------------------------------------------------------------------------------------------------

    def _win_rates(self, view: View, moves: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The win rate of each move, 0..1, and its standard error. Raises as `posterior` does."""
        began = time.monotonic()
        if self.chosen.depth is not None and self._critic is None:
            self._critic = practised(self._table)
        known = self._posterior(view)
        at = self._table, self._others, known, view.seat
        continuations = Continuations(*at, self.chosen.depth, self._critic)
        left = max(1, self.chosen.continuations // len(moves))
        block = _BLOCK if self.chosen.seconds is not None else self.chosen.continuations
        returns: list[np.ndarray[Any, Any]] = []
        limit = math.inf if self.chosen.seconds is None else self.chosen.seconds
        while left > 0 and (not returns or time.monotonic() - began < limit):
            returns.append(continuations.play(moves, min(left, block), self.rng))
            left -= block
        results = (np.concatenate(returns, axis=1) + 1) / 2
        return results.mean(axis=1), results.std(axis=1) / np.sqrt(results.shape[1])

    def _posterior(self, view: View) -> Posterior:
        if self._table.rounds is None:
            return posterior(self._table, view, self._others, self.rng)
        if self._particles is None:
            self._particles = Particles(self._table, self._others)
        return self._particles.posterior(view, self.rng)

    def _note(self, info: Mapping[str, Any], considered: Any, chances: Any, win_rates: Any, errors: Any) -> None:
        options = info.get("options") or [str(place) for place in info["legal"]]
        self._considered = {
            "moves": [options[k] for k in considered],
            "network": [round(float(chances[k]), 4) for k in considered],
            "win_rate": [round(float(rate), 4) for rate in win_rates],
            "error": [round(float(error), 4) for error in errors],
        }
