"""Networks fitted to recorded games of Avalon: one for each number of players, for all roles, by imitation.

A multi-layer perceptron over the features `belief` learns what was done by Adam on the cross-entropy, with dropout, weight decay and a
learning rate that falls linearly to zero. The other seats differ only in their order: each minibatch gives them
new random numbers, in inputs and in actions.

What models say about recorded decisions are arrays with one entry for each decision; NaN where a model says nothing. Beside the
network stand

* heuristic: how often parlour's heuristic made the same move of `HEURISTIC_DRAWS`, mixed with even chances by the share that fits best
* frequency: how often seats of the role made a move of the sort; even within a sort (see `_sorts`)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.batch.players import HeuristicSeats
from parlour.envs.core import Move
from parlour.policies.network import forward, log_softmax
from parlour.training.learn.batch.networks import layers_of, use_one_thread, weights_of
from torch import nn
from torch.nn import functional

from parlour_people.clone.recorded import RecordedTurn, ReplayableGame, replayed
from parlour_people.cloned import FEATURES, INPUTS, Layers, inputs_of

HIDDEN: Final = (192, 64)
DROPOUT: Final = 0.25
DECAY: Final = 0.01
LEARNING_RATE: Final = 1e-3
BATCH: Final = 512
HEURISTIC_DRAWS: Final = 40
"""How often the heuristic is asked at each decision."""
_ILLEGAL: Final = -1e9
_PLACE: Final = re.compile(r"(?<!\w)(me|\+\d+)(?!\w)")
KINDS: Final = (vocabulary.BALLOT, vocabulary.TEAM, vocabulary.CARD, vocabulary.GUESS)
"""Kinds of decisions; a kind's number is its place."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """N decisions of games with one number of players."""

    tables: Any
    """Some table with this number of players; actions have the same numbers at all."""
    inputs: NDArray[np.float32]
    """What a network reads, shape (N, D)."""
    mask: NDArray[np.bool_]
    """What was legal, shape (N, A)."""
    action: NDArray[np.int64]
    game: NDArray[np.int32]
    """Number of the game, shape (N,)."""
    kind: NDArray[np.int8]
    """A number into `KINDS`, shape (N,)."""
    role: NDArray[np.int8]
    """A number into `ROLES`, shape (N,)."""
    drawn: NDArray[np.float32]
    """How often the heuristic did the same, of `HEURISTIC_DRAWS`, shape (N,)."""
    drawn_top: NDArray[np.float32]
    """1 where the heuristic did this most often; a share where several as often."""

    def where(self, chosen: NDArray[np.bool_]) -> Decisions:
        """The decisions at which `chosen` is true."""
        return Decisions(self.tables, *(getattr(self, name)[chosen] for name in _ARRAYS))


_ARRAYS: Final = ("inputs", "mask", "action", "game", "kind", "role", "drawn", "drawn_top")


def decisions_of(games: Sequence[ReplayableGame]) -> Decisions:
    """The decisions of games with one number of players, at least one, in the order of their tables."""
    by_table: dict[str, list[ReplayableGame]] = {}
    for game in games:
        by_table.setdefault(repr(sorted(game.config.items())), []).append(game)
    parts: list[tuple[Any, ...]] = []
    tables = None
    for same in by_table.values():
        rule = HeuristicSeats()
        for turn in replayed(same, FEATURES):
            if tables is not turn.tables:
                tables = turn.tables
                rule.reset(tables, ())
            parts.append(_of_turn(turn, rule))
    if tables is None:
        raise ValueError("no game with a decision")
    return Decisions(tables, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _of_turn(turn: RecordedTurn, rule: HeuristicSeats) -> tuple[Any, ...]:
    """The columns of `Decisions` at one turn."""
    tables, turns, rows = turn.tables, turn.turns, turn.rows
    table: Any = tables.game
    kinds = np.array([KINDS.index(move.kind) if move.kind in KINDS else -1 for move in table.catalogue], np.int8)
    roles = np.array([ROLES.index(name) for name in table.role_names], np.int8)
    drawn = np.zeros((len(rows), tables.actions), np.float32)
    actions = np.zeros(tables.num_envs, np.int32)
    for _ in range(HEURISTIC_DRAWS):
        rule.choose(turns, rows, actions)
        drawn[np.arange(len(rows)), actions[rows]] += 1 / HEURISTIC_DRAWS
    best = drawn >= drawn.max(axis=1, keepdims=True) - 1e-6
    at = np.arange(len(rows)), turn.actions
    return (
        inputs_of(table, turns.observation[rows]),
        turns.mask[rows] != 0,
        turn.actions.astype(np.int64),
        turn.games,
        kinds[tables.frame.order[0, turn.actions]],
        roles[tables.roles[rows, turns.actor[rows]]],
        drawn[at],
        (best[at] / best.sum(axis=1)).astype(np.float32),
    )


# -- seats numbered anew -------------------------------------------------------------------------------------------


class Renumbered(NamedTuple):
    """How inputs and actions are found where other seats have other numbers."""

    inputs: torch.Tensor
    """Column of each input, shape (D,)."""
    actions: torch.Tensor
    """Number of each action before, shape (A,)."""
    after: torch.Tensor
    """Number of each action after, shape (A,)."""


class SeatOrders:
    """Draws orders of the other seats of a table.

    Args:
        tables: With any roles.
    """

    def __init__(self, tables: Any) -> None:
        self._seats, self._catalogue = tables.seats, tables.game.catalogue
        self._numbers = {move: number for number, move in enumerate(self._catalogue)}
        names = [*INPUTS, *tables.names[len(tables.game.role_names) :]]
        self._width = len(names)
        by_feature: dict[str, dict[int, int]] = {}
        for column, name in enumerate(names):
            if (match := _PLACE.search(name)) is not None:
                place = 0 if match[1] == "me" else int(match[1])
                by_feature.setdefault(_PLACE.sub("*", name, count=1), {})[place] = column
        whole = [of for of in by_feature.values() if len(of) == self._seats]
        self._columns = np.array([[of[place] for place in range(self._seats)] for of in whole])

    def draw(self, rng: np.random.Generator) -> Renumbered:
        """Seat 0 stays; the others are dealt new numbers."""
        to = np.concatenate([[0], 1 + rng.permutation(self._seats - 1)])
        inputs = np.arange(self._width)
        inputs[self._columns[:, to]] = self._columns
        before = np.array([self._numbers[_renumbered(move, to)] for move in self._catalogue])
        actions = np.empty_like(before)
        actions[before] = np.arange(len(before))
        return Renumbered(*(torch.from_numpy(array) for array in (inputs, actions, before)))


def _renumbered(move: Move, to: NDArray[np.int64]) -> Move:
    if move.kind not in (vocabulary.TEAM, vocabulary.GUESS):
        return move
    return Move(move.kind, tuple(sorted(int(to[seat]) for seat in move.args)))


# -- fitting -----------------------------------------------------------------------------------------------------


def fit_network(learned: Decisions, seed: int, epochs: int) -> Layers:
    """A network for these decisions; the same seed gives the same network.

    Args:
        learned: At least one.
        seed: Seed of the first weights, the order of the decisions and the numbers of the seats.
        epochs: Passes over the decisions.
    """
    use_one_thread()
    rng = np.random.default_rng((seed, 1))
    network = _made((learned.inputs.shape[1], *HIDDEN, learned.mask.shape[1]), torch.Generator().manual_seed(seed))
    orders = SeatOrders(learned.tables)
    adam = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=DECAY)
    seen, illegal, action = (torch.from_numpy(array) for array in (learned.inputs, ~learned.mask, learned.action))
    count = len(learned.action)
    batches = max(1, count // BATCH)
    dropped = torch.Generator().manual_seed(seed + 1)
    drawn_parts = (part for _ in range(epochs) for part in np.array_split(rng.permutation(count), batches))
    for number, rows in enumerate(map(torch.from_numpy, drawn_parts)):
        for group in adam.param_groups:
            group["lr"] = LEARNING_RATE * max(0.02, 1 - number / (epochs * batches))
        inputs, closed, taken = seen[rows], illegal[rows], action[rows]
        drawn = orders.draw(rng)
        inputs, closed, taken = inputs[:, drawn.inputs], closed[:, drawn.actions], drawn.after[taken]
        logits = _with_dropout(network, inputs, dropped).masked_fill(closed, _ILLEGAL)
        adam.zero_grad()
        functional.cross_entropy(logits, taken).backward()  # type: ignore[no-untyped-call]
        adam.step()
    return weights_of(network)


def _made(sizes: Sequence[int], generator: torch.Generator) -> nn.Sequential:
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layer = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
        bound = inputs**-0.5
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
        parts.append(layer)
    return nn.Sequential(*parts)


def _with_dropout(network: nn.Sequential, inputs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Logits; a share of the hidden units is left out."""
    *inside, last = layers_of(network)
    hidden = inputs
    for layer in inside:
        hidden = torch.relu(layer(hidden))
        kept = torch.rand(hidden.shape, generator=generator) >= DROPOUT
        hidden = hidden * kept / (1 - DROPOUT)
    logits: torch.Tensor = last(hidden)
    return logits


def log_probs(layers: Layers, of: Decisions) -> NDArray[np.float32]:
    """Log-probabilities of all actions, shape (N, A); far below zero where an action is not legal."""
    return log_softmax(np.where(of.mask, forward(layers, of.inputs, "relu"), _ILLEGAL))


Floats = NDArray[np.float64]
_ROUNDS: Final = 60
_LEAST: Final = 1e-12
_TIE: Final = 1e-9


class Predictions(NamedTuple):
    """Predictions of one model, shape (N,) each."""

    log: Floats
    """Log-probability of the move that was made, in nats."""
    top: Floats
    """1 where the most probable move was made; a share where several are as probable."""


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
    names = of.tables.names[len(of.tables.game.role_names) :]
    shown = [len(INPUTS) + k for k, name in enumerate(names) if name.endswith("shown to me by the night")]
    guesses = np.flatnonzero(of.kind == KINDS.index(vocabulary.GUESS))
    for number, move in enumerate(acts):
        if move.kind == vocabulary.GUESS and move.args:
            sorts[guesses, number] = of.inputs[guesses, shown[move.args[0]]] > 0
    return sorts
