"""`parlour metrics`: what the players of recorded games did, by the measures that the game's spec names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs import dotted, replay
from parlour.envs.core import ParlourError
from parlour.envs.registry import loadable, lookup
from parlour.policies.llm.decisions import foreign
from parlour.training import display
from parlour.training.cli.options import Answer
from parlour.training.decision_tables import SIGN, share
from parlour.training.evaluate import Own

Grid = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""A table: title, headings, rows. Without headings, the title is a line of its own."""


def metrics(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of one game, or records of Werewolf.")],
) -> Answer:
    """Count what the players of a directory's games did.

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
    grids = getattr(sys.modules[measured.__module__], "tables", tables)
    players = told_in(directory)
    own = {"players": {name: one._asdict() for name, one in players.items()}} if players else {}

    def show() -> None:
        _show_grids(grids(found))
        for name, (made_own, made) in players.items():
            if foreign(made_own, made):
                told = f"{SIGN} {name}: {share(made_own, made)} of its {made} decisions were its own"
                display.console().print(told, highlight=False)

    return Answer({**found, **own}, show)


def told_in(directory: Path) -> dict[str, Own]:
    """Player -> whose its decisions were, by the last lines of transcripts; empty where those do not tell of players."""
    found: dict[str, Own] = {}
    for path in sorted(path for path in directory.glob("*.jsonl") if path.is_file()):
        with path.open("rb") as file:
            first, *rest = file.read().splitlines()
        names = json.loads(first).get("players")
        try:
            made = json.loads(rest[-1]).get("players") if rest else None
        except ValueError:  # a last line that a kill cut off
            continue
        if not isinstance(names, Mapping) or not isinstance(made, Mapping):
            continue
        for agent, of in made.items():
            own, decisions = found.get(str(names.get(agent, agent)), Own(0, 0))
            found[str(names.get(agent, agent))] = Own(own + of["own"], decisions + of["decisions"])
    return found


def _show_grids(grids: Iterable[Grid]) -> None:
    for title, headings, rows in grids:
        if headings:
            display.show_table(title, headings, rows)
        else:
            display.console().print(title)


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
    first: dict[str, Path] = {}
    for path in sorted(path for path in directory.glob("*.jsonl") if path.is_file()):
        first.setdefault(_game_of(path), path)
    if not first:
        raise ParlourError(f"folder {str(directory)!r} holds no games; accepted: a folder with *.jsonl files")
    if len(first) > 1:
        both = " and ".join(f"{path.name!r} of {game}" for game, path in first.items())
        raise ParlourError(f"folder {str(directory)!r} holds {both}; accepted: a folder with games of one kind")
    return next(iter(first))


def _game_of(path: Path) -> str:
    """The game that the first line of a file names. Raises `ParlourError` if it names none."""
    try:
        with path.open("rb") as file:
            return str(json.loads(file.readline())["game"])
    except (OSError, ValueError, RecursionError, TypeError, KeyError):
        return str(replay.read(path).header["game"])  # raises with the reason
