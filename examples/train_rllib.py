"""Train one seat of Avalon with RLlib's PPO, and save it for parlour. See docs/integrations/rllib.md.

Usage: python examples/train_rllib.py [--steps N] [--seed N] [--out DIRECTORY]
"""

import ray
import torch
from parlour.policies.adapters.trained_on import save_beside
from parlour.training.learn.examples import learner_env, options
from parlour.wrappers import ObservationsKey
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

NETWORK = {"fcnet_hiddens": [64, 64], "fcnet_activation": "tanh", "head_fcnet_hiddens": []}


def configuration(seed):
    """PPO with masks for the agent `learner_0`; 25 games in this process, so that the network sees 25 at a time."""
    register_env("avalon", lambda _: PettingZooEnv(ObservationsKey(learner_env())))
    return (
        PPOConfig()
        .environment("avalon")
        .multi_agent(policies=["learner"], policy_mapping_fn=lambda agent, episode, **_: "learner")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=NETWORK))
        .env_runners(num_env_runners=0, num_envs_per_env_runner=25)
        .training(train_batch_size_per_learner=5000, minibatch_size=500, num_epochs=6)
        .training(gamma=1.0, lambda_=0.95, lr=1e-3, entropy_coeff=0.01)
        .debugging(seed=seed)  # RLlib seeds the global generators of Python, numpy and PyTorch with it
    )


if __name__ == "__main__":
    chosen = options(__doc__, 60_000, "runs/rllib")
    torch.set_num_threads(1)
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    algorithm, steps = configuration(chosen.seed).build_algo(), 0
    while steps < chosen.steps:
        result = algorithm.train()
        steps = int(result["num_env_steps_sampled_lifetime"])
        print(f"{steps} decisions, mean return {result['env_runners'].get('episode_return_mean', float('nan')):+.2f}")
    checkpoint = algorithm.save_to_path(str((chosen.out / "checkpoint").resolve()))
    save_beside(checkpoint, learner_env())  # which features the network reads
    algorithm.stop()
    ray.shutdown()
    table = "avalon_v0 --players 5 --rules official --set talk=false"
    policy = f"rllib:file={chosen.out}/checkpoint"
    print(f"parlour evaluate {table} --policy {policy} --policy expert --against random")
