"""`parlour avalon social` and `parlour analyse`: recorded games of Avalon, by speech and under exact beliefs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer, Options
from parlour.training.measure.analysis import report
from parlour.training.measure.analysis.compare import ComparedGuesses, ComparedVotes, compared_guesses, compared_votes
from parlour.training.measure.analysis.run import REPORT, AnalysisSettings, analyse as analyse_folder
from parlour.training.measure.statistics import Estimate
from parlour.training.papers import avalon_social as social
from parlour.training.papers.avalon_social import labels
from parlour.training.results import display
from parlour.training.results.decision_tables import marked
from parlour.training.results.evaluation_tables import show_rate
from parlour.training.results.result_table import ResultTable, plain_table

_BY_ROLE: Final = ("engagement", "fails", "approval", "self_recommendation", "self_recommendation_success")


def avalon_social(
    model: ModelOption,
    directory: Annotated[Path, typer.Argument(), "Directory with transcripts of Avalon."],
    labels_from: Annotated[
        Path | None, "Directory with the logs of the published games: compare the judge with human labels."
    ] = None,
) -> Answer:
    """Measure social behaviour in players' speech: self-recommendation, deception, teamwork, sharing.

    Example: [bold]parlour avalon social runs/published --json[/bold]
    """
    with display.progress_line("Judging what was said"):
        measures = social.measures(social.judge_directory(directory, model, model.concurrency))
        if labels_from is not None:
            measures["labels"] = social.agreement(labels.load(), labels_from, model, model.concurrency)
    return Answer(measures, partial(_show_social, measures, called(model)))


def _show_social(measures: Mapping[str, Any], judge: str) -> None:
    asked, foreign = measures["questions"], measures["fallbacks"]
    text = f"{asked} questions, {foreign} answered by the rule of thumb instead"
    display.console().print(f"Judged by {marked(judge, asked - foreign, asked)}: {text}", highlight=False)
    for group, values in measures["groups"].items():
        _show_group(f"games, {group}", values)
    for player, values in measures["players"].items():
        _show_group(f"player {player}", values)
    if "labels" in measures:
        _show_agreement(measures["labels"], judge)


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


def _show_agreement(agreement: Mapping[str, Any], judge: str) -> None:
    rows = []
    for question, measured in agreement.items():
        if isinstance(measured, dict):
            kappa = "-" if measured["kappa"] is None else f"{measured['kappa']:.2f}"
            first = (question.replace("_", " "), show_rate(rate_of(measured["agreement"])), kappa)
            for label, counts in measured["classes"].items():
                rows.append((*first, label, *(str(counts[key]) for key in ("labelled", "judged", "both"))))
                first = ("", "", "")
    title = f"Agreement of {judge} with {agreement['statements']} statements labelled by hand"
    display.show_table(title, ("question", "agreement", "kappa", "class", "labelled", "judged", "both"), rows)


def analyse(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of Avalon, imported or played here.")],
    out: Annotated[Path, "Directory for the report, pages, pictures and tables."],
    settings: Annotated[AnalysisSettings, Options()],
) -> Answer:
    """Analyse recorded games: beliefs, surprising and costly decisions, votes and guesses next to the heuristic's.

    Example: [bold]parlour analyse runs/published --out runs/analysis --workers 2[/bold]
    """
    with display.progress_line() as progress:
        analysis = analyse_folder(directory, out, settings, progress=progress)

    theirs, games = analysis.folder.theirs, analysis.folder.games
    headings: tuple[str, ...] = ("by", "", "games", "votes", theirs, "heuristic", "difference, points")
    parts: list[ResultTable | str] = [
        plain_table("Right votes of good seats (95 % interval)", headings, map(_votes, compared_votes(games)))
    ]
    if guesses := list(compared_guesses(games)):
        headings = ("by", "", "guesses", theirs, "heuristic", "both", "chance", "difference, points")
        parts.append(plain_table("Guesses that named Merlin (95 % interval)", headings, map(_guesses, guesses)))
    parts.append(f"{len(games)} games analysed; report: {analysis.out / REPORT}")
    return Answer(analysis.figures, parts, verdict=report.verdict(analysis.folder))


def _votes(votes: ComparedVotes) -> tuple[str, ...]:
    shares = (report.share(votes.theirs), report.share(votes.ours), report.points(votes.difference))
    return (votes.by, _group(votes), str(votes.games), str(votes.votes), *shares)


def _guesses(guesses: ComparedGuesses) -> tuple[str, ...]:
    rates = (str(guesses.theirs.n), show_rate(guesses.theirs), show_rate(guesses.ours), str(guesses.both))
    return (guesses.by, _group(guesses), *rates, f"{guesses.chance:.1f}", report.points(guesses.difference))


def _group(compared: Any) -> str:
    return "" if compared.by == compared.group else str(compared.group)
