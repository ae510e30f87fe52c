"""The main job, offline: a first game to watch, then each game adds a section that plays, trains and measures.

To add a game: write a module with a `DemoPart`, and name it in the `demo` of its spec.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final

from parlour.envs import dotted
from parlour.envs.registry import loadable
from parlour.envs.terminal import tell
from parlour.policies.files import atomic_write
from parlour.training.papers.demo import replays
from parlour.training.papers.demo.first_game import first_game
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Section
from parlour.training.results.pages.page import render
from parlour.training.results.pages.report import MARKDOWN, of_markdown
from parlour.training.results.replay_page.write import write_replay
from parlour.training.results.runs import run_directory

__all__ = ["DemoConfig", "DemoPart", "DemoReport", "Section", "parts", "run"]

INDEX: Final = "index.html"


@dataclass(frozen=True)
class DemoReport:
    """What the demo leaves."""

    path: Path
    """The report as a page."""
    summary: str
    """A few lines for the terminal."""
    numbers: dict[str, Any]
    """Everything measured, as plain values."""
    verdicts: tuple[str, ...] = ()
    """What the sections found, in words."""


def parts() -> list[DemoPart]:
    """All parts, game by game."""
    return [_part(name) for spec in loadable() for name in spec.demo]


def run(out: Path, config: DemoConfig) -> DemoReport:
    """Play the first game, then make every section; tells on standard error what comes next, and how long it takes.

    Args:
        out: Held as the directory of a run; gets `index.html`, `report.md`, `numbers.json`, and the sections' own files.
        config: Amounts and seed.
    """
    with run_directory(out) as folder:
        return _run(folder, config.amounts())


def _run(out: Path, config: DemoConfig) -> DemoReport:
    started = monotonic()
    first = first_game(out, config)
    tell(f"A game with an expert at the table, to watch in a browser: {write_replay(first)}", error=True)
    sections = list(_sections(out, config))
    minutes = (monotonic() - started) / 60
    recorded = [first, *(path for section in sections for path in section.transcripts)]
    text = "\n".join(
        [
            _heading(config, minutes, sections) + replays.markdown(out, recorded),
            *(section.markdown for section in sections),
        ]
    )
    numbers = {section.name: section.numbers for section in sections}
    atomic_write(out / MARKDOWN, text)
    atomic_write(out / INDEX, render(of_markdown(text, out)))
    atomic_write(out / "numbers.json", json.dumps(numbers, indent=2) + "\n")
    return DemoReport(
        out / INDEX,
        "\n".join(section.summary for section in sections),
        numbers,
        tuple(f"{section.about}: {section.verdict}" for section in sections if section.verdict),
    )


def _sections(out: Path, config: DemoConfig) -> Iterator[Section]:
    """Announce and make each section."""
    planned = parts()
    times = [part.seconds(config) if part.seconds else None for part in planned]
    total = sum(time for time in times if time is not None)
    tell(f"Next: {len(planned)} parts, {_about(total)} in all on two quiet cores.", error=True)
    for number, (part, seconds) in enumerate(zip(planned, times, strict=True), 1):
        expected = "" if seconds is None else f": {_about(seconds)}"
        tell(f"[{number}/{len(planned)}] {part.title}{expected}", error=True)
        yield part(out, config)


def _about(seconds: float) -> str:
    """A time as people say it.

    >>> _about(42.0), _about(200.0)
    ('about 40 s', 'about 3.5 min')
    """
    if seconds < 60:
        return f"about {max(10, round(seconds, -1)):.0f} s"
    return f"about {round(seconds / 30) / 2:g} min"


def _part(name: str) -> DemoPart:
    section = dotted.load(name, "section of the demo")
    return section if isinstance(section, DemoPart) else DemoPart(name, section)


def _heading(config: DemoConfig, minutes: float, sections: Sequence[Section]) -> str:
    """Verdicts and pictures of all sections, then how the demo was run."""
    verdicts = [f"> - **{section.about}:** {section.verdict}" for section in sections if section.verdict]
    pictures = [f"{section.picture.markdown}\n" for section in sections if section.picture]
    beginning = "\n".join(["# parlour: what the demo measured", "", *verdicts, "", *pictures, ""])
    return beginning + (
        f"Python {platform.python_version()} on {platform.machine()}, {minutes:.1f} minutes after the installation. "
        f"Seed {config.seed}. All players here are random, heuristics or trained networks; no language model played, and agents that can ask "
        "one were answered by heuristics. "
        "Intervals are at 95 %: Wilson for rates, paired for differences (the same deals for both players).\n\n"
    )
