"""Avalon's kernels beside the scalar rules over many random games of every preset, size and role set, talk or not.

What the test-suite does with some hundred games, with as many turns as wanted; every actor, mask, feature, belief, reward and
end is compared. It prints the turns and games compared at each table, and stops at the first difference.

python scripts/bench/batch_lockstep.py [--turns 1000000]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from time import perf_counter

import numpy as np
from parlour.envs import batch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from lockstep import Mirror, random_actions
from test_batch_avalon import TABLES, dealt, drawn, name_of


def main(turns: int, games: int = 64, tables: Iterable[dict] = TABLES, seed: int = 0) -> None:
    """Compare at least `turns` turns, spread evenly over the tables."""
    total, ended, started = 0, 0, perf_counter()
    listed = list(tables)
    for options in listed:
        mirror = compared(options, -(-turns // len(listed)), games, seed)
        total, ended = total + mirror.turns, ended + mirror.games
        print(f"{name_of(options)}: {mirror.turns:,} turns, {mirror.games:,} games equal", flush=True)
    print(f"{total:,} turns, {ended:,} games equal at {len(listed)} tables; {perf_counter() - started:,.0f} s")


def compared(options: dict, turns: int, games: int, seed: int) -> Mirror:
    """The scalar games that have kept pace with the kernels for that many turns."""
    tables = batch.make("avalon_v0", num_envs=games, features="record+belief", **options)
    seen = tables.reset(seed)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(seed)
    mirror.compare(seen)
    while mirror.turns < turns:
        seen = mirror.step(random_actions(seen.mask, rng))
        mirror.compare(seen)
    return mirror


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_000_000, help="turns to compare, all tables together")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    main(chosen.turns, seed=chosen.seed)
