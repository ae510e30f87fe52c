"""`parlour train seat`, `train selfplay` and `train grace`; others are in `tune` and `avalon`."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.registry import lookup
from parlour.policies import make_policy
from parlour.training import display
from parlour.training.cli import common
from parlour.training.cli.options import Answer, Options
from parlour.training.mediated_qa.baselines import lines
from parlour.training.mediated_qa.held_out import UNSEEN, HeldOutConfig, compare, prepare
from parlour.training.mediated_qa.learn import GraceConfig
from parlour.training.ppo.phase_config import SeatConfig
from parlour.training.selfplay.config import RULE, SelfplayConfig

_OF_SNAPSHOTS: Final = ("game", "options", "phase_steps", "rollout")


def train_seat(
    config: Annotated[SeatConfig, Options(exclude=("game", "options"))],
    table: common.AvalonOfFive,
    game: common.GameArgument = "avalon_v0",
    out: common.RunOption = Path("runs/seat"),
) -> Answer:
    """Train one seat with MaskablePPO; resumes from the last checkpoint. Needs the extra `train`.

    Example: [bold]parlour train seat avalon_v0 --players 5 --out runs/seat --steps 400000[/bold]
    """
    chosen = (dict(SeatConfig().options) if game == "avalon_v0" else {}) | table.chosen
    checked = lookup(game).raw_env(**chosen)
    make_policy(config.opponents, checked.spec.id, checked.game.config)
    seats = range(checked.game.seats)
    if config.seat not in ("random", *seats):
        raise accept("seat", str(config.seat), ("random", *map(str, seats)))
    training = common.require("parlour.training.ppo.seat", "train")
    phase = min(config.phase_steps, -(-config.steps // config.rollout) * config.rollout)
    config = replace(config, game=game, options=chosen, phase_steps=phase)
    last = display.train_with_bar(training.train, config, out)
    shown = f"{last.steps} decisions, {last.games} games: win rate {last.win_rate:.3f}; results in {out}"
    return Answer({"out": str(out), **asdict(last)}, partial(print, shown))


def train_selfplay(
    config: Annotated[
        SelfplayConfig,
        Options(exclude=_OF_SNAPSHOTS, rename={"members": "--member"}, repeated=("members",)),
    ],
    table: Annotated[
        common.GameSettings,
        Options(rename=common.GAME_NAMES, shown=common.AVALON_DEFAULTS | {"option": "none; avalon_v0: talk=false"}),
    ],
    game: common.GameArgument = "avalon_v0",
    out: common.RunOption = Path("runs/selfplay"),
    snapshots: Annotated[int, typer.Option(min=1), "Number of snapshots, evenly spaced."] = 10,
) -> Answer:
    """Train a population by self-play and measure it: cross-play, ratings, curves. Needs the extra `train`.

    Resumes from the last checkpoint.

    Example: [bold]parlour train selfplay avalon_v0 --out runs/selfplay[/bold]
    """
    run = common.require("parlour.training.selfplay.run", "train")
    chosen = (dict(SelfplayConfig().options) if game == "avalon_v0" else {}) | table.chosen
    rollouts = -(-config.steps // (snapshots * config.rollout))
    config = replace(config, game=game, options=chosen, phase_steps=rollouts * config.rollout)
    with display.stage_bars(increments=True) as progress:
        found = run.selfplay(config, out, progress)
    return Answer({"out": str(out), **run.report.summary(found)}, partial(_show_population, run.report, found, out))


def _show_population(report: Any, found: Any, out: Path) -> None:
    """Ratings, the verdicts of the held-out deals, and where the report is."""
    rows = []
    for one in found.ratings:
        rate = None if one.name == RULE else found.crossplay.rate(one.name, RULE)
        rows.append((one.name, f"{one.mu:.2f}", f"{one.sigma:.2f}", str(one.games), display.show_rate(rate)))
    headings = ("player", "mu", "sigma", "games", "against heuristic")
    display.show_table(f"Ratings on {found.config.game}", headings, rows)
    for sentence in report.verdicts(found):
        print(sentence)  # noqa: T201
    print(f"report: {out / 'report.md'}")  # noqa: T201


def train_grace(
    config: Annotated[GraceConfig, Options(rename={"rule": "--set"})],
    setting: Annotated[HeldOutConfig, Options(exclude=("train", "corpus_seed", "seed"), panel="With --questions")],
    ray: common.RayOptions,
    from_table: Annotated[Path | None, "Simulation table to learn from: CSV, or JSON as published."] = None,
    questions: Annotated[
        int | None, typer.Option(min=2), "Number of generated questions to learn from instead."
    ] = None,
    out: common.RunOption = Path("runs/grace"),
) -> Answer:
    """Learn the policy of GRACE's mediator; resumes from the last checkpoint.

    Example: [bold]parlour train grace --from-table simulation.csv --temperature 0.7 --floor 0.02 --out runs/grace[/bold]
    """
    from parlour.training.mediated_qa import table, train

    if (from_table is None) == (questions is None):
        raise ParlourError("train grace needs one source of data; accepted: --from-table FILE or --questions N")
    scores: tuple[Any, ...] | None = None
    if from_table is not None:
        if ray.ray is not None:
            raise ParlourError("--ray answers generated questions in parallel; accepted: with --questions N")
        run = train.train(config, table.read(from_table), out)
    else:
        setting = replace(setting, train=questions or 0, corpus_seed=UNSEEN + config.seed, seed=config.seed)
        folder = out / "calibration"
        with ray.pool() as pool:
            calibrated = display.calibrate_with_bar(partial(prepare, pool=pool), setting, folder)
        run = train.train(config, calibrated.table, out)
        scores = compare(calibrated, run.learned.policy, folder)
    _warn(run)
    value = _policy_as_json(run, out) | ({} if scores is None else {"scores": [asdict(one) for one in scores]})
    return Answer(value, partial(_show_policy, run, out, scores or ()))


def _policy_as_json(run: Any, out: Path) -> dict[str, Any]:
    learned = run.learned
    return {
        "out": str(out),
        "questions": _questions(learned),
        "unseen": learned.unseen,
        "settings": asdict(learned.settings),
        "regrets": learned.regrets,
        "last": asdict(run.points[-1]),
    }


def _questions(learned: Any) -> dict[str, int]:
    """State -> number of its questions."""
    return dict(zip(learned.quantities.states, learned.quantities.questions.tolist(), strict=True))


def _warn(run: Any) -> None:
    """On standard error: states without data, and a curve that is missing."""
    learned = run.learned
    if learned.unseen:
        parents = len(learned.policy.rows) > len(learned.quantities.states)
        used = "their parents' values are used" if parents else "the fallback is used"
        states = f"{len(learned.unseen)} states without data, where {used}: {', '.join(learned.unseen)}"
        print(f"parlour: warning: {states}", file=sys.stderr)  # noqa: T201
    if not run.picture:
        print("parlour: the curve was not drawn; accepted: pip install 'parlour[train]'", file=sys.stderr)  # noqa: T201


def _show_policy(run: Any, out: Path, scores: tuple[Any, ...]) -> None:
    """Number of questions and most probable action of each state; chosen settings; scores beside the baselines."""
    learned, settings = run.learned, run.learned.settings
    counts = _questions(learned)
    rows = []
    for state in sorted(learned.policy.rows, key=lambda state: -counts.get(state, 0)):
        row = learned.policy.rows[state]
        best = max(row, key=row.__getitem__)
        regrets = " ".join(f"{regret:.2f}" for regret in learned.regrets[state])
        rows.append((state, str(counts.get(state, 0)), " ".join(best), f"{row[best]:.3f}", regrets))
    display.show_table("Policy", ("state", "questions", "most probable", "p", "regret of R, G, V"), rows)
    if settings.held_out is not None:
        chosen = f"temperature {settings.temperature}, floor {settings.floor}"
        print(f"chosen by cross-validation: {chosen} (held-out utility {settings.held_out:.2f})")  # noqa: T201
    if scores:
        heading, *compared = lines(scores)
        display.show_table("Held-out questions", heading, compared, wrap=True)
    print(f"policy: {out / 'policy.json'}")  # noqa: T201
