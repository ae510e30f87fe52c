"""How long work and its results are shown: progress bars on standard error, rates and differences in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parlour.training.statistics import PairedDifference, Rate, show_interval
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Progress bars on standard error."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield bar


class Bar:
    """Counts seeds in a progress bar, as `parlour.training.evaluate` asks for it."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar

    def __call__(self, seeds: Iterable[int], what: str) -> Iterable[int]:
        listed = list(seeds)
        return self._bar.track(listed, total=len(listed), description=what)


def show_rate(found: Rate | None) -> str:
    """A rate with its interval and n.

    >>> show_rate(None)
    '-'
    """
    if found is None:
        return "-"
    return f"{found.rate:6.1%}  {show_interval(found, '.1%')}  n={found.n}"


def show_difference(found: PairedDifference) -> str:
    """A paired difference in points, with its interval and the test's p."""
    return f"{100 * found.difference:+.1f} points  {show_interval(found, '+.1f', 100)}  n={found.n}  p={found.p:.2g}"


def train_with_bar(train: Callable[[Any, Path, Callable[[int, str], None]], Any], config: Any, out: Path) -> Any:
    """Call a trainer that counts its steps up to `config.phases * config.phase_steps`; returns what it returns."""
    with progress_bar() as bar:
        task = bar.add_task(f"training {config.game}", total=config.phases * config.phase_steps)

        def progress(steps: int, note: str) -> None:
            bar.advance(task, steps)
            if note:
                bar.update(task, description=f"training {config.game}: {note}")

        return train(config, out, progress)


def calibrate_with_bar(prepare: Callable[..., Any], config: Any, out: Path) -> Any:
    """Call `parlour.training.mediated_qa.held_out.prepare`; returns what it returns."""
    with progress_bar() as bar:
        task = bar.add_task(f"{config.difficulty} questions", total=config.train + config.held_out)
        return prepare(config, out=out, progress=lambda done: bar.update(task, completed=done))
