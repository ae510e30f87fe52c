"""What models say about recorded decisions: the log-probability of the move that was made, and whether it was the most probable.

All are arrays with one entry for each decision; NaN where a model says nothing. Beside the network stand

* logistic: a multinomial logistic model of the same inputs, fitted to the same games
* heuristic: how often parlour's heuristic made the same move of `HEURISTIC_DRAWS`, mixed with even chances by the share that fits best
* frequency: how often seats of the role made a move of the sort; even within a sort (see `_sorts`)
* other players by name: clones, and trained networks at the table that they were trained for; a choice model reads about `VIEWED` games
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs import replay
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.vocabulary import DEALT, ROLES
from parlour.envs.core import NATURE, Move, ParlourError
from parlour.envs.registry import build, known
from parlour.policies import ClonedPlayer, TrainedSeat, make_policy
from parlour.policies.cloned import GAME, INPUTS, Layers, places
from parlour.training.learn.batch.recorded import ReplayableGame
from parlour.training.learn.clone.networks import KINDS, Decisions, log_probs

Floats = NDArray[np.float64]
VIEWED: Final = 40
"""About so many games are read by a player that reads Views, one after the other: every k-th game."""
_ROUNDS: Final = 60
_LEAST: Final = 1e-12
_TIE: Final = 1e-9


class Predictions(NamedTuple):
    """Predictions of one model, shape (N,) each."""

    log: Floats
    """Log-probability of the move that was made, in nats."""
    top: Floats
    """1 where the most probable move was made; a share where several are as probable."""

    def columns(self) -> tuple[Floats, Floats]:
        """Both."""
        return self.log, self.top


def by_network(layers: Layers, of: Decisions) -> Predictions:
    """A network for all roles."""
    return _told(np.exp(log_probs(layers, of), dtype=np.float64), of)


def _told(chances: Floats, of: Decisions) -> Predictions:
    """From the probabilities of all actions, (N, A)."""
    best = (chances >= chances.max(axis=1, keepdims=True) - _TIE) & of.mask
    at = np.arange(len(of.action)), of.action
    return Predictions(np.log(np.maximum(chances[at], _LEAST)), best[at] / best.sum(axis=1))


def by_heuristic(learned: Decisions, of: Decisions) -> Predictions:
    """The heuristic, mixed with even chances as fits the decisions to learn from, apart for each kind."""
    log = np.zeros(len(of.action))
    for kind in range(len(KINDS)):
        share, fitted, some = 0.5, learned.kind == kind, of.kind == kind
        even, drawn = 1 / learned.mask[fitted].sum(axis=1), learned.drawn[fitted]
        for _ in range(_ROUNDS if len(even) else 0):
            share = float((share * even / (share * even + (1 - share) * drawn)).mean())
        log[some] = np.log((1 - share) * of.drawn[some] + share / of.mask[some].sum(axis=1))
    return Predictions(log, of.drawn_top.astype(np.float64))


def by_frequency(learned: Decisions, of: Decisions) -> Predictions:
    """Frequencies of sorts of moves by role."""
    counts = np.ones((len(ROLES), len(KINDS), 2))
    sorts = _sorts(learned)[np.arange(len(learned.action)), learned.action]
    np.add.at(counts, (learned.role, learned.kind, sorts), 1)
    sorted_out = _sorts(of)
    weights = counts[of.role[:, None], of.kind[:, None], sorted_out]
    for sort in (0, 1):
        same = (sorted_out == sort) & of.mask
        weights = np.where(same, weights / np.maximum(same.sum(axis=1, keepdims=True), 1), weights)
    weights *= of.mask
    return _told(weights / weights.sum(axis=1, keepdims=True), of)


def _sorts(of: Decisions) -> NDArray[np.int8]:
    """0 or 1 for each action, (N, A): approve or success; a team with oneself; a seat that the night showed to be evil."""
    catalogue, order = of.tables.game.catalogue, of.tables.frame.order[0]
    acts = [catalogue[number] for number in order]
    plain = [0 in move.args if move.kind == vocabulary.TEAM else move.args == (1,) for move in acts]
    sorts = np.repeat(np.array(plain, np.int8)[None], len(of.action), axis=0)
    names = of.tables.names[len(of.tables.game.role_names) :]  # type: ignore[attr-defined]
    shown = [len(INPUTS) + k for k, name in enumerate(names) if name.endswith("shown to me by the night")]
    guesses = np.flatnonzero(of.kind == KINDS.index(vocabulary.GUESS))
    for number, move in enumerate(acts):
        if move.kind == vocabulary.GUESS and move.args:
            sorts[guesses, number] = of.inputs[guesses, shown[move.args[0]]] > 0
    return sorts


def by_player(name: str, games: Sequence[ReplayableGame], of: Decisions) -> Predictions:
    """A clone, or a trained network, by its name; NaN in games of tables where it cannot sit, and for a choice model in all but
    about `VIEWED` games.

    Raises:
        ParlourError: It has no probabilities of moves.
    """
    log, top = np.full((2, len(of.action)), np.nan)
    viewed = {game.number for game in games[:: max(1, len(games) // VIEWED)]}
    by_table: dict[str, list[ReplayableGame]] = {}
    for game in games:
        by_table.setdefault(repr(game.config), []).append(game)
    for same in by_table.values():
        try:
            player = make_policy(name, GAME, same[0].config)
        except ParlourError:
            continue
        rows = np.flatnonzero(np.isin(of.game, [game.number for game in same]))
        if isinstance(player, TrainedSeat):
            table: Any = build(known(GAME).spec, same[0].config)
            here = of.where(np.isin(of.game, of.game[rows]))
            log[rows], top[rows] = _told(seat_chances(player, table, here), here)
        elif isinstance(player, ClonedPlayer):
            for game in (game for game in same if game.number in viewed):
                rows = np.flatnonzero(of.game == game.number)
                log[rows], top[rows] = _by_views(player, game, of.move[rows])
        else:
            raise ParlourError(f"{name} has no probabilities of moves; accepted: clone:FILE, expert, or a policy file")
    return Predictions(log, top)


def seat_chances(player: TrainedSeat, table: Any, of: Decisions) -> Floats:
    """Probabilities of all actions by a trained network at its table, shape (N, A); zero where an action is not legal."""
    observed = np.concatenate([of.inputs[:, places(table)], of.inputs[:, len(INPUTS) :]], axis=1)
    logits = np.where(of.mask, player.scores(observed).astype(np.float64), -np.inf)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    normalised: Floats = chances / chances.sum(axis=1, keepdims=True)
    return normalised


def _by_views(player: ClonedPlayer, game: ReplayableGame, wanted: NDArray[np.int32]) -> Predictions:
    """A choice model at the moves `wanted` of a game."""
    table: Any = build(known(GAME).spec, game.config)
    moves = (Move(DEALT, game.deal), *game.moves)
    log, top = [], []
    at = {int(number) for number in wanted}
    seats = {seat: ClonedPlayer(player.network) for seat in range(table.seats)}
    for number, state in enumerate(list(replay.states(table, moves))[1:-1]):
        seat = table.actor(state)
        if number not in at or seat == NATURE:
            continue
        view = table.view(state, seat)
        chances = seats[seat].chances(view)
        taken = view.legal.index(game.moves[number])
        best = chances >= chances.max() - _TIE
        log.append(np.log(max(chances[taken], _LEAST)))
        top.append(best[taken] / best.sum())
    return Predictions(np.array(log), np.array(top))
