"""Training one seat of a game with MaskablePPO (sb3-contrib), in phases that can be taken up again after a kill (`phases`).

Learned from are the seeds of `seeds.TRAINING`, the curve is measured on `seeds.VALIDATION`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import torch
from parlour.policies import TrainedSeat, make_policy
from parlour.training import evaluate, seeds
from parlour.training.ppo.phase_config import CONFIG, PhaseConfig, check_count, claim_folder, env_seeds, replacing
from parlour.training.ppo.phases import CHECKPOINT, Counter, export, learn_phase, load_model, new_model, save_model
from parlour.training.ppo.vec import SeatVecEnv
from parlour.training.rollout import table
from parlour.training.single_seat import make_seat
from parlour.training.statistics import rate
from parlour.wrappers.seat import SeatEnv
from sb3_contrib import MaskablePPO

__all__ = [
    "CHECKPOINT",
    "CONFIG",
    "CURVE",
    "PICTURE",
    "POLICY",
    "MaskablePPO",
    "SeatConfig",
    "SeatPoint",
    "export",
    "train",
]

CURVE: Final = "curve.csv"
PICTURE: Final = "curve.png"
POLICY: Final = "policy.npz"
_COLUMNS: Final = ("steps", "games", "n", "win_rate", "low", "high", "training_win_rate")


@dataclass(frozen=True, kw_only=True)
class SeatConfig(PhaseConfig):
    """Everything that decides a run; saved with it."""

    opponents: str = "heuristic"
    """Policy of the other seats."""
    seat: int | Literal["random"] = "random"
    """The learner's seat, or `"random"` for another one in each game."""
    validation_games: int = 300
    """Games of each point of the curve."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("validation_games", self.validation_games)


@dataclass(frozen=True)
class SeatPoint:
    """One point of the curve: the state of the run after a phase."""

    steps: int
    games: int
    """Games that were learned from so far."""
    n: int
    """Validation games."""
    win_rate: float
    low: float
    high: float
    training_win_rate: float
    """Of the games learned from in the last phase, in which actions are drawn at random from the network."""


def train(
    config: SeatConfig, out: str | Path, progress: Callable[[int, str], None] = lambda _steps, _note: None
) -> SeatPoint:
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
    for phase in range(len(points), config.phases):
        env = _tables(config, phase)
        try:
            model = model or new_model(config, env)
            counter = Counter(progress)
            learn_phase(model, config, phase, env, counter)
        finally:
            env.close()
        policy = export(model, config)
        points.append(_measure(config, policy, phase, counter, points))
        progress(0, _note(points[-1]))
        _keep(model, policy, points, folder)
        draw_curve(points, config, folder / PICTURE)
    return points[-1]


# -- one phase ---------------------------------------------------------------------------------------------------


def _maker(config: SeatConfig) -> Callable[[], SeatEnv]:
    return partial(make_seat, config.game, opponents=config.opponents, seat=config.seat, **config.options)


def _tables(config: SeatConfig, phase: int) -> SeatVecEnv:
    return SeatVecEnv(_maker(config), env_seeds(config, phase), config.processes)


def _measure(
    config: SeatConfig, policy: TrainedSeat, phase: int, counter: Counter, before: list[SeatPoint]
) -> SeatPoint:
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
    seen = rate(sum(game["return"] > 0 for game in counter.games), len(counter.games))
    played = len(counter.games) + (before[-1].games if before else 0)
    steps = (phase + 1) * config.phase_steps
    return SeatPoint(steps, played, won.n, won.rate, won.low, won.high, seen.rate if seen else 0.0)


def _note(point: SeatPoint) -> str:
    return f"win rate {point.win_rate:.3f} [{point.low:.3f}, {point.high:.3f}]"


# -- the folder of a run ---------------------------------------------------------------------------------------


def _begin(config: SeatConfig, folder: Path) -> tuple[MaskablePPO | None, list[SeatPoint]]:
    """Make the folder, or read how far the run in it has come."""
    claim_folder(config, folder)
    model = load_model(folder)
    if model is None:
        return None, []
    with (folder / CURVE).open(newline="") as file:
        rows = [[_number(row[column]) for column in _COLUMNS] for row in csv.DictReader(file)]
    # a run that was killed while it wrote its files may have a point more than its checkpoint
    return model, [_point(row) for row in rows if row[0] <= model.num_timesteps]


def _point(row: list[float]) -> SeatPoint:
    steps, games, n, *rates = row
    return SeatPoint(int(steps), int(games), int(n), *rates)


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _keep(model: MaskablePPO, policy: TrainedSeat, points: list[SeatPoint], folder: Path) -> None:
    """Write the state of the run; each file is replaced as a whole, the checkpoint last."""
    with replacing(folder / CURVE) as path, path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        writer.writerows([getattr(point, column) for column in _COLUMNS] for point in points)
    with replacing(folder / POLICY) as path:
        policy.save(path)
    save_model(model, folder)


def draw_curve(points: list[SeatPoint], config: SeatConfig, path: Path) -> None:
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
    with replacing(path) as new:
        figure.savefig(new)
