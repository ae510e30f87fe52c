"""The pictures of GRACE's figures 3 to 5: scores with intervals, the policy as a heatmap, net utility by state.

They need matplotlib, of the extra `train`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL
from parlour.policies.agents.mediated_qa.joint import PUBLISHED, STATES, Joint, column
from parlour.training.papers.cells import TableCell
from parlour.training.report import plots
from parlour.training.statistics import Estimate

_MEASURES: Final = ("accuracy", "abstention", "effective reliability", "net utility")
_JOINT: Final = "joint action: retriever, generator, verifier"
_DARK: Final = 0.55
"""Probability from which the figures in the heatmap are white."""
_AREA: Final = 900.0
"""Area of the dot that stands for all questions of a state, in square points."""


def scores(cells: Sequence[TableCell], path: Path, who: str) -> None:
    """Four panels, a system a line: ours with intervals, and the paper's figures as open squares."""
    rows = list(dict.fromkeys((cell.row, cell.of) for cell in cells))
    counted = [cell.ours.n for cell in cells if cell.ours is not None]
    with plots.picture(
        path,
        13,
        0.4 * len(rows) + 1.8,
        title="The mediator beside its baselines on held-out questions",
        who=who,
        n=f"n = {plots.range_of(counted)} questions a point",
    ) as made:
        panels = made.subplots(1, len(_MEASURES), sharey=True)
        for axes, measure in zip(panels, _MEASURES, strict=True):
            for cell in (cell for cell in cells if cell.measure == measure):
                _score(axes, len(rows) - rows.index((cell.row, cell.of)), cell)
            plots.label(axes, f"{measure}, points" if measure == "net utility" else f"{measure}, %", grid="x")
        named = [plots.broken(f"{row} ({of})" if of else row) for row, of in rows]
        panels[0].set_yticks(range(len(rows), 0, -1), named)
        plots.key(made)


def _score(axes: Any, height: int, cell: TableCell) -> None:
    if cell.paper is not None:
        axes.plot(cell.paper, height, "s", color=plots.PAPER, fillstyle="none", label="the paper, n = 20")
    if cell.drawn is not None:
        plots.points(axes, [height], [cell.drawn], across=True, color=plots.OWN, label=f"ours, {plots.INTERVAL}")


def heatmap(
    panels: Sequence[tuple[str, Mapping[str, Mapping[Joint, float]], Mapping[str, int]]], path: Path, who: str
) -> None:
    """Probability of each published joint action in each state; a panel has a title, rows, and calibration questions."""
    states = (*STATES, NO_SIGNAL)
    with plots.picture(
        path,
        6.5 * len(panels) + 1,
        6,
        title="What the learned mediator recommends in each state; grey: no data, the fallback is used",
        who=who,
        n=f"n = {sum(panels[0][2].values()):,} calibration questions, in the states named at the left",
    ) as made:
        image = None
        for number, (title, rows, questions) in enumerate(panels, 1):
            axes = made.add_subplot(1, len(panels), number)
            nothing = float("nan")
            shown = [[rows.get(s, {}).get(joint, 0.0 if s in rows else nothing) for joint in PUBLISHED] for s in states]
            image = axes.imshow(shown, cmap="Blues", vmin=0, vmax=1, aspect="auto")
            for y, x in ((y, x) for y in range(len(states)) for x in range(len(PUBLISHED))):
                if shown[y][x] >= 0.005:  # false for NaN as well
                    plots.number(axes, x, y, f"{shown[y][x]:.2f}", dark=shown[y][x] > _DARK, fontsize=8)
            axes.set_facecolor("0.88")
            known = [f"{state}  n={questions.get(state, 0)}" for state in states]
            joints = [column(joint).removeprefix("u_").replace("_", ", ") for joint in PUBLISHED]
            plots.numbers(axes, joints, known, rotation=45, ha="right")
            plots.label(axes, _JOINT, "state (trust, quality), calibration questions", title, grid="")
        made.colorbar(image, ax=made.axes, label="probability", shrink=0.8)


def utilities(
    panels: Sequence[tuple[str, Mapping[str, tuple[Sequence[float], Estimate]]]], path: Path, who: str
) -> None:
    """Net utility by state: a dot for each value, as large as its share of the state, and the mean with its interval."""
    counted = [sum(len(values) for values, _ in earned.values()) for _, earned in panels]
    with plots.picture(
        path,
        7 * len(panels),
        5.5,
        title="Net utility of the mediator's draws by state; area of a dot: its share of the state's questions",
        who=who,
        n=f"n = {plots.range_of(counted)} held-out questions a panel",
    ) as made:
        shared = None
        for number, (title, earned) in enumerate(panels, 1):
            axes = shared = made.add_subplot(1, len(panels), number, sharey=shared)
            for x, (values, mean) in enumerate(earned.values()):
                dots = Counter(values)
                sizes = [_AREA * count / len(values) for count in dots.values()]
                axes.scatter([x] * len(dots), list(dots), s=sizes, color=plots.OWN, alpha=0.45, linewidths=0)
                label = None if x else f"mean, {plots.INTERVAL}"
                plots.points(axes, [x], [mean.with_ends], fmt="D", color="black", capsize=4, label=label)
            names = [f"{state.replace('_', chr(10))}\nn={len(values)}" for state, (values, _) in earned.items()]
            axes.set_xticks(range(len(names)), names, fontsize=8)
            axes.set_xlim(-0.6, len(names) - 0.4)
            axes.axhline(0, color="0.6", linewidth=0.8)
            state = "state of the held-out question (trust, quality)"
            plots.label(axes, state, "net utility of a question (points)", title, grid="y")
        plots.key(made)
