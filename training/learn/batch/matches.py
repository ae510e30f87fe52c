"""Matches over arrays: two players as whole sides, or one in a single seat, on common deals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.training.learn.batch.networks import use_one_thread
from parlour.training.measure.statistics import Estimate, mean_estimate

Winners = NDArray[np.int8]


def play(
    tables: BatchTables, players: Sequence[BatchPlayer], seating: NDArray[np.int8], seeds: Sequence[int]
) -> Winners:
    """Play one game for each seed to its end.

    Args:
        tables: Made with `autoreset=False`; no more seeds than tables.
        players: Who plays.
        seating: Number of the player of each seat, shape (len(seeds), n).
        seeds: One deal each.

    Returns:
        The side that won each game, a number into `spec.sides`; -1 for a draw.
    """
    count = len(seeds)
    padded = _padded(seeds, tables)
    turns = tables.reset(padded)
    use_one_thread()
    for number, player in enumerate(players):
        player.reset(tables, padded, number)
    places = np.zeros((tables.num_envs, tables.seats), np.int8)
    places[:count] = seating
    actions = np.zeros(tables.num_envs, np.int32)
    winners = np.full(tables.num_envs, -1, np.int8)
    everyone = np.arange(tables.num_envs)
    while (turns.actor >= 0).any():
        who = np.where(turns.actor >= 0, places[everyone, turns.actor], -1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(who == number).astype(np.int32)
            if len(rows):
                player.choose(turns, rows, actions)
        turns = tables.step(actions)
        ended = turns.terminated != 0
        winners[ended] = tables.winner[ended]
    return winners[:count]


def _padded(seeds: Sequence[int], tables: BatchTables) -> list[int]:
    """A seed for every table; what is played beyond the given ones is not looked at."""
    return [*seeds, *([seeds[0]] * (tables.num_envs - len(seeds)))]


def sides_of(tables: BatchTables, seeds: Sequence[int]) -> NDArray[np.int8]:
    """The side of each seat in the deals of these seeds, shape (len(seeds), n)."""
    tables.reset(_padded(seeds, tables))
    return tables.side[: len(seeds)].copy()


@dataclass(frozen=True)
class SidesResult:
    """Two players as whole sides, each deal from both sides."""

    sides: tuple[str, ...]
    won: NDArray[np.bool_]
    """Whether the first player won as each side, shape (deals, 2)."""
    lost: NDArray[np.bool_]

    @property
    def points(self) -> Estimate:
        """Wins of the first player less wins of the second, by deal, halved: from -1 to 1."""
        difference = (self.won.sum(axis=1) - self.lost.sum(axis=1).astype(float)) / 2
        return mean_estimate(difference, (-1.0, 1.0))

    def rate(self, side: int) -> float:
        """Share of games that the first player won as a side."""
        return float(self.won[:, side].mean())


def whole_sides(tables: BatchTables, a: BatchPlayer, b: BatchPlayer, seeds: Sequence[int]) -> SidesResult:
    """Play each deal twice, with sides changed over."""
    won, lost = [], []
    for start in range(0, len(seeds), tables.num_envs):
        block = seeds[start : start + tables.num_envs]
        sides = sides_of(tables, block)
        winners = [play(tables, (a, b), (sides != own).astype(np.int8), block) for own in (0, 1)]
        won.append(np.stack([winners[own] == own for own in (0, 1)], axis=1))
        lost.append(np.stack([winners[own] == 1 - own for own in (0, 1)], axis=1))
    return SidesResult(tables.spec.sides, np.concatenate(won), np.concatenate(lost))


@dataclass(frozen=True)
class SeatResult:
    """Two players in the same seat of the same deals, one after the other, among the same others."""

    sides: NDArray[np.int8]
    """The side of the seat, shape (deals,)."""
    won: NDArray[np.bool_]
    """By the first player, shape (deals,)."""
    reference: NDArray[np.bool_]
    """By the second."""
    roles: NDArray[np.int8]
    """The role of the seat, a number of the table, shape (deals,)."""

    @property
    def points(self) -> Estimate:
        """How much more often the first player won."""
        return mean_estimate(self.won.astype(float) - self.reference, (-1.0, 1.0))


def one_seat(
    tables: BatchTables, a: BatchPlayer, reference: BatchPlayer, others: BatchPlayer, seeds: Sequence[int]
) -> SeatResult:
    """The k-th deal is played in seat k modulo the number of seats."""
    parts = []
    for start in range(0, len(seeds), tables.num_envs):
        block = seeds[start : start + tables.num_envs]
        sides = sides_of(tables, block)
        seats = (start + np.arange(len(block))) % tables.seats
        roles = tables.roles[np.arange(len(block)), seats].copy()
        seating = np.ones((len(block), tables.seats), np.int8)
        seating[np.arange(len(block)), seats] = 0
        own = sides[np.arange(len(block)), seats]
        parts.append(
            (own, *(play(tables, (player, others), seating, block) == own for player in (a, reference)), roles)
        )
    return SeatResult(*(np.concatenate(part) for part in zip(*parts, strict=True)))
