"""`parlour train seat` and `parlour train grace`; others are in `tune`, `questum` and `selfplay`."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import make_policy
from parlour.training import display
from parlour.training.cli import common, questum, selfplay, tune

app = typer.Typer(help="Make players better.", no_args_is_help=True)


@app.callback()
def _train() -> None:
    """A group, with one command for each trainer."""


app.command("questum")(questum.questum)
app.command("gratr")(tune.gratr)
app.command("selfplay")(selfplay.selfplay)


@app.command("seat")
def seat(
    game: common.GameArgument = "avalon_v0",
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/seat"),
    steps: Annotated[int, typer.Option(min=1, help="Decisions of the learner.")] = 400_000,
    opponents: Annotated[str, typer.Option(help="Who plays the other seats.")] = "heuristic",
    seat: Annotated[
        str, typer.Option(help="The learner's seat: a number, or `random` for another one in each game.")
    ] = "random",
    players: common.PlayersOption = None,
    rules: common.RulesOption = None,
    option: common.SetOption = None,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Train one seat with MaskablePPO; can be killed and called again. Needs the extra `train`.

    Avalon is learned at a table of 5 with the rules `official`, unless told otherwise.

    Example: [bold]parlour train seat avalon_v0 --players 5 --out runs/seat --steps 400000[/bold]
    """
    chosen = common.options(players, rules, option)
    if game == "avalon_v0":
        chosen = {"num_players": 5, "rules": "official"} | chosen
    checked = lookup(game).raw_env(**chosen)
    make_policy(opponents, checked.spec.id, checked.game.config)
    seats = range(checked.game.seats)
    if seat != "random" and (not seat.isdigit() or int(seat) not in seats):
        raise ParlourError(f"seat {seat!r} is not accepted; accepted: random, {', '.join(map(str, seats))}")
    training = require_training()
    config = training.SeatConfig(
        game=game,
        options=chosen,
        opponents=opponents,
        seat=seat if seat == "random" else int(seat),
        steps=steps,
        seed=seed,
    )
    if steps < config.phase_steps:
        config = replace(config, phase_steps=-(-steps // config.rollout) * config.rollout)
    last = display.train_with_bar(training.train, config, out)
    if json:
        common.print_json({"out": str(out), **asdict(last)})
    else:
        print(f"{last.steps} decisions, {last.games} games: win rate {last.win_rate:.3f}; see {out}")  # noqa: T201


def require_training() -> Any:
    """The trainer's module. Raises `ParlourError` where the extra `train` is not installed."""
    try:
        from parlour.training.ppo import seat as training
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[train]'") from None
    return training


@app.command("grace")
def grace(
    from_table: Annotated[
        Path | None,
        typer.Option(help="Simulation table to learn from: CSV, or JSON as published.", show_default=False),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(min=2, help="Learn from so many generated questions instead.", show_default=False),
    ] = None,
    held_out: Annotated[int, typer.Option(min=1, help="With --questions: others to compare with baselines on.")] = 1000,
    difficulty: Annotated[str, typer.Option(help="With --questions: easy, medium or hard.")] = "medium",
    joint: Annotated[str, typer.Option(help="With --questions: the published nine actions, or all.")] = "published",
    normalisation: Annotated[
        str, typer.Option(help="With --questions: of the graph's signals, paper or ours.")
    ] = "ours",
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/grace"),
    method: Annotated[str, typer.Option(help="How values become a policy: quantal, correlated or logit.")] = "quantal",
    temperature: Annotated[
        float | None,
        typer.Option(help="In units of utility; by cross-validation if left out.", show_default=False),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(help="Least probability of an action; by cross-validation if left out.", show_default=False),
    ] = None,
    shrinkage: Annotated[
        str, typer.Option(help="Of thin states towards their parents: pseudo-questions, or `auto`.")
    ] = "0",
    learner: Annotated[
        str, typer.Option(help="counts (the whole table), or on-line: epsilon, ucb, thompson.")
    ] = "counts",
    option: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the on-line learner, such as epsilon=0.2."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Of on-line learning.")] = 20_000,
    individual_costs: Annotated[
        bool, typer.Option("--individual-costs", help="Each module pays for its own action only.")
    ] = False,
    share: Annotated[float, typer.Option(help="With own costs: the part of the outcome each module gets.")] = 1.0,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Learn the policy of the mediator of GRACE; can be killed and called again.

    Example: [bold]parlour train grace --from-table simulation.csv --temperature 0.7 --floor 0.02 --out runs/grace[/bold]
    """
    from parlour.training.mediated_qa import learn, table, train

    if (from_table is None) == (questions is None):
        raise ParlourError("train grace learns from one thing; accepted: --from-table FILE or --questions N")
    if ray is not None and questions is None:
        raise ParlourError("--ray spreads questions; accepted: with --questions N")
    config = learn.GraceConfig(
        method=method,  # type: ignore[arg-type]  # any word; refused if it is none of the methods
        temperature=temperature,
        floor=floor,
        shrinkage="auto" if shrinkage == "auto" else _pseudo_questions(shrinkage),
        individual_costs=individual_costs,
        share=share,
        learner=learner,
        rule=common.options(None, None, option),
        rounds=rounds,
        seed=seed,
    )
    if from_table is not None:
        _show_grace(train.train(config, table.read(from_table), out), out, json)
        return
    from parlour.training.mediated_qa import held_out as experiment

    setting = experiment.HeldOutConfig(
        difficulty=difficulty,
        train=questions,  # type: ignore[arg-type]  # given, as there is no table
        held_out=held_out,
        normalisation=normalisation,  # type: ignore[arg-type]  # any word; refused if it is none
        joint=joint,
        corpus_seed=experiment.UNSEEN + seed,
        seed=seed,
    )
    folder = out / "calibration"
    with common.pool(ray, ray_workers) as pool:
        calibrated = display.calibrate_with_bar(partial(experiment.prepare, pool=pool), setting, folder)
    run = train.train(config, calibrated.table, out)
    _show_grace(run, out, json, experiment.compare(calibrated, run.learned.policy, folder))


def _pseudo_questions(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParlourError(f"shrinkage {text!r} is not accepted; accepted: a number from 0, or auto") from None


def _show_grace(run: Any, out: Path, json: bool, scores: tuple[Any, ...] = ()) -> None:
    """Counts per state, the most probable actions, and on standard error what is missing."""
    learned, last = run.learned, run.points[-1]
    counts = dict(zip(learned.quantities.states, learned.quantities.questions.tolist(), strict=True))
    settings = learned.settings
    if learned.unseen:
        gets = "their parents' values are used" if len(learned.policy.rows) > len(counts) else "the fallback is used"
        print(  # noqa: T201
            f"parlour: warning: {len(learned.unseen)} states without data, where {gets}: {', '.join(learned.unseen)}",
            file=sys.stderr,
        )
    if not run.picture:
        print("parlour: the curve was not drawn; for that: pip install 'parlour[train]'", file=sys.stderr)  # noqa: T201
    if json:
        told = {"out": str(out), "questions": counts, "unseen": learned.unseen, "settings": asdict(settings)}
        compared = {"scores": [asdict(one) for one in scores]} if scores else {}
        common.print_json(told | {"regrets": learned.regrets, "last": asdict(last)} | compared)
        return
    shown = common.table("Policy", "state", "questions", "most probable", "p", "regret of R, G, V")
    for state in sorted(learned.policy.rows, key=lambda state: -counts.get(state, 0)):
        row = learned.policy.rows[state]
        best = max(row, key=row.__getitem__)
        regrets = " ".join(f"{regret:.2f}" for regret in learned.regrets[state])
        shown.add_row(state, str(counts.get(state, 0)), " ".join(best), f"{row[best]:.3f}", regrets)
    common.console().print(shown)
    if settings.held_out is not None:
        chosen = f"temperature {settings.temperature}, floor {settings.floor}"
        print(f"chosen by cross-validation: {chosen} (held-out utility {settings.held_out:.2f})")  # noqa: T201
    if scores:
        from parlour.training.mediated_qa.baselines import lines

        heading, *rows = lines(scores)
        beside = common.table("Held-out questions", *heading)
        for row in rows:
            beside.add_row(*row)
        for column in beside.columns:
            column.no_wrap = False
        common.console().print(beside)
    print(f"policy: {out / 'policy.json'}")  # noqa: T201
