"""`parlour analyse`: recorded games of Avalon under exact beliefs, and their players beside the heuristic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.terminal import tell
from parlour.training.cli.options import Answer, Options
from parlour.training.measure.analysis import report
from parlour.training.measure.analysis.compare import ComparedGuesses, ComparedVotes, compared_guesses, compared_votes
from parlour.training.measure.analysis.run import REPORT, AnalysisSettings, analyse as analyse_folder
from parlour.training.measure.statistics import show_interval
from parlour.training.results import display
from parlour.training.results.evaluation_tables import show_rate

_COMPARED: Final = ("heuristic", "difference, points")


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

    def show() -> None:
        theirs = analysis.folder.theirs
        votes, guesses = list(compared_votes(analysis.folder.games)), list(compared_guesses(analysis.folder.games))
        title = "Right votes of good seats (95 % interval)"
        display.show_table(title, ("by", "", "games", "votes", theirs, *_COMPARED), map(_votes, votes))
        if guesses:
            title = "Guesses that named Merlin (95 % interval)"
            headings = ("by", "", "guesses", theirs, "heuristic", "both", "chance", "difference, points")
            display.show_table(title, headings, map(_guesses, guesses))
        tell(f"{len(analysis.folder.games)} games analysed; report: {analysis.out / REPORT}")

    return Answer(analysis.figures, show, verdict=report.verdict(analysis.folder))


def _votes(votes: ComparedVotes) -> tuple[str, ...]:
    shares = (report.share(votes.theirs), report.share(votes.ours), report.points(votes.difference))
    return (votes.by, _group(votes), str(votes.games), str(votes.votes), *shares)


def _guesses(guesses: ComparedGuesses) -> tuple[str, ...]:
    apart = f"{100 * guesses.difference.value:+.1f} {show_interval(guesses.difference, '+.1f', 100)}"
    rates = (show_rate(guesses.theirs), show_rate(guesses.ours))
    return (
        guesses.by,
        _group(guesses),
        str(guesses.theirs.n),
        *rates,
        str(guesses.both),
        f"{guesses.chance:.1f}",
        apart,
    )


def _group(compared: Any) -> str:
    return "" if compared.by == compared.group else str(compared.group)
