"""`parlour train seat`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.policies import make_policy
from parlour.training import display
from parlour.training.cli import common

app = typer.Typer(help="Make players better.", no_args_is_help=True)


@app.callback()
def _train() -> None:
    """A group, with one command for each trainer."""


@app.command("seat")
def seat(
    game: common.GameArgument = "avalon_v0",
    out: Annotated[Path, typer.Option(help="Folder of the run; a run in it is taken up.")] = Path("runs/seat"),
    steps: Annotated[int, typer.Option(min=1, help="Decisions of the learner.")] = 400_000,
    opponents: Annotated[str, typer.Option(help="Who plays the other seats.")] = "rule",
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
    checked = lookup(game).raw_env(**chosen).game
    make_policy(opponents, game, checked.config)
    seats = range(checked.seats)
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
    if steps < config.leg_steps:
        config = replace(config, leg_steps=-(-steps // config.rollout) * config.rollout)
    last = display.train_with_bar(training.train, config, out)
    if json:
        common.print_json({"out": str(out), **asdict(last)})
    else:
        print(f"{last.steps} decisions, {last.games} games: win rate {last.win_rate:.3f}; see {out}")  # noqa: T201


def require_training() -> Any:
    """The trainer's module. Raises `ParlourError` where the extra `train` is not installed."""
    try:
        from parlour.training import seat as training
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[train]'") from None
    return training
