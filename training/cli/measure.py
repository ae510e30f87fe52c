"""`parlour evaluate`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError, accept
from parlour.policies import asks_a_model, make_policy
from parlour.training import display, rollout, seeds
from parlour.training import evaluate as evaluation
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called, seated
from parlour.training.cli.options import Answer

DESIGNS = ("single", "team")


def evaluate(
    model: ModelOption,
    table: common.GameOptions,
    concurrency: common.ThreadOptions,
    game: common.GameArgument = "avalon_v0",
    policy: Annotated[
        list[str] | None, "Player to measure, repeatable; compared with the first; None: heuristic."
    ] = None,
    against: Annotated[str, "Player of the other seats, or of the other side."] = "heuristic",
    design: Annotated[str, "`single`: one seat, in turn; `team`: a whole side, then the other."] = "single",
    games: Annotated[int, typer.Option(min=1), "Number of deals."] = 200,
    seat: Annotated[int | None, typer.Option(min=0), "Always this seat; None: each in turn."] = None,
    seed: Annotated[int, typer.Option(min=0), "Number of the first deal among the held-out ones."] = 0,
    csv: Annotated[Path | None, typer.Option("--table"), "File for the games as CSV."] = None,
    out: common.TranscriptsOption = None,
) -> Answer:
    """Measure players on the same deals, with intervals and paired comparisons.

    Example: [bold]parlour evaluate avalon_v0 --players 5 --policy heuristic --policy random --games 500[/bold]
    """
    if design not in DESIGNS:
        raise accept("design", design, DESIGNS)
    if seat is not None and design != "single":
        raise ParlourError("--seat goes with --design single")
    env = rollout.table(game, **table.chosen)
    base = env.game_env
    if seat is not None and seat >= base.game.seats:
        raise accept("seat", seat, range(base.game.seats))

    names = policy or ["heuristic"]
    makers = {name: partial(make_policy, name, base.spec.id, base.game.config, model) for name in (*names, against)}
    for make in makers.values():
        make()  # an error before the first game
    if design == "team" and len(names) > 1:
        raise ParlourError(f"{len(names)} policies; accepted with --design team: one, and --against")
    deals = seeds.HELD_OUT[seed : seed + games]
    workers = concurrency.workers
    candidates = {seated(name, model): makers[name] for name in names}
    opponents = (seated(against, model), makers[against])
    with concurrency.pool(model) as pool, display.progress_bar() as bar:
        if design == "single":
            report = evaluation.single(env, candidates, opponents, deals, bar, seat, workers, out, pool)
        else:
            report = evaluation.team(env, next(iter(candidates.items())), opponents, deals, bar, workers, out, pool)
    if csv is not None:
        evaluation.write_table(report, csv)
    asking = any(map(asks_a_model, makers))
    value = {**report.as_json(), **({"model": model.name} if asking else {})}
    note = f"; agents answered by {called(model)}" if asking else ""
    return Answer(value, partial(display.show_report, report, note))
