"""Train one seat of Avalon with AgileRL's IPPO, and play its checkpoint in parlour. See docs/integrations/agilerl.md.

Usage: python examples/train_agilerl.py [--steps N] [--seed N] [--out DIRECTORY]
`--policy examples.train_agilerl:Seat` plays the checkpoint in runs/agilerl. Loading it runs the code in it.
"""

from functools import partial

import numpy as np
import torch
from agilerl.algorithms import IPPO
from agilerl.training.train_multi_agent_on_policy import train_multi_agent_on_policy
from agilerl.vector.pz_async_vec_env import AsyncPettingZooVecEnv
from parlour.training.learn.examples import learner_env, options
from parlour.wrappers import LegalRanks
from pettingzoo.utils.conversions import aec_to_parallel

OUT, LEARNER, RANKS = "runs/agilerl", "learner_0", 10  # there are never more legal moves at this table


class Seat:
    """Plays the legal action whose rank has the highest logit."""

    wants = "features"

    def __init__(self, folder=OUT):
        self.agent = IPPO.load(f"{folder}/agent.pt", device="cpu")
        self.network = self.agent.actors[self.agent.get_network_id(LEARNER)].eval()

    def act(self, observation, _info):
        legal = np.flatnonzero(observation["action_mask"])
        with torch.no_grad():
            seen = self.agent.preprocess_observation({LEARNER: observation["observation"]})[LEARNER]
            logits = self.network.head_net.wrapped(self.network.extract_features(seen))
        return int(legal[int(logits.argmax()) % len(legal)])


def table(seed):
    """One learner's table, which deals its games from `seed` on: AgileRL itself resets without seeds."""
    env = aec_to_parallel(LegalRanks(learner_env(), RANKS))
    env.reset(seed=seed)
    return env


if __name__ == "__main__":
    chosen = options(__doc__, 65_536, OUT)
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)
    np.random.seed(chosen.seed)  # noqa: NPY002, TID251 - IPPO shuffles with NumPy's global generator
    first, tables = table(0), AsyncPettingZooVecEnv([partial(table, 8 * chosen.seed + k) for k in range(8)])
    net = {"latent_dim": 128, "encoder_config": {"hidden_size": [128]}, "head_config": {"hidden_size": [128]}}
    how = {"learn_step": 2048, "batch_size": 512, "lr": 1e-3, "gamma": 0.95, "gae_lambda": 0.9, "ent_coef": 0.005}
    spaces = [first.observation_space(LEARNER)], [first.action_space(LEARNER)]
    agent = IPPO(*spaces, [LEARNER], net_config=net, **how)
    train_multi_agent_on_policy(tables, "avalon_v0", "IPPO", [agent], max_steps=chosen.steps, evo_steps=16_384)
    tables.close()
    chosen.out.mkdir(parents=True, exist_ok=True)
    agent.save_checkpoint(str(chosen.out / "agent.pt"))
    game = "avalon_v0 --players 5 --rules official --set talk=false"
    print(f"parlour evaluate {game} --policy examples.train_agilerl:Seat --policy expert --against random")
