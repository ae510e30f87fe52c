"""The picture of a learner: curves over the steps from 0 on, with intervals, and players that do not learn as level lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Final

from parlour.training.report import plots
from parlour.training.report.plots import Curve
from parlour.training.report.report import Picture

_COLOURS: Final = (plots.OWN, plots.ORANGE, plots.GREEN)


@dataclass(frozen=True)
class LearningCurve:
    """What the picture of a learner shows: curves over the steps, from 0, and players that do not learn as level lines."""

    title: str
    who: str
    n: str
    x: str
    """What is counted along the x axis, whole numbers."""
    y: str
    curves: Sequence[Curve]
    """Those without points are left out."""
    levels: Sequence[tuple[str, plots.Estimated]] = ()
    limits: tuple[float, float] | None = None
    """Limits of the y axis."""

    def draw(self, path: Path) -> None:
        """Draw the curves as a PNG."""
        with plots.picture(path, 7.5, 4.2, title=self.title, who=self.who, n=self.n) as made:
            axes = made.add_subplot()
            for name, estimate in self.levels:
                plots.level(axes, name, estimate, ":" if name == "random" else "--")
            for curve, colour in zip([c for c in self.curves if c.points], cycle(_COLOURS), strict=False):
                plots.draw(axes, curve, color=colour, markersize=5)
            plots.label(axes, self.x, self.y)
            plots.whole(axes.xaxis)
            last = max((point.x for curve in self.curves for point in curve.points), default=1.0)
            axes.set_xlim(-0.02 * last, 1.02 * last)
            if self.limits:
                low, high = self.limits
                axes.set_ylim(low - 0.02 * (high - low), high + 0.02 * (high - low))
            plots.key(made)

    @property
    def picture(self) -> Picture:
        """As the picture of a report."""
        return Picture(self.draw, "Learning curve")
