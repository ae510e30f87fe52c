"""How many continuations a second of processor time `search:expert` plays on one core, from the first decision of a game.

To the end, and cut at two depths. The project asks for 20,000 a second at five players. What is timed is the continuations alone: the
posterior is made once, and the critic is fitted, before.

python scripts/bench/search_continuations.py [--rounds 9] [--continuations 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
from parlour.envs.adapters.turn import take_turn
from parlour.envs.avalon.vocabulary import TEAM
from parlour.envs.language.speech import REPORT
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.experts.catalogue import expert
from parlour.policies.search.continuations import Continuations, practised
from parlour.policies.search.others import OWN, others_of
from parlour.policies.search.particles import Particles
from parlour.policies.search.posterior import SearchTable, posterior
from timing import in_rounds, show_table

TABLES = {
    "Avalon, 5 players": ("avalon_v0", {"num_players": 5, "rules": "official", "talk": False}),
    "Werewolf, 8 players": ("werewolf_v0", {"num_players": 8}),
}
DEPTHS = {"avalon_v0": (None, 20, 12), "werewolf_v0": (None, 60, 30)}


def main(rounds: int = 9, continuations: int = 1000) -> None:
    """Measure and print."""
    candidates = {
        f"{name}, {'to the end' if depth is None else f'depth {depth}'}": candidate(game, options, depth, continuations)
        for name, (game, options) in TABLES.items()
        for depth in DEPTHS[game]
    }
    show_table(
        f"Continuations a processor second, {continuations} at once; median of {rounds} rounds, lowest .. highest",
        ("what", "a second", "range"),
        [(name, *rate.texts) for name, rate in in_rounds(candidates, range(rounds)).items()],
    )


def candidate(game: str, options: dict[str, object], depth: int | None, count: int) -> Callable[[], float]:
    """Continuations a second from the first decision at which there is a choice by day."""
    env = registry[game].raw_env(info="full", **options)
    env.reset(seed=0)
    others = make_policy("heuristic", game, env.game.config)
    while env.view(env.seat).legal[-1].kind not in (TEAM, REPORT):
        others.reset(env.seat, 0)
        take_turn(env, others)
    network, view, rng = expert(game, env.game.config), env.view(env.seat), np.random.default_rng(0)
    table, family = SearchTable(network), others_of((OWN,), network, slip=0.02)
    known = Particles(table, family).posterior(view, rng) if table.rounds else posterior(table, view, family, rng)
    continuations = Continuations(table, family, known, view.seat, depth, practised(table) if depth else None)
    moves = table.moves_of(view)[0][:10]
    deals = count // len(moves)
    continuations.play(moves, deals, rng)

    def rate() -> float:
        started = process_time()
        continuations.play(moves, deals, rng)
        return deals * len(moves) / (process_time() - started)

    return rate


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds; the median is quoted")
    parser.add_argument("--continuations", type=int, default=1000, help="continuations that are played side by side")
    chosen = parser.parse_args()
    main(chosen.rounds, chosen.continuations)
