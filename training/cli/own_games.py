"""`parlour new` and `parlour check`, for games outside of parlour."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.registry import lookup
from parlour.envs.terminal import tell
from parlour.training.cli.common import GameOptions
from parlour.training.cli.new_game import new_game
from parlour.training.results import display


def new(
    name: Annotated[str, typer.Argument(help="Name of the game and of its package, such as mygame.")],
    out: Annotated[Path, typer.Option(help="Where the package's folder is made.")] = Path(),
) -> None:
    """Make an installable package with a small game as a starting point: rules, text, features, heuristic, test.

    Example: [bold]parlour new mygame[/bold]
    """
    folder = new_game(name, out)
    tell(f"{folder}: pip install -e {folder}, then parlour play {name}_v0; pytest {folder}")


def check(
    game: Annotated[str, typer.Argument(help="Game: its name, or the module:ATTRIBUTE of its spec.")],
    options: GameOptions,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Check a game: rules, text, features, hidden information, replay, and the tests of PettingZoo and Gymnasium.

    The exit code is 1 if a check fails. PettingZoo's tests need pygame.

    Example: [bold]parlour check template_v0[/bold]
    """
    from parlour.envs.testing import run_checks

    failures = {}
    spec, config = lookup(game).spec, options.chosen
    lookup(game).raw_env(**config)
    with display.progress_line(f"Checking {spec.id}", redraw=False):
        for name, failure in run_checks(spec, [config]):
            failures[name] = failure
            if not json:
                tell(f"{'FAILED' if failure else 'passed'}  {name}{failure and ': '}{failure}")
    if json:
        display.print_json({"game": spec.id, "passed": not any(failures.values()), "failures": failures})
    if any(failures.values()):
        raise typer.Exit(1)
