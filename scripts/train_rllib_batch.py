"""Train one seat of Avalon with RLlib's PPO on tables over arrays, here or on a cluster. See docs/integrations/rllib.md."""

import argparse
from time import perf_counter
from typing import Any

import ray
from gymnasium import VectorizeMode
from parlour.envs import batch
from parlour.wrappers import BatchObservationsKey, BatchSeatEnv
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

TABLE = {"num_players": 5, "rules": "official", "talk": False, "features": "belief", "beliefs": True}
NETWORK = {"fcnet_hiddens": [128, 128], "fcnet_activation": "tanh", "head_fcnet_hiddens": []}
GAMES = 256  # side by side in each EnvRunner


def tables(config: Any) -> BatchObservationsKey:
    """The tables of one EnvRunner; RLlib says how many in `num_envs`."""
    made = batch.make("avalon_v0", num_envs=config.get("num_envs", 1), **TABLE)
    return BatchObservationsKey(BatchSeatEnv(made, "heuristic", autoreset="next_step"))


def configuration(runners: int) -> PPOConfig:
    """PPO with masks; every EnvRunner steps its games in one call."""
    register_env("avalon_tables", tables)
    vectorised = {"num_envs_per_env_runner": GAMES, "gym_env_vectorize_mode": VectorizeMode.VECTOR_ENTRY_POINT}
    config = PPOConfig().environment("avalon_tables")
    config.rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=NETWORK))
    config.env_runners(num_env_runners=runners, sample_timeout_s=600, **vectorised)
    config.training(train_batch_size_per_learner=8192, minibatch_size=1024, num_epochs=4, gamma=1.0, lambda_=0.95)
    return config.training(lr=7e-4, entropy_coeff=0.005).debugging(seed=0)


def main() -> None:
    """Train, and print what it gains and what it costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ray", default="local", help="local, auto, or HOST:PORT of a cluster")
    parser.add_argument("--runners", type=int, default=2, help="EnvRunners, one core each; 0: in this process")
    parser.add_argument("--steps", type=int, default=500_000, help="decisions of the learner")
    chosen = parser.parse_args()
    ray.init(chosen.ray, log_to_driver=False)
    algorithm = configuration(chosen.runners).build_algo()
    steps = 0
    while steps < chosen.steps:
        before, started = steps, perf_counter()
        # RLlib's own timers are running means, in which the first iteration, which compiles, weighs most.
        result = algorithm.train()
        steps, seconds = int(result["num_env_steps_sampled_lifetime"]), perf_counter() - started
        won = result["env_runners"].get("episode_return_mean", float("nan"))
        speed = (steps - before) / seconds
        print(
            f"{steps} decisions, return {won:+.3f}; this iteration {seconds:.1f} s, {speed:,.0f} decisions/s",
            flush=True,
        )
    algorithm.stop()


if __name__ == "__main__":
    main()
