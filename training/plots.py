"""Pictures with matplotlib, of the extra `train`, in one style: figures, panels, curves with their intervals, grids of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import replacing

INTERVAL: Final = "95 % interval"
REFERENCE: Final = "0.35"
"""Grey of what others are compared with."""


def require() -> None:
    """Raise `ParlourError` where matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[train]'") from None


def available() -> bool:
    """Whether matplotlib is installed."""
    try:
        require()
    except ParlourError:
        return False
    return True


def figure(width: float, height: float, dpi: int = 120) -> Any:
    """An empty picture; the size is in inches. Raises `ParlourError` where matplotlib is not installed."""
    require()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def save(made: Any, path: str | Path) -> None:
    """Write a picture as a PNG; the file is replaced as a whole."""
    with replacing(path) as new:
        made.savefig(new)


def label(axes: Any, x: str = "", y: str = "", title: str = "", *, grid: str = "both", small: bool = False) -> None:
    """Name the axes of a panel and lay a grid below it: of `"both"` axes, of `"x"` or `"y"`, or none for `""`."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(title, fontsize=10 if small else "large")
    if grid:
        axes.grid(axis=grid, alpha=0.3)


def numbers(axes: Any, columns: Sequence[str], rows: Sequence[str], **how: Any) -> None:
    """Name the columns and rows of a map of numbers."""
    axes.set_xticks(range(len(columns)), columns, **how)
    axes.set_yticks(range(len(rows)), rows)


def number(axes: Any, column: float, row: float, text: str, *, dark: bool, **how: Any) -> None:
    """Write into a cell of a map: white where the cell is dark."""
    axes.text(column, row, text, ha="center", va="center", color="white" if dark else "black", **how)


# -- curves ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CurvePoint:
    """One point of a curve, with its interval where it has one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """A line through points, over the band of their intervals."""

    label: str
    points: Sequence[CurvePoint]
    style: str = "-"
    marker: str = ""
    interval: str = INTERVAL
    """What the legend calls the band; empty: nothing."""


def draw(axes: Any, curve: Curve, **how: Any) -> None:
    """Draw a curve into a panel; points without an interval leave a gap in the band."""
    at = [point.x for point in curve.points]
    (line,) = axes.plot(at, [p.y for p in curve.points], curve.style, marker=curve.marker, label=curve.label, **how)
    band = [(p.x, p.low, p.high) for p in curve.points if p.low is not None]
    if band:
        named = {"label": curve.interval} if curve.interval else {}
        axes.fill_between(*zip(*band, strict=True), color=line.get_color(), alpha=0.2, linewidth=0, **named)


def curve(
    path: str | Path, curves: Sequence[Curve], x: str, y: str, title: str, limits: tuple[float, float] | None = None
) -> bool:
    """Draw curves as a PNG; False if matplotlib is not installed. Curves without points are left out."""
    if not available():
        return False
    made = figure(7, 4)
    axes = made.add_subplot()
    for one in curves:
        if one.points:
            draw(axes, one)
    label(axes, x, y, title)
    if limits:
        axes.set_ylim(limits)
    axes.legend()
    save(made, path)
    return True
