"""`parlour table` and `parlour coach`."""

from __future__ import annotations

import threading
import webbrowser
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import COMMON
from parlour.policies import Policy
from parlour.policies.voice.spoken import checked_talk, make_player
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, seated
from parlour.training.cli.options import Options
from parlour.training.cli.people import PeopleOptions
from parlour.training.cli.play import show_game
from parlour.training.cli.serve import answers_this_machine_alone
from parlour.training.play import rollout
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.play.stored_games import games_folder
from parlour.wrappers import Recorder

from parlour_table.coach import costly_moves
from parlour_table.coached_person import CoachedPerson
from parlour_table.live.settings import TableSettings

ME: Final = "me"
"""How a person is seated."""


GameArgument = Annotated[str | None, typer.Argument(), "Name of the game; None: that of a policy file, else avalon_v0."]
CoachOption = Annotated[
    bool,
    typer.Option("--coach"),
    COMMON,
    "Give people hints: the exact belief, the strongest player's move, and after the game the decisions that cost most.",
]


def table(
    setup: common.GameOptions,
    settings: Annotated[TableSettings, Options(panel="Limits")],
    model: ModelOption,
    failures: common.FailureOptions,
    people: PeopleOptions,
    game: GameArgument = None,
    seats: Annotated[
        str,
        typer.Option(metavar="NAME[,NAME]"),
        COMMON,
        "Who sits there, from seat 0 on: `me` for a person in a browser, or a player as in `parlour play`.",
    ] = ME,
    others: Annotated[str, "Player for the seats that --seats does not name."] = "heuristic",
    games: Annotated[
        int | None,
        typer.Option(min=1),
        "Number of games, on consecutive seeds; None: as many as people begin, and one at a table without people.",
    ] = None,
    on_bad: Annotated[
        str, "Handling of a player's text that cannot be used: ask_again, default or random. People are asked again."
    ] = "ask_again",
    coach: CoachOption = False,
    host: Annotated[str, COMMON, "Address to listen at; the default answers only this machine."] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535), "Port to listen at; 0 picks a free one."] = 8018,
    token: Annotated[
        str | None,
        COMMON,
        "Environment variable with a secret of 16 characters or more, from which all links are made; addresses that other "
        "machines reach need one; None: new links each time.",
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open"), "Open the first link in a browser of this machine."] = False,
    out: Annotated[
        Path | None,
        COMMON,
        "Directory for the transcripts; an interrupted game there is resumed, and finished games count; None: they are "
        "deleted at the end.",
    ] = None,
    talk: Annotated[
        str | None,
        typer.Option(metavar="words|claims"),
        "How players without a language model speak; None: words where a person plays.",
    ] = None,
) -> None:
    """Play with people in their browsers: prints a secret link for each person, and a link for watchers.

    After a game anybody at the table begins the next one: the same seats, a new deal. Ctrl-C closes the table. The rules of Avalon's boxed game: --rules official.

    Example: [bold]parlour table avalon_v0 --seats me,me --names Ana,Ben --clock 120 --out runs/friday[/bold]
    """
    if token is None and not answers_this_machine_alone(host):
        raise ParlourError(
            f"--host {host} is not accepted without --token; accepted: an address of loopback, or a token: "
            "export TABLE_TOKEN=$(openssl rand -hex 16), and then --token TABLE_TOKEN"
        )
    tables = import_extra("parlour_table.live.opening", "serve")
    given = names_in(seats)
    game, options = named_table(game, setup.chosen, (*given, others))
    env = rollout.table(game, on_bad=on_bad, **options)
    base = env.game_env
    sitting = seats_of(given, others, len(base.possible_agents))
    talk = checked_talk(talk, "words" if ME in sitting else "claims")
    players = [
        ("human", None)
        if name == ME
        else (seated(name, model), make_player(name, base.spec, base.game.config, model, talk))
        for name in sitting
    ]
    persons = tuple(seat for seat, (_, player) in enumerate(players) if player is None)
    keys = tables.keys_from(persons, token)
    called = people.seat_names(base)
    seed, seed_line = people.first_seed(out, base)
    stored = {"players": [name for name, _ in players], "seed": seed, "on_bad": on_bad}
    kept: AbstractContextManager[Path | str] = (
        nullcontext(out) if out else TemporaryDirectory(prefix="parlour-table-", ignore_cleanup_errors=True)
    )
    with kept as folder, games_folder(Path(folder), base, "table", stored, resume=True):
        plan = tables.Plan(Path(folder), games if games or persons else 1, seed, failures, called, coach)
        opened = tables.OpenTable(env, players, plan, keys, settings, host, port, tell=tell)
        for line in opened.links():
            tell(line)
        tell(f"transcripts: {folder}" if out else "transcripts: gone at the end, without --out")
        tell(seed_line)
        tell("Ctrl-C closes the table")
        if open_browser:
            threading.Thread(target=show_page, args=(opened.link_here,), name="browser", daemon=True).start()
        opened.run()


def show_page(link: str) -> None:
    """Open a link in a browser of this machine, or say that there is none. A browser in the terminal returns when it is left."""
    if not webbrowser.open(link):
        tell("no browser was found for --open; accepted: the first link, in any browser", error=True)


def names_in(given: str) -> list[str]:
    """The names in a list of seats. Raises `ParlourError` for an empty one.

    A comma ends a name, except for one before `key=value`, which belongs to the settings of the name before it.

    >>> names_in("me,gratr:gamma=0.5,rho=2,me")
    ['me', 'gratr:gamma=0.5,rho=2', 'me']
    """
    names: list[str] = []
    for part in given.split(","):
        setting = "=" in part and ":" not in part.partition("=")[0]
        if setting and names and ":" in names[-1]:
            names[-1] += f",{part}"
        else:
            names.append(part.strip())
    if "" in names:
        raise ParlourError(f"seats {given!r} are not accepted; accepted: names with a comma between them")
    return names


def seats_of(names: list[str], others: str, seats: int) -> list[str]:
    """Who sits at each seat. Raises `ParlourError` for more names than seats.

    >>> seats_of(["me"], "heuristic", 3)
    ['me', 'heuristic', 'heuristic']
    """
    if len(names) > seats:
        raise ParlourError(f"{len(names)} names for {seats} seats are not accepted; accepted: up to {seats}")
    return names + [others] * (seats - len(names))


def play_with_coach(
    model: ModelOption,
    setup: common.GameOptions,
    people: PeopleOptions,
    game: GameArgument = None,
    seat: Annotated[int, typer.Option(min=0), "Number of your seat."] = 0,
    others: Annotated[str, COMMON, "Player for the other seats."] = "heuristic",
    talk: common.TalkOption = None,
    out: Annotated[Path | None, COMMON, "Directory for the transcripts."] = None,
) -> None:
    """Play a game at the terminal with a coach: hints at each turn, and after the game your decisions that cost most.

    Example: [bold]parlour coach avalon_v0 --seat 2[/bold]
    """
    game, options = named_table(game, setup.chosen, [others])
    env = rollout.table(game, **options)
    base = env.game_env
    if seat >= base.game.seats:
        raise accept("seat", seat, f"0..{base.game.seats - 1}")
    shown = people.seat_names(base)
    seed, seed_line = people.first_seed(out, base)
    talk = checked_talk(talk, "words")
    players: list[Policy] = [
        make_player(others, base.spec, base.game.config, model, talk) for _ in base.possible_agents
    ]
    players[seat] = CoachedPerson(base, names=shown)
    seated_there = {agent: seated(others, model) for agent in base.possible_agents}
    seated_there[base.possible_agents[seat]] = "human"
    tell(seed_line)
    with games_folder(out, base, "coach", {"players": seated_there, "seed": seed}, resume=False):
        file = None if out is None else out / f"{base.game_name}-1.jsonl"
        table = env if file is None else Recorder(env, file, header={"players": seated_there})
        episode = rollout.play(table, players, seed)
    show_game(base.text, episode, shown, heading=False)
    tell("Coach: working out which decisions cost most")
    costly = costly_moves(base.spec, base.game, tuple(base.moves), seat)
    tell("Coach: the decisions that cost most" if costly else "Coach: no decision cost anything")
    for decision in costly:
        tell(f"  {shown.shown(decision.shown)}")
