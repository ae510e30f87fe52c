"""Train a seat of Avalon with SuperSuit and stable-baselines3's PPO, and measure it against random play.

    python scripts/train_supersuit.py --out runs/supersuit

PPO knows no masks, so the learner's actions are ranks among its legal moves. See docs/integrations/supersuit.md.
"""

import argparse

import supersuit
import torch
from parlour.policies.adapters.sb3 import Sb3Seat
from parlour.policies.adapters.trained_on import save_beside
from parlour.policies.files import write_json
from parlour.training.learn import examples
from parlour.training.measure.evaluation_tables import report_of
from parlour.training.report import display
from parlour.wrappers import LegalRanks
from pettingzoo.utils.conversions import aec_to_parallel
from stable_baselines3 import PPO
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import VecMonitor

RANKS = 10  # there are never more legal moves at this table
TABLES = 16


def main() -> None:
    """Train, measure, save."""
    args = examples.options(__doc__, 196_608, "runs/supersuit", formatter_class=argparse.RawDescriptionHelpFormatter)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # a small network: one thread is fastest

    env = aec_to_parallel(LegalRanks(examples.learner_env(), RANKS))
    seat = supersuit.pettingzoo_env_to_vec_env_v1(env)
    tables = supersuit.concat_vec_envs_v1(seat, TABLES, base_class="stable_baselines3")
    tables.venv.reset(seed=args.seed)  # else all tables are copies of one and deal the same games

    set_random_seed(args.seed)  # of the global generators; PPO(seed=...) fails: SuperSuit's tables have no seed()
    layers = {"net_arch": [128, 128]}
    settings = {"n_steps": 256, "batch_size": 1024, "n_epochs": 4, "learning_rate": 1e-3, "gamma": 1.0}
    model = PPO(
        "MlpPolicy", VecMonitor(tables), **settings, ent_coef=0.005, policy_kwargs=layers, device="cpu", verbose=1
    )
    model.learn(args.steps, log_interval=8)
    model.save(args.out / "model.zip")
    save_beside(args.out / "model.zip", env)

    with display.progress_line() as progress:
        report = examples.against_random("ppo", lambda: Sb3Seat(model, actions="ranks"), progress=progress)
    write_json(args.out / "report.json", report.as_json())
    report_of(report).show()


if __name__ == "__main__":
    main()
