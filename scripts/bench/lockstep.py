"""Play kernels and scalar rules side by side, all presets and sizes. Usage: python scripts/bench/lockstep.py [GAME] [--turns N]

Actors, masks, rewards and ends are compared at every turn, features (`record+belief`, within 1e-5) at every eighth table.
Stops at the first difference.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import numpy as np
from parlour.envs import batch

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from lockstep import Mirror, random_actions

SIZES = {"avalon_v0": range(5, 11), "werewolf_v0": range(4, 16)}
TABLES = 16
EVERY = 8


def play(game: str, turns: int, seed: int, **options: object) -> Mirror:
    """Random games of one table."""
    deals = importlib.import_module(f"test_batch_{game.removesuffix('_v0')}")
    tables = batch.make(game, num_envs=TABLES, features="record+belief", **options)
    seen, rng = tables.reset(seed=seed), np.random.default_rng(seed)
    mirror = Mirror(tables, deals.dealt, deals.drawn)
    mirror.compare(seen)
    while mirror.turns < turns:
        seen = mirror.step(random_actions(seen.mask, rng))
        mirror.compare(seen, every=EVERY)
    return mirror


def main(game: str, turns: int, seed: int) -> None:
    """All presets and sizes, with and without talk."""
    every = [
        (n, rules, talk) for n in SIZES[game] for rules in ("paper", "reference", "official") for talk in (True, False)
    ]
    played = games = features = 0
    for n, rules, talk in every:
        mirror = play(game, turns // len(every), seed, num_players=n, rules=rules, talk=talk)
        played, games, features = played + mirror.turns, games + mirror.games, features + mirror.features
        print(
            f"{game} {n} players, {rules}, talk {talk}: so far {played} turns, {games} games, {features} observations equal"
        )
    print(f"{time.process_time():.0f} s of processor time")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("game", nargs="?", choices=SIZES, default="werewolf_v0")
parser.add_argument("--turns", type=int, default=1_000_000, help="of all tables together")
parser.add_argument("--seed", type=int, default=1)
if __name__ == "__main__":
    chosen = parser.parse_args()
    main(chosen.game, chosen.turns, chosen.seed)
