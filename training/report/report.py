"""A report: title, verdict, text and tables, at most one picture. It is written to a terminal, Markdown, a page, CSV and JSON here.

A feature computes and returns a `Report`; it has no writer of its own. Commands print it and write it into the folder `--out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.common.plain import plain
from parlour.envs.common.terminal import tell, tell_text
from parlour.policies.files import atomic_write, write_json
from parlour.training.report import display, plots
from parlour.training.report.html import bullets_html, page_of, picture_html, table_html, text_html
from parlour.training.report.result_table import ResultTable, markdown_list

REPORT_FILE: Final = "report.md"
PAGE_FILE: Final = "report.html"
SUMMARY_FILE: Final = "summary.json"


@dataclass(frozen=True)
class Code:
    """Lines of Python that are copied as they are."""

    text: str


Part = str | tuple[str, ...] | ResultTable | Code
"""A text, a list of sentences, each on a line of its own, a table, or code."""


@dataclass(frozen=True)
class Picture:
    """The picture of a report."""

    draw: Callable[[Path], object]
    """Draws it into a file; needs matplotlib."""
    caption: str
    file: str = "curve.png"


@dataclass(frozen=True)
class Report:
    """A result that people read.

    >>> report = Report("Wins", "The heuristic is better.", ("100 deals.", ("One game was drawn.",)))
    >>> print(report.markdown())
    # Wins
    <BLANKLINE>
    > The heuristic is better.
    <BLANKLINE>
    100 deals.
    <BLANKLINE>
    - One game was drawn.
    <BLANKLINE>
    """

    title: str
    verdict: str = ""
    """The result in one to three sentences; the last line in a terminal."""
    parts: tuple[Part, ...] = ()
    """What everybody sees, in order."""
    details: tuple[Part, ...] = ()
    """What only files have, below the parts."""
    picture: Picture | None = None
    values: Any = None
    """For JSON: plain values, results with estimates, or a function that makes them where they take long to make."""
    error: str | None = None
    """Why the command fails although there is something to print."""
    data: tuple[ResultTable, ...] = ()
    """Tables that are CSV files alone."""
    following: tuple[str, ...] = ()
    """The most likely next commands, filled in; a terminal shows them."""
    opening: tuple[Part, ...] = ()
    """What only files have, above the picture and the parts."""

    def show(self) -> None:
        """Print the parts, what may follow, then the verdict."""
        for part in self.parts:
            if isinstance(part, tuple):
                for sentence in part:
                    tell(sentence)
            elif isinstance(part, Code):
                tell_text(part.text)
            else:
                display.show(part)
        for number, command in enumerate(self.following):
            tell(f"{'Next:' if not number else '     '} {command}")
        display.show_verdict(self.verdict)

    def print(self, *, as_json: bool) -> None:
        """Print what people see, or the values as JSON."""
        if as_json:
            display.print_json(self.as_json())
        else:
            self.show()

    def as_json(self) -> Any:
        """The plain values, with the verdict where they have names."""
        values = plain(self.values() if callable(self.values) else self.values)
        return {**values, "verdict": self.verdict} if self.verdict and isinstance(values, Mapping) else values

    def markdown(self, *, drawn: bool = False) -> str:
        """The report in Markdown.

        Args:
            drawn: Whether its picture lies beside it.
        """
        blocks = [f"# {self.title}", *([f"> {self.verdict}"] if self.verdict else [])]
        blocks += [text for part in self.opening for text in _markdown(part)]
        if drawn and self.picture is not None:
            blocks.append(f"![{self.picture.caption}]({self.picture.file})")
        blocks += [text for part in (*self.parts, *self.details) for text in _markdown(part)]
        return "\n\n".join(blocks) + "\n"

    def write(self, folder: Path, *, page: bool = False) -> None:
        """Write the picture (with matplotlib), summary.json, the tables that name a file as CSV, and report.md last.

        Args:
            folder: The directory of the run.
            page: Whether report.html is written too.

        Raises:
            OSError: As writing files does.
        """
        drawn = self.picture is not None and plots.available()
        if self.picture is not None and drawn:
            self.picture.draw(folder / self.picture.file)
        for part in (*self.opening, *self.parts, *self.details, *self.data):
            if isinstance(part, ResultTable) and part.file:
                part.write_csv(folder / part.file)
        if self.values is not None:
            write_json(folder / SUMMARY_FILE, self.as_json())
        if page:
            self.write_page(folder / PAGE_FILE, folder if drawn else None)
        atomic_write(folder / REPORT_FILE, self.markdown(drawn=drawn))

    def write_page(self, path: Path, pictures: Path | None = None, pieces: Iterable[str] = ()) -> None:
        """Write one HTML file.

        Args:
            path: The file.
            pictures: The folder with the picture, which is put into the page; None: without it.
            pieces: What only the page has below the verdict: HTML that its writer has escaped.
        """
        parts = [text_html("h1", self.title), *([text_html("blockquote", self.verdict)] if self.verdict else [])]
        parts += map(_html, self.opening)
        if self.picture is not None and pictures is not None:
            parts.append(picture_html(pictures / self.picture.file, self.picture.caption))
        parts += [*pieces, *(_html(part) for part in (*self.parts, *self.details))]
        atomic_write(path, page_of(self.title, parts).render())


def _markdown(part: Part) -> list[str]:
    if isinstance(part, str):
        return [part]
    if isinstance(part, tuple):
        return [markdown_list(part)] if part else []
    if isinstance(part, Code):
        return [f"```python\n{part.text}\n```"]
    return [f"## {part.title}", part.markdown(), *([part.note] if part.note else [])]


def _html(part: Part) -> str:
    if isinstance(part, str):
        return text_html("p", part)
    if isinstance(part, Code):
        return text_html("pre", part.text)
    return bullets_html(part) if isinstance(part, tuple) else table_html(part)
