"""Results in a folder, a line each, so that a long measurement that was killed resumes where it stood.

`results.jsonl`: what decides a result (case with its SHA-256, method, seed, table, model), and the result. A last line
that a kill cut off is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from parlour.envs.murder_mystery.cases.case import digest
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies.llm.model import Model
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, play_all
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.runs.folder import JsonlStore
from pydantic import TypeAdapter

FILE: Final = "results.jsonl"
_RESULT: Final = TypeAdapter(CaseResult)
_NAMES: Final = {
    "valid": "first",
    "repaired": "again",
    "reasons": "heuristic",
    "calls": "requests",
    "cached": "from_cache",
    "prompt_cached": "cached",
}
"""Former name -> name in `Decisions`."""


def play_stored(
    jobs: Sequence[CaseJob], model: Model, folder: Path, runner: GameRunner = ONE_AT_A_TIME, what: str = "games"
) -> list[CaseResult]:
    """Play what has no result in a folder, and store it there; see `play_all`.

    Raises:
        ParlourError: The folder's file holds no results.
    """
    keys = [_key(job, model) for job in jobs]
    with JsonlStore(folder / FILE, _result, "measurement") as store:
        known = dict(store.found)
        missing = [(key, job) for key, job in zip(keys, jobs, strict=True) if _text(key) not in known]
        for _, job in missing:
            if job.transcript is not None:
                job.transcript.unlink(missing_ok=True)  # of a game whose result was not reached
        waiting = iter(missing)

        def add(played: CaseResult) -> None:
            key, _ = next(waiting)
            known[_text(key)] = played
            counts = {"play": played.play.as_stored(), "quiz": played.quiz.as_stored()}
            store.append({"key": key, "played": asdict(played) | counts})

        again = [job for _, job in missing]
        play_all(again, model, runner, what, keep=add)
    return [known[_text(key)] for key in keys]


def _key(job: CaseJob, model: Model) -> dict[str, Any]:
    """What decides a result; a table without a limit, and with hashing, has the key it had before there were others."""
    former = (("budget", None), ("embedder", "hashing"))
    table = {name: value for name, value in job.table if (name, value) not in former}
    return {
        "case": job.case,
        "sha256": digest(find(job.case)),
        "method": asdict(job.method),
        "seed": job.seed,
        "table": table,
        "murderer": job.murderer,
        "model": model.name,
    }


def _result(row: Any) -> tuple[str, CaseResult]:
    played = row["played"]
    counts = {name: _by_present_names(played[name]) for name in ("play", "quiz")}
    return _text(row["key"]), _RESULT.validate_python(played | counts)


def _by_present_names(counts: dict[str, Any]) -> dict[str, Any]:
    """What a part took, by the names of `Decisions`; files from before 2026-12 have others, and two sums."""
    if "valid" not in counts:
        return counts
    return {_NAMES.get(name, name): count for name, count in counts.items() if name not in ("asked", "fallbacks")}


def _text(key: dict[str, Any]) -> str:
    return json.dumps(key, ensure_ascii=False, sort_keys=True)
