"""Learn all seats of a game with PPO, in one file: plain PyTorch on thousands of games at once, in the style of CleanRL.

    python examples/ppo.py
    parlour evaluate avalon_v0 --policy runs/ppo/policy.npz --design team
    parlour play avalon_v0 --policy runs/ppo/policy.npz --policy player_0=human

First the network imitates the heuristic, which plays all seats. Then PPO: at half of the tables the other side is the heuristic,
at the others the network plays all seats; a penalty on the divergence from the imitation fades. The network reads what the seat
to move knows, with exact beliefs (`features="belief"`); the critic also sees all roles. Needs the extra `train`.
"""

import argparse
import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure
from parlour.envs import batch
from parlour.envs.batch.players import HeuristicSeats
from parlour.envs.common.terminal import tell
from parlour.policies import TrainedSeat
from parlour.training.learn.batch.matches import whole_sides
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.play.rollout import play, table
from parlour.training.play.seeds import VALIDATION
from parlour.training.runs.run import Run
from torch import nn
from torch.nn import functional


@dataclass(frozen=True)
class Config:
    """Everything that decides a run. Each field is an option of the command."""

    game: str = "avalon_v0"
    features: str = "belief"
    seed: int = 0
    out: Path = Path("runs/ppo")
    log: str = "csv"  # or tensorboard, or wandb, with the extra of that name; several as tensorboard,wandb
    imitations: int = 24  # rollouts of the heuristic to imitate
    updates: int = 60  # rollouts to learn from
    tables: int = 512  # games side by side
    turns: int = 128  # turns of each game in a rollout
    against: float = 0.5  # share of the tables at which the other side is the heuristic
    hidden: int = 128  # width of the two hidden layers
    batch: int = 4096
    epochs: int = 2
    rate: float = 5e-4  # decreases linearly to a tenth
    clip: float = 0.2
    gae_lambda: float = 0.95
    entropy: float = 0.003  # bonus; decreases to a third
    anchor: float = 0.03  # penalty on the divergence from the imitation; decreases to a tenth
    validate: int = 10  # updates between two points of the curve, each of as many deals as there are tables


class Rollout(NamedTuple):
    """T turns at B tables with n seats."""

    seen: torch.Tensor  # (T, B, features)
    full: torch.Tensor  # (T, B, features + roles): what the critic sees
    mask: torch.Tensor  # (T, B, actions)
    action: torch.Tensor  # (T, B)
    log_prob: torch.Tensor  # (T, B)
    value: torch.Tensor  # (T, B)
    own: Any  # (T, B): whether it is a decision to learn from
    actor: Any  # (T, B)
    sides: Any  # (T, B, n)
    rewards: Any  # (T, B, n)
    over: Any  # (T, B)


def mlp(n: int, width: int, m: int) -> nn.Sequential:
    """Two hidden layers between n inputs and m outputs."""
    return nn.Sequential(nn.Linear(n, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, m))


def log_probs(policy: nn.Module, seen: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Log-probabilities of all actions; those of illegal ones are far below any other."""
    return functional.log_softmax(policy(seen).masked_fill(mask == 0, -1e9), dim=1)


class Learner:
    """Policy and critic, the imitation as an anchor, and the optimiser."""

    def __init__(self, config: Config, tables: batch.BatchTables) -> None:
        self.config = config
        self.policy = mlp(tables.size, config.hidden, tables.actions)
        self.critic = mlp(tables.size + tables.hidden_size, config.hidden, 1)
        self.anchor, self.weights = self.policy, [*self.policy.parameters(), *self.critic.parameters()]
        self.adam = torch.optim.Adam(self.weights, lr=1e-3)

    def imitate(self, rollout: Rollout) -> dict[str, float]:
        """One pass over decisions of the heuristic: its actions, and for the critic what they led to."""
        for seen, full, mask, action, _, target, _ in self._minibatches(rollout, gae_lambda=1.0):
            loss = functional.nll_loss(log_probs(self.policy, seen, mask), action)
            self._descend(loss + 0.5 * functional.mse_loss(self.critic(full)[:, 0], target))
        self.anchor = copy.deepcopy(self.policy).requires_grad_(False)
        return {"losses/imitation_loss": loss.item()}

    def update(self, rollout: Rollout, done: float) -> dict[str, float]:
        """PPO on the decisions of one rollout; `done` is the finished share of the run, from 0 to 1."""
        config, passes = self.config, range(self.config.epochs)
        self.adam.param_groups[0]["lr"] = config.rate * max(0.1, 1 - done)
        parts = (part for _ in passes for part in self._minibatches(rollout, config.gae_lambda))
        for seen, full, mask, action, old_log_prob, target, gain in parts:
            logs = log_probs(self.policy, seen, mask)
            anchored = log_probs(self.anchor, seen, mask)
            log_ratio = logs.gather(1, action[:, None])[:, 0] - old_log_prob
            ratio, clipped = log_ratio.exp(), log_ratio.exp().clamp(1 - config.clip, 1 + config.clip)
            advantage = (gain - gain.mean()) / (gain.std() + 1e-6)
            policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            value_loss = functional.mse_loss(self.critic(full)[:, 0], target)
            entropy = -(logs.exp() * logs).sum(dim=1).mean()
            divergence = (logs.exp() * (logs - anchored)).sum(dim=1).mean()
            shaped = config.anchor * 10**-done * divergence - config.entropy * 3**-done * entropy
            self._descend(policy_loss + 0.5 * value_loss + shaped)
        last = (policy_loss, value_loss, entropy, divergence, (ratio - 1 - log_ratio).mean())
        names = ("policy_loss", "value_loss", "entropy", "anchor_kl", "approx_kl")
        return {f"losses/{name}": x.item() for name, x in zip(names, last, strict=True)}

    def _minibatches(self, rollout: Rollout, gae_lambda: float) -> Iterator[list[torch.Tensor]]:
        """The first five parts of the rollout, targets and advantages, of usable decisions with a choice, in a new order."""
        gain, usable = advantages(rollout, gae_lambda)
        flat = [part.flatten(0, 1) for part in (*rollout[:5], rollout.value + gain, gain)]
        rows = torch.from_numpy(np.flatnonzero(usable & (rollout.mask.sum(dim=2) > 1).numpy()))
        for chosen in rows[torch.randperm(len(rows))].chunk(max(1, len(rows) // self.config.batch)):
            yield [part[chosen] for part in flat]

    def _descend(self, loss: torch.Tensor) -> None:
        self.adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights, 0.5)
        self.adam.step()


class Collector:
    """Plays the tables. The network has all seats at some, and one side against the heuristic at the others."""

    def __init__(self, config: Config, stream: int) -> None:
        self.tables = batch.make(config.game, num_envs=config.tables, features=config.features)
        seeds = np.random.default_rng((config.seed, stream)).integers(2**30, size=config.tables).tolist()
        self.turns, self.length, self.heuristic = self.tables.reset(seeds), config.turns, HeuristicSeats()
        self.heuristic.reset(self.tables, seeds)
        self.everyone = np.arange(config.tables, dtype=np.int32)
        self.side = np.where(self.everyone < config.against * config.tables, self.everyone % 2, -1)  # -1: both

    def collect(self, learner: Learner, *, imitate: bool = False) -> Rollout:
        """Play some turns. To imitate, the heuristic plays all seats, and its decisions are collected."""
        steps = []
        for _ in range(self.length):
            turns, actor, sides = self.turns, self.turns.actor.copy(), self.tables.side.copy()
            own = imitate | (self.side < 0) | (sides[self.everyone, actor] == self.side)
            seen, mask = torch.tensor(turns.observation), torch.tensor(turns.mask)
            full = torch.cat([seen, torch.from_numpy(self.tables.hidden())], dim=1)
            with torch.no_grad():
                logs, value = log_probs(learner.policy, seen, mask), learner.critic(full)[:, 0]
            action = (logs.exp() / torch.empty_like(logs).exponential_()).argmax(dim=1).int()  # one draw of each row
            self.heuristic.choose(turns, self.everyone[imitate | ~own], action.numpy())
            decided = (seen, full, mask, action.long(), logs.gather(1, action[:, None].long())[:, 0], value)
            self.turns = self.tables.step(action.numpy())
            rewards, over = self.turns.rewards.copy(), self.turns.terminated.astype(bool)
            steps.append((*decided, own, actor, sides, rewards, over))
        parts = list(zip(*steps, strict=True))
        return Rollout(*map(torch.stack, parts[:6]), *map(np.stack, parts[6:]))


def advantages(rollout: Rollout, gae_lambda: float) -> tuple[torch.Tensor, Any]:
    """Generalised advantage estimation without discount: (T, B), and which are usable. A seat's next state is its next turn."""
    values, shape = rollout.value.numpy(), rollout.rewards.shape[1:]
    reward, value, advantage, known = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape, bool)
    gains, usable = np.zeros(values.shape, np.float32), np.zeros(values.shape, bool)
    for t in reversed(range(len(values))):
        over, b = rollout.over[t], np.flatnonzero(rollout.own[t])
        at = (b, rollout.actor[t, b])
        reward[over], value[over], advantage[over], known[over] = 0, 0, 0, True
        reward += rollout.rewards[t]
        gains[t, b] = reward[at] + value[at] - values[t, b] + gae_lambda * advantage[at]
        usable[t, b] = known[at]  # not the last decision of a seat in a game that goes on: it has no next state yet
        value[at], advantage[at], reward[at], known[at] = values[t, b], gains[t, b] * known[at], 0, True
    return torch.from_numpy(gains), usable


class Log:
    """Prints lines, draws curve.png, and hands all metrics to parlour: progress.csv, and the loggers that `--log` names."""

    def __init__(self, run: Run) -> None:
        self.run, self.started = run, time.process_time()
        self.points = list[tuple[int, float]]()

    def write(self, steps: int, values: dict[str, float]) -> None:
        """One point of all curves."""
        values |= {"charts/seconds": time.process_time() - self.started}
        self.run.log(values, steps)
        self.points.append((steps, values["eval/points"]))
        tell(f"{steps:>9,} steps  " + "  ".join(f"{key.split('/')[1]} {x:.3f}" for key, x in values.items()))
        axes = Figure(figsize=(6, 4), layout="constrained").subplots()
        axes.plot(*zip(*self.points, strict=True), marker="o")
        axes.set(xlabel="decisions", ylabel="points against the heuristic, validation deals", title="examples/ppo.py")
        axes.figure.savefig(self.run.folder / "curve.png")


def validate(learner: Learner, tables: batch.BatchTables) -> dict[str, float]:
    """Each deal from both sides against the heuristic. Points: its win rate less the heuristic's, in hundredths."""
    players = NetworkPlayer("ppo", learner.policy, tables.names), HeuristicSeats()
    result = whole_sides(tables, *players, VALIDATION[: tables.num_envs])
    return {"eval/points": 100 * result.points.value, "eval/win_rate": float(result.won.mean())}


def main(config: Config) -> None:
    """Imitate, learn, save, and play one game at the table."""
    run = Run(config.out, log=config.log.split(","))
    with run.opened():
        learn(config, Log(run))


def learn(config: Config, log: Log) -> None:
    """All of `main` within the run."""
    torch.set_num_threads(1)  # fastest for small networks
    torch.manual_seed(config.seed)
    teacher, collector = Collector(config, stream=0), Collector(config, stream=1)
    test = batch.make(config.game, num_envs=config.tables, features=config.features, autoreset=None)
    learner, steps = Learner(config, test), 0
    for _ in range(config.imitations):
        losses = learner.imitate(teacher.collect(learner, imitate=True))
    log.write(0, {**validate(learner, test), **losses})
    for k in range(1, config.updates + 1):
        rollout = collector.collect(learner)
        losses, steps = learner.update(rollout, k / config.updates), steps + int(rollout.own.sum())
        if k % config.validate == 0 or k == config.updates:
            met = rollout.over & (collector.side >= 0)  # games against the heuristic that ended
            returns = rollout.rewards[met][rollout.sides[met] == collector.side[np.nonzero(met)[1], None]]
            charts = {"charts/episodic_return": float(returns.sum() / max(1, returns.size))}
            log.write(steps, {**validate(learner, test), **charts, **losses})
    layers = [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in learner.policy[::2]]
    how: Any = {"features": config.features, "activation": "relu", "sample": True}  # all that `--policy` needs to know
    TrainedSeat(test.spec.id, test.game.config, layers, **how).save(config.out / "policy.npz")
    players = [TrainedSeat.load(config.out / "policy.npz") for _ in range(test.seats)]
    tell(f"A game at the table, all seats: {play(table(config.game), players, seed=VALIDATION[0]).outcome}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Config):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    main(Config(**vars(parser.parse_args())))
