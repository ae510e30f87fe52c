"""`parlour benchmark`: a player on a fixed suite, one number with its interval; results compared, ranked, on a page; abilities."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError
from parlour.envs.settings import COMMON
from parlour.policies import asks_a_model
from parlour.policies.files import write_json
from parlour.policies.llm.decisions import Decisions
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, seated
from parlour.training.measure.decision_tables import decision_parts
from parlour.training.play.extras import import_extra
from parlour.training.play.runner import GameRunner
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, Figure, ResultTable
from parlour.training.report.verdicts import DecidedBy, DifferenceScale, together
from parlour.training.statistics import Estimate

from parlour_bench.compare import compare, two_results
from parlour_bench.leaderboard import leaderboard
from parlour_bench.measured import seconds_a_game
from parlour_bench.page import (
    ANCHOR,
    LEADERBOARD_PAGE,
    leaderboard_table,
    verdict_on,
    write_benchmark_page,
    write_leaderboard_page,
    write_runs_page,
)
from parlour_bench.played import Candidate
from parlour_bench.ratings import Ratings, ratings
from parlour_bench.result import OVERALL, plain, scores
from parlour_bench.results_file import RESULTS, BenchmarkResult, read_result, references
from parlour_bench.run import benchmark as run_benchmark
from parlour_bench.suite import FULL, chosen_suite
from parlour_bench.verdict import expectation, verdict_of

POINTS: Final = DifferenceScale("points", matters=3.0)

PAGE_FILE: Final = "report.html"
REPORT_FILE: Final = "report.md"
SIGN: Final = "†"


def benchmark(
    processes: common.ProcessOptions,
    model: ModelOption,
    failures: common.FailureOptions,
    policy: Annotated[
        str | None, "Player to measure: a name, a trained seat or module:attribute; None: chat, answered by --model."
    ] = None,
    otherwise: Annotated[
        str | None, "Player at tables that --policy does not fit, such as tables without an expert; None: an error."
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick/--full"),
        "The same as --suite quick. It has about 1,800 questions, ten minutes at three answers a second; the interval of its score is "
        "6 to 16 points to each side.",
    ] = False,
    suite: Annotated[
        str, "The suite: full; quick; or strangers, whose opponents are of two kinds at one table."
    ] = FULL.name,
    fresh: Annotated[
        str | None,
        "Deals of this day, YYYY-MM-DD, the same for everybody; choose one after the player was made. None: the deals of the suite.",
    ] = None,
    table: Annotated[list[str] | None, "Table of the suite, repeatable; None: all of them."] = None,
    out: Annotated[
        Path, COMMON, "Run directory, for the results file and the transcripts; resumes if it exists."
    ] = Path("runs/benchmark"),
) -> Report:
    """Measure a player on a fixed suite of games, deals and opponents: a score with a 95 % confidence interval.

    Every deal is played from both sides. The file benchmark.json in the run directory contains everything needed to run
    it again. `parlour benchmark compare` tests two of them.

    Example: [bold]parlour benchmark --model llama3.1 --base-url http://localhost:11434/v1 --quick --out runs/llama[/bold]
    """
    if policy is None and not model.is_language_model:
        raise ParlourError("there is nobody to measure; accepted: --model NAME, or --policy PLAYER")
    candidate = Candidate(policy or "chat", otherwise, model)
    if "human" in (candidate.policy, otherwise):
        raise ParlourError("policy 'human' is not accepted in a benchmark; accepted: players that play by themselves")
    chosen = chosen_suite(suite, table, fresh, quick)
    asking = any(map(asks_a_model, candidate.seated(chosen)))
    if asking and model.is_language_model and processes.workers != 1:
        raise ParlourError(f"--workers {processes.workers} goes without a language model; accepted: --concurrency")
    tell(expectation(chosen), error=True)
    name = " or ".join(seated(player, model) for player in (candidate.policy, otherwise) if player is not None)
    with processes.opened(model) as pool, display.progress_line(model=model) as progress:
        runner = GameRunner(model.concurrency, pool, failures=failures)
        scores_json, made = run_benchmark(chosen, candidate, out, name, runner=runner, progress=progress)
    note = f"; agents answered by {model.called}" if asking else ""
    result = read_result(out)
    report = Report("", verdict_of(result), tuple(score_parts(result, made, note)), values=scores_json)
    write_benchmark_page(out, result, report)
    files = f"report: {out / PAGE_FILE}, {out / REPORT_FILE}; results: {out / RESULTS}"
    return replace(report, parts=(*report.parts, files))


def compare_results(
    a: Annotated[
        str,
        typer.Argument(),
        "Results file, or run directory; or trained, heuristic, random: a player that comes with parlour.",
    ],
    b: Annotated[str, typer.Argument(), "The other result, in the same form."],
) -> Report:
    """Test two results of the benchmark on the same deals: points of the first minus points of the second.

    Example: [bold]parlour benchmark compare runs/llama heuristic[/bold]
    """
    first, other = two_results(a, b)
    suite, differences = compare(first, other)
    value: dict[str, Any] = {"a": first.name, "b": other.name, "published": suite.published}
    value |= {"suite": suite.name, "version": suite.version}
    value |= {"tables": [table.name for table in suite.tables]}
    if first.no_score or other.no_score:
        return Report("", together([first.doubt, other.doubt]), values={**value, "differences": None})
    title = f"Benchmark {suite}, same deals: {first.name} less {other.name} (points, 95 % interval and its test)"
    sign = SIGN if first.doubt or other.doubt else ""
    rows = tuple(
        (part, score.n, Figure(score, mark=sign), score.p, score.outcome) for part, score in differences.items()
    )
    columns = (Column("part"), Column("deals"), _DIFFERENCE, Column("p", ".2g"), Column("verdict"))
    rated = ratings(suite, {"a": first.points, "b": other.points})
    value |= {"differences": plain(differences), "ratings": {name: plain(rating) for name, rating in rated.items()}}
    said = POINTS.compared(first.name, other.name, differences[OVERALL])
    verdict = together([said, first.doubt, other.doubt])
    return Report(title, verdict, (ResultTable(title, columns, rows), *_rated(rated, first, other)), values=value)


_DIFFERENCE: Final = Column("difference", "+.1f")


def _rated(rated: Ratings, first: BenchmarkResult, other: BenchmarkResult) -> list[ResultTable]:
    """The ratings of two players, where a table has an expert."""
    columns = (Column("table"), Column(first.name, "+.0f"), Column(other.name, "+.0f"))
    rows = tuple((name, rating["a"], rating["b"]) for name, rating in rated.items())
    return [ResultTable("Ratings", columns, rows, ANCHOR)] if rows else []


def score_parts(result: BenchmarkResult, made: Decisions, note: str) -> list[ResultTable | str]:
    """The player's scores with the scores of the reference players; its decisions."""
    own = scores(result.suite, result.points)
    others = {reference.name: scores(result.suite, reference.points) for reference in references(result.suite)}
    title = f"Benchmark {result.suite}: {DecidedBy(result.name, made.own, made.decisions).marked} (points of 100, 95 % interval){note}"
    rows: list[tuple[Any, ...]] = [
        (part, score.n, _figure(score, result), *(points[part].value for points in others.values()))
        for part, score in own.items()
    ]
    points = [Column(name, "5.1f") for name in others]
    columns = (Column("part"), Column("deals"), Column("points", "5.1f"), *points)
    table = ResultTable(title, columns, tuple(rows), result.no_score)
    return [table, *decision_parts({result.name: made}, measured=False)]


def _figure(score: Estimate, result: BenchmarkResult) -> Any:
    """Points: with the sign where there is a doubt, nothing where the player has no score."""
    return None if result.no_score else Figure(score, mark=SIGN if result.doubt else "")


FIGURES: Final = "leaderboard.json"


def show_leaderboard(
    results: Annotated[list[Path], typer.Argument(), "Results files (benchmark.json), or run directories."],
    out: Annotated[Path, "Folder for the page and the figures."] = Path("runs/leaderboard"),
) -> Report:
    """Rank players by their results of one suite, with the players that come with parlour.

    Each file is checked: its suite, its counts, and that its scores follow from its points. A file that fails is refused.

    Example: [bold]parlour benchmark leaderboard runs/llama runs/qwen --out site[/bold]
    """
    board = leaderboard(results)
    out.mkdir(parents=True, exist_ok=True)
    write_leaderboard_page(out, board)
    write_json(out / FIGURES, board.as_json())
    files = f"page: {out / LEADERBOARD_PAGE}; figures: {out / FIGURES}"
    return Report("", verdict_on(board), (leaderboard_table(board), files), values=board.as_json())


def write_page(
    runs: Annotated[list[Path], typer.Argument(), "Run directories of a benchmark, of one suite."],
    html: Annotated[Path, "The page."] = Path("runs/benchmark.html"),
) -> Report:
    """Put runs of the benchmark on one page: verdict, scores beside cost, abilities, commands.

    Abilities are on it for runs in which `parlour benchmark abilities` has measured them. The file benchmark.json of a run is what
    one submits to a leaderboard; it is checked as there.

    Example: [bold]parlour benchmark page runs/llama runs/qwen --html site/index.html[/bold]
    """
    board = leaderboard(runs)
    verdict = write_runs_page(html, runs, board)
    parts = (leaderboard_table(board), f"page: {html}")
    return Report("", verdict, parts, values={**board.as_json(), "page": str(html)})


def show_abilities(
    model: ModelOption,
    run: Annotated[Path, typer.Argument(), "Run directory of a benchmark."],
    policy: Annotated[
        str | None, "The player that was measured, who is asked what it believes; None: chat, answered by --model."
    ] = None,
) -> Report:
    """Measure deduction, deception, persuasion, consistency and the hunt for Merlin in the games of a benchmark.

    At the first decision after each quest, every good seat of the player is asked in private how likely each other seat is to be
    evil. It is asked at the recorded games, so that it costs no move. The expert, the heuristic and the random player are asked at
    the same moments. Needs the extra batch.

    Example: [bold]parlour benchmark abilities runs/heuristic --policy heuristic[/bold]
    """
    if policy is None and not model.is_language_model:
        raise ParlourError("there is nobody to ask; accepted: --model NAME, or --policy PLAYER")
    measured = import_extra("parlour_bench.abilities.run", "batch")
    words = import_extra("parlour_bench.abilities.table", "batch")
    pages = import_extra("parlour_bench.abilities.page", "batch")
    with display.progress_line(model=model) as progress:
        result = measured.abilities(run, policy or "chat", model, progress)
    table, verdict = words.abilities_table(result), words.verdict_on(result)
    pages.write_abilities_page(run, result, verdict, table)
    answered = [f"questions answered by {model.called}"] if result.asked.questions else []
    if clock := seconds_a_game(run):
        took = f"{clock.value:.2f} {clock.interval('.2f')}, n={clock.n}"
        answered.append(f"seconds of its turns in a game, on this machine: {took}")
    files = f"page: {run / pages.ABILITIES_PAGE}; figures: {run / measured.ABILITIES}"
    return Report("", verdict, (table, *answered, files), values=result.as_json())
