"""`parlour check`, for games inside and outside of parlour."""

from __future__ import annotations

from typing import Annotated

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.registry import lookup
from parlour.training.cli.common import GameOptions
from parlour.training.report import display
from parlour.training.report.report import Report


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
    values = {"game": spec.id, "passed": not any(failures.values()), "failures": failures}
    Report("", values=values).print(as_json=json)
    if any(failures.values()):
        raise typer.Exit(1)
