"""The posterior of a seat in a game with too many hidden moves to list: games that fit what it has seen, drawn and weighed.

Many array games start from deals that the seat holds possible and play its rounds again. Moves that it knows are given, and weigh
the games by how likely the network makes them; hidden moves are drawn from the network, with more weight on those that lead to what
is known, and the weights are corrected for that (importance sampling). Games that do not fit are dropped, and the others multiplied
(a particle filter: Gordon, Salmond and Smith 1993). Rounds that are over are played once in a game.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.batch.tables import HOLD
from parlour.envs.core import Move, View
from parlour.policies.search.network import Array, SearchTable
from parlour.policies.search.posterior import MOST, Posterior, UnknownHistoryError

_ATTEMPTS: Final = 3


class Particles:
    """Follows what one seat sees in one game.

    Args:
        table: The table.
        slip: Share of the others' moves that are taken for random ones, above 0.
    """

    def __init__(self, table: SearchTable, slip: float) -> None:
        self._table, self._slip = table, slip
        self._rounds: list[Any] = []
        self._states: Array | None = None
        self._log_weight = np.zeros(MOST)

    def posterior(self, view: View, rng: np.random.Generator) -> Posterior:
        """Weigh games that may stand behind a View, each at the turn of its seat.

        Raises:
            UnknownHistoryError: No drawn game fits.
        """
        rounds = self._table.rounds.of(view)
        past = [one for one in rounds if one.closed]
        for _ in range(_ATTEMPTS):
            if self._states is None or past[: len(self._rounds)] != self._rounds:
                self._start(view, rng)
            if self._follow(view, past, rng):
                known = self._at_turn(view, [one for one in rounds if not one.closed], rng)
                if known is not None:
                    return known
            self._states = None
        raise UnknownHistoryError(f"none of {MOST} drawn games fits; accepted: a game in which some do")

    # -- inside ------------------------------------------------------------------------------------------------

    def _start(self, view: View, rng: np.random.Generator) -> None:
        tables = self._table.tables(MOST)
        tables.reset(int(rng.integers(2**63)))
        tables.deal(self._table.rounds.deals(view, tables.num_envs, rng))
        self._rounds, self._states, self._log_weight = [], tables.state(), np.zeros(MOST)

    def _follow(self, view: View, past: list[Any], rng: np.random.Generator) -> bool:
        """Play the rounds that are over; False if no game is left."""
        for one in past[len(self._rounds) :]:
            known = self._played(one, view, rng)
            if known is None:
                return False
            self._states, self._log_weight = known
            self._rounds.append(one)
        return True

    def _at_turn(self, view: View, rest: list[Any], rng: np.random.Generator) -> Posterior | None:
        """The games at the turn of the seat, after what was done in an open round; None if there is none."""
        states, log_weight = self._states, self._log_weight
        for one in rest:
            known = self._played(one, view, rng)
            if known is None:
                return None
            states, log_weight = known
        assert states is not None
        weight = np.exp(log_weight - log_weight.max())
        kept = np.flatnonzero(weight > 0)
        return Posterior(weight[kept] / weight[kept].sum(), states[kept])

    def _played(self, one: Any, view: View, rng: np.random.Generator) -> tuple[Array, Array] | None:
        """States and log-weights after a round; None if no game is left."""
        tables, rounds = self._table.tables(MOST), self._table.rounds
        turns, games = tables.restore(self._states), tables.games  # type: ignore[arg-type]
        log_weight = self._log_weight.copy()
        moved = np.zeros(MOST, bool)
        while True:
            games = tables.games
            active = rounds.goes_on(one, games) & (log_weight > -np.inf) & ~(moved & one.once)
            rows = np.flatnonzero(active)
            actions, log_weight[rows], stays = self._moves(one, view, turns, rows, rng, log_weight[rows])
            if not len(rows) or stays.all():
                break
            moved[rows] = True
            turns = tables.step(actions)
        log_weight[~rounds.fits(one, games, view)] = -np.inf
        if not one.closed:
            other = (turns.mask != self._table.mask(view)).any(axis=1)
            log_weight[other | (turns.actor != view.seat)] = -np.inf
        if not (log_weight > -np.inf).any():
            return None
        return self._spread(tables.state(), log_weight, rng) if one.closed else (tables.state(), log_weight)

    def _moves(
        self, one: Any, view: View, turns: Any, rows: Array, rng: np.random.Generator, log_weight: Array
    ) -> tuple[Array, Array, Array]:
        """Actions of all games, the weights of the rows after them, and which rows stay at the seat's own turn."""
        games = self._table.tables(MOST).games
        actions = np.full(MOST, HOLD, np.int32)
        stays = np.zeros(len(rows), bool)
        if not len(rows):
            return actions, log_weight, stays
        asked = games.actor[rows].astype(np.int64) * 16 + games.phase[rows]
        given = np.full(len(rows), HOLD, np.int32)
        for key in np.unique(asked):
            seat, phase = divmod(int(key), 16)
            move = self._table.rounds.given(one, seat, phase)
            if move is not None:
                given[asked == key] = self._table.frame.own[seat, self._table.number[Move(move.kind, move.args)]]
            elif seat == view.seat:
                stays[asked == key] = True
        own = games.actor[rows] == view.seat
        legal = turns.mask[rows, np.maximum(given, 0)] == 1
        actions[rows[own & ~stays]] = given[own & ~stays]
        others = np.flatnonzero(~own)
        if len(others):
            actions[rows[others]], gained = self._of_others(one, turns, rows[others], given[others], rng)
            log_weight[others] += gained
        impossible = ~legal & (given != HOLD)
        log_weight[impossible], actions[rows[impossible]] = -np.inf, HOLD
        if one.closed:
            log_weight[stays] = -np.inf
        return actions, log_weight, stays

    def _of_others(
        self, one: Any, turns: Any, rows: Array, given: Array, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """The moves of the others, given or drawn, and the logarithms of their weights."""
        mask = turns.mask[rows]
        likely = np.exp(self._table.log_probs(turns.observation[rows], mask))
        likely = (1 - self._slip) * likely + self._slip * mask / mask.sum(axis=1, keepdims=True)
        at = np.arange(len(rows))
        drawn = given.copy()
        hidden = np.flatnonzero(given == HOLD)
        log_weight = np.zeros(len(rows))
        if len(hidden):
            with np.errstate(divide="ignore"):
                leaning = np.log(likely[hidden])
            self._table.rounds.lean(one, self._table.tables(MOST).games, rows[hidden], leaning)
            leaning = np.exp(leaning - leaning.max(axis=1, keepdims=True))
            leaning /= leaning.sum(axis=1, keepdims=True)
            left = rng.random(len(hidden))[:, None]
            chosen = np.minimum((leaning.cumsum(axis=1) < left).sum(axis=1), leaning.shape[1] - 1)
            drawn[hidden] = chosen
            log_weight[hidden] = -np.log(leaning[at[: len(hidden)], chosen])
        with np.errstate(divide="ignore"):
            log_weight += np.log(likely[at, drawn])
        return drawn, log_weight

    def _spread(self, states: Array, log_weight: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Multiply likely games and drop unlikely ones where few carry the weight (systematic resampling)."""
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        if 1 / (weight**2).sum() >= MOST / 2:
            return states, log_weight - log_weight.max()
        places = (np.arange(MOST) + rng.random()) / MOST
        rows = np.minimum(np.searchsorted(weight.cumsum(), places), MOST - 1)
        return states[rows], np.zeros(MOST)
