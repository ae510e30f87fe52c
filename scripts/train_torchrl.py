"""Train one seat of Avalon with TorchRL's PPO, and measure it against random play. See docs/integrations/torchrl.md.

Usage: python scripts/train_torchrl.py [--steps N] [--seed N] [--out DIRECTORY]; decisions are made in batches of 2,048.
"""

import torch
from parlour.policies.adapters.torchrl import LEARNER, ActorConfig, TorchRLPlayer, make_actor, save_actor
from parlour.policies.files import write_json
from parlour.training.learn.examples import against_random, learner_env, options
from parlour.training.results.evaluation_tables import show_report
from parlour.wrappers import MaskInInfo
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import LazyTensorStorage, ReplayBuffer, SamplerWithoutReplacement
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MLP
from torchrl.objectives import ClipPPOLoss

chosen = options(__doc__, 40_960, "runs/torchrl")
torch.set_num_threads(1)
torch.manual_seed(chosen.seed)  # TorchRL draws from PyTorch's global generator

table = MaskInInfo(learner_env())
config = ActorConfig.of(table)
env = PettingZooWrapper(table, use_mask=True)
env.set_seed(chosen.seed)
actor, network = make_actor(config), MLP(config.features, 1, num_cells=list(config.hidden))
critic = TensorDictModule(network, in_keys=[(LEARNER, "observation")], out_keys=[(LEARNER, "value")])
loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
keys = ("action", "reward", "done", "terminated", "value", "advantage", "value_target")
loss.set_keys(**{key: (LEARNER, key) for key in keys}, sample_log_prob=(LEARNER, "log_prob"))
loss.make_value_estimator(gamma=1.0, lmbda=0.95)  # GAE
optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)
buffer = ReplayBuffer(storage=LazyTensorStorage(2048), sampler=SamplerWithoutReplacement(), batch_size=256)
collector = Collector(env, actor, frames_per_batch=2048, total_frames=chosen.steps)
for number, batch in enumerate(collector, 1):
    with torch.no_grad():
        loss.value_estimator(batch)
    buffer.extend(batch)
    for sample in (sample for _ in range(6) for sample in buffer):
        optimiser.zero_grad()
        sum(value for name, value in loss(sample).items() if name.startswith("loss_")).backward()
        torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
        optimiser.step()
    returns = batch["next", LEARNER, "reward"][batch["next", LEARNER, "done"]]
    print(f"{2048 * number} decisions; {(returns > 0).float().mean():.2f} of {len(returns)} games won", flush=True)

chosen.out.mkdir(parents=True, exist_ok=True)
save_actor(chosen.out / "actor.pt", actor, config)
report = against_random("torchrl", lambda: TorchRLPlayer.load(chosen.out / "actor.pt"))
show_report(report, "")
write_json(chosen.out / "report.json", report.as_json())
