"""Stored results of murder mysteries: a run resumes, also from the files of earlier versions."""

from __future__ import annotations

import json
from dataclasses import asdict

from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.murder_mystery.games import CaseJob, CaseSetting
from parlour.training.measure.murder_mystery.methods import METHODS
from parlour.training.measure.murder_mystery.result_store import FILE, play_stored

JOBS = [CaseJob("seed:9:en:4:1", METHODS["op"], seed, CaseSetting(repetitions=1)) for seed in (3, 4)]


def as_before(counts):
    """What a part took, as files from before 2026-12 have it."""
    counts = asdict(Decisions()) | counts
    kept = {name: counts[name] for name in ("failed", "retries", "prompt", "completion", "dollars", "seconds", "cut")}
    kept |= {"calls": counts["requests"], "cached": counts["from_cache"], "prompt_cached": counts["cached"]}
    answers = {"valid": counts["first"], "repaired": counts["again"], "reasons": counts["heuristic"]}
    sums = {"asked": counts["first"] + counts["again"], "fallbacks": 0, "replies": counts["replies"]}
    return {**kept, **answers, **sums}


def test_results_that_an_earlier_version_stored_are_used(tmp_path, monkeypatch):
    played = play_stored(JOBS, OfflineModel(), tmp_path)
    assert played[0].play.asked > 0
    lines = [json.loads(line) for line in (tmp_path / FILE).read_text().splitlines()]
    for line in lines:
        line["played"] |= {part: as_before(line["played"][part]) for part in ("play", "quiz")}
    (tmp_path / FILE).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    again = play_stored(JOBS, OfflineModel(), tmp_path)
    assert again == played
    assert len((tmp_path / FILE).read_text().splitlines()) == len(JOBS)
