"""Kernels beside scalar rules over many random games: every preset, size and set of roles, with and without talk.

What the test-suite does with some hundred games, with as many turns as wanted. Actors, masks, rewards and ends are compared
at every turn, features and beliefs (`record+belief`; within 1e-5) in one game of `--every`. It prints
what was equal so far after each table and stops at the first difference.

python scripts/bench/batch_lockstep.py [avalon_v0 | werewolf_v0] [--turns 1000000] [--every 1]
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections import Counter
from pathlib import Path
from time import process_time

import numpy as np
from parlour.envs import batch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.envs.batch.lockstep import Mirror, random_actions

SIZES = {"avalon_v0": range(5, 11), "werewolf_v0": range(4, 16)}
"""Kernels -> numbers of players."""
GAMES = 32


def main(game: str, turns: int, seed: int, every: int) -> None:
    """Compare at least `turns` turns, spread evenly over the tables."""
    tests = importlib.import_module(f"tests.envs.batch.test_{game.removesuffix('_v0')}")
    listed, total = tables_of(game, tests.TABLES), Counter()
    for options in listed:
        mirror = compared(game, tests, options, -(-turns // len(listed)), seed, every)
        total.update(turns=mirror.turns, games=mirror.games, features=mirror.features)
        print(
            f"{named(options)}: so far {total['turns']:,} turns, {total['games']:,} games, {total['features']:,} observations "
            f"equal; {process_time():,.0f} s of processor time",
            flush=True,
        )


def tables_of(game: str, tested: list[dict]) -> list[dict]:
    """The tables of the tests, then those of the sizes that the tests leave out."""
    sizes = [n for n in SIZES[game] if all(n != options["num_players"] for options in tested)]
    return tested + [
        {"num_players": n, "rules": rules, "talk": talk}
        for n in sizes
        for rules in ("paper", "reference", "official")
        for talk in (False, True)
    ]


def named(options: dict) -> str:
    """A table in words."""
    return ", ".join(f"{name} {value}" for name, value in options.items() if value is not None)


def compared(game: str, tests: object, options: dict, turns: int, seed: int, every: int) -> Mirror:
    """The scalar games that have kept pace with the kernels for that many turns."""
    tables = batch.make(game, num_envs=GAMES, features="record+belief", **options)
    seen = tables.reset(seed)
    mirror, rng = Mirror(tables, tests.dealt, tests.drawn), np.random.default_rng(seed)
    mirror.compare(seen, every=every)
    while mirror.turns < turns:
        seen = mirror.step(random_actions(seen.mask, rng))
        mirror.compare(seen, every=every)
    return mirror


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", nargs="?", choices=SIZES, default="avalon_v0")
    parser.add_argument("--turns", type=int, default=1_000_000, help="turns to compare, all tables together")
    parser.add_argument("--every", type=int, default=1, help="compare what is seen in one game of so many")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    main(chosen.game, chosen.turns, chosen.seed, chosen.every)
