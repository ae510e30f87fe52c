"""`parlour social`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.policies.llm.model import Model
from parlour.training import display
from parlour.training.avalon import social
from parlour.training.avalon.social import labels
from parlour.training.cli import common
from parlour.training.cli.models import called, takes_model
from parlour.training.statistics import Rate

_BY_ROLE: Final = ("engagement", "fails", "approval", "self_recommendation", "self_recommendation_success")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("social")(takes_model(command))


def command(
    model: Model,
    directory: Annotated[Path, typer.Argument(help="Folder with transcripts of Avalon.")],
    labels_from: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the logs of the published games: compare the judge with labels set by hand.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many questions are with the judge at once.")] = 1,
    json: common.JsonOption = False,
) -> None:
    """Measure social behaviour in what players said: self-recommendation, deception, teamwork, sharing.

    Example: [bold]parlour social runs/published --json[/bold]
    """
    report(directory, model, labels_from, as_json=json, workers=workers)


def report(
    directory: Path, model: Model, labels_from: Path | None = None, *, as_json: bool = False, workers: int = 1
) -> None:
    """Judge the games of a folder by a model and print the measures; with a folder of logs, its agreement with labels.

    Raises:
        ParlourError: See `parlour.training.avalon.social`.
    """
    found = social.measures(social.judge_directory(directory, model, workers))
    if labels_from is not None:
        found["labels"] = social.agreement(labels.load(), labels_from, model, workers)
    if as_json:
        common.print_json(found)
        return
    common.console().print(f"Judged by {called(model)}", highlight=False)
    for group, values in found["groups"].items():
        _show(f"games, {group}", values)
    for player, values in found["players"].items():
        _show(f"player {player}", values)
    if labels_from is not None:
        _show_agreement(found["labels"], called(model))


def _show(title: str, values: Mapping[str, Any]) -> None:
    out = common.console()
    shown = common.table(f"{title}: rates (95 % Wilson interval)", "measure", "of", "rate")
    for measure, of, found in _rows(values):
        shown.add_row(measure, of, display.show_rate(rate_of(found)))
    out.print(shown)
    roles = list(values["attitudes"])
    matrix = common.table(f"{title}: teamwork / confrontation / neutral in %", "speaker", *roles)
    for role, others in values["attitudes"].items():
        matrix.add_row(role, *(_shares(others.get(other)) for other in roles))
    out.print(matrix)
    rounds = [str(number) for number in range(1, 6)]
    waves = common.table(f"{title}: teamwork by round in % (turns x players)", "speaker", "with", *rounds)
    for role, towards in values["vacillation"].items():
        for other, rates in towards.items():
            waves.add_row(role, other, *(_percent(found) for found in rates))
    out.print(waves)


def _rows(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for side, found in values["wins"].items():
        yield "win rate", side, found
    for measure in _BY_ROLE:
        for role, found in values[measure].items():
            yield measure.replace("_", " "), role, found
    for role, of in values["identity"].items():
        for identity, found in of.items():
            yield f"identity: {identity}", role, found
    for role, found in values["sharing"].items():
        yield "sharing", role, found
    for of_whom, found in values["valid_responses"].items():
        yield "valid responses", of_whom, found


def rate_of(found: Mapping[str, Any] | None) -> Rate | None:
    """A rate of `measures` as `display.show_rate` takes it."""
    return None if found is None else Rate(**found)


def _shares(found: Mapping[str, Any] | None) -> str:
    if found is None or any(one is None for one in found.values()):
        return "-"
    return " / ".join(f"{one['rate'] * 100:.0f}" for one in found.values()) + f"  n={found['teamwork']['n']}"


def _percent(found: Mapping[str, Any] | None) -> str:
    return "-" if found is None else f"{found['rate'] * 100:.0f}  n={found['n']}"


def _show_agreement(found: Mapping[str, Any], judge: str) -> None:
    title = f"Agreement of {judge} with {found['statements']} statements labelled by hand"
    shown = common.table(title, "question", "agreement", "kappa", "class", "labelled", "judged", "both")
    for question, of in found.items():
        if isinstance(of, dict):
            kappa = "-" if of["kappa"] is None else f"{of['kappa']:.2f}"
            first = (question.replace("_", " "), display.show_rate(rate_of(of["agreement"])), kappa)
            for one, many in of["classes"].items():
                shown.add_row(*first, one, *(str(many[key]) for key in ("labelled", "judged", "both")))
                first = ("", "", "")
    common.console().print(shown)
