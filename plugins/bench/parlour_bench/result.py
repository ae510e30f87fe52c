"""What the games of a suite say: one number with its interval, and its parts by game, table, side and opponent.

A deal is worth the mean of its games, over opponents and sides; a table the mean of its deals, a game that of its tables, and the
score is the mean of the games. In intervals a deal is one case, with all of its games.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.training.statistics import Estimate

from parlour_bench.played import WON, PlayedTable, SidePoints
from parlour_bench.strata import stratified_mean
from parlour_bench.suite import Suite

POINTS: Final[tuple[float, float]] = (0.0, WON)
DIFFERENCE: Final[tuple[float, float]] = (-WON, WON)
OVERALL: Final = "overall"
_DIGITS: Final = 4
"""Digits of points: rounding differences between processors are smaller."""

Floats = NDArray[np.float64]
Points = Mapping[str, Mapping[str, SidePoints]]
"""Table -> opponent -> side -> points, deal by deal."""
Scores = Mapping[str, Estimate]
"""Part -> its score, in points: 0 to 100, or the difference of two players, -100 to 100."""


class Part(NamedTuple):
    """Which games count; what is empty leaves nothing out."""

    game: str = ""
    table: str = ""
    side: str = ""
    opponent: str = ""

    def holds(self, part: Part) -> bool:
        """Whether all games of another part are in this one."""
        return all(wanted in ("", given) for wanted, given in zip(self, part, strict=True))

    @property
    def name(self) -> str:
        """What tables call it.

        >>> Part("werewolf_v0", "werewolf-8", opponent="expert").name
        'werewolf-8 against expert'
        """
        name = self.table or self.game or OVERALL
        return f"{name}{self.side and f' as {self.side}'}{self.opponent and f' against {self.opponent}'}"


def points_of(tables: Iterable[PlayedTable]) -> Points:
    """The points of a suite that was played."""
    return {table.table.name: table.points for table in tables}


def scores(suite: Suite, own: Points, other: Points | None = None) -> Scores:
    """The score of a player and its parts, or by how much they are above another's on the same deals.

    Args:
        suite: The suite that both played.
        own: Points of the player.
        other: Points of the other player; None: no comparison.
    """
    deals = _deals(suite, own, other)
    parts = dict.fromkeys(chain.from_iterable(_parts(part) for part, _ in deals))
    order = sorted(parts, key=lambda part: (suite.games.index(part.game) if part.game else -1, bool(part.table)))
    bounds = POINTS if other is None else DIFFERENCE
    return {part.name: _score(part, deals, bounds) for part in order}


def strata_of(suite: Suite, own: Points) -> tuple[list[Floats], list[float]]:
    """The points of each table, deal by deal, and the weights of the tables in the score."""
    return _strata(_deals(suite, own, None))


def _deals(suite: Suite, own: Points, other: Points | None) -> list[tuple[Part, Floats]]:
    """The points of each table, opponent and side, or how far they are above another player's."""
    return [
        (
            Part(table.game, table.name, side, opponent),
            _less(of, None if other is None else other[table.name][opponent][side]),
        )
        for table in suite.tables
        for opponent, sides in own[table.name].items()
        if opponent in table.opponents
        for side, of in sides.items()
    ]


def _less(own: Iterable[float], other: Iterable[float] | None) -> Floats:
    points = np.array(list(own))
    return points if other is None else points - np.array(list(other))


def _parts(part: Part) -> Iterator[Part]:
    """Those that are told, of the ones that hold some games."""
    yield Part()
    yield Part(part.game)
    yield Part(part.game, side=part.side)
    yield Part(part.game, part.table)
    yield Part(part.game, part.table, opponent=part.opponent)


def _score(part: Part, deals: Iterable[tuple[Part, Floats]], bounds: tuple[float, float]) -> Estimate:
    strata, weights = _strata([(deal, points) for deal, points in deals if part.holds(deal)])
    return stratified_mean(strata, weights, bounds)


def _strata(deals: Iterable[tuple[Part, Floats]]) -> tuple[list[Floats], list[float]]:
    """Every game counts the same, in it every table, in it every deal, in it every opponent and side."""
    games: dict[str, dict[str, list[Floats]]] = {}
    for part, points in deals:
        games.setdefault(part.game, {}).setdefault(part.table, []).append(points)
    strata = [np.mean(rows, axis=0) for tables in games.values() for rows in tables.values()]
    return strata, [1 / len(games) / len(tables) for tables in games.values() for _ in tables]


def plain(by_part: Scores) -> dict[str, dict[str, Any]]:
    """Plain values of scores, rounded."""
    return {
        part: {name: round(value, _DIGITS) + 0 if value else value for name, value in score.as_json().items()}
        for part, score in by_part.items()
    }
