"""`parlour train selfplay`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError
from parlour.training import display
from parlour.training.cli import common
from parlour.training.cli.tune import ProcessesOption


def selfplay(
    game: common.GameArgument = "avalon_v0",
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/selfplay"),
    steps: Annotated[
        int | None, typer.Option(min=1, help="Decisions of the learner.  [default: 409600]", show_default=False)
    ] = None,
    snapshots: Annotated[int, typer.Option(min=1, help="How many are taken, evenly spaced.")] = 10,
    member: Annotated[
        list[str] | None,
        typer.Option(help="A policy that is in the pool from the beginning, beside random and rule; may be repeated."),
    ] = None,
    self_share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the games against the latest snapshot.")
    ] = 0.35,
    weighting: Annotated[
        str,
        typer.Option(
            help="How often a member is met that is beaten with frequency p: hard, (1 - p) ** power; or near, p (1 - p)."
        ),
    ] = "hard",
    power: Annotated[float, typer.Option(min=0, help="Of the weighting `hard`.")] = 2.0,
    deals: Annotated[int, typer.Option(min=1, help="Held-out deals of each pair of members, two games each.")] = 100,
    test_deals: Annotated[
        int, typer.Option(min=1, help="Held-out deals among the last and the first snapshot and the heuristic.")
    ] = 500,
    players: common.PlayersOption = None,
    rules: common.RulesOption = None,
    option: common.SetOption = None,
    processes: ProcessesOption = 2,
    seed: common.SeedOption = 0,
    json: common.JsonOption = False,
) -> None:
    """Train a population by self-play, and measure it: cross-play, ratings, curves. Needs the extra `train`.

    Can be killed and called again. Avalon is learned at a table of 5 with the rules `official` and without talk, unless
    told otherwise.

    Example: [bold]parlour train selfplay avalon_v0 --out runs/selfplay[/bold]
    """
    run = _required()
    from parlour.training.selfplay.config import SelfplayConfig

    chosen = common.options(players, rules, option)
    if game == "avalon_v0":
        chosen = dict(SelfplayConfig().options) | chosen
    config = SelfplayConfig(
        game=game,
        options=chosen,
        members=tuple(member or ()),
        self_share=self_share,
        weighting=weighting,  # type: ignore[arg-type]  # any word; refused if it is none
        power=power,
        deals=deals,
        test_deals=test_deals,
        processes=processes,
        seed=seed,
    )
    wanted = config.steps if steps is None else steps
    rollouts = -(-wanted // (snapshots * config.rollout))
    config = replace(config, steps=wanted, phase_steps=rollouts * config.rollout)
    found = _with_bars(run.selfplay, config, out)
    if json:
        common.print_json({"out": str(out), **run.report.summary(found)})
    else:
        _show(run, found, out)


def _required() -> Any:
    """The trainer. Raises `ParlourError` where the extra `train` is not installed."""
    try:
        from parlour.training.selfplay import run
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[train]'") from None
    return run


def _with_bars(selfplay: Any, config: Any, out: Path) -> Any:
    """Call the trainer with a progress bar for each stage."""
    with display.progress_bar() as bar:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int, note: str) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.advance(tasks[stage], done)
            if note:
                bar.update(tasks[stage], description=f"{stage}: {note}")

        return selfplay(config, out, progress)


def _show(run: Any, found: Any, out: Path) -> None:
    """Ratings, the verdicts of the held-out deals, and where everything lies."""
    shown = common.table(f"Ratings on {found.config.game}", "player", "mu", "sigma", "games", "against heuristic")
    for one in found.ratings:
        rate = None if one.name == run.RULE else found.crossplay.rate(one.name, run.RULE)
        shown.add_row(one.name, f"{one.mu:.2f}", f"{one.sigma:.2f}", str(one.games), display.show_rate(rate))
    common.console().print(shown)
    for sentence in run.report.verdicts(found):
        print(sentence)  # noqa: T201
    print(f"report: {out / 'report.md'}")  # noqa: T201
