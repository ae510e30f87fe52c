"""What commands, demos and examples show: a line of progress on standard error; tables, rates and JSON on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from parlour.envs.common.terminal import printable_lines, tell, tell_text
from parlour.training.report.result_table import ResultTable
from parlour.training.runs.progress import ProgressLine, pause
from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.measure import Measurement
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

_BAR: Final = 16  # characters
_WIDEST: Final = 250  # characters of a table in a file or a pipe
_JOINED: Final = 1.0  # seconds that the end waits for a line that is being written


@contextmanager
def progress_line(what: str = "Preparing", *, redraw: bool = True, model: Any = None) -> Iterator[ProgressLine]:
    """Show how long work stands, on standard error: one line redrawn in a terminal, else a plain line from time to time.

    Args:
        what: What is shown until the first stage begins.
        redraw: Whether a terminal redraws the line; False where results are printed meanwhile.
        model: The `Model` that is asked meanwhile: the line says how many questions it has answered, how fast, and what is awaited.
    """
    shown, meter = Terminal(stderr=True), getattr(model, "meter", None)
    awaited: Callable[[], str] = str if meter is None else meter.underway
    if redraw and shown.is_terminal:
        with _redrawn(shown, what, awaited) as line:
            yield line
        return
    line, over = ProgressLine(what, ended=partial(tell, error=True), awaited=awaited), Event()
    began = monotonic()

    def repeat() -> None:
        while not over.wait(pause(monotonic() - began)):
            tell(line.line(), error=True)

    thread = Thread(target=repeat, name="progress", daemon=True)
    thread.start()
    try:
        yield line
        line.close()
    finally:
        over.set()
        thread.join(_JOINED)


@contextmanager
def _redrawn(shown: Terminal, what: str, awaited: Callable[[], str]) -> Iterator[ProgressLine]:
    """A bar and the line beside it, which vanish with the work; a stage that took long leaves its last line."""
    line = ProgressLine(what, ended=lambda text: shown.print(text, highlight=False), awaited=awaited)

    def drawn() -> Table:
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(completed=100 * line.share, width=_BAR), Text(printable_lines(line.line())))
        return grid

    redirected = sys.stdout.isatty()
    with Live(
        console=shown, get_renderable=drawn, transient=True, redirect_stdout=redirected, vertical_overflow="crop"
    ):
        yield line
        line.close()


class Terminal(Console):
    """Rich's console, which shows words as they are: no markup, and nothing unprintable (`parlour.envs.common.terminal`)."""

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


def show_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrap: bool = False) -> None:
    """Print a table; cells are cut off where there is no room, unless they may wrap.

    Files and pipes keep every figure of a table that is not too wide.
    """
    made = Table(title=" ".join(title.split()), title_justify="left", header_style="bold")
    for heading in headings:
        made.add_column(heading, no_wrap=not wrap, overflow="fold" if wrap else "ellipsis")
    for row in rows:
        made.add_row(*row)
    out = console()
    if not out.is_terminal:
        needed = Measurement.get(out, out.options.update(max_width=_WIDEST), made).maximum
        out.width = out.width if wrap and needed == _WIDEST else max(out.width, needed)
    out.print(made)


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
