"""Train one seat of Avalon with OpenSpiel's PPO, and save it as a player of parlour. See docs/integrations/openspiel.md.

Usage: python examples/train_openspiel.py [--steps N] [--seed N] [--out DIRECTORY]
"""

import numpy as np
import torch
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import Environment
from parlour.policies import TrainedSeat
from parlour.training.learn.examples import GAME, OPTIONS, options
from parlour.wrappers.openspiel.game import openspiel_game

BATCH = 1024


def others(env, turn, seat, rng):
    """The turn of `seat`, or the end of the game, after random moves of the other seats."""
    while not turn.last() and turn.current_player() != seat:
        turn = env.step([int(rng.choice(turn.observations["legal_actions"][turn.current_player()]))])
    return turn


if __name__ == "__main__":
    chosen = options(__doc__, 16_384, "runs/openspiel")
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)  # PPO draws from the global generators of PyTorch and NumPy
    np.random.seed(chosen.seed)  # noqa: NPY002, TID251
    rng = np.random.default_rng(chosen.seed)
    game = openspiel_game(GAME, **OPTIONS)
    env = Environment(game)
    env.seed(chosen.seed)
    shape, actions, seats = tuple(game.observation_tensor_shape()), game.num_distinct_actions(), game.num_players()
    how = {"steps_per_batch": BATCH, "num_minibatches": 4, "update_epochs": 6, "learning_rate": 1e-3, "gamma": 1.0}
    ppo = PPO(shape, actions, seats, **how, agent_fn=PPOAgent)
    turn = others(env, env.reset(), ppo.player_id, rng)
    for step in range(1, chosen.steps + 1):
        (output,) = ppo.step([turn])
        turn = others(env, env.step([output.action]), ppo.player_id, rng)
        ppo.post_step([turn.rewards[ppo.player_id]], [turn.last()])
        if turn.last():
            ppo.player_id = int(rng.integers(seats))  # each game in a seat that is drawn anew
            turn = others(env, env.reset(), ppo.player_id, rng)
        if step % BATCH == 0:
            ppo.learn([turn])
    chosen.out.mkdir(parents=True, exist_ok=True)
    linears = ppo.network.actor[::2]
    layers = [(linear.weight.detach().numpy(), linear.bias.detach().numpy()) for linear in linears]
    TrainedSeat(GAME, game.table.game.config, layers, activation="tanh").save(chosen.out / "policy.npz")
    print(f"parlour evaluate --policy {chosen.out}/policy.npz --policy expert --against random")
