"""Train one seat of Avalon with Tianshou's DQN, and measure it. Usage: python scripts/train_tianshou.py [--steps N]"""

import logging

import numpy as np
import torch
from parlour.policies.adapters.tianshou import TianshouSeat, save_weights
from parlour.policies.files import write_json
from parlour.training.learn import examples
from parlour.training.results.evaluation_tables import show_report
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

chosen = examples.options(__doc__, 60_000, "runs/tianshou")
torch.set_num_threads(1)
torch.manual_seed(chosen.seed)  # Tianshou draws from the global generators of PyTorch and NumPy
np.random.seed(chosen.seed)  # noqa: NPY002, TID251
logging.getLogger("tianshou.data.stats").setLevel(logging.ERROR)  # it warns of returns by agent after every collection
env = PettingZooEnv(examples.learner_env())
net = Net(state_shape=env.env.game_env.encoder.size, action_shape=env.action_space.n, hidden_sizes=[128, 128])
policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space)
# the value of a move is the end of its game: gamma 1, and a horizon beyond the longest; one algorithm for each agent
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=5e-4), gamma=1.0, n_step_return_horizon=40)
algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[dqn], env=env)
tables = [DummyVectorEnv([lambda: PettingZooEnv(examples.learner_env())] * 16) for _ in ("train", "test")]
for number, table in enumerate(tables):
    table.seed(1000 * chosen.seed + 500 * number)
training = OffPolicyTrainerParams(
    training_collector=Collector(algorithm, tables[0], VectorReplayBuffer(32_000, 16), exploration_noise=True),
    test_collector=Collector(algorithm, tables[1]),
    max_epochs=6,
    epoch_num_steps=chosen.steps // 6,
    collection_step_num_env_steps=320,
    update_step_num_gradient_steps_per_sample=0.059,  # 19 in each step; from 20 on it draws a bar for them
    batch_size=512,
    test_step_num_episodes=200,
    # the trainer tells only the multi-agent policy that it trains, so that the agent's own goes by eps_inference
    training_fn=lambda epoch, step: policy.set_eps_inference(0.3),
    test_fn=lambda epoch, step: policy.set_eps_inference(0.0),
    show_progress=False,
)
algorithm.run_training(training)
chosen.out.mkdir(parents=True, exist_ok=True)
save_weights(net, chosen.out / "policy.pt", examples.GAME, env.env.game_env.game.config, env.env.game_env.features)
report = examples.against_random("tianshou", lambda: TianshouSeat(policy))
show_report(report, "")
write_json(chosen.out / "report.json", report.as_json())
