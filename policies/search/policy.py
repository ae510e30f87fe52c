"""`search:expert`: at each decision, play continuations of the game from what the seat holds possible, and choose by their results.

At a turn the player weighs all histories that fit its View (`posterior.py`), or in games with many hidden moves games
that it draws (`particles.py`), by how likely the families of players that may sit in the other seats make them (`others.py`). It plays
each of its own moves on in deals drawn by these weights, to the end or up to a depth at which a critic says what the game is worth
(`continuations.py`). It takes a move with a probability in proportion to the network's own, times the exponential of its
win rate over `temperature`. So it stays as unpredictable as the network where moves are level (piKL: Jacob et al. 2022, "Modeling
Strong and Human-Like Gameplay with KL-Regularized Search", arXiv 2112.07544). The network's own probabilities are mixed
with the heuristic's. The share of these, `literal`, is by default the share of other seats that play differently from the network. So a
convention of the network is given up where nobody shares it. A soft minimum over the kinds of player in `others` may take the place of
the mean win rate.
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
from parlour.policies.search.others import OWN, Array, others_of, usual
from parlour.policies.search.particles import Particles
from parlour.policies.search.posterior import Posterior, SearchTable, UnknownHistoryError, posterior
from parlour.policies.seating import Seating
from parlour.policies.trained import TrainedSeat
from pydantic import Field

__all__ = ["SEARCH", "SearchPolicy", "SearchSettings"]

SEARCH: Final = "search"
_BLOCK: Final = 64
"""Deals in which every considered move is continued before the clock is read again."""


def soft_minimum(results: Array, share: Array, weight: float) -> Array:
    """The win rate of each move over kinds of player: -log(sum over kinds of P(kind) exp(-weight * win rate among it)) / weight.

    That is the entropic risk measure; for a small weight it is the mean, for a large one the worst kind.

    >>> results, share = np.array([[1.0, 0.0], [0.5, 0.5]]), np.eye(2)  # each deal among another kind
    >>> soft_minimum(results, share, 0.0), soft_minimum(results, share, 100.0).round(2)
    (array([0.5, 0.5]), array([0.01, 0.5 ]))

    Args:
        results: (M, deals): the result of each move in each deal, 0 to 1.
        share: (deals, F): how many of the other seats each kind holds there.
        weight: From 0, without a unit.
    """
    if not weight:
        mean: Array = results.mean(axis=1)
        return mean
    there = share[:, share.any(axis=0)]
    among = results @ there / there.sum(axis=0)
    cautious: Array = -np.log(np.exp(-weight * among) @ there.mean(axis=0)) / weight
    return cautious


class SearchSettings(Settings):
    """What can be set."""

    player: str = EXPERT
    """Whose network plays the continuations: `expert`, or the file of a trained seat."""
    continuations: int = Field(default=250, ge=1)
    """Games that are played on at each decision."""
    depth: int | None = Field(default=None, ge=1)
    """Moves after which a continuation is cut and valued by a critic, fitted before the first decision; None: to the end."""
    seconds: float | None = Field(default=None, ge=0)
    """Time after which no further continuations begin; a game with this limit cannot be reproduced byte for byte."""
    temperature: float = Field(default=0.1, ge=0.001)
    """The win rate, 0..1, that outweighs a move that the network takes e times as often."""
    others: tuple[str, ...] | None = None
    """Who may sit in the other seats, joined by +: `own` for the same network, `expert`, `heuristic`, `random`, `logic`, `mcts`,
    files of trained seats; with one setting where they take some, such as `expert:style=selfplay`.
    None: `own`, and in Avalon without talk also `heuristic`, `logic` and `random`."""
    own_prior: float = Field(default=0.8, ge=0, le=1)
    """Probability before the game that another seat is `own`, if others are possible; these share the rest equally."""
    together: float = Field(default=0.8, ge=0, le=1)
    """Probability before the game that all other seats are of one kind; otherwise each is of any, independently."""
    slip: float = Field(default=0.02, ge=0.0001, le=1)
    """Share of the others' moves that the posterior takes for random ones."""
    least: float = Field(default=0.02, ge=0, le=1)
    """Moves that the network, or its mixture with the heuristic, takes less often are not considered."""
    literal: float | None = Field(default=None, ge=0, le=1)
    """Share of the heuristic in the probabilities that the search starts from; None: the share of other seats that play differently from
    the network, by the posterior."""
    soft_minimum: float = Field(default=0.0, ge=0)
    """How much kinds of `others` count among which a move wins less; 0: as they are likely, 30: nearly the worst alone."""


def _considered(chances: Array, least: float) -> Array:
    """Which moves have at least this probability; without any, the most probable."""
    return np.flatnonzero(chances >= min(least, chances.max()))


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
        kinds = usual(network) if self.chosen.others is None else self.chosen.others
        chosen = self.chosen
        self._others = others_of(kinds, network, chosen.slip, chosen.own_prior, chosen.together)
        self._mixes = kinds != (OWN,) if self.chosen.literal is None else self.chosen.literal > 0
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
        began = time.monotonic()
        self._considered = {}
        own, log_prob = self._table.moves_of(view)
        considered = _considered(np.exp(log_prob), self.chosen.least)
        if len(own) > 1 and (len(considered) > 1 or self._mixes):
            try:
                continuations = self._continuations(view)
            except UnknownHistoryError as error:
                self._considered = {"not searched": str(error)}
            else:
                chances = self._anchor(np.exp(log_prob), own, continuations)
                considered = _considered(chances, self.chosen.least)
                win_rates, errors = self._win_rates(continuations, own[considered], began)
                with np.errstate(divide="ignore"):
                    log_prob = np.log(chances)
                log_prob[considered] += win_rates / self.chosen.temperature
                self._note(info, considered, chances, win_rates, errors)
        chosen = 0 if len(considered) == 1 else self.rng.choice(len(considered), p=softmax(log_prob[considered]))
        return int(info["legal"][considered[chosen]])

    def notes(self) -> dict[str, Any]:
        """What the last decision considered: moves, the network's probabilities, win rates, standard errors; or why it did not search."""
        return {"search": self._considered} if self._considered else {}

    def settings(self) -> dict[str, Any]:
        return self.chosen.plain()

    # -- inside ------------------------------------------------------------------------------------------------

    def _continuations(self, view: View) -> Continuations:
        """Raises as `posterior` does."""
        if self.chosen.depth is not None and self._critic is None:
            self._critic = practised(self._table)
        at = self._table, self._others, self._posterior(view), view.seat
        return Continuations(*at, self.chosen.depth, self._critic)

    def _anchor(self, network: Array, own: Array, continuations: Continuations) -> Array:
        """The probabilities of the legal moves that the search starts from, given the network's."""
        share = self.chosen.literal
        if share is None:
            share = continuations.strangers()
        if not share:
            return network
        mixed: Array = (1 - share) * network + share * continuations.literal_chances(self.rng)[own]
        return mixed

    def _win_rates(self, continuations: Continuations, moves: Array, began: float) -> tuple[Array, Array]:
        """The win rate of each move, 0..1, and its standard error; no more continuations begin `seconds` after `began`."""
        left = max(1, self.chosen.continuations // len(moves))
        block = _BLOCK if self.chosen.seconds is not None else self.chosen.continuations
        played: list[tuple[Array, Array]] = []
        limit = math.inf if self.chosen.seconds is None else self.chosen.seconds
        while left > 0 and (not played or time.monotonic() - began < limit):
            played.append(continuations.play(moves, min(left, block), self.rng))
            left -= block
        results = (np.concatenate([returns for returns, _ in played], axis=1) + 1) / 2
        share = np.concatenate([share for _, share in played])
        errors = results.std(axis=1) / np.sqrt(results.shape[1])
        return soft_minimum(results, share, self.chosen.soft_minimum), errors

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
