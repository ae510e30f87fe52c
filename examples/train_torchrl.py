"""Train one seat of Avalon with TorchRL's PPO, and seat it at parlour's tables. See docs/integrations/torchrl.md.

Usage: python examples/train_torchrl.py [--steps N] [--seed N] [--out DIRECTORY]
`--policy examples.train_torchrl:Seat` plays the network in runs/torchrl.
"""

import torch
from parlour.training.learn.examples import learner_env, options
from parlour.wrappers import MaskInInfo
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor
from torchrl.objectives import ClipPPOLoss

OUT, LEARNER, FEATURES, ACTIONS = "runs/torchrl", "learner_0", 99, 30


class Seat:
    """Plays the legal action with the highest logit."""

    wants = "features"

    def __init__(self, folder=OUT):
        self.network = MLP(FEATURES, ACTIONS, num_cells=[64, 64])
        self.network.load_state_dict(torch.load(f"{folder}/actor.pt", weights_only=True))

    def act(self, observation, _info):
        logits = self.network(torch.as_tensor(observation["observation"]))
        return int(logits.masked_fill(torch.as_tensor(observation["action_mask"]) == 0, -torch.inf).argmax())


if __name__ == "__main__":
    chosen = options(__doc__, 40_960, OUT)
    torch.manual_seed(chosen.seed)  # TorchRL draws from PyTorch's global generator
    env = PettingZooWrapper(MaskInInfo(learner_env()), use_mask=True)
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
    torch.save(network.state_dict(), chosen.out / "actor.pt")
