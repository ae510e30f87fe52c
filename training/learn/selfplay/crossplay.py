"""Cross-play: each member against each other one as whole sides, on common held-out deals, each deal from both sides.

The games are stored in one file of JSON by lines: a head, then a line for each pair. A last line that a kill cut off is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from parlour.training.learn.batch import matches
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.pool import Member, batch_player, tables_for
from parlour.training.measure.pairs import Pair, PairGame, PairTable
from parlour.training.play import seeds
from parlour.training.results.runs import JsonlStore

GAMES: Final = "crossplay.jsonl"
_AT_ONCE: Final = 1000
GameCounter = Callable[[int], None]
"""Told how many games were played, or read, since the last call."""


@dataclass(frozen=True)
class Crossplay(PairTable):
    """All games of all pairs."""

    members: tuple[Member, ...]
    games: Mapping[Pair, tuple[PairGame, ...]]
    """(first, second) -> its games, in the order of the deals. Each pair is there once."""
    deals: int
    """Deals that every pair has played; some have played more."""


def play_pairs(config: SelfplayConfig, members: Sequence[Member], folder: Path, progress: GameCounter) -> Crossplay:
    """Let all pairs play, or what is missing in the folder.

    Raises:
        ParlourError: The file in the folder is of another cross-play.
    """
    pairs = list(combinations(members, 2))
    head = {"members": [[one.name, one.steps] for one in members], "deals": [config.deals, config.test_deals]}
    with JsonlStore(folder / GAMES, _pair_games, "cross-play", head) as store:
        found = store.found
        for games in found:
            progress(len(games))
        for a, b in pairs[len(found) :]:
            games = _pair(config, a, b, seeds.HELD_OUT[: _deals(config, members, a, b)])
            found.append(games)
            store.append(games)
            progress(len(games))
    table = {(a.name, b.name): tuple(games) for (a, b), games in zip(pairs, found, strict=True)}
    return Crossplay(tuple(members), table, config.deals)


def _pair_games(stored: Any) -> list[PairGame]:
    return [PairGame(*game) for game in stored]


def total(config: SelfplayConfig, members: Sequence[Member]) -> int:
    """How many games `play_pairs` plays."""
    return sum(2 * _deals(config, members, a, b) for a, b in combinations(members, 2))


def _deals(config: SelfplayConfig, members: Sequence[Member], a: Member, b: Member) -> int:
    snapshots = [one for one in members if one.steps is not None]
    tested = {RULE, snapshots[0].name, snapshots[-1].name}
    return config.test_deals if {a.name, b.name} <= tested else config.deals


def _pair(config: SelfplayConfig, a: Member, b: Member, deals: Sequence[int]) -> list[PairGame]:
    """Two games for each deal."""
    at_once = min(len(deals), _AT_ONCE)
    tables = tables_for(config, at_once, autoreset=False)
    first, second = (batch_player(one.source, tables, one.name) for one in (a, b))
    found = matches.whole_sides(tables, first, second, deals)
    one, other = found.sides
    return [
        PairGame(seed, side, mine, bool(won), bool(lost))
        for k, seed in enumerate(deals)
        for side, mine, won, lost in zip((one, other), (other, one), found.won[k], found.lost[k], strict=True)
    ]
