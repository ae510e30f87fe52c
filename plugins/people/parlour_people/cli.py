"""`parlour analyse`: recorded games of Avalon under exact beliefs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.training.cli.options import Options
from parlour.training.report import display
from parlour.training.report.report import Report

from parlour_people.analysis import report
from parlour_people.analysis.compare import compared_guesses, compared_votes
from parlour_people.analysis.run import REPORT, AnalysisSettings, analyse as analyse_folder


def analyse(
    directory: Annotated[Path, typer.Argument(help="Directory with transcripts of Avalon, imported or played here.")],
    out: Annotated[Path, "Directory for the report, pictures and tables."],
    settings: Annotated[AnalysisSettings, Options()],
) -> Report:
    """Analyse recorded games: surprising decisions, votes and guesses next to the heuristic's.

    Example: [bold]parlour analyse runs/published --out runs/analysis --workers 2[/bold]
    """
    with display.progress_line() as progress:
        analysis = analyse_folder(directory, out, settings, progress=progress)

    theirs, games = analysis.folder.theirs, analysis.folder.games
    tables = [report.votes_table(list(compared_votes(games)), theirs, "Right votes of good seats (95 % interval)")]
    if guesses := list(compared_guesses(games)):
        tables.append(report.guesses_table(guesses, theirs, "Guesses that named Merlin (95 % interval)"))
    files = f"{len(games)} games analysed; report: {analysis.out / REPORT}"
    return Report("", report.verdict(analysis.folder), (*tables, files), values=analysis.figures)
