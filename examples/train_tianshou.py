"""Train one seat of Avalon with Tianshou's DQN, and seat it at parlour's tables. See docs/integrations/tianshou.md.

Usage: python examples/train_tianshou.py [--steps N] [--seed N] [--out DIRECTORY]
`--policy examples.train_tianshou:Seat` plays the network in runs/tianshou.
"""

import numpy as np
import torch
from parlour.training.learn.examples import learner_env, options
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

OUT, FEATURES, ACTIONS = "runs/tianshou", 99, 30


class Seat:
    """Plays the legal action with the highest value."""

    wants = "features"

    def __init__(self, folder=OUT):
        self.network = Net(state_shape=FEATURES, action_shape=ACTIONS, hidden_sizes=[128, 128])
        self.network.load_state_dict(torch.load(f"{folder}/policy.pt", weights_only=True))

    def act(self, observation, _info):
        with torch.no_grad():
            values = self.network(observation["observation"][None])[0][0]
        return int(values.masked_fill(torch.as_tensor(observation["action_mask"]) == 0, -torch.inf).argmax())


if __name__ == "__main__":
    chosen = options(__doc__, 60_000, OUT)
    torch.manual_seed(chosen.seed)  # Tianshou draws from the global generators of PyTorch and NumPy
    np.random.seed(chosen.seed)  # noqa: NPY002, TID251
    env = PettingZooEnv(learner_env())
    net = Net(state_shape=FEATURES, action_shape=ACTIONS, hidden_sizes=[128, 128])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_inference=0.3)
    # the value of a move is the end of its game: gamma 1, and a horizon beyond the longest
    dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=1.0, n_step_return_horizon=40)
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[dqn], env=env)
    tables = DummyVectorEnv([lambda: PettingZooEnv(learner_env())] * 16)
    tables.seed(1000 * chosen.seed)
    collector = Collector(algorithm, tables, VectorReplayBuffer(32_000, 16), exploration_noise=True)
    steps = {"epoch_num_steps": chosen.steps, "collection_step_num_env_steps": 320, "max_epochs": 1}
    much = {"update_step_num_gradient_steps_per_sample": 0.059, "batch_size": 512}  # 19 updates a collection
    algorithm.run_training(OffPolicyTrainerParams(training_collector=collector, show_progress=False, **steps, **much))
    chosen.out.mkdir(parents=True, exist_ok=True)
    torch.save(net.state_dict(), chosen.out / "policy.pt")
