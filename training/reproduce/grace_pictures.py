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
from parlour.training import plots
from parlour.training.reproduce.cells import TableCell, Value

_MEASURES: Final = ("accuracy", "abstention", "effective reliability", "net utility")
_JOINT: Final = "joint action: retriever, generator, verifier"
_DARK: Final = 0.55
"""Probability from which the figures in the heatmap are white."""
_AREA: Final = 900.0
"""Area of the dot that stands for all questions of a state, in square points."""


def scores(cells: Sequence[TableCell], path: Path) -> None:
    """Four panels, a system a line: ours with intervals, and the paper's figures as open squares."""
    rows = list(dict.fromkeys((cell.row, cell.of) for cell in cells))
    figure = plots.figure(13, 0.4 * len(rows) + 1.8)
    panels = figure.subplots(1, len(_MEASURES), sharey=True)
    for axes, measure in zip(panels, _MEASURES, strict=True):
        for cell in (one for one in cells if one.measure == measure):
            _score(axes, len(rows) - rows.index((cell.row, cell.of)), cell)
        plots.label(axes, measure if measure == "net utility" else f"{measure}, %", grid="x")
    named = [f"{row} ({of})" if of else row for row, of in rows]
    panels[0].set_yticks(range(len(rows), 0, -1), named)
    handles = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(list(handles.values()), list(handles), loc="outside upper right", ncols=2)
    plots.save(figure, path)


def _score(axes: Any, height: int, cell: TableCell) -> None:
    if cell.paper is not None:
        axes.plot(cell.paper, height, "s", color="tab:red", fillstyle="none", label="the paper, n = 20")
    ours = cell.figure
    if ours is None:
        return
    times = 100 if cell.value is None else 1
    at = times * ours.value
    if ours.low is not None and ours.high is not None:
        axes.plot([times * ours.low, times * ours.high], [height, height], color="tab:blue", linewidth=1.5)
    axes.plot(at, height, "o", color="tab:blue", markersize=5, label="ours, interval at 95 %")


def heatmap(panels: Sequence[tuple[str, Mapping[str, Mapping[Joint, float]], Mapping[str, int]]], path: Path) -> None:
    """Probability of each published joint action in each state; a panel has a title, rows, and calibration questions."""
    states = (*STATES, NO_SIGNAL)
    figure = plots.figure(6.5 * len(panels) + 1, 6)
    image = None
    for number, (title, rows, questions) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), number)
        nothing = float("nan")
        shown = [[rows.get(s, {}).get(joint, 0.0 if s in rows else nothing) for joint in PUBLISHED] for s in states]
        image = axes.imshow(shown, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, x in ((y, x) for y in range(len(states)) for x in range(len(PUBLISHED))):
            _number(axes, x, y, shown[y][x])
        axes.set_facecolor("0.88")
        known = [f"{state}  n={questions.get(state, 0)}" for state in states]
        plots.numbers(axes, [_words(joint) for joint in PUBLISHED], known, rotation=45, ha="right")
        named = f"{title} (grey: no data, the fallback is used)"
        plots.label(axes, _JOINT, "state (trust, quality), calibration questions", named, grid="")
    figure.colorbar(image, ax=figure.axes, label="probability", shrink=0.8)
    plots.save(figure, path)


def _number(axes: Any, x: int, y: int, p: float) -> None:
    if p >= 0.005:  # false for NaN as well
        plots.number(axes, x, y, f"{p:.2f}", dark=p > _DARK, fontsize=8)


def _words(joint: Joint) -> str:
    return column(joint).removeprefix("u_").replace("_", ", ")


def utilities(panels: Sequence[tuple[str, Mapping[str, tuple[Sequence[float], Value]]]], path: Path) -> None:
    """Net utility by state: a dot for each value, as large as its share of the state, and the mean with its interval."""
    figure = plots.figure(7 * len(panels), 5.5)
    shared = None
    for number, (title, earned) in enumerate(panels, 1):
        axes = shared = figure.add_subplot(1, len(panels), number, sharey=shared)
        for x, (values, mean) in enumerate(earned.values()):
            dots = Counter(values)
            sizes = [_AREA * count / len(values) for count in dots.values()]
            axes.scatter([x] * len(dots), list(dots), s=sizes, color="tab:blue", alpha=0.45, linewidths=0)
            half = 0.0 if mean.high is None else mean.high - mean.value
            mark = {"fmt": "D", "color": "black", "markersize": 5, "capsize": 4}
            axes.errorbar(x, mean.value, half, label=None if x else "mean, interval at 95 %", **mark)
        names = [f"{state.replace('_', chr(10))}\nn={len(values)}" for state, (values, _) in earned.items()]
        axes.set_xticks(range(len(names)), names, fontsize=8)
        axes.set_xlim(-0.6, len(names) - 0.4)
        axes.axhline(0, color="0.6", linewidth=0.8)
        named = f"{title} (area of a dot: share of the state's questions)"
        state = "state of the held-out question (trust, quality)"
        plots.label(axes, state, "net utility of a question", named, grid="y", small=True)
        axes.legend(loc="upper right")
    if shared is not None:
        low, high = shared.get_ylim()
        shared.set_ylim(low, high + 0.12 * (high - low))  # room for the legend
    plots.save(figure, path)
