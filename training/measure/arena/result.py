"""What the games of an arena say: cells, pairs, cycles, ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.policies.llm.decisions import Decisions, mostly_foreign
from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.arena.games import ArenaGame
from parlour.training.measure.arena.strengths import Strength, Strengths, strengths
from parlour.training.measure.pairs import Pair, PairGame, PairTable
from parlour.training.play import seeds
from parlour.training.report.verdicts import DecidedBy
from parlour.training.statistics import Estimate

_RESAMPLED = 1  # what the seed is derived for
_SHORT: Final = 40
"""Letters of a value in a title, at most."""
_ALIKE: Final = 6
"""So many deals with the same points are no chance: 2 / 2^6 = 0.03."""


@dataclass(frozen=True)
class ArenaPairs(PairTable):
    """The games of all pairs of different players."""

    games: Mapping[Pair, tuple[PairGame, ...]]

    def beats(self, a: str, b: str) -> bool:
        """As for any pairs; and where all of six deals or more have the same points, above zero."""
        difference = self.difference(a, b)
        return super().beats(a, b) or (difference.low is None and difference.value > 0 and difference.n >= _ALIKE)


@dataclass(frozen=True)
class ArenaResult:
    """All games, and what follows from them."""

    config: ArenaConfig
    sides: tuple[str, str]
    """Sides of the game, the first and the second."""
    played: tuple[ArenaGame, ...]

    @cached_property
    def cells(self) -> Mapping[Pair, tuple[ArenaGame, ...]]:
        """(who held the first side, who the second) -> their games."""
        by_pair: dict[Pair, list[ArenaGame]] = {(a, b): [] for a in self.config.players for b in self.config.players}
        for game in self.played:
            by_pair[game.first, game.second].append(game)
        return {cell: tuple(games) for cell, games in by_pair.items()}

    @cached_property
    def pairs(self) -> ArenaPairs:
        """The players two by two."""
        return ArenaPairs({(a, b): self._pair(a, b) for a, b in combinations(self.config.players, 2)})

    def _pair(self, a: str, b: str) -> tuple[PairGame, ...]:
        first = [self._seen(game, 0) for game in self.cells[a, b]]
        other = [self._seen(game, 1) for game in self.cells[b, a]]
        return tuple(game for both in zip(first, other, strict=True) for game in both)

    def _seen(self, game: ArenaGame, side: int) -> PairGame:
        own, other = self.sides[side], self.sides[1 - side]
        return PairGame(game.seed, own, other, game.winner == own, game.winner == other)

    def cell(self, first: str, second: str) -> Estimate:
        """How often the first side won where these held the sides."""
        games = self.cells[first, second]
        share = Estimate.rate(sum(game.winner == self.sides[0] for game in games), len(games))
        assert share is not None, "an arena has at least one deal"
        return share

    @cached_property
    def strengths(self) -> Strengths:
        """The ratings."""
        rng = np.random.default_rng(seeds.derive(self.config.seed, _RESAMPLED))
        return strengths(self._table, self.config.resamples, rng)

    @property
    def cycles(self) -> list[tuple[str, str, str]]:
        """Threes of players: the first beats the second, the second the third, the third the first."""
        return [cycle for cycle in self.pairs.cycles() if self.scored >= {*cycle}]

    @property
    def standing(self) -> list[tuple[str, Strength]]:
        """The players, the strongest first."""
        return sorted(
            zip(self.config.players, self.strengths.players, strict=True), key=lambda entry: -entry[1].rating.value
        )

    @cached_property
    def decisions(self) -> Mapping[str, Decisions]:
        """Player -> whose its decisions were, in all its games."""
        made = dict.fromkeys(self.config.players, Decisions())
        for game in self.played:
            for name, decision in zip((game.first, game.second), game.decisions, strict=True):
                made[name] += decision
        return made

    def shown(self, player: str) -> str:
        """A player's name, marked where too many decisions were not its own."""
        return DecidedBy(player, self.decisions[player].own, self.decisions[player].decisions).marked

    @property
    def title(self) -> str:
        """The table and what was played, on one line."""
        config = self.config
        return f"{config.game}{table_of(config.options)}: {config.games} deals, {len(self.played):,} games"

    @cached_property
    def scored(self) -> frozenset[str]:
        """The players that made at least half of their decisions themselves; the others have no figures."""
        return frozenset(name for name, of in self.decisions.items() if not mostly_foreign(of.own, of.decisions))

    @property
    def largest_miss(self) -> tuple[str, str, float, float]:
        """The cell that the ratings predict worst: who held the sides, the share won by the first, its chance by the ratings.

        Raises:
            ValueError: No player has figures.
        """
        names, shares = self.config.players, self._table.mean(0)
        gaps = [
            (a, b, float(shares[i, j]), self.strengths.expected[i][j])
            for i, a in enumerate(names)
            for j, b in enumerate(names)
            if self.scored >= {a, b}
        ]
        return max(gaps, key=lambda gap: abs(gap[2] - gap[3]))

    @cached_property
    def _table(self) -> NDArray[np.float64]:
        """Deals x players x players: points of the first side, by who holds it and who the second; a draw is half a win."""
        worth, names = {self.sides[0]: 1.0, self.sides[1]: 0.0}, self.config.players
        points = [[[worth.get(game.winner, 0.5) for game in self.cells[a, b]] for b in names] for a in names]
        return np.array(points).transpose(2, 0, 1)


def table_of(options: Mapping[str, Any]) -> str:
    """The options that are set to one short value, behind a comma; the others, such as the roles, are in config.json.

    >>> table_of({"num_players": 5, "roles": ["Merlin", "Assassin"], "talk": False, "guesser": None})
    ', num_players 5, talk False'
    """
    plain = {key: str(value) for key, value in options.items() if isinstance(value, bool | int | float | str)}
    return "".join(f", {key} {value}" for key, value in plain.items() if len(value) <= _SHORT)
