"""What a trained seat is worth on held-out deals: beside its opponents' policy in the same seat, as a page with verdict and curve."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from parlour.policies import TrainedSeat, make_policy
from parlour.policies.files import read_json, write_json
from parlour.training.learn.ppo.phase_config import SeatConfig
from parlour.training.measure import evaluate
from parlour.training.measure.statistics import Estimate, plain
from parlour.training.play import seeds
from parlour.training.play.parallel.concurrent_games import MakePolicy
from parlour.training.play.rollout import table
from parlour.training.play.runner import GameRunner
from parlour.training.results.evaluation_tables import comparison_table, rate_table
from parlour.training.results.pages.report import opening, write_report
from parlour.training.results.verdicts import compared

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
    env = table(config.game, **config.options)
    base = env.game_env
    baseline = partial(make_policy, config.opponents, base.spec.id, base.game.config)
    policy = folder / "policy.npz"
    candidates: dict[str, MakePolicy] = {TRAINED: lambda: TrainedSeat.load(policy), config.opponents: baseline}
    deals = seeds.HELD_OUT[: config.validation_games]
    own = None if config.seat == "random" else int(config.seat)
    report = evaluate.single(env, candidates, (config.opponents, baseline), deals, runner, own)
    difference = next(pair.result for pair in report.comparisons if pair.side == evaluate.ALL_GAMES)
    write_report(folder, _text(config, report, verdict(config, difference)))
    write_json(folder / RESULT, {"steps": steps, **plain(difference)})
    return difference


def verdict(config: SeatConfig, gain: Estimate) -> str:
    """One sentence."""
    return compared("the trained seat", f"{config.opponents} in the same seat", gain)


def _text(config: SeatConfig, report: evaluate.Report, said: str) -> str:
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
