"""`parlour metrics`: what the players of recorded games did, by the measures that the game's spec names."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs import dotted, replay
from parlour.envs.core import ParlourError
from parlour.envs.registry import loadable, lookup
from parlour.training.cli import common

Grid = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""A table: title, headings, rows. Without headings, the title is a line of its own."""


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("metrics")(metrics)


def metrics(
    directory: Annotated[Path, typer.Argument(help="Folder with transcripts of one game, or records of Werewolf.")],
    json: common.JsonOption = False,
) -> None:
    """Count what the players of a folder's games did.

    Avalon, by role: wins, team membership (QER), fail cards (FVR), approval of leaders (LAR). Werewolf, by method: wins
    by block (TWR), shares of the wins of a side (WWR, LWR), performance, right judgements, amnesia.

    Example: [bold]parlour metrics runs/published --json[/bold]
    """
    game = _game_in(directory)
    named = lookup(game).spec.metrics
    if not named:
        known = ", ".join(spec.id for spec in loadable() if spec.metrics)
        raise ParlourError(f"game {game!r} has no metrics; accepted: {known}")
    measured: Callable[[Path], dict[str, Any]] = dotted.load(named, "metrics")
    found = measured(directory)
    if json:
        common.print_json(found)
        return
    out = common.console()
    for title, headings, rows in getattr(sys.modules[measured.__module__], "tables", tables)(found):
        if not headings:
            out.print(title)
            continue
        shown = common.table(title, *headings)
        for row in rows:
            shown.add_row(*row)
        out.print(shown)


def tables(found: Mapping[str, Any]) -> Iterator[Grid]:
    """Measures of groups of games, `{group: {total: value, role: {measure: value}}}`, a table a group."""
    for group, values in found.items():
        if not isinstance(values, dict):
            yield f"{group}: {values}", (), []
            continue
        totals = ", ".join(f"{key} {value}" for key, value in values.items() if not isinstance(value, dict))
        roles = {role: of for role, of in values.items() if isinstance(of, dict)}
        measures = list(next(iter(roles.values()))) if roles else []
        rows = [(one, *("-" if of[one] is None else str(of[one]) for of in roles.values())) for one in measures]
        yield f"{group}: {totals}", ("measure", *roles), rows


def _game_in(directory: Path) -> str:
    """The one game of which a folder holds transcripts or records, by their first lines."""
    paths = sorted(path for path in directory.glob("*.jsonl") if path.is_file())
    if not paths:
        raise ParlourError(f"folder {str(directory)!r} holds no games; accepted: a folder with *.jsonl files")
    first: dict[str, Path] = {}
    for path in paths:
        first.setdefault(_header(path).get("game") or replay.read(path).header["game"], path)
    if len(first) > 1:
        both = " and ".join(f"{path.name!r} of {game}" for game, path in first.items())
        raise ParlourError(f"folder {str(directory)!r} holds {both}; accepted: a folder with games of one kind")
    return next(iter(first))


def _header(path: Path) -> dict[str, Any]:
    """The object in the first line of a file; empty if there is none."""
    try:
        with path.open("rb") as file:
            found = json_format.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("game"), str) else {}
