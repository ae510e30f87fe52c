"""Train one seat of Avalon with TorchRL's PPO, and save it as a player of parlour. See docs/integrations/torchrl.md.

Usage: python examples/train_torchrl.py [--steps N] [--seed N] [--out DIRECTORY]
"""

import torch
from parlour.policies import TrainedSeat
from parlour.training.learn.examples import learner_env, options
from parlour.wrappers import MaskInInfo
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss

LEARNER, FEATURES, ACTIONS = "learner_0", 99, 30

if __name__ == "__main__":
    chosen = options(__doc__, 24_576, "runs/torchrl")
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)  # TorchRL draws from PyTorch's global generator
    game = learner_env()  # the other four seats play at random
    env = PettingZooWrapper(MaskInInfo(game), use_mask=True)
    env.set_seed(chosen.seed)
    network, values = (MLP(FEATURES, size, num_cells=[64, 64]) for size in (ACTIONS, 1))
    logits = TensorDictModule(network, in_keys=[(LEARNER, "observation")], out_keys=[(LEARNER, "logits")])
    critic = TensorDictModule(values, in_keys=[(LEARNER, "observation")], out_keys=[(LEARNER, "value")])
    reads = {"logits": (LEARNER, "logits"), "mask": (LEARNER, "action_mask")}
    drawn = {"distribution_class": MaskedCategorical, "return_log_prob": True, "log_prob_key": (LEARNER, "log_prob")}
    actor = ProbabilisticActor(logits, in_keys=reads, out_keys=[(LEARNER, "action")], **drawn)
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    keys = ("action", "reward", "done", "terminated", "value", "advantage", "value_target")
    loss.set_keys(**{key: (LEARNER, key) for key in keys}, sample_log_prob=(LEARNER, "log_prob"))
    loss.make_value_estimator(gamma=1.0, lmbda=0.95)  # GAE
    optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)
    buffer = ReplayBuffer(storage=LazyTensorStorage(2048), sampler=SamplerWithoutReplacement(), batch_size=256)
    for batch in Collector(env, actor, frames_per_batch=2048, total_frames=chosen.steps):
        torch.no_grad()(loss.value_estimator)(batch)
        buffer.extend(batch)
        for sample in (sample for _ in range(6) for sample in buffer):
            optimiser.zero_grad()
            sum(value for name, value in loss(sample).items() if name.startswith("loss_")).backward()
            torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimiser.step()
    chosen.out.mkdir(parents=True, exist_ok=True)
    linears = [module for module in network.modules() if isinstance(module, torch.nn.Linear)]
    layers = [(linear.weight.detach().numpy(), linear.bias.detach().numpy()) for linear in linears]
    TrainedSeat("avalon_v0", game.game_env.game.config, layers, activation="tanh").save(chosen.out / "policy.npz")
    print(f"parlour evaluate --policy {chosen.out}/policy.npz --policy expert --against random")
