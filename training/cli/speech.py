"""`parlour metrics speech`: what was said in recorded games of Avalon, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.training.cli.models import ModelOption
from parlour.training.papers import avalon_social as social
from parlour.training.report import display
from parlour.training.report.report import Part, Report
from parlour.training.report.result_table import Column, ResultTable, rate_column
from parlour.training.report.verdicts import DecidedBy
from parlour.training.statistics import Estimate

_BY_ROLE: Final = ("engagement", "fails", "approval", "self_recommendation", "self_recommendation_success")


def measure_speech(
    model: ModelOption,
    directory: Annotated[Path, typer.Argument(), "Directory with transcripts of Avalon."],
) -> Report:
    """Measure social behaviour in players' speech: self-recommendation, deception, teamwork, sharing.

    Example: [bold]parlour metrics speech runs/published --json[/bold]
    """
    with display.progress_line("Judging what was said"):
        measures = social.measures(social.judge_directory(directory, model, model.concurrency))
    asked, foreign = measures["questions"], measures["fallbacks"]
    judge = DecidedBy(model.called, asked - foreign, asked).marked
    groups = {f"games, {group}": values for group, values in measures["groups"].items()}
    groups |= {f"player {player}": values for player, values in measures["players"].items()}
    parts: tuple[Part, ...] = (
        f"Judged by {judge}: {asked} questions, {foreign} answered by the heuristic instead",
        *(table for title, values in groups.items() for table in _tables(title, values)),
    )
    return Report("Social behaviour in Avalon", parts=parts, values=measures)


def _tables(title: str, values: Mapping[str, Any]) -> Iterator[ResultTable]:
    columns = (Column("measure"), Column("of"), rate_column("rate"))
    yield ResultTable(f"{title}: rates (95 % Wilson interval)", columns, tuple(_rows(values)))
    roles = list(values["attitudes"])
    shares = ((role, *(_shares(others.get(other)) for other in roles)) for role, others in values["attitudes"].items())
    yield ResultTable.plain(f"{title}: teamwork / confrontation / neutral in %", ("speaker", *roles), shares)
    rows = (
        (role, other, *(rate and _shares({"teamwork": rate}) for rate in rates))
        for role, towards in values["vacillation"].items()
        for other, rates in towards.items()
    )
    heading = ("speaker", "with", *map(str, range(1, 6)))
    yield ResultTable.plain(f"{title}: teamwork by round in % (turns x players)", heading, rows)


def _rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Estimate | None]]:
    """Measure, role or side, rate."""
    for side, share in values["wins"].items():
        yield "win rate", side, share
    for measure in _BY_ROLE:
        for role, share in values[measure].items():
            yield measure.replace("_", " "), role, share
    for role, rates in values["identity"].items():
        for identity, share in rates.items():
            yield f"identity: {identity}", role, share
    for measure in ("sharing", "valid_responses"):
        for role, share in values[measure].items():
            yield measure.replace("_", " "), role, share


def _shares(shares: Mapping[str, Estimate | None] | None) -> str | None:
    known = [share for share in (shares or {}).values() if share is not None]
    if not shares or len(known) < len(shares):
        return None
    return " / ".join(f"{share.value * 100:.0f}" for share in known) + f"  n={known[0].n}"
