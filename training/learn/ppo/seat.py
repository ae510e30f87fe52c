"""Training one seat of a game in phases, so that a run that was killed resumes exactly.

The learner is self-play's, with a fixed seating, where the game has kernels, and MaskablePPO elsewhere (`trainer`). Learned
from are the seeds of `seeds.TRAINING`, the curve is measured on `seeds.VALIDATION`. A run is cut into phases of `phase_steps`
decisions. A phase begins with freshly seeded environments and ends with a checkpoint, so that a run that was killed and resumed
gives the same network, byte for byte, as an uninterrupted run.

A finished run is measured on held-out deals: beside its opponents' policy in the same seat, as a page with verdict and curve.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.policies import TrainedSeat, make_policy
from parlour.policies.files import read_json, write_json
from parlour.training.learn.ppo import trainer as trainers
from parlour.training.learn.ppo.phase_config import NOT_DECIDING, SeatConfig
from parlour.training.measure import evaluate
from parlour.training.measure.evaluation_tables import comparison_table, rate_table
from parlour.training.play import seeds
from parlour.training.play.parallel.concurrent_games import MakePolicy
from parlour.training.play.rollout import table
from parlour.training.play.runner import GameRunner
from parlour.training.report.html import opening, write_report
from parlour.training.report.learning_curve import LearningCurve, learning_curve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.verdicts import compared
from parlour.training.runs.checkpoints import Checkpoint
from parlour.training.runs.folder import run_directory, write_csv
from parlour.training.runs.loggers import Logger, Metrics, loggers, read_curve
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import Estimate, plain, rate

CHECKPOINT: Final = "checkpoint.npz"
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
    """Win rate in the training games of the last phase, with actions drawn from the network."""

    @property
    def metrics(self) -> dict[str, float]:
        """Under the names of all trainers."""
        return {name: getattr(self, field) for field, name in _METRICS.items()}

    @classmethod
    def of_metrics(cls, step: int, metrics: Mapping[str, Any]) -> SeatPoint:
        """The point of a row of progress.csv. Raises KeyError for another one."""
        return cls(step, **{field: metrics[name] for field, name in _METRICS.items()})


_METRICS: Final = {
    "games": "charts/episodes",
    "n": "eval/episodes",
    "win_rate": "eval/win_rate",
    "low": "eval/win_rate_low",
    "high": "eval/win_rate_high",
    "training_win_rate": "charts/win_rate",
}


UNTRAINED: Final = "untrained"
"""The network before its first decision: step 0 of the picture."""
RANDOM: Final = "random"


class SeatBaseline(NamedTuple):
    """A player that does not learn, in the seat of the learner in the same validation games."""

    name: str
    """`UNTRAINED` or `RANDOM`."""
    n: int
    """Validation games."""
    win_rate: float
    low: float
    high: float


def train(
    config: SeatConfig, out: str | Path, progress: StageProgress = no_progress, log: Iterable[str] = ()
) -> SeatPoint:
    """Train, or resume the run in `out`; returns the last point of the curve.

    Leaves in `out`: config.json, checkpoint.npz and the one before it, progress.csv, baselines.csv, curve.png and policy.npz (a
    `TrainedSeat`).

    Args:
        config: What to train. A run in `out` is resumed only if it has the same.
        out: Run directory.
        progress: Told the number of decisions so far, and the win rate.
        log: Loggers beside progress.csv, of `parlour.training.runs.loggers.NAMES`.

    Raises:
        ParlourError: `out` holds a run with another configuration or is in use, or the configuration cannot be used.
    """
    trainers.seat_maker(config)()  # refuses an unusable configuration before anything is written
    own = trainer_for(config)
    config = config.replace(envs=config.envs or own.ENVS, learning_rate=config.learning_rate or own.RATE)
    with run_directory(out, config.plain(), NOT_DECIDING) as folder:
        return _train(config, folder, progress, log)


def trainer_for(config: SeatConfig) -> type[trainers.Trainer]:
    """Self-play's learner where the game has kernels and the opponents can sit there, else MaskablePPO."""
    return trainers.ArrayTrainer if trainers.plays_over_arrays(config) else trainers.Sb3Trainer


def _train(config: SeatConfig, folder: Path, progress: StageProgress, log: Iterable[str]) -> SeatPoint:
    curve = _stored(folder)
    points = [SeatPoint.of_metrics(*row) for row in curve]
    if len(points) >= config.phases:
        return points[-1]
    trainer = trainer_for(config)(config)
    try:
        with loggers(folder, log, curve) as logger:
            return _train_phases(config, folder, trainer, points, progress, logger)
    finally:
        trainer.close()


def _train_phases(
    config: SeatConfig,
    folder: Path,
    trainer: trainers.Trainer,
    points: list[SeatPoint],
    progress: StageProgress,
    logger: Logger,
) -> SeatPoint:
    checkpoint = Checkpoint(folder / CHECKPOINT)
    if points:
        checkpoint.load(trainer.load)
    if not (folder / BASELINES).exists():
        baselines = _baselines(config, None if points else trainer.policy())
        write_csv(folder / BASELINES, SeatBaseline._fields, baselines)
    stage = Stage(f"Training {config.game}", config.phases * config.phase_steps, "decisions")
    for phase in range(len(points), config.phases):
        before, note = (points[-1].steps, _note(points[-1])) if points else (0, "")
        progress(stage, before, note)
        learned = trainer.learn(phase, partial(_tell, progress, stage, before, note))
        policy = trainer.policy()
        points.append(_measure(config, policy, learned, points))
        progress(stage, learned.steps, _note(points[-1]))
        returned = {"charts/episodic_return": learned.returned / learned.games if learned.games else None}
        logger.log(points[-1].metrics | returned | dict(learned.metrics), learned.steps)
        policy.save(folder / POLICY)
        _draw(points, _stored_baselines(folder), config, folder / PICTURE)
        checkpoint.save(trainer.save)  # after the other files, which are written again where it is behind them
    return points[-1]


def _tell(progress: StageProgress, stage: Stage, before: int, note: str, done: int) -> None:
    progress(stage, before + done, note)


# -- one phase ---------------------------------------------------------------------------------------------------


def _measure(config: SeatConfig, policy: TrainedSeat, learned: trainers.Learned, before: list[SeatPoint]) -> SeatPoint:
    won = _won(config, {"trained": lambda: policy})["trained"]
    seen = rate(learned.won, learned.games)
    played = learned.games + (before[-1].games if before else 0)
    return SeatPoint(learned.steps, played, won.n, won.value, *won.ends, seen.value if seen else 0.0)


def _won(config: SeatConfig, candidates: Mapping[str, Callable[[], Any]]) -> dict[str, Estimate]:
    """How often each wins the validation games, all in the same seats."""
    report = _report(config, candidates, seeds.VALIDATION[: config.validation_games])
    rates = {name: report.rates[name]["all"] for name in candidates}
    return {name: won for name, won in rates.items() if won is not None}


def _report(
    config: SeatConfig,
    candidates: Mapping[str, Callable[[], Any]],
    deals: Sequence[int],
    runner: GameRunner = evaluate.DEFAULT,
) -> evaluate.Evaluation:
    """Each candidate in the seat of the learner, on the same deals against the same opponents."""
    env = table(config.game, **config.options)
    own = None if config.seat == "random" else int(config.seat)
    opponents = (config.opponents, _player(config, config.opponents))
    return evaluate.single(env, candidates, opponents, deals, runner, own)


def _player(config: SeatConfig, name: str) -> Callable[[], Any]:
    """Makes a player, by its name, for the table."""
    base = table(config.game, **config.options).game_env
    return partial(make_policy, name, base.spec.id, base.game.config)


def _baselines(config: SeatConfig, untrained: TrainedSeat | None) -> list[SeatBaseline]:
    """Who does not learn; the untrained network only where the run begins."""
    candidates: dict[str, Callable[[], Any]] = {}
    if untrained is not None:
        candidates[UNTRAINED] = lambda: untrained
    candidates[RANDOM] = _player(config, RANDOM)
    return [SeatBaseline(name, won.n, won.value, *won.ends) for name, won in _won(config, candidates).items()]


def _note(point: SeatPoint) -> str:
    return f"win rate {point.win_rate:.3f} [{point.low:.3f}, {point.high:.3f}]"


# -- files -----------------------------------------------------------------------------------------------------


def _stored(folder: Path) -> list[tuple[int, Metrics]]:
    """The curve of the run in the folder, as far as it has come. Raises `ParlourError` for a checkpoint that cannot be used."""
    steps = Checkpoint(folder / CHECKPOINT).load(lambda path: trainers.stored_steps(path)[1])
    if steps is None:
        return []
    curve: list[tuple[int, Metrics]] = [*read_curve(folder)]
    # a run that was killed while it wrote its files may have a point more than its checkpoint
    return [row for row in curve if row[0] <= steps]


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
        who=f"PPO in {'a random seat' if config.seat == RANDOM else f'seat {config.seat}'}, the others "
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


RESULT: Final = "held_out.json"
TRAINED: Final = "trained"


def measure_seat(config: SeatConfig, folder: Path, steps: int, runner: GameRunner = evaluate.DEFAULT) -> Estimate:
    """The gain of the trained seat over its opponents' policy in the same seat of the same held-out deals, which are as many as the validation
    games of a point of the curve. A run that was measured after these many decisions (`steps`) is not measured again.

    Leaves in the folder: held_out.json, report.md and report.html.
    """
    if (folder / RESULT).exists():
        stored = read_json(folder / RESULT)
        if stored.pop("steps") == steps:
            return Estimate.of_json(stored)
    baseline, policy = _player(config, config.opponents), folder / POLICY
    candidates: dict[str, MakePolicy] = {TRAINED: lambda: TrainedSeat.load(policy), config.opponents: baseline}
    report = _report(config, candidates, seeds.HELD_OUT[: config.validation_games], runner)
    difference = next(pair.result for pair in report.comparisons if pair.side == evaluate.ALL_GAMES)
    write_report(folder, _text(config, report, verdict(config, difference)))
    write_json(folder / RESULT, {"steps": steps, **plain(difference)})
    return difference


def verdict(config: SeatConfig, gain: Estimate) -> str:
    """One sentence."""
    return compared("the trained seat", f"{config.opponents} in the same seat", gain)


def _text(config: SeatConfig, report: evaluate.Evaluation, said: str) -> str:
    options = ", ".join(f"{name} {value}" for name, value in config.options.items())
    return "\n".join([
        *opening(f"A trained seat of {config.game}", said, "![Learning curve](curve.png)"),
        f"{options or 'default options'}; the other seats: {config.opponents}. {len(report.games) // 2:,} held-out deals, "
        "on which both take the same seat against the same opponents. Intervals at 95 %: Wilson for rates, paired for differences.",
        "",
        comparison_table(report).markdown(),
        "",
        rate_table(report).markdown(),
        "",
    ])  # fmt: skip
