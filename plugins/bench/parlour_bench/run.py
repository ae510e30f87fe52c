"""A whole benchmark: play what is missing, write the results file.

Leaves config.json, games/TABLE/OPPONENT/*.jsonl (transcripts), benchmark.json, and what is measured: measured.jsonl, a line for each game
(`measured.py`), and measured.json, of this call alone. Whatever is not measured is the same, byte for byte, after kills.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import write_json
from parlour.policies.llm.decisions import Decisions
from parlour.training.play.runner import GameRunner
from parlour.training.runs.progress import no_progress
from parlour.training.runs.run import Run

from parlour_bench.played import Candidate, PlayedTable, play_suite
from parlour_bench.results_file import RESULTS, decided_by, results
from parlour_bench.suite import Suite

ONE_AT_A_TIME: Final = GameRunner()

MEASURED: Final = "measured.json"


def benchmark(
    suite: Suite,
    candidate: Candidate,
    out: Path,
    name: str,
    *,
    runner: GameRunner = ONE_AT_A_TIME,
    progress: Callable[..., None] = no_progress,
) -> tuple[dict[str, Any], Decisions]:
    """Play a suite, or resume the run in `out`.

    Args:
        suite: Tables, opponents and deals.
        candidate: Who is measured.
        out: The directory of the run.
        name: What tables call the player.
        runner: How games are played; its progress does not count.
        progress: Counts the games of each table that are finished.

    Returns:
        What the results file holds, and the player's decisions with the seconds that they took in this call.

    Raises:
        ParlourError: The player does not fit a table, games would be left out, `out` holds a run with other settings or is in
            use, or a game ended the run.
    """
    if runner.failures.skips:
        raise ParlourError(
            "on_failure 'skip-game' is not accepted in a benchmark of common deals; accepted: rule, stop"
        )
    began = monotonic()
    candidate = replace(candidate, model=candidate.model.measured_apart())
    with Run(out).opened(decided_by(suite, candidate, runner.failures.on_failure)) as folder:
        played = play_suite(suite, candidate, folder, runner, progress)
        result = results(suite, candidate, played, runner.failures.on_failure, name)
        write_json(folder / MEASURED, _measured(played, candidate.model, monotonic() - began))
        write_json(folder / RESULTS, result)
    return result, sum((part.decisions for part in played), Decisions())


def _measured(played: Sequence[PlayedTable], model: Any, seconds: float) -> dict[str, Any]:
    """Of this call: its time, that of the player's turns, and what the model's meter counted, such as retries and cached tokens."""
    meter: Any | None = getattr(model, "meter", None)
    return {
        "seconds": round(seconds, 3),
        "turns": {part.table.name: {"seconds": round(part.decisions.seconds, 3)} for part in played},
        **({} if meter is None else {"model": meter.taken.total.as_json()}),
    }
