"""Which 200 statements of the GPT-5.1 games of Avalon are labelled by hand: a draw by a fixed seed, in strata.

The games are "multi-round-avalon-agents" by S. Ellawela (2026, MIT); FORMAT.md beside them tells their form. A stratum is a
number of players, a mission and whether the words were said in the discussion or by a leader with a team; each of the 60 gives
two statements, and the other 80 are dealt in proportion to the sizes of the strata. Within each stratum every other
statement of the draw belongs to the half on which the reader is developed, the others to the half on which it is only scored.
"""

from __future__ import annotations

import json
import random  # noqa: TID251 - a generator of its own, seeded: the draw is fixed
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SEED = 17
STATEMENTS = 200
IN_EACH = 2


class Statement(NamedTuple):
    """Words of a record: where they stand, who spoke (a seat), the seats' names and the words as they were said."""

    source: str
    place: str
    speaker: int
    names: tuple[str, ...]
    words: str


def statements(folder: Path) -> Iterator[tuple[tuple[int, int, bool], Statement]]:
    """All statements with their strata, in the order of the files; a place is "mission.talk.number" or "mission.reason.number"."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from _of_game(json.loads(line))


def _of_game(game: dict) -> Iterator[tuple[tuple[int, int, bool], Statement]]:
    names = tuple(player["name"] for player in game["players"])
    for mission in game["missions"]:
        number = int(mission["mission_number"])
        for kind, key, who, words in (
            ("talk", "discussion", "player", "content"),
            ("reason", "proposals", "leader", "reasoning"),
        ):
            for at, said in enumerate(mission[key]):
                place = f"{number}.{kind}.{at}"
                statement = Statement(game["source"], place, names.index(said[who]), names, said[words])
                yield (len(names), number, kind == "reason"), statement


def draw(folder: Path) -> list[tuple[bool, Statement]]:
    """The 200 statements of the sample, each with whether the reader may be developed on it."""
    strata = defaultdict(list)
    for stratum, statement in statements(folder):
        strata[stratum].append(statement)
    rng = random.Random(SEED)
    drawn = [
        statement
        for stratum, number in _numbers({stratum: len(strata[stratum]) for stratum in sorted(strata)}).items()
        for statement in rng.sample(strata[stratum], number)
    ]
    return [(number % 2 == 0, statement) for number, statement in enumerate(drawn)]


def _numbers(sizes: dict[tuple[int, int, bool], int]) -> dict[tuple[int, int, bool], int]:
    """How many statements each stratum gives: `IN_EACH`, and the rest in proportion (largest remainders)."""
    rest = STATEMENTS - IN_EACH * len(sizes)
    total = sum(size - IN_EACH for size in sizes.values())
    shares = {stratum: rest * (size - IN_EACH) / total for stratum, size in sizes.items()}
    numbers = {stratum: IN_EACH + int(share) for stratum, share in shares.items()}
    left = STATEMENTS - sum(numbers.values())
    for stratum in sorted(shares, key=lambda key: (int(shares[key]) - shares[key], key))[:left]:
        numbers[stratum] += 1
    return numbers
