"""`parlour serve mcp | openenv`, `parlour import inspect`: games with the programs of others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.settings import COMMON, Settings
from parlour.training.cli import common
from parlour.training.cli.options import Options
from parlour.training.harnesses.sessions import Sessions, SessionSettings
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.report.report import Report


class SeatSettings(Settings):
    """The seat that callers from outside play."""

    seat: Annotated[str, COMMON] = "player_0"
    """Seat of the caller, who may ask for another."""
    opponents: Annotated[str, COMMON] = "heuristic"
    """Player at the other seats."""
    on_bad: str = "ask_again"
    """Handling of words that cannot be used: ask_again, default, random, raise or forfeit."""
    seed: Annotated[int | None, COMMON] = None
    """Seed that makes the deals repeatable; whoever guesses it knows all roles, so take a long one; None: random deals."""
    callers_may_seed: bool = False
    """Let a caller name the seed of its deal, for trainers that repeat one; it can then know all roles."""
    max_games: int = 64
    """Number of games that may be in progress at once."""
    games_per_minute: int = 120
    """Number of games that callers may begin in a minute."""
    max_disk: int = 2**30
    """Bytes in the directory of transcripts from which no game begins."""
    out: Annotated[Path | None, COMMON] = None
    """Directory for the transcripts; callers must not be able to read it."""

    @contextmanager
    def sessions(self, game: str | None, table: common.GameSettings) -> Iterator[Sessions]:
        """Its games, until the server is interrupted. Raises `ParlourError` for settings that are not accepted."""
        game, options = named_table(game, table.chosen, [self.opponents])
        sessions = Sessions(SessionSettings(game=game, options=options, **dict(self)))
        try:
            yield sessions
        except KeyboardInterrupt:
            return  # how a server is ended
        finally:
            sessions.close()


SeatOptions = Annotated[SeatSettings, Options()]


def serve_mcp(
    table: common.GameOptions,
    played: SeatOptions,
    game: common.AnyGameArgument = None,
    http: Annotated[
        int | None,
        typer.Option(min=0, max=65535, metavar="PORT"),
        COMMON,
        "Port of this machine to serve HTTP at, path /mcp; None: standard input and output.",
    ] = None,
) -> None:
    """Serve one seat of a game over the Model Context Protocol, for an assistant to play. Needs the extra `mcp`.

    Example: [bold]parlour serve mcp avalon_v0 --seat player_2 --out runs/mcp[/bold]
    """
    bridge = import_extra("parlour.training.harnesses.mcp", "mcp")
    listening = import_extra("parlour.training.harnesses.listening", "mcp")
    with played.sessions(game, table) as sessions:
        if http is None:
            bridge.server_of(sessions).run("stdio")
        else:
            own = listening.listening("127.0.0.1", http)
            tell(f"{sessions.settings.game}, {played.seat}: http://127.0.0.1:{own.getsockname()[1]}/mcp")
            listening.SeatServer(bridge.http_app_of(sessions), played.max_games).answer(own)


def serve_openenv(
    table: common.GameOptions,
    played: SeatOptions,
    game: common.AnyGameArgument = None,
    host: Annotated[str, "Address to listen at; the default answers only this machine."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535), COMMON, "Port to listen at; 0 picks a free one."] = 8000,
    allow_host: Annotated[
        list[str] | None,
        "Name under which clients reach this server, repeatable; None: IP addresses and localhost only.",
    ] = None,
) -> None:
    """Serve one seat of a game as an OpenEnv environment, for trainers of language models. Needs the extra `openenv`.

    Example: [bold]parlour serve openenv avalon_v0 --port 8019[/bold]
    """
    bridge = import_extra("parlour.training.harnesses.openenv", "openenv")
    listening = import_extra("parlour.training.harnesses.listening", "openenv")
    with played.sessions(game, table) as sessions:
        own = listening.listening(host, port)
        tell(f"{sessions.settings.game}, {played.seat}: http://{host}:{own.getsockname()[1]}")
        listening.SeatServer(bridge.app_of(sessions, [host, *(allow_host or ())]), played.max_games).answer(own)
    tell(f"games: {sessions.counts.begun}, left by their callers: {sessions.counts.left}")


def import_inspect(
    file: Annotated[Path, typer.Argument(), "Log of Inspect, *.eval or *.json, of a task of parlour."],
    out: Annotated[Path, "Directory for the transcripts."],
    opponents: Annotated[
        str | None,
        "Parlour's player at the other seats; None: the player that the log names, if it ships with parlour.",
    ] = None,
    cases: Annotated[
        list[Path] | None,
        "Folder with cases that a game may name, repeatable; None: only cases that are shipped or made from a seed.",
    ] = None,
) -> Report:
    """Turn a log of Inspect into transcripts, which `parlour replay` shows. Needs the extra `inspect`.

    Each game is played again from its seed and what the models said. A game that differs from its log is refused, and nothing is
    written.

    Example: [bold]parlour import inspect logs/avalon.eval --out runs/inspect[/bold]
    """
    bridge = import_extra("parlour.training.harnesses.inspect_ai.logs", "inspect")
    read = bridge.transcripts_of_log(file, out, opponents=opponents, folders=cases or ())

    said = (
        f"Transcripts of {len(read.paths)} games: {out}",
        *(f"None of {sample}: {why}" for sample, why in read.left_out.items()),
    )
    values = {"transcripts": list(map(str, read.paths)), "left_out": dict(read.left_out)}
    return Report("", parts=(said,), values=values)
