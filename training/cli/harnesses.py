"""`parlour mcp`."""

from __future__ import annotations

from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.training.cli import common
from parlour.training.extras import import_extra
from parlour.training.harnesses.sessions import Sessions, SessionSettings


def mcp(
    game: common.GameArgument,
    table: common.GameOptions,
    seat: Annotated[str, "Seat of the caller, who may ask for another."] = "player_0",
    opponents: Annotated[str, "Player at the other seats."] = "heuristic",
    on_bad: Annotated[str, "Handling of words that cannot be used: ask_again, default, random, raise or forfeit."] = (
        "ask_again"
    ),
    seed: Annotated[int, typer.Option(min=0), "Seed of the first game; the next ones count on."] = 0,
    max_games: Annotated[int, typer.Option(min=1), "Number of games that may be in progress at once."] = 64,
    http: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT"),
        "Port of this machine to serve HTTP at, path /mcp; None: standard input and output.",
    ] = None,
    out: common.TranscriptsOption = None,
) -> None:
    """Serve one seat of a game over the Model Context Protocol, for an assistant to play. Needs the extra `mcp`.

    Example: [bold]parlour mcp avalon_v0 --seat player_2 --out runs/mcp[/bold]
    """
    bridge = import_extra("parlour.training.harnesses.mcp", "mcp")
    settings = SessionSettings(
        game, seat, opponents, table.chosen, on_bad=on_bad, seed=seed, out=out, max_games=max_games
    )
    sessions = Sessions(settings)
    try:
        if http is None:
            bridge.server_of(sessions).run("stdio")
        else:
            tell(f"{game}, {seat}: http://127.0.0.1:{http}/mcp")
            bridge.server_of(sessions).run("streamable-http", port=http)
    except KeyboardInterrupt:
        return  # how a server is ended
    finally:
        sessions.close()
