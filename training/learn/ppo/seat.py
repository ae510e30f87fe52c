"""Training one seat of a game with MaskablePPO (sb3-contrib), in phases, so that a run that was killed resumes exactly (`phases`).

Learned from are the seeds of `seeds.TRAINING`, the curve is measured on `seeds.VALIDATION`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import asdict, astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import torch
from parlour.envs.registry import lookup
from parlour.policies import TrainedSeat, make_policy
from parlour.training.learn.ppo.batch_vec import BatchSeatVecEnv, batch_seats, player_over_arrays
from parlour.training.learn.ppo.phase_config import NOT_DECIDING, SeatConfig, env_seeds, features_of
from parlour.training.learn.ppo.phases import (
    Counter,
    StoredModel,
    export,
    learn_phase,
    load_model,
    new_model,
    save_model,
)
from parlour.training.learn.ppo.vec import SeatVecEnv
from parlour.training.measure import evaluate
from parlour.training.measure.statistics import Rate, rate
from parlour.training.play import seeds
from parlour.training.play.rollout import table
from parlour.training.play.single_seat import make_seat
from parlour.training.results.learning_curve import LearningCurve, learning_curve
from parlour.training.results.plots import Curve, CurvePoint
from parlour.training.results.runs import run_directory, write_csv
from parlour.wrappers.learner_seats import SeatEnv
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnv

CURVE: Final = "curve.csv"
BASELINES: Final = "baselines.csv"
PICTURE: Final = "curve.png"
POLICY: Final = "policy.npz"


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


UNTRAINED: Final = "untrained"
"""The network before its first decision: step 0 of the picture."""
RANDOM: Final = "random"


@dataclass(frozen=True)
class SeatBaseline:
    """A player that does not learn, in the seat of the learner in the same validation games."""

    name: str
    """`UNTRAINED` or `RANDOM`."""
    n: int
    """Validation games."""
    win_rate: float
    low: float
    high: float


def train(
    config: SeatConfig, out: str | Path, progress: Callable[[int, str], None] = lambda _steps, _note: None
) -> SeatPoint:
    """Train, or resume the run in `out`; returns the last point of the curve.

    Leaves in `out`: config.json, checkpoint.npz and the one before it, curve.csv, baselines.csv, curve.png and policy.npz (a
    `TrainedSeat`).

    Args:
        config: What to train. A run in `out` is resumed only if it has the same.
        out: Run directory.
        progress: Told the number of decisions made since the last call, and how it stands.

    Raises:
        ParlourError: `out` holds a run with another configuration or is in use, or the configuration cannot be used.
    """
    _maker(config)()  # refuses an unusable configuration before anything is written
    torch.set_num_threads(1)  # small networks: one thread is fastest, and sums in one order
    with run_directory(out, asdict(config), NOT_DECIDING) as folder:
        return _train(config, folder, progress)


def _train(config: SeatConfig, folder: Path, progress: Callable[[int, str], None]) -> SeatPoint:
    stored, points = _stored(folder)
    model: MaskablePPO | None = None
    if points:
        progress(points[-1].steps, _note(points[-1]))
    for phase in range(len(points), config.phases):
        env = _tables(config, phase)
        try:
            torch.set_num_threads(1)  # again: Numba's first kernel sets the threads of OpenMP, which PyTorch's are too
            model = model or _begun(config, env, stored)
            if not (folder / BASELINES).exists():
                _store_baselines(_baselines(config, None if points else model), folder)
            counter = Counter(progress)
            learn_phase(model, config, phase, env, counter)
        finally:
            env.close()
        policy = export(model, config, features_of(config.game, config.features))
        points.append(_measure(config, policy, phase, counter, points))
        progress(0, _note(points[-1]))
        _store(model, policy, points, config, folder)
    return points[-1]


def _begun(config: SeatConfig, env: VecEnv, stored: StoredModel | None) -> MaskablePPO:
    """A new model, or the stored one."""
    model = new_model(config, env)
    return model if stored is None else stored.put_into(model)


# -- one phase ---------------------------------------------------------------------------------------------------


def _maker(config: SeatConfig) -> Callable[[], SeatEnv]:
    options = {**config.options, "features": features_of(config.game, config.features)}
    return partial(make_seat, config.game, opponents=config.opponents, seat=config.seat, **options)


def _tables(config: SeatConfig, phase: int) -> VecEnv:
    """Tables over arrays where the game has kernels and its opponents can sit there; else scalar games in processes."""
    features = features_of(config.game, config.features)
    opponents = player_over_arrays(config.opponents, lookup(config.game).spec, features, config.options)
    if opponents is None:
        return SeatVecEnv(_maker(config), env_seeds(config, phase), config.processes)
    env = batch_seats(
        config.game,
        opponents,
        num_envs=config.envs,
        features=features,
        seat=config.seat,
        threads=config.processes,
        **config.options,
    )
    return BatchSeatVecEnv(env, seeds.derive(config.seed, phase))


def _measure(
    config: SeatConfig, policy: TrainedSeat, phase: int, counter: Counter, before: list[SeatPoint]
) -> SeatPoint:
    won = _won(config, {"trained": lambda: policy})["trained"]
    seen = rate(sum(game["return"] > 0 for game in counter.games), len(counter.games))
    played = len(counter.games) + (before[-1].games if before else 0)
    steps = (phase + 1) * config.phase_steps
    return SeatPoint(steps, played, won.n, won.rate, won.low, won.high, seen.rate if seen else 0.0)


def _won(config: SeatConfig, candidates: Mapping[str, Callable[[], Any]]) -> dict[str, Rate]:
    """How often each wins the validation games, all in the same seats."""
    env = table(config.game, **config.options)
    base = env.game_env

    def opponent() -> Any:
        return make_policy(config.opponents, base.spec.id, base.game.config)

    games = seeds.VALIDATION[: config.validation_games]
    own = None if config.seat == "random" else int(config.seat)
    report = evaluate.single(env, candidates, (config.opponents, opponent), games, own=own)
    found = {name: report.rates[name]["all"] for name in candidates}
    return {name: won for name, won in found.items() if won is not None}


def _baselines(config: SeatConfig, untrained: MaskablePPO | None) -> list[SeatBaseline]:
    """Who does not learn; the untrained network only where the run begins."""
    candidates: dict[str, Callable[[], Any]] = {}
    if untrained is not None:
        policy = export(untrained, config, features_of(config.game, config.features))
        candidates[UNTRAINED] = lambda: policy
    base = table(config.game, **config.options).game_env
    candidates[RANDOM] = partial(make_policy, RANDOM, base.spec.id, base.game.config)
    return [SeatBaseline(name, won.n, won.rate, won.low, won.high) for name, won in _won(config, candidates).items()]


def _note(point: SeatPoint) -> str:
    return f"win rate {point.win_rate:.3f} [{point.low:.3f}, {point.high:.3f}]"


# -- files -----------------------------------------------------------------------------------------------------


def _stored(folder: Path) -> tuple[StoredModel | None, list[SeatPoint]]:
    """How far the run in the folder has come."""
    stored = load_model(folder)
    if stored is None:
        return None, []
    with (folder / CURVE).open(newline="") as file:
        _, *rows = csv.reader(file)
    points = [SeatPoint(*map(int, row[:3]), *map(float, row[3:])) for row in rows]
    # a run that was killed while it wrote its files may have a point more than its checkpoint
    return stored, [point for point in points if point.steps <= stored.steps]


def _store(model: MaskablePPO, policy: TrainedSeat, points: list[SeatPoint], config: SeatConfig, folder: Path) -> None:
    """Write the state of the run; each file is replaced as a whole, the checkpoint last: what is behind it is not made again."""
    rows = [astuple(point) for point in points]
    write_csv(folder / CURVE, [field.name for field in fields(SeatPoint)], rows, end="\r\n")
    policy.save(folder / POLICY)
    _draw(points, _stored_baselines(folder), config, folder / PICTURE)
    save_model(model, folder)


def _store_baselines(found: list[SeatBaseline], folder: Path) -> None:
    write_csv(folder / BASELINES, [field.name for field in fields(SeatBaseline)], [astuple(one) for one in found])


def _stored_baselines(folder: Path) -> dict[str, SeatBaseline]:
    with (folder / BASELINES).open(newline="") as file:
        _, *rows = csv.reader(file)
    return {row[0]: SeatBaseline(row[0], int(row[1]), *map(float, row[2:])) for row in rows}


def _draw(points: list[SeatPoint], baselines: Mapping[str, SeatBaseline], config: SeatConfig, path: Path) -> None:
    """The curve from step 0 on, with its intervals, and the random player beside it."""
    before = baselines.get(UNTRAINED)
    validated = [CurvePoint(point.steps, point.win_rate, point.low, point.high) for point in points]
    start = [] if before is None else [CurvePoint(0, before.win_rate, before.low, before.high)]
    trained = [CurvePoint(point.steps, point.training_win_rate) for point in points]
    by_chance = baselines[RANDOM]
    shown = LearningCurve(
        title=f"{config.game}: what a seat learns against {config.opponents}",
        who=f"MaskablePPO in {'a random seat' if config.seat == RANDOM else f'seat {config.seat}'}, the others "
        f"{config.opponents}; step 0: the untrained network; dotted: random in its place",
        n=f"n = {points[-1].n} validation games a point, {points[-1].games:,} games learned from",
        x="decisions of the learner",
        y="share of games won",
        curves=(
            Curve("validation games, best action", [*start, *validated], marker="o"),
            Curve("training games, sampled actions", trained, "--", marker="s"),
        ),
        levels=((RANDOM, (by_chance.win_rate, by_chance.low, by_chance.high)),),
        limits=(0, 1),
    )
    learning_curve(path, shown)
