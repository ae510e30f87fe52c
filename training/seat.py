"""Training one seat of a game with MaskablePPO (sb3-contrib), in legs that can be taken up again after a kill.

A run is cut into legs of `leg_steps`. A leg begins with freshly seeded environments and ends with a checkpoint, so that
a run that was killed and taken up again gives the same network, byte for byte, as one that was not. (PyTorch and
stable-baselines3 draw from their own global generators; each leg seeds them.) Learned from are the seeds of
`seeds.TRAINING`, the curve is measured on `seeds.VALIDATION`.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import torch
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat, make_policy
from parlour.training import evaluate, seeds
from parlour.training.rollout import table
from parlour.training.statistics import rate
from parlour.training.tables import MakeSeat
from parlour.training.vec import SeatVecEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import set_random_seed

CHECKPOINT: Final = "checkpoint.zip"
CONFIG: Final = "config.json"
CURVE: Final = "curve.csv"
PICTURE: Final = "curve.png"
POLICY: Final = "policy.npz"
_COLUMNS: Final = ("steps", "games", "n", "win_rate", "low", "high", "training_win_rate")


@dataclass(frozen=True, kw_only=True)
class SeatConfig:
    """Everything that decides a run; saved with it."""

    game: str = "avalon_v0"
    options: Mapping[str, Any] = field(default_factory=lambda: {"num_players": 5, "rules": "official"})
    """Of the game."""
    opponents: str = "rule"
    """Policy of the other seats."""
    seat: int | Literal["random"] = "random"
    """The learner's seat, or `"random"` for another one in each game."""
    steps: int = 400_000
    """Decisions of the learner; rounded up to whole legs."""
    leg_steps: int = 40_960
    """Decisions between two checkpoints."""
    envs: int = 32
    """Tables played side by side."""
    processes: int = 2
    """Processes that play them. The result does not depend on it."""
    rollout: int = 4096
    """Decisions between two updates, over all tables."""
    batch: int = 1024
    epochs: int = 4
    learning_rate: float = 7e-4
    """At the start; it falls in a straight line, leg by leg, to a tenth."""
    entropy: float = 0.005
    gae_lambda: float = 0.95
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    validation_games: int = 300
    """Games of each point of the curve."""
    seed: int = 0

    def __post_init__(self) -> None:
        positive = ("steps", "leg_steps", "envs", "processes", "rollout", "batch", "epochs", "validation_games")
        for name in positive:
            if getattr(self, name) < 1:
                raise ParlourError(f"{name} {getattr(self, name)!r} is not accepted; accepted: a whole number from 1")
        if self.rollout % self.envs or self.leg_steps % self.rollout:
            raise ParlourError(
                f"rollout {self.rollout} and leg_steps {self.leg_steps} are not accepted; accepted: a multiple of "
                f"envs ({self.envs}), and a multiple of rollout"
            )

    @property
    def legs(self) -> int:
        """How many legs the run has."""
        return -(-self.steps // self.leg_steps)


@dataclass(frozen=True)
class Point:
    """One point of the curve: the state of the run after a leg."""

    steps: int
    games: int
    """Games that were learned from so far."""
    n: int
    """Validation games."""
    win_rate: float
    low: float
    high: float
    training_win_rate: float
    """Of the games learned from in the last leg, in which actions are drawn at random from the network."""


def train(
    config: SeatConfig, out: str | Path, progress: Callable[[int, str], None] = lambda _steps, _note: None
) -> Point:
    """Train, or take up a run that was begun in `out`; returns the last point of the curve.

    Leaves in `out`: config.json, checkpoint.zip, curve.csv, curve.png and policy.npz (a `TrainedSeat`).

    Args:
        config: What to train. A run in `out` is taken up only if it has the same.
        out: The folder of the run.
        progress: Told the number of decisions made since the last call, and how it stands.

    Raises:
        ParlourError: `out` holds a run with another configuration, or the configuration cannot be used.
    """
    folder = Path(out)
    _maker(config)()  # refuses an unusable configuration before anything is written
    torch.set_num_threads(1)  # small networks: one thread is fastest, and sums in one order
    model, points = _begin(config, folder)
    if points:
        progress(points[-1].steps, _note(points[-1]))
    for leg in range(len(points), config.legs):
        env = _tables(config, leg)
        try:
            model = model or _model(config, env)
            counter = _Counter(progress)
            _learn(model, config, leg, env, counter)
        finally:
            env.close()
        policy = export(model, config)
        points.append(_measure(config, policy, leg, counter, points))
        progress(0, _note(points[-1]))
        _keep(model, policy, points, folder)
        draw_curve(points, config, folder / PICTURE)
    return points[-1]


# -- one leg ---------------------------------------------------------------------------------------------------


def _maker(config: SeatConfig) -> MakeSeat:
    return MakeSeat(config.game, config.options, config.opponents, config.seat)


def _tables(config: SeatConfig, leg: int) -> SeatVecEnv:
    own = [seeds.derive(config.seed, leg, k) % len(seeds.TRAINING) for k in range(config.envs)]
    return SeatVecEnv(_maker(config), own, config.processes)


def _model(config: SeatConfig, env: SeatVecEnv) -> MaskablePPO:
    set_random_seed(seeds.derive(config.seed))
    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=config.learning_rate,
        n_steps=config.rollout // config.envs,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=1.0,
        gae_lambda=config.gae_lambda,
        ent_coef=config.entropy,
        policy_kwargs={"net_arch": list(config.hidden)},
        device="cpu",
    )


def _learn(model: MaskablePPO, config: SeatConfig, leg: int, env: SeatVecEnv, counter: _Counter) -> None:
    set_random_seed(seeds.derive(config.seed, leg))
    model.learning_rate = config.learning_rate * max(0.1, 1 - leg / config.legs)
    model._setup_lr_schedule()
    model.set_env(env, force_reset=True)
    model.learn(config.leg_steps, callback=counter, reset_num_timesteps=leg == 0)


class _Counter(BaseCallback):
    """Counts decisions and finished games while learning."""

    def __init__(self, progress: Callable[[int, str], None]) -> None:
        super().__init__()
        self._progress = progress
        self.games = 0
        self.won = 0

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "return" in info:
                self.games += 1
                self.won += info["return"] > 0
        self._progress(len(self.locals["infos"]), "")
        return True


def export(model: MaskablePPO, config: SeatConfig) -> TrainedSeat:
    """The network of the policy as a `TrainedSeat`, without PyTorch."""
    network: Any = model.policy
    hidden = [layer for layer in network.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    layers = [
        (layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy())
        for layer in (*hidden, network.action_net)
    ]
    game = lookup(config.game).raw_env(**config.options).game
    return TrainedSeat(config.game, game.config, layers)


def _measure(config: SeatConfig, policy: TrainedSeat, leg: int, counter: _Counter, before: list[Point]) -> Point:
    env = table(config.game, **config.options)
    base = env.game_env

    def opponent() -> Any:
        return make_policy(config.opponents, config.game, base.game.config)

    games = seeds.VALIDATION[: config.validation_games]
    report = evaluate.seat(
        env,
        {"trained": lambda: policy},
        (config.opponents, opponent),
        games,
        own=None if config.seat == "random" else int(config.seat),
    )
    won = report.rates["trained"]["all"]
    assert won is not None
    seen = rate(counter.won, counter.games)
    played = counter.games + (before[-1].games if before else 0)
    steps = (leg + 1) * config.leg_steps
    return Point(steps, played, won.n, won.rate, won.low, won.high, seen.rate if seen else 0.0)


def _note(point: Point) -> str:
    return f"win rate {point.win_rate:.3f} [{point.low:.3f}, {point.high:.3f}]"


# -- the folder of a run ---------------------------------------------------------------------------------------


def _begin(config: SeatConfig, folder: Path) -> tuple[MaskablePPO | None, list[Point]]:
    """Make the folder, or read how far the run in it has come."""
    told = json.dumps(asdict(config), indent=2) + "\n"
    path = folder / CONFIG
    if path.exists() and path.read_text() != told:
        raise ParlourError(
            f"{str(folder)!r} holds a run with another configuration; accepted: the same, or a new folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(told)
    if not (folder / CHECKPOINT).exists():
        return None, []
    model = MaskablePPO.load(folder / CHECKPOINT, device="cpu")
    with (folder / CURVE).open(newline="") as file:
        rows = [[_number(row[column]) for column in _COLUMNS] for row in csv.DictReader(file)]
    # a run that was killed while it wrote its files may have a point more than its checkpoint
    return model, [_point(row) for row in rows if row[0] <= model.num_timesteps]


def _point(row: list[float]) -> Point:
    steps, games, n, *rates = row
    return Point(int(steps), int(games), int(n), *rates)


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _keep(model: MaskablePPO, policy: TrainedSeat, points: list[Point], folder: Path) -> None:
    """Write the state of the run; each file is replaced as a whole, the checkpoint last."""
    with _replacing(folder / CURVE) as path, path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        writer.writerows([getattr(point, column) for column in _COLUMNS] for point in points)
    with _replacing(folder / POLICY) as path:
        policy.save(path)
    with _replacing(folder / CHECKPOINT) as path:
        model.save(path)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when it is complete."""
    new = path.with_name(f"new-{path.name}")
    yield new
    os.replace(new, path)


def draw_curve(points: list[Point], config: SeatConfig, path: Path) -> None:
    """Draw the curve with its intervals as a PNG."""
    from matplotlib.figure import Figure

    steps = [point.steps for point in points]
    figure = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    axes.fill_between(steps, [p.low for p in points], [p.high for p in points], alpha=0.2, label="95 % interval")
    axes.plot(steps, [p.win_rate for p in points], marker="o", label="validation games, best action")
    axes.plot(steps, [p.training_win_rate for p in points], linestyle="--", label="training games, sampled actions")
    axes.set_xlabel("decisions of the learner")
    axes.set_ylabel("win rate")
    axes.set_ylim(0, 1)
    axes.set_title(f"{config.game}: seat {config.seat} against {config.opponents}")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    with _replacing(path) as new:
        figure.savefig(new)
