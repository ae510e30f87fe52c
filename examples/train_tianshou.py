"""Train one seat of Avalon with Tianshou's DQN, and save it as a player of parlour. See docs/integrations/tianshou.md.

Usage: python examples/train_tianshou.py [--steps N] [--seed N] [--out DIRECTORY]
"""

import numpy as np
import torch
from parlour.policies import TrainedSeat
from parlour.training.learn.examples import learner_env, options
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

FEATURES, ACTIONS = 99, 30

if __name__ == "__main__":
    chosen = options(__doc__, 60_000, "runs/tianshou")
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)  # Tianshou draws from the global generators of PyTorch and NumPy
    np.random.seed(chosen.seed)  # noqa: NPY002, TID251
    game = learner_env()  # the other four seats play at random
    env = PettingZooEnv(game)
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
    linears = [module for module in net.modules() if isinstance(module, torch.nn.Linear)]
    layers = [(linear.weight.detach().numpy(), linear.bias.detach().numpy()) for linear in linears]
    TrainedSeat("avalon_v0", game.game_env.game.config, layers, activation="relu").save(chosen.out / "policy.npz")
    print(f"parlour evaluate --policy {chosen.out}/policy.npz --policy expert --against random")
