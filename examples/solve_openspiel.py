"""Solve a Werewolf of four with OpenSpiel's CFR+, search in Avalon with its IS-MCTS; measure both against random play.

Usage: python examples/solve_openspiel.py [--steps N] [--simulations N] [--deals N] [--out DIRECTORY]
See docs/integrations/openspiel.md. There is no seed: CFR+ has no chance in it, and IS-MCTS draws from the deal's seed.
"""

import argparse
from itertools import permutations
from pathlib import Path

import pyspiel
from openspiel_tree import Tree
from parlour.policies import RandomPolicy
from parlour.policies.adapters.openspiel import TabularSeat
from parlour.policies.adapters.openspiel_bot import is_mcts
from parlour.policies.files import write_json
from parlour.training.learn.examples import GAME, OPTIONS, against_random
from parlour.training.measure import evaluate
from parlour.training.measure.evaluation_tables import report_of
from parlour.training.play import seeds
from parlour.training.play.rollout import table
from parlour.wrappers.openspiel.game import openspiel_game

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, default=30, help="iterations of CFR+ for each order of talk")
parser.add_argument("--simulations", type=int, default=30, help="of IS-MCTS, for each move")
parser.add_argument("--deals", type=int, default=150, help="that IS-MCTS plays")
parser.add_argument("--out", type=Path, default=Path("runs/openspiel"))
chosen = parser.parse_args()
chosen.out.mkdir(parents=True, exist_ok=True)

# The order of talk is public and drawn apart from the roles, so that each order is a game of its own.
smallest = {"num_players": 4, "rules": "official", "talk": False, "max_days": 1}
solved = {}
for order in permutations(range(4)):
    tree = Tree(openspiel_game("werewolf_v0", **smallest, fixed_deal=order))
    solver = pyspiel.CFRPlusSolver(tree.game)
    for step in range(1, chosen.steps + 1):
        solver.evaluate_and_update_policy()
        if not solved and step in (1, 2, 5, 10, 20, chosen.steps):
            gap = pyspiel.nash_conv(tree.game, solver.average_policy())
            print(
                f"{tree.nodes} nodes, {tree.infosets} information sets; iteration {step}: NashConv {gap:.3f}",
                flush=True,
            )
    solved |= tree.rows(solver.average_policy())
env = table("werewolf_v0", **smallest)
TabularSeat.of("werewolf_v0", env.game_env.game.config, solved).save(chosen.out / "werewolf4.npz")

candidates = {"cfr": lambda: TabularSeat.load(chosen.out / "werewolf4.npz"), "random": RandomPolicy}
report = evaluate.single(env, candidates, ("random", RandomPolicy), seeds.HELD_OUT[:1000])
report_of(report, f"; Werewolf, {len(solved)} information sets; a draw is not won").show()
searched = against_random("ismcts", is_mcts(openspiel_game(GAME, **OPTIONS), chosen.simulations), chosen.deals)
report_of(searched, f"; Avalon, {chosen.simulations} simulations a move").show()
write_json(chosen.out / "report.json", {"werewolf": report.as_json(), "avalon": searched.as_json()})
