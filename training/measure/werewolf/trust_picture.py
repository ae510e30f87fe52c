"""A trust graph over time as a picture: one panel for the end of each day, and below them trust as lines that end at deaths.

Players are drawn in a circle, coloured by trust, with its value and class in words; the dead without colour and as dead. An arrow
is what one player did to another, as wide as its weight; grey, if one of the two is dead. It needs matplotlib, of the extra
`train`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import accept
from parlour.envs.language.english import name
from parlour.policies.agents.werewolf.gratr.export import CLASSES
from parlour.policies.agents.werewolf.gratr.statements import GraphHistory, Snapshot
from parlour.training.report import plots

PICTURE: Final = ".png"
PANELS: Final = 4
"""Moments side by side, at most."""
SHOWN: Final = 0.1
"""Least weight of an edge that is drawn."""
_NODE: Final = 0.5
"""Radius of a node, in the unit of the panel; everything else is measured by it."""
_GAP: Final = 1.55
"""Distance between the middles of neighbours, in diameters."""
_INCH: Final = 0.8
"""Size of a unit."""
_SUPPORT, _ATTACK, _RIM = "#2166ac", "#b2182b", "#000000"
_ASHES, _FADED = "#e6e6e6", "#707070"
"""Face, and rim and words, of the dead."""
_DARK: Final = 0.6
"""Least trust, in either direction, at which the words are white."""
_LINES: Final = 3.2
"""Height of the panel of lines with its key, in inches."""
_ALIVE: Final = tuple(mark for mark in plots.MARKERS if mark != "X")
_DEATH: Final = "X"
"""Mark at the end of a dead player's line."""
_WIDEST: Final = 4.5
"""Width of an arrow of weight 1, in points."""


def draw(graph: GraphHistory, path: str | Path) -> None:
    """Draw the last moment of each day side by side, as a PNG; for many days, `PANELS` moments at even distances.

    Args:
        graph: The graph; its history was kept by `mark`.
        path: Path of the picture.

    Raises:
        ParlourError: matplotlib is not installed, or there are no moments.
    """
    plots.require()
    shown = last_of_days(graph.history)
    if not shown:
        raise accept("moments", "none", "at least one; `TrustGraph.mark` keeps them")
    radius = _NODE * _GAP / math.sin(math.pi / max(graph.players, 3))
    side = 2 * (radius + _NODE) * 1.06 * _INCH
    observer = name(graph.me)
    with plots.picture(
        path,
        max(side * len(shown), 7.5),
        side + 1.3 + _LINES,
        title=f"Trust of {observer} in the others",
        who=f"The trust graph of {observer}",
        n=f"n = {len(shown)} of {len(graph.history)} moments drawn as graphs, {graph.players} players",
        dpi=110,
    ) as made:
        grid = made.add_gridspec(2, len(shown), height_ratios=(side, _LINES))
        panels = [made.add_subplot(grid[0, k]) for k in range(len(shown))]
        for axes, snapshot in zip(panels, shown, strict=True):
            _panel(axes, snapshot, graph.me, radius)
        _lines(made.add_subplot(grid[1, :]), graph.history, graph.me)
        _keys(made, panels)


def last_of_days(history: Sequence[Snapshot]) -> list[Snapshot]:
    """The last moment of each turn; of more than `PANELS` the first, the last, and some between."""
    days = list({snapshot.turn: snapshot for snapshot in history}.values())
    if len(days) <= PANELS:
        return days
    return [days[round(k * (len(days) - 1) / (PANELS - 1))] for k in range(PANELS)]


def _colours() -> tuple[Any, Any]:
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    return colormaps["RdBu"], Normalize(-1, 1)


def _panel(axes: Any, snapshot: Snapshot, me: int, radius: float) -> None:
    places = _circle(len(snapshot.trust), me, radius)
    nodes = []
    for seat, trust in enumerate(snapshot.trust):
        certain = snapshot.certain[seat] and seat != me
        if seat in snapshot.dead:
            words = f"{name(seat)}\n{'me, ' if seat == me else ''}dead"
            style = {"facecolor": _ASHES, "edgecolor": _FADED, "linestyle": ":"}
            nodes.append(_disc(axes, places[seat], words, _FADED, linewidth=1.0, **style))
            continue
        nodes.append(_node(axes, places[seat], trust, snapshot.role[seat], name(seat), me=seat == me, certain=certain))
    widest = _WIDEST * min(1.0, (8 / len(nodes)) ** 0.7)
    for source, target, tau, _ in sorted(snapshot.edges, key=lambda edge: abs(edge[2])):
        if abs(tau) >= SHOWN:
            faded = not {source, target}.isdisjoint(snapshot.dead)
            bend = 0.1 if source < target else 0.26
            _arrow(axes, nodes[source], nodes[target], tau, widest, bend, faded=faded)
    reach = (radius + _NODE) * 1.06
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=snapshot.label)
    axes.axis("off")


def _circle(players: int, me: int, radius: float) -> list[tuple[float, float]]:
    """The observer at the top, the others in seat order, clockwise."""
    angles = [math.pi / 2 - 2 * math.pi * (k - me) / players for k in range(players)]
    return [(radius * math.cos(angle), radius * math.sin(angle)) for angle in angles]


def _arrow(axes: Any, source: Any, target: Any, tau: float, widest: float, bend: float, *, faded: bool) -> None:
    """From rim to rim, bent towards the middle of the circle, where no node is in its way.

    Two arrows between the same players are bent differently, so that they lie apart.
    """
    from matplotlib.patches import FancyArrowPatch

    (x, y), (u, v) = source.center, target.center
    inwards = 1.0 if x * v - y * u > 0 else -1.0  # matplotlib bends to the right of the arrow for positive numbers
    axes.add_patch(
        FancyArrowPatch(
            source.center,
            target.center,
            patchA=source,
            patchB=target,
            shrinkA=1,
            shrinkB=2,
            connectionstyle=f"arc3,rad={-inwards * bend}",
            arrowstyle="-|>",
            mutation_scale=6 + 2 * widest * abs(tau),
            linewidth=0.5 if faded else 0.4 + (widest - 0.4) * abs(tau) ** 1.5,
            linestyle=":" if faded else "-",
            color=_FADED if faded else _SUPPORT if tau > 0 else _ATTACK,
            alpha=0.5 if faded else 0.3 + 0.5 * abs(tau),
            zorder=1,
        )
    )


def _node(
    axes: Any, place: tuple[float, float], trust: float, role: int, called: str, *, me: bool, certain: bool
) -> Any:
    colours, scale = _colours()
    width = 3.0 if me or certain else 1.0
    ink = "white" if abs(trust) > _DARK else "black"
    words = "me" if me else f"{trust:+.2f}\n{CLASSES[role]}"
    style = {"facecolor": colours(scale(trust)), "edgecolor": _RIM, "linestyle": "--" if certain else "-"}
    return _disc(axes, place, f"{called}\n{words}", ink, linewidth=width, **style)


def _disc(axes: Any, place: tuple[float, float], words: str, ink: str, **style: Any) -> Any:
    """A circle with words in it."""
    from matplotlib.patches import Circle

    node = Circle(place, _NODE, zorder=3, **style)
    axes.add_patch(node)
    axes.text(*place, words, color=ink, ha="center", va="center", fontsize=7, zorder=4, linespacing=1.25)
    return node


def _lines(axes: Any, history: Sequence[Snapshot], me: int) -> None:
    """Trust in each player over all moments; a dead player's line ends where it last lived, marked."""
    colours = cycle((plots.BLUE, plots.ORANGE, plots.GREEN, plots.PURPLE, plots.SKY, plots.VERMILION, plots.BLACK))
    others = [seat for seat in range(len(history[0].trust)) if seat != me]
    for k, (seat, colour) in enumerate(zip(others, colours, strict=False)):
        lived = [at for at, snapshot in enumerate(history) if seat not in snapshot.dead]
        known = [history[at].trust[seat] for at in lived]
        fate = "" if len(lived) == len(history) else ", dies" if lived else ", dead before"
        thick = 1 - k / len(others)  # lines that lie on each other are seen side by side
        style = {"color": colour, "linestyle": "-" if k < 7 else "--", "linewidth": 1.2 + 2.4 * thick}
        axes.plot(
            lived, known, marker=_ALIVE[k % len(_ALIVE)], markersize=4 + 4 * thick, label=name(seat) + fate, **style
        )
        if lived and len(lived) < len(history):
            axes.plot(lived[-1], known[-1], _DEATH, color=colour, markeredgecolor="black", markersize=12, zorder=4)
    axes.plot([], [], _DEATH, color="0.8", markeredgecolor="black", markersize=10, label="the last moment of a life")
    axes.axhline(0, color=plots.REFERENCE, linewidth=0.8)
    first = {snapshot.turn: at for at, snapshot in reversed(list(enumerate(history)))}
    axes.set_xticks(sorted(first.values()), [f"day {turn}" for turn in sorted(first)])
    axes.set(xlim=(-0.3, len(history) - 0.7), ylim=(-1.08, 1.08))
    plots.label(axes, "moments at which the observer took stock, by day", "trust (-1 to +1)")
    plots.key(axes)


def _keys(figure: Any, panels: list[Any]) -> None:
    """Scale of trust, and what arrows and rims mean."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.lines import Line2D

    colours, scale = _colours()
    bar = figure.colorbar(
        ScalarMappable(scale, colours),
        ax=panels,
        orientation="horizontal",
        fraction=0.035,
        pad=0.02,
        aspect=60,
        shrink=0.6,
    )
    bar.set_label("trust: adversary (-1) to ally (+1)", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    arrows = [
        Line2D([], [], color=colour, linewidth=_WIDEST * 0.6, label=f"{what} (wide: strong)")
        for colour, what in ((_SUPPORT, "supports"), (_ATTACK, "attacks or deceives"))
    ]
    rims = [
        Line2D(
            [],
            [],
            marker="o",
            markersize=11,
            linestyle="",
            markerfacecolor="white",
            markeredgecolor=_RIM,
            markeredgewidth=width,
            label=what,
        )
        for width, what in ((3.0, "observer"), (1.0, "inferred"))
    ]
    known = Line2D([], [], color=_RIM, linewidth=3.0, linestyle="--", label="dashed rim: known for certain")
    dead = Line2D([], [], color=_FADED, linewidth=1.0, linestyle=":", label="grey, dotted: dead, and edges of the dead")
    plots.key(figure, [*arrows, *rims, known, dead])
