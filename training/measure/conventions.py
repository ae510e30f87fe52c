"""Conventions: habits in votes and words that only a player's own kind understands, counted in games that were played.

All counts are of one seat, from the last View of every seat; no game is played for them. Rates have Wilson intervals, which take
the cases for independent; cases of one game are not quite. Numbers a game have Student's interval. This module counts words;
`avalon.conventions` adds votes, and `werewolf.conventions` adds reports of checks.

*Claims* are public accusations, defences, recommendations, roles and reports of checks.

- *False claims*: the deal contradicts them. The accused or reported seat is good; the defended, recommended or cleared seat
  is evil; the speaker does not hold the role.
- *Misleading claims*: those after which a literal listener gives the true roles less probability than before. The listener is an
  onlooker with the game's exact belief who takes the word of every speaker for that of an honest one: evil seats are supposed
  to accuse and defend as good ones do, and nobody to report a check, or to claim a role with a power, without having it. All else that
  is public counts by the usual rates. The true roles are what the belief distinguishes: the evil seats and Merlin; the
  werewolves and the Seer. Claims that are no evidence to the belief (a role at Avalon, "I am a Villager") mislead nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from parlour.envs.common import dotted
from parlour.envs.core import Event
from parlour.envs.hidden_roles.posterior import Posterior
from parlour.envs.language import speech
from parlour.envs.plugins import Places
from parlour.training.report.result_table import Cell, Column, Figure, ResultTable, rate_column
from parlour.training.statistics import COUNT, Estimate

CONVENTIONS: Final = Places(
    "parlour.conventions",
    {
        "avalon_v0": "parlour.training.measure.avalon.conventions:in_avalon",
        "werewolf_v0": "parlour.training.measure.werewolf.conventions:in_werewolf",
    },
)
"""Game -> dotted name of `(views, seat) -> Cases`."""
_CLAIMS: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE, speech.REPORT)
_NUMBER: Final = Column("", ".2f", shows=("n",))
_LEAST: Final = 1e-9
"""A log-probability that falls by less has not changed."""


Cases = Iterator[tuple[str, str, int]]
"""A measure, a side or `role: ...`, and a value: true or false for a case of a rate, otherwise the number of one game."""


class ConventionTally:
    """What one player did in the seats that it had.

    Args:
        game: Registry name of a game in `CONVENTIONS`.
    """

    def __init__(self, game: str) -> None:
        self._cases: Callable[[Sequence[Any], int], Cases] = dotted.load(CONVENTIONS[game], "conventions")
        self.values: dict[tuple[str, str], list[int]] = {}
        """Measure, and side or role -> values."""

    def add(self, views: Sequence[Any], seat: int) -> None:
        """Count a game by the last View of every seat."""
        for measure, of, value in self._cases(views, seat):
            self.values.setdefault((measure, of), []).append(value)


@dataclass(frozen=True)
class ConventionRow:
    """What some players did."""

    among: str
    """Who had the other seats."""
    measure: str
    of: str
    players: Mapping[str, Estimate | None]
    """Player -> a rate, or the mean number a game; None where there was no case."""


def convention_rows(among: str, players: Mapping[str, Iterable[ConventionTally]]) -> list[ConventionRow]:
    """The rows of players, each with its tallies together, by measure, sides before roles."""
    values: dict[tuple[str, str], dict[str, list[int]]] = {}
    for player, tallies in players.items():
        for row, more in (item for tally in tallies for item in tally.values.items()):
            values.setdefault(row, {name: [] for name in players})[player].extend(more)
    order = sorted(values, key=lambda row: (row[0], row[1].startswith("role: "), row[1]))
    return [ConventionRow(among, *row, {name: _estimate(of) for name, of in values[row].items()}) for row in order]


def _estimate(values: Sequence[int]) -> Estimate | None:
    if values and not isinstance(values[0], bool):
        return Estimate.mean(values, COUNT)
    return Estimate.rate(sum(values), len(values))


def conventions_table(rows: Sequence[ConventionRow], file: str = "") -> ResultTable:
    """The rows, a column for each player of the first."""
    columns = (*map(Column, ("among", "measure", "of")), *map(rate_column, rows[0].players))
    cells = tuple((row.among, row.measure, row.of, *map(_cell, row.players.values())) for row in rows)
    title = "Conventions: shares, and numbers a game (95 % interval)"
    return ResultTable(title, columns, cells, wrap=True, file=file)


def _cell(estimate: Estimate | None) -> Cell:
    return estimate if estimate is None or estimate.hits is not None else Figure(estimate, _NUMBER)


class RoleView(Protocol):
    """A View of a game with hidden roles."""

    @property
    def side(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def events(self) -> tuple[Event, ...]: ...


def of_seat(view: RoleView, measure: str, value: int) -> Cases:
    """The case of a measure for the side and for the role of a seat."""
    yield measure, view.side, value
    yield measure, f"role: {view.role}", value


class LiteralListener(NamedTuple):
    """An onlooker who takes claims at the word of an honest player."""

    belief: Posterior
    see: Callable[[Event], None]
    true: np.ndarray[Any, np.dtype[np.bool_]]
    """Which hypotheses agree with the true roles, shape (H,)."""

    def log_prob(self) -> float:
        """Log-probability of the true roles."""
        weights = self.belief.log_weights
        return float(np.logaddexp.reduce(weights[self.true]) - np.logaddexp.reduce(weights))


def words(views: Sequence[RoleView], seat: int, names: Sequence[str], evil: str, listener: LiteralListener) -> Cases:
    """Claims a game, false claims, misleading claims; nothing where nobody speaks.

    Args:
        views: The last View of every seat.
        seat: Whose claims.
        names: The roles by the numbers that claims give.
        evil: The side that accusations mean.
        listener: Has seen nothing yet.
    """
    events = views[seat].events
    if not any(event.move.kind in speech.ACTS and event.to is None for event in events):
        return
    claims = 0
    for event in events:
        counts = event.seat == seat and event.to is None and event.move.kind in _CLAIMS
        before = listener.log_prob() if counts else 0.0
        listener.see(event)
        if counts:
            claims += 1
            yield from of_seat(views[seat], "false claims", _is_false(event, views, names, evil))
            yield from of_seat(views[seat], "misleading claims", listener.log_prob() < before - _LEAST)
    yield from of_seat(views[seat], "claims a game", claims)


def _is_false(event: Event, views: Sequence[RoleView], names: Sequence[str], evil: str) -> bool:
    """Whether the deal contradicts a claim."""
    kind, args, _ = event.move
    if kind == speech.CLAIM_ROLE:
        return names[args[0]] != views[event.seat].role
    says_evil = kind == speech.ACCUSE or (kind == speech.REPORT and args[1] == 1)
    return says_evil != (views[args[0]].side == evil)
