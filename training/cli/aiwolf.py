"""`parlour aiwolf serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.training.cli import common
from parlour.training.cli.options import Answer, Options
from parlour.training.harnesses.aiwolf import contest
from parlour.training.results import display
from parlour.training.results.runs import run_directory


def serve_contest(
    settings: Annotated[contest.ContestSettings, Options()],
    host: Annotated[str, "Address to listen at; the default answers only this machine."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535), "Port to listen at; 0 picks a free one."] = 10000,
    out: common.TranscriptsOption = None,
) -> Answer:
    """Serve the AIWolf contest's protocol: agents connect, play games with each other and parlour's players, and are ranked.

    An agent that gives no usable answer in time forfeits that decision, never the game.

    Example: [bold]parlour aiwolf serve --players 15 --agents 1 --games 100 --out runs/contest[/bold]
    """
    with contest.listening(host, port) as server:
        bound, chosen = server.getsockname()[:2]
        tell(f"Agents of AIWolf may connect to {bound}:{chosen} for {settings.wait:g} s", error=True)
        with display.progress_line() as progress:
            entrants = contest.connected(server, settings, progress)
    try:
        played = _played(settings, entrants, out)
    finally:
        contest.close(entrants)
    results = played.results()
    return Answer({"results": results.as_json()}, [results])


def _played(settings: contest.ContestSettings, entrants: list[contest.Entrant], out: Path | None) -> contest.Contest:
    with display.progress_line() as progress:
        if out is None:
            played = contest.Contest(settings, entrants)
            played.play(progress)
            return played
        with run_directory(out) as folder:
            played = contest.Contest(settings, entrants, folder)
            played.play(progress)
            played.results().write_csv(folder / "contest.csv")
            return played
