"""`parlour analyse`: recorded games of Avalon under exact beliefs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.training.cli.options import Answer, Options
from parlour.training.measure.evaluation_tables import show_rate
from parlour.training.report import display
from parlour.training.report.result_table import ResultTable, plain_table

from parlour_people.analysis import report
from parlour_people.analysis.compare import ComparedGuesses, ComparedVotes, compared_guesses, compared_votes
from parlour_people.analysis.run import REPORT, AnalysisSettings, analyse as analyse_folder


def analyse(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of Avalon, imported or played here.")],
    out: Annotated[Path, "Directory for the report, pictures and tables."],
    settings: Annotated[AnalysisSettings, Options()],
) -> Answer:
    """Analyse recorded games: surprising decisions, votes and guesses next to the heuristic's.

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
