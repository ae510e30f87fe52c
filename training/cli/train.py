"""`parlour train seat | selfplay | avalon | gratr | questum`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.common.extras import install
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, accept
from parlour.envs.registry import lookup
from parlour.envs.settings import COMMON
from parlour.policies import make_policy
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption
from parlour.training.cli.options import Options
from parlour.training.learn import practice
from parlour.training.learn.ppo.config import SeatConfig, features_of
from parlour.training.learn.practice import PracticeConfig
from parlour.training.learn.reliability import run as reliability_run
from parlour.training.learn.reliability.run import TrustTraining
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.tuning.gratr import GratrTuning
from parlour.training.learn.tuning.problem import TuneConfig
from parlour.training.learn.tuning.questum import QuestumTuning
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.report import display, plots
from parlour.training.report.report import REPORT_FILE, Report
from parlour.training.runs.run import Run

_AFTER_SEAT: Final = (
    "evaluate --policy FOLDER/policy.npz --policy expert --out FOLDER/games",
    "evaluate strangers --policy FOLDER/policy.npz --family heuristic --family logic",
)
_AFTER_SELFPLAY: Final = (
    "evaluate --policy FOLDER/policy.npz --design team --out FOLDER/games",
    "evaluate best-response --policy FOLDER/policy.npz",
)
_AFTER_AVALON: Final = (
    "evaluate avalon_v0 --policy avalon_agent:experience=FOLDER/experience.json --policy avalon_agent",
    "play avalon_v0 --policy avalon_agent:experience=FOLDER/experience.json --out FOLDER/games",
)
_AFTER_TRUST: Final = (
    "evaluate werewolf_v0 --policy gratr:parameters=FOLDER/parameters.json --policy gratr",
    "play werewolf_v0 --policy heuristic --policy player_3=gratr:parameters=FOLDER/parameters.json --out FOLDER/games",
)


def stored(report: Report, out: Path, *lines: str, following: Sequence[str] = ()) -> Report:
    """A report that a run has left in its directory, which is named in it and in its values.

    Args:
        report: What was learned.
        out: The directory.
        lines: More about what is in it.
        following: Next commands; FOLDER stands for the directory.
    """
    if report.picture is not None and not plots.available():
        tell(f"parlour: no picture was drawn; accepted: {install('train')}", error=True)
    assert isinstance(report.values, dict)
    parts = (*report.parts, *lines, f"report: {out / REPORT_FILE}")
    then = tuple(f"parlour {command.replace('FOLDER', shlex.quote(str(out)))}" for command in following)
    return replace(report, parts=parts, values={"out": str(out), **report.values}, following=then)


def train_seat(
    config: Annotated[SeatConfig, Options(exclude=("game", "options"))],
    table: common.GameOptions,
    game: common.AnyGameArgument = None,
    out: common.RunOption = Path("runs/seat"),
    log: common.LogOption = None,
) -> Report:
    """Train one seat among fixed opponents by PPO; resumes from the last checkpoint. Needs the extra `train`.

    Example: [bold]parlour train seat avalon_v0 --out runs/seat[/bold]
    """
    game, chosen = named_table(game, table.chosen, [config.opponents])
    features = features_of(game, config.features)
    checked = lookup(game).raw_env(**chosen, features=features)
    make_policy(config.opponents, checked.spec.id, checked.game.config)
    seats = range(checked.game.seats)
    if config.seat not in ("random", *seats):
        raise accept("seat", str(config.seat), ("random", *map(str, seats)))
    training = import_extra("parlour.training.learn.ppo.seat", "train")
    phase = min(config.phase_steps, -(-config.steps // config.rollout) * config.rollout)
    config = config.replace(game=game, options=chosen, phase_steps=phase, features=features)
    with display.progress_line() as progress:
        result = training.train(config, Run(out, progress, log or ()))
    return stored(training.report(result), out, following=_AFTER_SEAT)


def train_selfplay(
    config: Annotated[
        SelfplayConfig,
        Options(
            exclude=("game", "options"),
            rename={"members": "--member"},
            repeated=("members", "population"),
            panel="Learning",
        ),
    ],
    table: common.GameOptions,
    processes: common.ProcessOptions,
    game: common.AnyGameArgument = None,
    out: common.RunOption = Path("runs/selfplay"),
    log: common.LogOption = None,
    seeds: Annotated[int, typer.Option(min=1), "Number of runs with consecutive seeds, one to each process."] = 1,
) -> Report:
    """Train one network for all seats by imitation and self-play, and measure it: cross-play, ratings, curves.

    Needs the extra `train`. Resumes from the last checkpoint.

    Example: [bold]parlour train selfplay avalon_v0 --out runs/selfplay[/bold]
    """
    run = import_extra("parlour.training.learn.selfplay.run", "train")
    imitated = [] if Path(config.start).is_dir() else [config.start]
    named = [*imitated, *config.members, *(player for player in config.population if not Path(player).is_dir())]
    game, chosen = named_table(game, table.chosen, named)  # players that may know their table
    config = config.replace(game=game, options=chosen)
    run.two_sides(config)  # an error before the first game
    with processes.players() as workers, display.progress_line() as progress:
        here = Run(out, progress, log or ())
        if seeds > 1:
            return stored(run.repeats_report(config, run.repeat(config, seeds, here, workers)), out)
        return stored(run.report.report(run.selfplay(config, here)), out, following=_AFTER_SELFPLAY)


def train_avalon(
    config: Annotated[
        PracticeConfig, Options(rename={"num_players": "--players -n"}, defaults={"games": 60}, separator="+")
    ],
    model: ModelOption,
    out: common.RunOption = Path("runs/practice"),
    log: common.LogOption = None,
) -> Report:
    """Train the six-module agent of Avalon in games against the baseline; resumes from the last finished game.

    Writes experience.json, which `--policy avalon_agent:experience=FILE` uses.

    Example: [bold]parlour train avalon --out runs/practice --games 60[/bold]
    """
    with display.progress_line() as progress:
        done = practice.practise(config, Run(out, progress, log or ()), model)
    return stored(practice.report(done, config, model), out, following=_AFTER_AVALON)


def train_gratr(
    config: Annotated[TuneConfig, Options(exclude=("deals", "held_out"))],
    problem: Annotated[GratrTuning, Options(rename={"reward_by": "--reward"})],
    processes: common.ProcessOptions,
    games: Annotated[int, typer.Option(min=2), COMMON, "Number of training games of a trial; two for each deal."] = 200,
    held_out: Annotated[
        int | None,
        typer.Option(min=4),
        COMMON,
        "Number of held-out games of trained and of default parameters; two for each deal; None: both together as many as the "
        "trials may play.",
    ] = None,
    out: common.RunOption = Path("runs/gratr"),
    log: common.LogOption = None,
) -> Report:
    """Train GRATR's parameters by the rewards of mixed games, and test them against the defaults on held-out deals.

    Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train gratr --games 200 --budget 40 --workers 2 --out runs/gratr[/bold]
    """
    if held_out is None:
        held_out = max(4, config.budget * games // 4 * 2)
    for name, number in (("games", games), ("held-out", held_out)):
        if number % problem.games:
            raise accept(name, number, "an even number: each deal is played from both sides")
    deals, held_out = (number // problem.games for number in (games, held_out))
    return _tune(problem, config.replace(deals=deals, held_out=held_out), out, processes, log or ())


def train_gratr_trust(
    config: Annotated[TrustTraining, Options()],
    out: common.RunOption = Path("runs/gratr-trust"),
    log: common.LogOption = None,
) -> Report:
    """Learn from episodes how reliable each kind of GRATR's evidence is, by the log loss of trust at every judgement.

    Writes parameters.json for `--policy gratr:parameters=FILE`. Resumes after the last finished episode.

    Example: [bold]parlour train gratr-trust --episodes 400 --out runs/gratr-trust[/bold]
    """
    with display.progress_line() as progress:
        learned = reliability_run.learn_trust(config, Run(out, progress, log or ()))
    player = f"player: --policy gratr:parameters={out / reliability_run.PARAMETERS}"
    return stored(reliability_run.report(learned), out, player, following=_AFTER_TRUST)


def train_questum(
    config: Annotated[
        TuneConfig,
        Options(rename={"deals": "--games"}, defaults={"budget": 30, "deals": 60, "held_out": 200}),
    ],
    problem: Annotated[QuestumTuning, Options()],
    processes: common.ProcessOptions,
    out: common.RunOption = Path("runs/questum"),
    log: common.LogOption = None,
) -> Report:
    """Train Questum's beta and epsilon on generated cases, and test them against 0.2 and 0.1 on held-out cases.

    A deal is a generated case. Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train questum --games 60 --budget 30 --workers 2 --out runs/questum[/bold]
    """
    return _tune(problem, config, out, processes, log or ())


def _tune(
    problem: GratrTuning | QuestumTuning,
    config: TuneConfig,
    out: Path,
    processes: common.ProcessSettings,
    log: Sequence[str],
) -> Report:
    """Call the tuner. Raises `ParlourError` where the extra `train` is missing."""
    if find_spec("fcntl") is None:
        raise ParlourError("tuning needs POSIX file locks; accepted: Linux or macOS")
    if config.method == "optuna":
        import_extra("optuna", "train")  # before the first game is played
    tuner: Any = import_extra("parlour.training.learn.tuning.run", "train")
    with processes.players() as workers, display.progress_line() as progress:
        tuned = tuner.tune(problem, config, Run(out, progress, log), workers=workers)
    learned = ",".join(f"{name}={value:g}" for name, value in tuned.chosen.parameters.items())
    game, player = ("werewolf_v0", "gratr") if isinstance(problem, GratrTuning) else ("murder_mystery_v0", "questum")
    following = (
        f"evaluate {game} --policy {player}:{learned} --policy {player}",
        f"play {game} --policy {player}:{learned} --out FOLDER/games",
    )
    return stored(tuner.report.report(tuned), out, following=following)
