"""`parlour train seat | selfplay | avalon | gratr | questum`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.extras import install
from parlour.envs.registry import lookup
from parlour.envs.terminal import tell
from parlour.policies import make_policy
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer, Options
from parlour.training.learn.ppo.phase_config import SeatConfig, features_of
from parlour.training.learn.practice import PracticeConfig, practise, verdict_of
from parlour.training.learn.reliability import run as reliability_run
from parlour.training.learn.reliability.run import TrustTraining
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.tuning.gratr import GratrTuning
from parlour.training.learn.tuning.problem import TuneConfig
from parlour.training.learn.tuning.questum import QuestumTuning
from parlour.training.measure.evaluation_tables import show_rate
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.play.runner import GameRunner
from parlour.training.report import display
from parlour.training.report.html import HTML
from parlour.training.report.result_table import Column, ResultTable, plain_table
from parlour.training.statistics import plain

_RARE: Final = (
    *("turns", "updates", "imitation_rate", "batch", "epochs", "clip", "gae_lambda", "last_entropy", "entropy_of"),
    *("kl", "last_kl", "critic_hidden", "activation", "critic", "infer"),
    *("fixed_share", "pool_share", "one_seat", "opponents", "weighting", "power", "floor", "memory"),
    *("validation_deals", "shown", "population_share", "stranger_seats"),
)
"""Settings of self-play that `--help` does not list."""


def train_seat(
    config: Annotated[SeatConfig, Options(exclude=("game", "options"))],
    table: common.GameOptions,
    game: common.AnyGameArgument = None,
    out: common.RunOption = Path("runs/seat"),
    log: common.LogOption = None,
) -> Answer:
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
        last = training.train(config, out, progress, log or ())
    with display.progress_line("Evaluating the seat on held-out deals") as progress:
        gain = training.measure_seat(config, out, last.steps, GameRunner(progress=progress))
    shown = f"{last.steps} decisions, {last.games} games: win rate {last.win_rate:.3f}; report: {out / HTML}"
    value = {"out": str(out), **asdict(last), "held_out": plain(gain)}
    return Answer(value, [shown], verdict=training.verdict(config, gain))


def train_selfplay(
    config: Annotated[
        SelfplayConfig,
        Options(
            exclude=("game", "options"),
            rename={"members": "--member"},
            repeated=("members", "population"),
            rare=_RARE,
            panel="Learning",
        ),
    ],
    table: common.GameOptions,
    processes: common.ProcessOptions,
    game: common.AnyGameArgument = None,
    out: common.RunOption = Path("runs/selfplay"),
    log: common.LogOption = None,
    seeds: Annotated[int, typer.Option(min=1), "Number of runs with consecutive seeds, one to each process."] = 1,
) -> Answer:
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
    if seeds > 1:
        return _train_repeats(config, seeds, out, processes, log or ())
    with display.progress_line() as progress:
        result = run.selfplay(config, out, progress, log or ())
    parts = _population_parts(run.report, result, out)
    return Answer({"out": str(out), **run.report.summary(result)}, parts, verdict=run.report.verdict(result))


def _train_repeats(
    config: SelfplayConfig, count: int, out: Path, processes: common.ProcessSettings, log: Sequence[str]
) -> Answer:
    repeats = import_extra("parlour.training.learn.selfplay.run", "train")
    with processes.players() as workers, display.progress_line() as progress:
        result = repeats.repeat(config, count, out, workers, progress, log)
    title = f"Points against {RULE} on {config.game} (95 % interval)"
    table = plain_table(title, repeats.HEADINGS, repeats.rows(result))
    value = {"out": str(out), **repeats.over_seeds(result)}
    return Answer(value, [table], verdict=repeats.repeats_verdict(result))


def _population_parts(report: Any, result: Any, out: Path) -> list[ResultTable | str]:
    """Ratings, what the held-out deals say, and where the report is."""
    rows = []
    for rating in result.ratings:
        rate = None if rating.name == RULE else result.crossplay.rate(rating.name, RULE)
        rows.append((rating.name, f"{rating.mu:.2f}", f"{rating.sigma:.2f}", str(rating.games), show_rate(rate)))
    headings = ("player", "mu", "sigma", "games", "against heuristic")
    table = plain_table(f"Ratings on {result.config.game}", headings, rows)
    return [table, *report.verdicts(result), f"report: {out / 'report.html'}"]


def train_avalon(
    model: ModelOption,
    config: Annotated[
        PracticeConfig, Options(rename={"num_players": "--players -n"}, defaults={"games": 60}, separator="+")
    ],
    out: common.RunOption = Path("runs/practice"),
    log: common.LogOption = None,
) -> Answer:
    """Train the six-module agent of Avalon in games against the baseline; resumes from the last finished game.

    Writes experience.json, which `--policy avalon_agent:experience=FILE` uses.

    Example: [bold]parlour train avalon --out runs/practice --games 60[/bold]
    """
    with display.progress_line() as progress:
        done = practise(config, out, model, progress, log or ())
    won = {"won_as_good": sum(done.won[0::2]), "won_as_evil": sum(done.won[1::2])}
    games = f"{config.games} games on each side, answered by {called(model)}"
    shown = f"{games}: won {won['won_as_good']} as good, {won['won_as_evil']} as evil; results in {out}"
    value = {"out": str(out), "model": model.name, **won, "games_on_each_side": config.games}
    return Answer(value, [shown], verdict=verdict_of(done))


def train_gratr(
    config: Annotated[TuneConfig, Options(exclude=("deals", "held_out"))],
    problem: Annotated[GratrTuning, Options(rename={"reward_by": "--reward"})],
    processes: common.ProcessOptions,
    games: Annotated[int, typer.Option(min=2), "Number of training games of a trial; two for each deal."] = 200,
    held_out: Annotated[
        int, typer.Option(min=4), "Number of held-out games of trained and of default parameters; two for each deal."
    ] = 1000,
    out: common.RunOption = Path("runs/gratr"),
    log: common.LogOption = None,
) -> Answer:
    """Train GRATR's parameters by the rewards of mixed games, and test them against the defaults on held-out deals.

    Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train gratr --games 200 --budget 40 --workers 2 --out runs/gratr[/bold]
    """
    for name, number in (("games", games), ("held-out", held_out)):
        if number % problem.games:
            raise accept(name, number, "an even number: each deal is played from both sides")
    deals, held_out = (number // problem.games for number in (games, held_out))
    return _tune(problem, config.replace(deals=deals, held_out=held_out), out, processes, log or ())


def train_gratr_trust(
    config: Annotated[TrustTraining, Options()],
    out: common.RunOption = Path("runs/gratr-trust"),
    log: common.LogOption = None,
) -> Answer:
    """Learn from episodes how reliable each kind of GRATR's evidence is, by the log loss of trust at every judgement.

    Writes parameters.json for `--policy gratr:parameters=FILE`. Resumes after the last finished episode.

    Example: [bold]parlour train gratr-trust --episodes 400 --out runs/gratr-trust[/bold]
    """
    with display.progress_line() as progress:
        result = reliability_run.learn_trust(config, out, progress, log or ())
    title = f"Trust of episodes left out, rho {result.fit.rho:g}; a coin: 0.6931"
    table = ResultTable(title, (Column("episodes"), Column("log loss", ".4f")), tuple(result.losses.items()))
    files = f"player: --policy gratr:parameters={out / reliability_run.PARAMETERS}; report: {out / 'report.html'}"
    return Answer({"out": str(out), **result.as_json()}, [table, files], verdict=result.verdict)


def train_questum(
    config: Annotated[
        TuneConfig,
        Options(rename={"deals": "--games"}, defaults={"budget": 30, "deals": 60, "held_out": 200}),
    ],
    problem: Annotated[QuestumTuning, Options()],
    processes: common.ProcessOptions,
    out: common.RunOption = Path("runs/questum"),
    log: common.LogOption = None,
) -> Answer:
    """Train Questum's beta and epsilon on generated cases, and test them against 0.2 and 0.1 on held-out cases.

    A deal is a generated case. Resumes from the last finished trial. Needs the extra `train`.

    Example: [bold]parlour train questum --games 60 --budget 30 --workers 2 --out runs/questum[/bold]
    """
    return _tune(problem, config, out, processes, log or ())


def _tune(problem: Any, config: TuneConfig, out: Path, processes: common.ProcessSettings, log: Sequence[str]) -> Answer:
    """Call the tuner. Raises `ParlourError` where the extra `train` is missing."""
    if find_spec("fcntl") is None:
        raise ParlourError("tuning needs POSIX file locks; accepted: Linux or macOS")
    if config.method == "optuna":
        import_extra("optuna", "train")  # before the first game is played
    run = import_extra("parlour.training.learn.tuning.run", "train")
    report = import_extra("parlour.training.learn.tuning.report", "train")
    with processes.players() as workers, display.progress_line() as progress:
        tuned = run.tune(problem, config, out, workers=workers, progress=progress, log=log)
    if not tuned.drawn:
        tell(f"parlour: no pictures were drawn; accepted: {install('train')}", error=True)
    value = {"out": str(out)} | report.summary(tuned)
    return Answer(value, _tuned_parts(tuned, out), verdict=report.verdict(tuned))


def _tuned_parts(tuned: Any, out: Path) -> list[ResultTable | str]:
    """Parameters, mean rewards, and where the report is."""
    rows = [
        (parameter.name, f"{parameter.default:g}", f"{tuned.parameters[parameter.name]:.4g}")
        for parameter in tuned.problem.space.parameters
    ]
    for name, value in tuned.means.items():
        cells = (f"{value:.4f}", "") if name == "defaults" else ("", f"{value:.4f}")
        rows.append((f"mean reward, {name}", *cells))
    table = plain_table(f"Tuning {tuned.problem.name}", ("parameter", "default", "trained"), rows)
    return [table, f"report: {out / 'report.html'}"]
