"""`parlour metrics`: what the players of recorded games did, by the measures of their game."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs import replay
from parlour.envs.common import dotted
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError
from parlour.envs.language import english
from parlour.envs.plugins import Places
from parlour.envs.registry import known, lookup
from parlour.policies.llm.decisions import foreign
from parlour.training.measure.conventions import CONVENTIONS, ConventionTally, convention_rows, conventions_table
from parlour.training.measure.decision_tables import share
from parlour.training.measure.evaluate import DecisionShare
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable
from parlour.training.report.verdicts import SIGN

METRICS: Final = Places(
    "parlour.metrics",
    {
        "avalon_v0": "parlour.training.measure.avalon.measures:of_directory",
        "werewolf_v0": "parlour.training.measure.werewolf.measures:of_directory",
    },
)
"""Game -> dotted name of `folder -> dict`. A function `tables(found)` beside it shows the dict."""
_MOST: Final = 10**9
"""Decisions of one seat in one game."""


@display.progress_line("Counting games")
def metrics(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of one game, or records of Werewolf.")],
    module: Annotated[
        str | None, typer.Option("--game"), "module:ATTRIBUTE of a game outside the registry; None: the registry's."
    ] = None,
) -> Report:
    """Count what the players of a directory's games did.

    Avalon, by role: wins, team membership (QER), fail cards (FVR), approval of leaders (LAR). Werewolf, by method: wins
    by block (TWR), shares of the wins of a side (WWR, LWR), performance, right judgements, amnesia.

    Example: [bold]parlour metrics runs/published --json[/bold]
    """
    if module is not None:
        lookup(module)  # from now on a file may name it
    game = _game_in(directory)
    of = known(game).spec.id
    if of not in METRICS:
        raise ParlourError(f"game {game!r} has no metrics; accepted: {', '.join(METRICS)}")
    measured: Callable[[Path], dict[str, Any]] = dotted.load(METRICS[of], "metrics")
    measures = measured(directory)
    shown = getattr(sys.modules[measured.__module__], "tables", tables)
    players = decisions_in(directory)
    own = {"players": {name: counts._asdict() for name, counts in players.items()}} if players else {}
    doubts = [
        f"{SIGN} {name}: {share(*counts)} of its {counts.decisions} decisions were its own"
        for name, counts in players.items()
        if foreign(*counts)
    ]
    return Report(f"What was done in games of {game}", parts=(*shown(measures), *doubts), values={**measures, **own})


@display.progress_line("Counting games")
def count_conventions(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of Avalon or Werewolf.")],
) -> Report:
    """Count conventions in recorded games by player: approval of evil teams, false claims, misleading claims.

    Example: [bold]parlour metrics conventions runs/evaluation[/bold]
    """
    game = known(_game_in(directory)).spec.id
    if game not in CONVENTIONS:
        raise ParlourError(f"conventions of {game!r} are not counted; accepted: {', '.join(CONVENTIONS)}")
    tallies: dict[str, ConventionTally] = {}
    for path in replay.Transcript.files(directory):
        transcript = replay.Transcript.read(path)
        players = transcript.header.get("players")
        if (finished := transcript.finished(transcript.header["game"])) is not None:
            rules, (*_, last) = finished
            views = [rules.view(last, seat) for seat in range(rules.seats)]
            for seat in range(rules.seats):
                player = str(players.get(english.name(seat), "") if isinstance(players, Mapping) else players or "")
                tallies.setdefault(player, ConventionTally(game)).add(views, seat)
    rows = convention_rows("all", {player or "unnamed": [tally] for player, tally in tallies.items()})
    parts = (conventions_table(rows),) if rows else ("no finished game",)
    return Report(f"Conventions in games of {game}", parts=parts, values={"conventions": rows})


def decisions_in(directory: Path) -> dict[str, DecisionShare]:
    """Player -> who made its decisions, from the last lines of transcripts; empty if these name no players."""
    counts: dict[str, DecisionShare] = {}
    for path in sorted(path for path in directory.glob("*.jsonl") if path.is_file()):
        for player, made in _decisions_in(path):
            own, decisions = counts.get(player, DecisionShare(0, 0))
            counts[player] = DecisionShare(own + made.own, decisions + made.decisions)
    return counts


def _decisions_in(path: Path) -> Iterator[tuple[str, DecisionShare]]:
    """Player and whose its decisions were, seat by seat, by the first and last line of one transcript."""
    with path.open("rb") as file:
        first, *rest = file.read().splitlines() or [b""]
    try:
        names, made = _players(first), _players(rest[-1]) if rest else None
    except ValueError:  # a last line that a kill cut off
        return
    if names is None or made is None:
        return
    for agent, of in made.items():
        counts: list[Any] = [of.get(what) if isinstance(of, Mapping) else None for what in DecisionShare._fields]
        if not all(type(count) is int and 0 <= count <= _MOST for count in counts):
            raise ParlourError(f"{str(path)!r}: decisions of {agent} {of!r}; accepted: numbers `own` and `decisions`")
        yield str(names.get(agent, agent)), DecisionShare(*counts)


def _players(line: bytes) -> Mapping[str, Any] | None:
    value = json_value(line)
    players = value.get("players") if isinstance(value, Mapping) else None
    return players if isinstance(players, Mapping) else None


def tables(groups: Mapping[str, Any]) -> Iterator[ResultTable | str]:
    """Measures of groups of games, `{group: {total: value, role: {measure: value}}}`, a table a group."""
    for group, values in groups.items():
        if not isinstance(values, dict):
            yield f"{group}: {values}"
            continue
        totals = ", ".join(f"{key} {value}" for key, value in values.items() if not isinstance(value, dict))
        roles = {role: of for role, of in values.items() if isinstance(of, dict)}
        measures = list(next(iter(roles.values()))) if roles else []
        rows = [(measure, *(of[measure] for of in roles.values())) for measure in measures]
        yield ResultTable.plain(f"{group}: {totals}", ("measure", *roles), rows)


def _game_in(directory: Path) -> str:
    """The one game of which a folder holds transcripts or records, by their first lines."""
    first: dict[str, Path] = {}
    for path in sorted(path for path in directory.glob("*.jsonl") if path.is_file()):
        first.setdefault(_game_of(path), path)
    if not first:
        raise ParlourError(f"folder {str(directory)!r} holds no games; accepted: a folder with *.jsonl files")
    if len(first) > 1:
        games = " and ".join(f"{path.name!r} of {game}" for game, path in first.items())
        raise ParlourError(f"folder {str(directory)!r} holds {games}; accepted: a folder with games of one kind")
    return next(iter(first))


def _game_of(path: Path) -> str:
    """The game that the first line of a file names. Raises `ParlourError` if it names none."""
    try:
        with path.open("rb") as file:
            return str(json_value(file.readline())["game"])
    except (OSError, ValueError, TypeError, KeyError):
        return str(replay.Transcript.read(path).header["game"])  # raises with the reason
