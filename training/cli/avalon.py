"""`parlour avalon social`: what was said in recorded games of Avalon, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer
from parlour.training.measure.decision_tables import marked
from parlour.training.measure.evaluation_tables import show_rate
from parlour.training.papers import avalon_social as social
from parlour.training.report import display
from parlour.training.statistics import Estimate

_BY_ROLE: Final = ("engagement", "fails", "approval", "self_recommendation", "self_recommendation_success")


def avalon_social(
    model: ModelOption,
    directory: Annotated[Path, typer.Argument(), "Directory with transcripts of Avalon."],
) -> Answer:
    """Measure social behaviour in players' speech: self-recommendation, deception, teamwork, sharing.

    Example: [bold]parlour avalon social runs/published --json[/bold]
    """
    with display.progress_line("Judging what was said"):
        measures = social.measures(social.judge_directory(directory, model, model.concurrency))
    return Answer(measures, partial(_show_social, measures, called(model)))


def _show_social(measures: Mapping[str, Any], judge: str) -> None:
    asked, foreign = measures["questions"], measures["fallbacks"]
    text = f"{asked} questions, {foreign} answered by the rule of thumb instead"
    display.console().print(f"Judged by {marked(judge, asked - foreign, asked)}: {text}", highlight=False)
    for group, values in measures["groups"].items():
        _show_group(f"games, {group}", values)
    for player, values in measures["players"].items():
        _show_group(f"player {player}", values)


def _show_group(title: str, values: Mapping[str, Any]) -> None:
    rates = ((measure, who, show_rate(rate_of(share))) for measure, who, share in _rows(values))
    display.show_table(f"{title}: rates (95 % Wilson interval)", ("measure", "of", "rate"), rates)
    roles = list(values["attitudes"])
    shares = ((role, *(_shares(others.get(other)) for other in roles)) for role, others in values["attitudes"].items())
    display.show_table(f"{title}: teamwork / confrontation / neutral in %", ("speaker", *roles), shares)
    display.show_table(
        f"{title}: teamwork by round in % (turns x players)",
        ("speaker", "with", *map(str, range(1, 6))),
        (
            (role, other, *(_shares(rate and {"teamwork": rate}) for rate in rates))
            for role, towards in values["vacillation"].items()
            for other, rates in towards.items()
        ),
    )


def _rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
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


def rate_of(share: Mapping[str, Any] | None) -> Estimate | None:
    """A rate of `measures` as `show_rate` takes it."""
    return None if share is None else Estimate.of_json(share)


def _shares(shares: Mapping[str, Any] | None) -> str:
    if shares is None or any(share is None for share in shares.values()):
        return "-"
    return " / ".join(f"{share['rate'] * 100:.0f}" for share in shares.values()) + f"  n={shares['teamwork']['n']}"
