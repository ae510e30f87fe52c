"""What commands, demos and examples show: progress bars on standard error; tables, rates and JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parlour.envs.terminal import printable_lines, tell_text
from parlour.training.results.progress_lines import ProgressLines
from parlour.training.results.result_table import ResultTable
from parlour.training.results.runs import StageProgress
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from parlour.training.play.parallel import concurrent_games


@contextmanager
def _bars() -> Iterator[Progress | ProgressLines]:
    """Progress on standard error: bars in a terminal, else lines. An error before `start`, called with the first step, draws none."""
    console = Terminal(stderr=True)
    if not console.is_terminal:
        lines = ProgressLines()
        lines.begin()
        try:
            yield lines
        finally:
            lines.end()
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bars = Progress(*columns, console=console)
    try:
        yield bars
    finally:
        if bars.live.is_started:
            bars.stop()


@contextmanager
def progress_bar() -> Iterator[concurrent_games.Progress]:
    """Counts seeds in a progress bar, in the way that `parlour.training.measure.evaluate` calls it."""
    with _bars() as bars:

        def progress(seeds: Iterable[int], what: str) -> Iterable[int]:
            listed = list(seeds)
            bars.start()
            return bars.track(listed, total=len(listed), description=what)

        yield progress


@contextmanager
def at_work() -> Iterator[None]:
    """Work without steps to count: nothing in a terminal, else a line from time to time."""
    with _bars():
        yield


@contextmanager
def stage_bars(*, increments: bool = False) -> Iterator[StageProgress]:
    """A progress bar for each stage of a run; called with the steps done so far, or with `increments` with new steps."""
    with _bars() as bars:
        tasks: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int, note: str) -> None:
            if stage not in tasks:
                bars.start()
                tasks[stage] = bars.add_task(stage, total=total)
            if increments:
                bars.advance(tasks[stage], done)
            else:
                bars.update(tasks[stage], completed=done)
            if note:
                bars.update(tasks[stage], description=f"{stage}: {note}")

        yield progress


def train_with_bar(train: Callable[[Any, Path, Callable[[int, str], None]], Any], config: Any, out: Path) -> Any:
    """Call a trainer that counts its steps up to `config.phases * config.phase_steps`; returns what it returns."""
    with stage_bars(increments=True) as progress:
        stage, total = f"training {config.game}", config.phases * config.phase_steps
        return train(config, out, lambda steps, note: progress(stage, steps, total, note))


def calibrate_with_bar(prepare: Callable[..., Any], config: Any, out: Path) -> Any:
    """Call `parlour.training.learn.mediators.held_out.prepare`; returns what it returns."""
    with stage_bars() as progress:
        kind = Path(config.corpus).name if config.corpus else config.difficulty
        stage, total = f"{kind} questions", config.train + config.held_out
        return prepare(config, out=out, progress=lambda done: progress(stage, done, total, ""))


class Terminal(Console):
    """Rich's console, which shows words as they are: no markup, and nothing unprintable (`parlour.envs.terminal`)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """As Rich does, with the text made printable first, so that tables are measured as they are shown."""
        return super().render_str(printable_lines(text), **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As Rich does; what is no text of its own, such as a bar's, is made printable last."""
        for made in super().render(renderable, options):
            yield made if made.control else Segment(printable_lines(made.text), made.style)


def console() -> Terminal:
    """Where results go: standard output, never narrower than a table."""
    plain = Terminal()
    return plain if sys.stdout.isatty() else Terminal(width=max(plain.width, 140))


def print_json(value: Any) -> None:
    """Print a value as JSON, in which everything unprintable is escaped."""
    tell_text(json_text(value, indent=2))


def json_text(value: Any, indent: int | None = None) -> str:
    r"""JSON of the same value in which letters of all languages stand as they are, and what is not printable is escaped.

    >>> print(json_text("\u00e9\u202e\x9b"))
    "é\u202e\u009b"
    """
    lines = json.dumps(value, indent=indent, ensure_ascii=False).split("\n")
    return "\n".join(line if line.isprintable() else "".join(map(_escaped, line)) for line in lines)


def _escaped(letter: str) -> str:
    return letter if letter.isprintable() else json.dumps(letter)[1:-1]


def rich_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]] = (), *, wrap: bool = False) -> Table:
    """A table; its cells are cut off where there is no room, unless they may wrap."""
    made = Table(title=" ".join(title.split()), title_justify="left", header_style="bold")
    for heading in headings:
        made.add_column(heading, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    for row in rows:
        made.add_row(*row)
    return made


def show_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrap: bool = False) -> None:
    """Print a table."""
    console().print(rich_table(title, headings, rows, wrap=wrap))


def show_verdict(verdict: str) -> None:
    """Print what was found, in words; nothing where nothing is said."""
    if verdict:
        console().print(Text(printable_lines(verdict), style="bold"), soft_wrap=True)


def show(*parts: ResultTable | str) -> None:
    """Print tables, each with its note below it, and lines of text."""
    for part in parts:
        if isinstance(part, str):
            console().print(part, highlight=False, soft_wrap=True)
            continue
        show_table(part.title, part.headings, part.texts(), wrap=part.wrap)
        if part.note:
            console().print(part.note, highlight=False)
