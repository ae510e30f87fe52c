"""The input and the output of a section of the demo, and what sections share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.core import check_from
from parlour.policies import HeuristicPolicy
from parlour.training.measure.evaluate import ALL_GAMES, Report
from parlour.training.measure.statistics import Estimate, show_interval
from parlour.training.papers.cells import TableCell
from parlour.training.results.evaluation_tables import (
    SCALES,
    comparison_table,
    mark_of,
    rate_table,
    show_difference,
    show_rate,
)
from parlour.training.results.result_table import markdown_table
from parlour.training.results.verdicts import compared, saved

_LEAST_GAMES: Final = 10
_QUICK: Final = 10
"""`quick` does one part in this many."""


@dataclass(frozen=True)
class DemoConfig:
    """How much the demo does."""

    steps: int = 409_600
    """Number of decisions that the seat is trained with."""
    selfplay_steps: int = 1_000_000
    """Number of decisions that the network for all seats learns from by self-play."""
    games: int = 2000
    """Number of held-out deals of each measurement."""
    seed: int = 0
    """The same seed gives the same result."""
    quick: bool = False
    """Do a tenth of these amounts; intervals are wider."""

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("selfplay_steps", 1), ("games", _LEAST_GAMES), ("seed", 0)):
            check_from(name, getattr(self, name), least)

    def amounts(self) -> DemoConfig:
        """What the sections are given: itself, or with `quick` a tenth of it.

        >>> DemoConfig(games=200, quick=True).amounts().games
        20
        """
        if not self.quick:
            return self
        few = {name: max(1, getattr(self, name) // _QUICK) for name in ("steps", "selfplay_steps")}
        return replace(self, games=max(_LEAST_GAMES, self.games // _QUICK), **few)


@dataclass(frozen=True)
class Picture:
    """A picture of the report."""

    path: str
    """Within the folder of the report."""
    caption: str

    @property
    def markdown(self) -> str:
        """The picture in Markdown."""
        return f"![{self.caption}]({self.path})"


@dataclass(frozen=True)
class Section:
    """One game's part of the demo."""

    name: str
    markdown: str
    """Its part of the report."""
    summary: str
    """A few lines for the terminal."""
    numbers: dict[str, Any]
    transcripts: tuple[Path, ...] = ()
    """Recorded games; the report shows each as a replay page."""
    verdict: str = ""
    """Its result in one to three sentences, for the beginning of the report and the end of the command."""
    about: str = ""
    """What the verdict is about, such as `Avalon, one trained seat`."""
    picture: Picture | None = None
    """What shows its result, for the beginning of the report."""


@dataclass(frozen=True)
class DemoPart:
    """What makes a section, and the text shown before it starts."""

    title: str
    """What it does, in one line."""
    make: Callable[[Path, DemoConfig], Section]
    """From the folder of the report and the amounts."""
    seconds: Callable[[DemoConfig], float] | None = None
    """About how long it takes on two quiet cores; None: not known."""

    def __call__(self, out: Path, config: DemoConfig) -> Section:
        """Make the section."""
        return self.make(out, config)


def tables(of: Report) -> str:
    """Win rates of players, then paired differences between them, as Markdown."""
    rows = [(player, what, rate.strip()) for player, what, rate in rate_table(of).texts()]
    rates = markdown_table(("player", "as", "win rate"), rows)
    return "\n\n".join(filter(None, (rates, mark_of(of), comparison_table(of).markdown())))


class Figures(NamedTuple):
    """What a cell of a published table shows."""

    paper: str
    """The paper's percentage."""
    ours: str
    """Our figure, with its interval and n."""
    difference: str
    """The difference from the first row, where it has one."""


def figures(cell: TableCell, decimals: int = 1) -> Figures:
    """The figures of a cell in words; the paper's with so many decimals."""
    if cell.value is None:
        ours = show_rate(cell.ours).strip()
    else:
        value, unit = cell.value, ".1%" if cell.value.share else ".1f"
        ours = f"{value.value:{unit}}  {show_interval(value, unit)}  n={value.n}"
    paper = "-" if cell.paper is None else f"{cell.paper:.{decimals}f}%"
    return Figures(paper, ours, show_difference(cell.difference) if cell.difference else "")


def by_heuristic(of: Report, player: str, name: str) -> str:
    """One sentence about a player beside the heuristic, over all games of a report.

    Args:
        of: The report.
        player: The player, as the report names it.
        name: What the sentence calls it.
    """
    over_all = (
        comparison
        for comparison in of.comparisons
        if (comparison.a, comparison.b, comparison.side) == (player, HeuristicPolicy.name, ALL_GAMES)
    )
    return compared(name, "the heuristic", next(over_all).result, SCALES[of.design])


def ahead_of(cell: TableCell) -> Estimate | None:
    """By how much the first row is ahead of this row, on the same cases; None where that is not known."""
    if cell.difference is not None:
        return saved(cell.difference)
    apart = cell.value_difference
    return None if apart is None else saved(Estimate(apart.value, apart.low, apart.high, apart.n))


def summary(title: str, lines: Iterable[str]) -> str:
    """A few lines for the terminal."""
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines)])
