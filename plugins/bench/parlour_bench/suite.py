"""The suites: which tables, opponents and deals, under a version. A change of anything here is a new version.

The tables are Avalon's default table, Werewolf's default table and its smallest one, and generated cases of one size. README.md of the
plugin says why these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from hashlib import sha256
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.policies.experts.catalogue import card_for, expert
from parlour.policies.trained import TrainedSeat
from parlour.training.play import rollout, seeds

EXPERT: Final = "expert"
HEURISTIC: Final = "heuristic"
MIXED: Final = "mixed"
REPLACED: Final = "selfplay"
"""Style of the experts that others have replaced since the suites were published."""

VERSION: Final = 2
FIRST_DEAL: Final = 50_000_000
"""Number of the first deal of all tables among the held-out ones; no page, test or expert of parlour uses those behind it."""
FRESH_DEALS: Final = range(100_000_000, 2_000_000_000)
"""Where the deals of days lie among the held-out ones."""
PUBLISHED: Final[Mapping[int, str]] = {VERSION: "parlour-bench-1", 3: "parlour-bench-1"}
"""Version -> the name under which its suites are published. A version without a name is not published."""
SIDES: Final = 2
"""A player holds each side of a deal once."""
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class BenchmarkTable:
    """A table of a suite."""

    name: str
    game: str
    """Name of the game."""
    options: Mapping[str, Any]
    deals: int
    """How many; each is played from both sides against each opponent."""
    opponents: tuple[str, ...]
    case: str = ""
    """Where every deal is a case of its own: the case, with `{}` for the number of the deal."""
    first: int = FIRST_DEAL
    """Number of the first deal among the held-out ones."""

    def numbers(self) -> Sequence[int]:
        """The seeds of the deals."""
        return seeds.HELD_OUT[self.first : self.first + self.deals]

    def sittings(self) -> Iterator[tuple[Mapping[str, Any], Sequence[int]]]:
        """The options of the game and the seeds that are played with them, all deals in order."""
        if not self.case:
            yield self.options, self.numbers()
            return
        for number in self.numbers():
            yield {**self.options, "case": self.case.format(number)}, [number]

    def configured(self) -> tuple[str, dict[str, Any]]:
        """The game's id and its configuration, that of the first deal where each has its own."""
        options, _ = next(self.sittings())
        base = rollout.table(self.game, **options).game_env
        return base.spec.id, dict(base.game.config)

    @property
    def games(self) -> int:
        """How many a player plays."""
        return SIDES * self.deals * len(self.opponents)


def opponent_at(opponent: str, game: str, config: Mapping[str, Any]) -> str:
    """Who an opponent is at a table: `expert`, also inside `mixed`, is the network that the suites were published with."""
    if opponent not in (EXPERT, MIXED) or card_for(game, config, REPLACED) is None:
        return opponent
    published = f"{EXPERT}:style={REPLACED}"
    return published if opponent == EXPERT else f"{MIXED}:players={HEURISTIC}+{published}"


def network_at(game: str, config: Mapping[str, Any]) -> TrainedSeat:
    """The network of a table that the suites were published with. Raises `ParlourError` where there is none."""
    return expert(game, config, REPLACED if card_for(game, config, REPLACED) is not None else "")


@dataclass(frozen=True)
class Suite:
    """A suite of tables."""

    name: str
    tables: tuple[BenchmarkTable, ...]
    version: int = VERSION
    day: str = ""
    """The day, YYYY-MM-DD, whose deals are played; empty: the suite's own deals."""

    def __str__(self) -> str:
        name = f"{self.published}, {self.name}" if self.published else f"{self.name}, version {self.version}"
        return f"{name}{self.day and f', deals of {self.day}'}"

    @property
    def published(self) -> str:
        """The name under which suites of this version are published; empty for an earlier version."""
        return PUBLISHED.get(self.version, "")

    def fresh(self, day: str) -> Suite:
        """The suite with the deals of a day, the same for everybody; any day can be computed beforehand.

        Raises:
            ParlourError: The day is none.
        """
        if not _DAY.fullmatch(day):
            raise accept("day", day, "YYYY-MM-DD")
        try:
            date.fromisoformat(day)
        except ValueError:
            raise accept("day", day, "YYYY-MM-DD") from None
        number = int.from_bytes(sha256(f"parlour benchmark {day}".encode()).digest()[:8], "big")
        first = FRESH_DEALS[number % len(FRESH_DEALS)]
        return replace(self, day=day, tables=tuple(replace(table, first=first) for table in self.tables))

    @property
    def usual(self) -> Suite:
        """The suite with its own deals."""
        return replace(self, day="", tables=tuple(replace(table, first=FIRST_DEAL) for table in self.tables))

    def only(self, names: Collection[str]) -> Suite:
        """These tables of the suite alone. Raises `ParlourError` for a table that it does not have."""
        for name in names:
            check_one_of("table", name, [table.name for table in self.tables])
        return replace(self, tables=tuple(table for table in self.tables if table.name in names))

    @property
    def games(self) -> tuple[str, ...]:
        """The names of the games, in order; each counts the same in the score."""
        return tuple(dict.fromkeys(table.game for table in self.tables))

    @property
    def games_played(self) -> int:
        """How many games a player plays."""
        return sum(table.games for table in self.tables)

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the suite fixes."""
        stored = asdict(self)
        day, firsts = stored.pop("day"), {table.pop("first") for table in stored["tables"]}
        stored |= {"first deal": seeds.HELD_OUT[min(firsts)], **({"day": day} if day else {})}
        return sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()


_SIX: Final = {"num_players": 6, "rules": "paper"}
_FOUR: Final = {"num_players": 4, "rules": "paper"}
_EIGHT: Final = {"num_players": 8, "rules": "paper"}
_BOTH: Final = (HEURISTIC, EXPERT)
_WEREWOLF_4: Final = BenchmarkTable("werewolf-4", "werewolf_v0", _FOUR, 40, (HEURISTIC,))
_WEREWOLF_8: Final = BenchmarkTable("werewolf-8", "werewolf_v0", _EIGHT, 20, _BOTH)
_MYSTERY: Final = BenchmarkTable("mystery-5", "murder_mystery_v0", {"rounds": 1}, 20, (HEURISTIC,), "seed:{}:en:5")
_AVALON_6: Final = BenchmarkTable("avalon-6", "avalon_v0", _SIX, 20, _BOTH)
FULL: Final = Suite("full", (_AVALON_6, _WEREWOLF_4, _WEREWOLF_8, _MYSTERY))
QUICK: Final = Suite(
    "quick", (replace(_AVALON_6, deals=6), replace(_WEREWOLF_4, deals=16), replace(_WEREWOLF_8, deals=6))
)
_OFFICIAL: Final = {"num_players": 5, "rules": "official", "talk": False}
_TALK_5: Final = BenchmarkTable("avalon-5-talk", "avalon_v0", {"num_players": 5, "rules": "paper"}, 20, _BOTH)
STRANGERS: Final = Suite(
    "strangers",
    (replace(_AVALON_6, opponents=(MIXED,)), replace(_WEREWOLF_8, opponents=(MIXED,))),
    version=3,
)
"""Opponents of two kinds at one table."""
SUITES: Final = {suite.name: suite for suite in (FULL, QUICK, STRANGERS)}

EARLIER: Final = (
    Suite(
        "full",
        (BenchmarkTable("avalon-5", "avalon_v0", _OFFICIAL, 20, _BOTH), _TALK_5, _WEREWOLF_4, _WEREWOLF_8, _MYSTERY),
        version=1,
    ),
    Suite(
        "quick",
        (
            replace(_TALK_5, deals=6, opponents=(HEURISTIC,)),
            replace(_WEREWOLF_4, deals=12),
            replace(_WEREWOLF_8, deals=4),
        ),
        version=1,
    ),
)
"""Suites of earlier versions, whose results files can still be read."""


def chosen_suite(
    name: str = FULL.name, tables: Collection[str] | None = None, fresh: str | None = None, quick: bool = False
) -> Suite:
    """A suite, or some tables of it, or the deals of a day.

    Args:
        name: Name of the suite.
        tables: Names of tables; None: all of them.
        fresh: The day, YYYY-MM-DD; None: the suite's own deals.
        quick: The same as the name `quick`.

    Raises:
        ParlourError: There is no such suite, table or day, or `quick` goes with another name.
    """
    check_one_of("suite", name, SUITES)
    if quick and name != FULL.name:
        raise ParlourError(f"--quick goes without --suite {name}; accepted: one of them")
    suite = QUICK if quick else SUITES[name]
    suite = suite if tables is None else suite.only(tables)
    return suite if fresh is None else suite.fresh(fresh)
