"""Training one seat of a game in phases, so that a run that was killed resumes exactly.

The learner is self-play's, with a fixed seating, where the game has kernels, and MaskablePPO elsewhere (`trainer`). Learned
from are the seeds of `seeds.TRAINING`, the curve is measured on `seeds.VALIDATION`. A run is cut into phases of `phase_steps`
decisions. A phase begins with freshly seeded environments and ends with a checkpoint, so that a run that was killed and resumed
gives the same network, byte for byte, as an uninterrupted run.

A finished run is measured on held-out deals: beside its opponents' policy in the same seat.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.common.plain import plain
from parlour.policies import TrainedSeat, make_policy
from parlour.policies.files import read_json
from parlour.training.learn.ppo import trainer as trainers
from parlour.training.learn.ppo.config import NOT_DECIDING, SeatConfig
from parlour.training.measure import evaluate
from parlour.training.measure.evaluation_tables import comparison_table, rate_table
from parlour.training.play import seeds
from parlour.training.play.parallel.concurrent_games import MakePolicy
from parlour.training.play.rollout import table
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.report.learning_curve import LearningCurve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.report import REPORT_FILE, SUMMARY_FILE, Report
from parlour.training.report.verdicts import WIN_RATE
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

BASELINES: Final = "baselines.csv"
POLICY: Final = "policy.npz"
TRAINED: Final = "trained"
UNTRAINED: Final = "untrained"
"""The network before its first decision: step 0 of the picture."""
RANDOM: Final = "random"


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
        return {name: getattr(self, own) for own, name in _METRICS.items()}

    @classmethod
    def of_metrics(cls, step: int, metrics: Mapping[str, Any]) -> SeatPoint:
        """The point of a row of progress.csv. Raises KeyError for another one."""
        return cls(step, **{own: metrics[name] for own, name in _METRICS.items()})


_METRICS: Final = {
    "games": "charts/episodes",
    "n": "eval/episodes",
    "win_rate": "eval/win_rate",
    "low": "eval/win_rate_low",
    "high": "eval/win_rate_high",
    "training_win_rate": "charts/win_rate",
}


class SeatBaseline(NamedTuple):
    """A player that does not learn, in the seat of the learner in the same validation games."""

    name: str
    """`UNTRAINED` or `RANDOM`."""
    n: int
    """Validation games."""
    win_rate: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainingResult:
    """The result of a run."""

    config: SeatConfig
    points: tuple[SeatPoint, ...]
    baselines: tuple[SeatBaseline, ...]
    gain: Estimate
    """The trained seat minus its opponents' policy in the same seat of the same held-out deals, which are as many as the
    validation games of a point of the curve."""
    held_out: evaluate.Evaluation | None = field(default=None, compare=False)
    """These games; None where the run had been measured before."""

    @property
    def last(self) -> SeatPoint:
        """The last point of the curve."""
        return self.points[-1]


def train(config: SeatConfig, run: Run) -> TrainingResult:
    """Train, or resume a run, and measure the trained seat.

    Leaves config.json, checkpoint.npz and the one before it, progress.csv, baselines.csv, policy.npz (a `TrainedSeat`), and the
    files of the report.

    Args:
        config: What to train. The run is resumed only if it has the same.
        run: Where.

    Raises:
        ParlourError: The directory holds a run with another configuration or is in use, or the configuration cannot be used.
    """
    trainers.seat_maker(config)()  # refuses an unusable configuration before anything is written
    own = trainer_for(config)
    config = config.replace(envs=config.envs or own.ENVS, learning_rate=config.learning_rate or own.RATE)
    with run.opened(config.plain(), NOT_DECIDING) as folder:
        points = _stored(run)
        if len(points) < config.phases:
            trainer = own(config)
            try:
                _train_phases(config, run, trainer, points)
            finally:
                trainer.close()
        baselines = tuple(_stored_baselines(folder))
        if (gain := _measured(folder, points[-1].steps)) is not None:
            return TrainingResult(config, tuple(points), baselines, gain)
        held_out = _held_out(config, run)
        gain = next(pair.result for pair in held_out.comparisons if pair.side == evaluate.ALL_GAMES)
        result = TrainingResult(config, tuple(points), baselines, gain, held_out)
        report(result).write(folder)
        return result


def trainer_for(config: SeatConfig) -> type[trainers.Trainer]:
    """Self-play's learner where the game has kernels and the opponents can sit there, else MaskablePPO."""
    return trainers.ArrayTrainer if trainers.plays_over_arrays(config) else trainers.Sb3Trainer


def _stored(run: Run) -> list[SeatPoint]:
    """The curve as far as the checkpoint. Raises `ParlourError` for a checkpoint that cannot be used."""
    steps = run.restore(trainers.steps_of) or 0
    return [SeatPoint.of_metrics(*row) for row in run.curve if row[0] <= steps]


def _train_phases(config: SeatConfig, run: Run, trainer: trainers.Trainer, points: list[SeatPoint]) -> None:
    """Learn and measure the phases that are missing; their points are appended."""
    if points:
        run.restore(trainer.load_state_dict)
    if not (run.folder / BASELINES).exists():
        run.table(BASELINES, SeatBaseline._fields, _baselines(config, None if points else trainer.policy()))
    stage = Stage(f"Training {config.game}", config.phases * config.phase_steps, "decisions")
    for phase in range(len(points), config.phases):
        before, note = (points[-1].steps, _note(points[-1])) if points else (0, "")
        run.progress(stage, before, note)
        learned = trainer.learn(phase, lambda done, at=before, said=note: run.progress(stage, at + done, said))  # type: ignore[misc]
        policy = trainer.policy()
        points.append(_measure(config, policy, learned, points))
        run.progress(stage, learned.steps, _note(points[-1]))
        returned = {"charts/episodic_return": learned.returned / learned.games if learned.games else None}
        run.log(points[-1].metrics | returned | dict(learned.metrics), learned.steps)
        policy.save(run.folder / POLICY)
        run.checkpoint(trainer.state_dict())


# -- one phase ---------------------------------------------------------------------------------------------------


def _measure(config: SeatConfig, policy: TrainedSeat, learned: trainers.Learned, before: list[SeatPoint]) -> SeatPoint:
    won = _won(config, {"trained": lambda: policy})["trained"]
    seen = Estimate.rate(learned.won, learned.games)
    played = learned.games + (before[-1].games if before else 0)
    return SeatPoint(learned.steps, played, won.n, won.value, *won.ends, seen.value if seen else 0.0)


def _won(config: SeatConfig, candidates: Mapping[str, Callable[[], Any]]) -> dict[str, Estimate]:
    """How often each wins the validation games, all in the same seats."""
    games = _evaluated(config, candidates, seeds.VALIDATION[: config.validation_games])
    rates = {name: games.rates[name]["all"] for name in candidates}
    return {name: won for name, won in rates.items() if won is not None}


def _evaluated(
    config: SeatConfig,
    candidates: Mapping[str, Callable[[], Any]],
    deals: Sequence[int],
    runner: GameRunner = ONE_AT_A_TIME,
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


def _stored_baselines(folder: Path) -> list[SeatBaseline]:
    with (folder / BASELINES).open(newline="") as file:
        _, *rows = csv.reader(file)
    return [SeatBaseline(row[0], int(row[1]), *map(float, row[2:])) for row in rows]


def _measured(folder: Path, steps: int) -> Estimate | None:
    """The gain of a run that was measured after these many decisions, else None."""
    if not (folder / REPORT_FILE).exists() or not (folder / SUMMARY_FILE).exists():
        return None
    stored = read_json(folder / SUMMARY_FILE)
    return Estimate.of_json(stored["held_out"]) if stored["steps"] == steps else None


def _held_out(config: SeatConfig, run: Run) -> evaluate.Evaluation:
    """The trained seat and its opponents' policy, in the same seat of the same held-out deals."""
    policy = run.folder / POLICY
    candidates: dict[str, MakePolicy] = {
        TRAINED: lambda: TrainedSeat.load(policy),
        config.opponents: _player(config, config.opponents),
    }
    return _evaluated(config, candidates, seeds.HELD_OUT[: config.validation_games], GameRunner(progress=run.progress))


# -- the report --------------------------------------------------------------------------------------------------


def report(result: TrainingResult) -> Report:
    """The trained seat beside its opponents' policy, and its curve."""
    config, last, games = result.config, result.last, result.held_out
    options = ", ".join(f"{name} {value}" for name, value in config.options.items()) or "default options"
    played = (
        f"{options}; the other seats: {config.opponents}. {config.validation_games:,} held-out deals, on which both take the "
        "same seat against the same opponents. Intervals at 95 %: Wilson for rates, paired for differences."
    )
    return Report(
        f"A trained seat of {config.game}",
        WIN_RATE.compared("the trained seat", f"{config.opponents} in the same seat", result.gain),
        (f"{last.steps} decisions, {last.games} games: win rate {last.win_rate:.3f}",),
        () if games is None else (played, comparison_table(games), rate_table(games)),
        curve(result).picture,
        asdict(last) | {"held_out": plain(result.gain)},
    )


def curve(result: TrainingResult) -> LearningCurve:
    """The curve from step 0 on, with its intervals, and the random player beside it."""
    config, points = result.config, result.points
    baselines = {baseline.name: baseline for baseline in result.baselines}
    before, by_chance = baselines.get(UNTRAINED), baselines[RANDOM]
    validated = [CurvePoint(point.steps, point.win_rate, point.low, point.high) for point in points]
    start = [] if before is None else [CurvePoint(0, before.win_rate, before.low, before.high)]
    trained = [CurvePoint(point.steps, point.training_win_rate) for point in points]
    return LearningCurve(
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
