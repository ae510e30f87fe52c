"""The same run of self-play with several seeds, each in a process and a folder of its own, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from parlour.policies.files import read_json, write_json
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.run import selfplay
from parlour.training.measure.statistics import SHARE_DIFFERENCE, Estimate, mean_estimate, plain, show_interval
from parlour.training.play.parallel.executor import Workers, carry_out
from parlour.training.results.pages.report import write_report
from parlour.training.results.result_table import markdown_table


@dataclass(frozen=True)
class Repeat:
    """What one seed came to, in points against the heuristic; see `parlour.training.learn.batch.matches`."""

    seed: int
    whole_sides: Estimate
    one_seat: Estimate
    steps: int
    seconds: float


def repeat(
    config: SelfplayConfig, count: int, out: Path, workers: Workers, progress: Callable[[int], None]
) -> list[Repeat]:
    """Train with the seeds `config.seed`, `config.seed + 1`, ...; what is finished in `out` is not trained again.

    Args:
        config: Of all runs but for the seed.
        count: How many.
        out: Folder; run k is in `seed-k`.
        workers: Who trains.
        progress: Told that another run is finished.
    """
    chosen = [replace(config, seed=config.seed + k) for k in range(count)]
    for _ in carry_out(workers, _train, [(one, _folder(out, one)) for one in chosen]):
        progress(1)
    found = [_read(one.seed, read_json(_folder(out, one) / "summary.json")) for one in chosen]
    write_json(out / "summary.json", over_seeds(found))
    write_report(out, repeats_report(found))
    return found


def _folder(out: Path, config: SelfplayConfig) -> Path:
    return out / f"seed-{config.seed}"


def _train(config: SelfplayConfig, folder: Path) -> None:
    selfplay(config, folder)


def _read(seed: int, told: dict[str, Any]) -> Repeat:
    last = told["last"]
    (own,) = (one for one in told["differences"] if (one["a"], one["b"]) == (last, RULE))
    whole = Estimate.of_json({name: own[name] for name in ("n", "mean", "low", "high", "p")})
    return Repeat(seed, whole, Estimate.of_json(told["seat"][last]), told["steps"], told["seconds"])


def over_seeds(found: list[Repeat]) -> dict[str, Any]:
    """Each seed, and the means over seeds."""
    return {
        "seeds": [plain(one) for one in found],
        "whole_sides": plain(_over_seeds(found, "whole_sides")),
        "one_seat": plain(_over_seeds(found, "one_seat")),
    }


def rows(found: list[Repeat]) -> list[tuple[str, ...]]:
    """Seed, points as whole sides, points in one seat, decisions, processor time; the last row is the mean over seeds."""
    made = [
        (str(one.seed), _points(one.whole_sides), _points(one.one_seat), f"{one.steps:,}", f"{one.seconds:,.0f} s")
        for one in found
    ]
    means = [_over_seeds(found, name) for name in ("whole_sides", "one_seat")]
    return [*made, ("mean", *map(_points, means), "", "")]


def _over_seeds(found: list[Repeat], name: str) -> Estimate:
    """The mean of one measure over the seeds."""
    return mean_estimate([getattr(one, name).value for one in found], SHARE_DIFFERENCE)


HEADINGS = ("seed", "whole sides", "one seat", "decisions", "processor time")


def _points(one: Estimate) -> str:
    return f"{100 * one.value:+.1f} {show_interval(one, '+.1f', 100)}"


def repeats_report(found: list[Repeat]) -> str:
    """The report as Markdown."""
    told = f"Points against the {RULE} on held-out deals, 95 % intervals: by deal; of the mean, by seed."
    return f"# Self-play, {len(found)} seeds\n\n{told}\n\n{markdown_table(HEADINGS, rows(found))}\n"
