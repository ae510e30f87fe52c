"""`parlour import werewolf`, and how `parlour metrics` shows games of Werewolf."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.training.cli import common
from parlour.training.werewolf import measures, published
from rich.table import Table

_RATES = ("as_wolves", "as_leaders", "TWR", "WWR", "LWR")


def import_werewolf(
    file: Annotated[Path, typer.Argument(help="Games, one a line, in the format published with GRATR.")],
    out: Annotated[Path, typer.Option(help="Folder for the records.")],
    json: common.JsonOption = False,
) -> None:
    """Check published games of Werewolf and write each as a record that `parlour metrics` counts.

    What was said and who died when is not in such files, so they cannot be played again by the rules: the result is a
    record (roles, winner, votes, choices at night, judgements), no transcript. A game that contradicts the format or
    itself is refused, and nothing is written.

    Example: [bold]parlour import werewolf records_group1.jsonl --out runs/published[/bold]
    """
    written = published.import_file(file, out)
    if json:
        common.print_json([str(path) for path in written])
    else:
        print(f"{len(written)} games written to {out}")  # noqa: T201


def metrics(directory: Path, json: bool) -> None:
    """Count games of Werewolf and print what was found."""
    found = measures.of_directory(directory)
    if json:
        common.print_json(found)
        return
    out = common.console()
    for group, of in found.items():
        if not isinstance(of, dict):
            out.print(f"{group}: {of}")
            continue
        totals = ", ".join(f"{key} {value}" for key, value in of.items() if key != "methods")
        out.print(_table(f"{group}: {totals}", of["methods"]))


def _table(title: str, methods: dict[str, dict[str, Any]]) -> Table:
    shown = common.table(title, "measure", "of", *methods)
    first = next(iter(methods.values()))
    for measure in _RATES:
        shown.add_row(measure, "", *(_rate(of[measure]) for of in methods.values()))
    for part in ("performance", "reasoning"):
        for role in dict.fromkeys(role for of in methods.values() for role in of[part]):
            shown.add_row(part, role, *(_cell(of[part].get(role)) for of in methods.values()))
    for kind, ways in first.get("amnesia", {}).items():
        for way in ways:
            shown.add_row(f"{kind} amnesia", way, *(_rate(of["amnesia"][kind][way]) for of in methods.values()))
    return shown


def _cell(found: dict[str, Any] | None) -> str:
    if found is None or "table_3" not in found:
        return _rate(found)
    if found["table_3"] is None:
        return "-"
    return f"{found['table_3']:.3f} (wrong votes added: {found['published_sign']:.3f})  n={found['n']}"


def _rate(found: dict[str, Any] | None) -> str:
    if found is None:
        return "-"
    return f"{found['rate']:.3f}  [{found['low']:.3f}, {found['high']:.3f}]  {found['hits']}/{found['n']}"
