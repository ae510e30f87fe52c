"""Train a seat of Avalon with AgileRL's IPPO, measure it against random play: python scripts/train_agilerl.py --out DIR

IPPO fails on action masks, so the learner's actions are ranks among its legal moves. See docs/integrations/agilerl.md.
"""

from functools import partial

import numpy as np
import torch
from agilerl.algorithms import IPPO
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv
from parlour.policies.adapters.agilerl import AgileRLSeat
from parlour.policies.adapters.trained_on import save_beside
from parlour.policies.files import write_json
from parlour.training.learn import examples
from parlour.training.results.evaluation_tables import show_report
from parlour.wrappers import LegalRanks
from pettingzoo import ParallelEnv
from pettingzoo.utils.conversions import aec_to_parallel

RANKS = 10  # there are never more legal moves at this table
AGENTS = ["learner_0"]


def table(seed: int) -> ParallelEnv:
    """One learner's table, which deals its games from `seed` on: AgileRL itself resets without seeds."""
    env = aec_to_parallel(LegalRanks(examples.learner_env(), RANKS))
    env.reset(seed=seed)
    return env


def main() -> None:
    """Train, measure, save."""
    args = examples.options(__doc__, 131_072, "runs/agilerl")
    torch.set_num_threads(1)  # a small network: one thread is fastest
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002, TID251 - IPPO shuffles with numpy's global generator
    first, tables = table(0), AsyncPettingZooVecEnv([partial(table, 8 * args.seed + k) for k in range(8)])
    spaces = [first.observation_space(a) for a in AGENTS], [first.action_space(a) for a in AGENTS]
    net = {"latent_dim": 128, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}
    how = {"learn_step": 2048, "batch_size": 512, "lr": 1e-3, "gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
    agent = IPPO(*spaces, AGENTS, net_config=net, **how)
    train_multi_agent_on_policy(tables, examples.GAME, "IPPO", [agent], max_steps=args.steps, evo_steps=16_384)
    tables.close()
    args.out.mkdir(parents=True, exist_ok=True)
    agent.save_checkpoint(str(args.out / "agent.pt"))
    save_beside(args.out / "agent.pt", first)
    report = examples.against_random("ippo", lambda: AgileRLSeat(agent, actions="ranks"))
    write_json(args.out / "report.json", report.as_json())
    show_report(report, "")


if __name__ == "__main__":
    main()
