"""The suite as a task of Inspect AI, through Inspect's own `eval`: its figures are those of the commands on the same answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")

from inspect_ai.log import EvalLog
from parlour.envs.core import ParlourError
from parlour.training.cli import run
from parlour_bench.inspect.suite import (
    parlour_bench_1,
    points_of_samples,
)
from parlour_bench.ratings import ratings
from parlour_bench.suite import chosen_suite

from tests.integrations.scripted_inspect import WARNINGS, collected, evaluated, scripted, stub_reply  # noqa: F401
from tests.training.harnesses.one_stub import StubModel

pytestmark = WARNINGS
Messages = Sequence[Mapping[str, Any]]
"""What a model is sent, as `role` and `content`."""


def of_both(folder: Path, *words: str, **chosen: Any) -> tuple[dict[str, Any], EvalLog, dict[str, float]]:
    """A suite by `parlour benchmark` and by Inspect's task, with the same score: the numbers of the one, log and figures of the other."""
    with StubModel() as server:
        asked = ["--model", server.MODEL, "--base-url", server.base_url, "--out", str(folder / "run"), "--json"]
        assert run(["benchmark", *words, *asked]) == 0
    data = json.loads((folder / "run" / "benchmark.json").read_text())
    [log] = evaluated(parlour_bench_1(**chosen), scripted(stub_reply, "stub"), folder / "logs")
    assert log.status == "success"
    [of_points] = [score for score in log.results.scores if score.name == "points"]
    figures = {metric.name: metric.value for metric in of_points.metrics.values()}
    overall = [data["scores"]["overall"][name] for name in ("mean", "low", "high")]
    assert [figures[name] for name in ("score", "low", "high")] == pytest.approx(overall, abs=1e-4)
    return data, log, figures


def test_the_suite_of_strangers_gives_the_score_of_the_benchmark(tmp_path):
    words = ("--suite", "strangers", "--table", "avalon-6")
    of_both(tmp_path, *words, suite="strangers", table="avalon-6")


def test_a_suite_that_inspect_is_given_twice_is_refused():
    with pytest.raises(ParlourError, match="--quick goes without --suite strangers"):
        parlour_bench_1(quick=True, suite="strangers")


def test_the_suite_gives_the_numbers_of_the_benchmark_on_the_same_answers(tmp_path):
    """`parlour benchmark` with the model behind an endpoint, and Inspect's task with the same model: 24 games of one table."""
    data, log, figures = of_both(tmp_path, "--quick", "--table", "werewolf-8", quick=True, table="werewolf-8")
    assert log.eval.task.rpartition("/")[2] == "parlour_bench_1"
    assert log.eval.metadata["sha256"] == data["suite"]["sha256"]
    of_samples = [sample.score.metadata for sample in log.samples]
    suite = chosen_suite("quick", ["werewolf-8"])
    points = points_of_samples(suite, of_samples)
    assert points == {
        "werewolf-8": {
            opponent: {side: tuple(map(float, of)) for side, of in sides.items()}
            for opponent, sides in data["points"]["werewolf-8"].items()
        }
    }
    rating = ratings(suite, {"stub": points})["werewolf-8"]["stub"]
    assert figures["elo_werewolf-8"] == pytest.approx(rating.value)
    assert (figures["elo_werewolf-8_low"], figures["elo_werewolf-8_high"]) == pytest.approx(rating.ends)
    deals = np.mean([of for sides in points["werewolf-8"].values() for of in sides.values()], axis=0)
    assert figures["stderr"] == pytest.approx(deals.std(ddof=1) / np.sqrt(len(deals)))


def test_a_suite_with_a_missing_game_has_no_figures():
    suite = chosen_suite("quick", ["werewolf-4"])
    sample = {"table": "werewolf-4", "opponent": "heuristic", "side": "village", "seed": 1, "points": 100.0}
    assert points_of_samples(suite, [sample | {"moves_chosen": [5, 5]}]) is None
