"""`parlour evaluate`, `parlour import avalon`, `parlour import werewolf`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError, accept
from parlour.policies import Policy, asks_a_model, make_policy
from parlour.policies.llm.model import Model
from parlour.training import display, rollout, seeds
from parlour.training import evaluate as evaluation
from parlour.training.avalon import published_games
from parlour.training.cli import common, werewolf
from parlour.training.cli.models import called, seated, takes_model

DESIGNS = ("single", "team")
import_app = typer.Typer(help="Turn other people's game records into transcripts or records.", no_args_is_help=True)


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("evaluate")(takes_model(evaluate))


def evaluate(
    model: Model,
    game: common.GameArgument = "avalon_v0",
    policy: Annotated[
        list[str] | None, typer.Option(help="Who is measured; several are compared with the first.")
    ] = None,
    against: Annotated[str, typer.Option(help="Who plays the other seats, or the other side.")] = "heuristic",
    design: Annotated[
        str, typer.Option(help="`single`: one seat, in turn; `team`: a whole side, then the other.")
    ] = "single",
    games: Annotated[int, typer.Option(min=1, help="How many deals.")] = 200,
    players: common.PlayersOption = None,
    rules: common.RulesOption = None,
    option: common.SetOption = None,
    seat: Annotated[int | None, typer.Option(min=0, help="Always this seat.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(min=0, help="Number of the first deal among the held-out ones.")] = 0,
    table: Annotated[Path | None, typer.Option(help="Write the table of games as CSV.", show_default=False)] = None,
    workers: common.WorkersOption = 1,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    out: Annotated[Path | None, typer.Option(help="Folder for a transcript of each game.", show_default=False)] = None,
    json: common.JsonOption = False,
) -> None:
    """Measure players on the same deals, with intervals and paired comparisons.

    Example: [bold]parlour evaluate avalon_v0 --players 5 --policy heuristic --policy random --games 500[/bold]
    """
    if design not in DESIGNS:
        raise accept("design", design, DESIGNS)
    if seat is not None and design != "single":
        raise ParlourError("--seat goes with --design single")
    env = rollout.table(game, **common.options(players, rules, option))
    base = env.game_env
    if seat is not None and seat >= base.game.seats:
        raise accept("seat", seat, range(base.game.seats))

    def maker(name: str) -> Callable[[], Policy]:
        make_policy(name, base.spec.id, base.game.config, model)
        return lambda: make_policy(name, base.spec.id, base.game.config, model)

    names = policy or ["heuristic"]
    makers = {name: maker(name) for name in (*names, against)}
    if design == "team" and len(names) > 1:
        raise ParlourError(f"{len(names)} policies; accepted with --design team: one, and --against")
    deals = seeds.HELD_OUT[seed : seed + games]
    with common.pool(ray, ray_workers, model) as pool, display.progress_bar() as bar:
        if design == "single":
            candidates = {seated(name, model): makers[name] for name in names}
            opponents = (seated(against, model), makers[against])
            report = evaluation.single(env, candidates, opponents, deals, display.Bar(bar), seat, workers, out, pool)
        else:
            a, b = ((seated(name, model), makers[name]) for name in (names[0], against))
            report = evaluation.team(env, a, b, deals, display.Bar(bar), workers, out, pool)
    if table is not None:
        evaluation.write_table(report, table)
    asking = any(map(asks_a_model, makers))
    if json:
        common.print_json({**report.as_json(), **({"model": model.name} if asking else {})})
    else:
        show_report(report, f"; agents answered by {called(model)}" if asking else "")


def show_report(report: evaluation.Report, who: str) -> None:
    """Print rates and comparisons as tables."""
    shown = common.table(f"Win rates (95 % Wilson interval){who}", "player", "as", "win rate")
    for policy, of in report.rates.items():
        for what, found in of.items():
            shown.add_row(policy, what, display.show_rate(found))
    out = common.console()
    out.print(shown)
    if report.comparisons:
        compared = common.table("Same deals, paired (95 % interval; exact McNemar test)", "players", "as", "difference")
        for one in report.comparisons:
            compared.add_row(f"{one.a} - {one.b}", one.side, display.show_difference(one.result))
        out.print(compared)


@import_app.callback()
def _import() -> None:
    """A group, with one command for each kind of record."""


@import_app.command("avalon")
def import_avalon(
    file: Annotated[Path, typer.Argument(help="Games, one a line, in the format of `extracted.jsonl`.")],
    out: Annotated[Path, typer.Option(help="Folder for the transcripts.")],
    logs: Annotated[
        Path | None, typer.Option(help="Folder with the games' logs, for what was said.", show_default=False)
    ] = None,
    json: common.JsonOption = False,
) -> None:
    """Replay published games of Avalon through the rules (preset `reference`) and write them as transcripts.

    A game that contradicts the rules is refused, and nothing is written.

    Example: [bold]parlour import avalon extracted.jsonl --out runs/published[/bold]
    """
    written = published_games.import_file(file, out, logs)
    if json:
        common.print_json([str(path) for path in written])
    else:
        print(f"{len(written)} games written to {out}")  # noqa: T201


import_app.command("werewolf")(werewolf.import_werewolf)
