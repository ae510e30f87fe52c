"""`parlour aiwolf serve`, `parlour aiwolf play`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import check_one_of
from parlour.envs.settings import COMMON
from parlour.policies import make_policy
from parlour.training.cli.models import ModelOption
from parlour.training.cli.options import Options
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.runs.run import Run

from parlour_aiwolf.server import contest
from parlour_aiwolf.server.nlp import NlpVisitor
from parlour_aiwolf.server.visitor import Visitor

PROTOCOLS = {"classic": Visitor, "nlp": NlpVisitor}


def serve_contest(
    settings: Annotated[contest.ContestSettings, Options()],
    host: Annotated[str, "Address to listen at; the default answers only this machine."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535), "Port to listen at; 0 picks a free one."] = 10000,
    out: Annotated[Path | None, COMMON, "Directory for the transcripts."] = None,
) -> Report:
    """Serve the AIWolf contest's protocol: agents connect, play games with each other and parlour's players, and are ranked.

    An agent that gives no usable answer in time forfeits that decision. After five late answers in a row it is cut off, and the default
    moves are made for it.

    Example: [bold]parlour aiwolf serve --players 15 --agents 1 --games 100 --out runs/contest[/bold]
    """
    with contest.listening(host, port) as server:
        bound, chosen = server.getsockname()[:2]
        tell(f"Agents of AIWolf may connect to {bound}:{chosen} for {settings.wait:g} s", error=True)
        with display.progress_line() as progress:
            entrants = contest.connected(server, settings, progress, partial(tell, error=True))
    try:
        with display.progress_line() as progress, Run(out).opened() as folder:
            played = contest.Contest(settings, entrants, folder)
            played.play(progress)
            results = played.results()
            results.write_csv(folder / "contest.csv")
    finally:
        contest.close(entrants)
    return Report("", parts=(results,), values={"results": results.as_json()})


def play_contest(
    model: ModelOption,
    host: Annotated[str, "Address of the server."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535), "Port of the server."] = 10000,
    players: Annotated[int, "Number of players of the server's games: 5 or 15."] = 5,
    policy: Annotated[str, "Player in the seat."] = "heuristic",
    name: Annotated[str, "Name in the contest."] = "parlour",
    role: Annotated[str, "Role that the server is asked for, such as SEER."] = "none",
    seed: Annotated[int, typer.Option(min=0), "Seed of the player."] = 0,
    protocol: Annotated[str, "The contest's protocol: classic, or nlp for free words (aiwolf-nlp)."] = "classic",
) -> Report:
    """Play in a seat at an AIWolf server until it ends the contest.

    Example: [bold]parlour aiwolf play --host localhost --port 10000 --policy heuristic[/bold]
    """
    settings = contest.ContestSettings.from_plain({"players": players})
    config = contest.config_of(settings.players)
    check_one_of("protocol", protocol, tuple(PROTOCOLS))
    visitor = PROTOCOLS[protocol](make_policy(policy, contest.GAME, config, model), name, role, seed)
    tell(f"Playing at {host}:{port}", error=True)
    visitor.visit(host, port)
    results = visitor.results()
    return Report("", parts=(results,), values={"results": results.as_json()})
