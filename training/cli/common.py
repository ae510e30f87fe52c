"""What the commands share: options of a table, tables, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError
from parlour.policies.llm.model import Model
from parlour.training.parallel.executor import Pool
from rich.console import Console
from rich.table import Table

GameArgument = Annotated[str, typer.Argument(help="Which game; `parlour list` names them.")]
PlayersOption = Annotated[int | None, typer.Option("--players", "-n", help="How many players.", show_default=False)]
RulesOption = Annotated[str | None, typer.Option("--rules", help="Which preset of the rules.", show_default=False)]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Another option of the game; the value is JSON or a word."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
WorkersOption = Annotated[
    int,
    typer.Option(
        min=1,
        help="How many games are in flight at once, in threads: for players who wait for a language model. "
        "The result does not depend on it.",
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Play with Ray: `local` for all cores of this machine, or HOST:PORT of a cluster. "
        "The result does not depend on it. Needs the extra `ray`.",
        show_default=False,
    ),
]
RayWorkersOption = Annotated[
    int | None, typer.Option("--ray-workers", min=1, help="With --ray: processes that play.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


@contextmanager
def pool(ray: str | None, workers: int | None, model: Model | None = None) -> Iterator[Pool | None]:
    """The processes of `--ray`; None without it. When this is left, nothing of them runs any more.

    Raises:
        ParlourError: Ray is not installed, or there is none at the address.
    """
    if ray is None:
        if workers is not None:
            raise ParlourError("--ray-workers goes with --ray")
        yield None
        return
    try:
        from parlour.training.parallel.ray.pool import connect
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[ray]'") from None
    with connect(ray, workers, model) as made:
        yield made


def options(players: int | None, rules: str | None, more: list[str] | None) -> dict[str, Any]:
    """The options of a game as keyword arguments. Raises `ParlourError` for one without a value."""
    chosen: dict[str, Any] = {}
    if players is not None:
        chosen["num_players"] = players
    if rules is not None:
        chosen["rules"] = rules
    for pair in more or ():
        key, equals, value = pair.partition("=")
        if not equals:
            raise ParlourError(f"option {pair!r} is not accepted; accepted: KEY=VALUE, such as num_players=6")
        chosen[key] = _value(value)
    return chosen


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def console() -> Console:
    """Where results go: standard output, never narrower than a table."""
    plain = Console()
    return plain if sys.stdout.isatty() else Console(width=max(plain.width, 140))


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))  # noqa: T201


def table(title: str, *headings: str) -> Table:
    """An empty table."""
    made = Table(title=title, title_justify="left", header_style="bold")
    for heading in headings:
        made.add_column(heading, no_wrap=True)
    return made
