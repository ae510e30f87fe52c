"""The papers' figures as pictures, from the cells of a reproduction: ours with intervals, and as open squares what a paper prints.

Lan et al. 2023 (arXiv 2310.14985), figures 2 to 6; Zhu et al. 2024 (GRATR), figures 3 and 4; Questum's figures 4 to 7.
They need matplotlib, of the extra `train`. GRACE's are in `grace_pictures`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.policies.llm.model import Model
from parlour.training.measure.murder_mystery import scores
from parlour.training.papers.cells import Reproduction, TableCell
from parlour.training.papers.questum_games import OVERALL
from parlour.training.report import plots
from parlour.training.report.report import Picture

_VERSUS: Final = " v. "
_ROW: Final = 0.42
"""Height of a line of a panel, in inches."""
_PAPER: Final = "the paper, in the player's colour"
_WORDS: Final = {
    "LAR": "leader approval rate (LAR)",
    "QER": "quest engagement rate (QER)",
    "FVR": "failure vote rate (FVR)",
}
_APART: Final = 0.1
"""Between marks at the same place of an axis."""
_ROUND: Final = re.compile(r"teamwork in round (\d+)")
_SENSORS: Final = re.compile(r"(\d+) sensors, \d+ choices")
_QUESTIONS: Final = re.compile(r"(\d+) rounds, (\d+) questions")
_ASKED: Final = "questions to the model"


def picture_of(made: Reproduction, games: str, model: Model) -> Picture | None:
    """The picture of a figure; None for a table that is no figure. `games`: what was played, for the caption."""
    if made.name not in FIGURES:
        return None
    draw = partial(FIGURES[made.name], made, who=f"{games}; {plots.answered_by(model)}")
    return Picture(draw, made.title, f"{made.name}.png")


# -- marks in lines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Panel:
    title: str
    unit: str
    rows: Sequence[str]
    cells: Mapping[str, Sequence[TableCell]]
    """Player -> its cells."""
    row_of: Callable[[TableCell], str]


def _by_measure(reproduction: Reproduction, path: Path, who: str) -> None:
    """A panel for each measure, a line for each role, a mark for each player."""
    players = list(dict.fromkeys(cell.row for cell in reproduction.cells))
    panels = []
    for measure in dict.fromkeys(cell.measure for cell in reproduction.cells):
        cells = [cell for cell in reproduction.cells if cell.measure == measure]
        of = {player: [cell for cell in cells if cell.row == player] for player in players}
        panels.append(_Panel(_WORDS.get(measure, measure), _unit(cells), _names(cells), of, lambda cell: cell.of))
    _marks(reproduction, panels, players, path, (who, "occasions a mark"))


def _by_opponent(reproduction: Reproduction, path: Path, who: str) -> None:
    """A panel for each opponent, a line for each role, a mark for each of the two methods."""
    pairs = dict.fromkeys(frozenset(cell.row.split(_VERSUS)) for cell in reproduction.cells)
    players = list(dict.fromkeys(cell.row.split(_VERSUS)[0] for cell in reproduction.cells))
    panels = []
    for pair in pairs:
        cells = [cell for cell in reproduction.cells if frozenset(cell.row.split(_VERSUS)) == pair]
        names = [name for name in players if name in pair]
        of = {name: [cell for cell in cells if cell.row.split(_VERSUS)[0] == name] for name in names}
        panels.append(_Panel(_VERSUS.join(names), _unit(cells), _names(cells), of, lambda cell: cell.of))
    _marks(reproduction, panels, players, path, (who, "deals a mark"))


def _names(cells: Iterable[TableCell]) -> list[str]:
    return list(dict.fromkeys(cell.of for cell in cells))


def _marks(
    reproduction: Reproduction, panels: Sequence[_Panel], players: Sequence[str], path: Path, caption: tuple[str, str]
) -> None:
    """All panels on one scale where they stand side by side; `caption` is who played, and what a mark counts."""
    rows = max(len(panel.rows) for panel in panels)
    each = rows <= 8  # the lines of a panel are named in each panel, or at the left alone
    columns = min(len(panels), 4)
    lines = -(-len(panels) // columns)
    size = (max((3.6 if each else 3.0) * columns + 1.2, 7), (_ROW * rows + 1.2) * lines)
    who, n = f"{caption[0]}; players: {', '.join(players)}", _n(reproduction.cells, caption[1])
    with _picture(reproduction, path, size, who, n) as made:
        shown = made.subplots(lines, columns, squeeze=False, sharex=lines == 1).ravel()
        for axes, panel in zip(shown, panels, strict=False):
            _panel(axes, panel, players)
        for axes in shown[len(panels) :]:
            axes.axis("off")
        plots.key(made)


def _picture(
    reproduction: Reproduction, path: Path, size: tuple[float, float], who: str, n: str
) -> AbstractContextManager[Any]:
    return plots.picture(path, *size, title=f"{reproduction.name}: {reproduction.title}", who=who, n=n)


def _panel(axes: Any, panel: _Panel, players: Sequence[str]) -> None:
    colours, here = plots.colours(players), list(panel.cells)
    for k, player in enumerate(here):
        shift = 0.3 * ((len(here) - 1) / 2 - k)
        style = {"color": colours[player], "fmt": plots.MARKERS[players.index(player) % len(plots.MARKERS)]}
        for cell in panel.cells[player]:
            height = len(panel.rows) - panel.rows.index(panel.row_of(cell)) + shift
            if cell.drawn is not None:
                label = f"{player}, {plots.INTERVAL}"
                plots.points(axes, [height], [cell.drawn], across=True, label=label, **style)
            if cell.paper is not None:
                _printed(axes, [cell.paper], [height], style["color"])
    axes.set_yticks(range(len(panel.rows), 0, -1), [plots.broken(name) for name in panel.rows])
    axes.set_ylim(0.4, len(panel.rows) + 0.6)
    if panel.unit == "%":
        axes.set_xlim(-3, 103)
    plots.label(axes, panel.unit, "", panel.title, grid="x")


def _printed(axes: Any, x: Sequence[float], y: Sequence[float], colour: str) -> None:
    """What the paper prints: open squares, named once in the key, in no player's colour."""
    axes.plot(x, y, "s", color=colour, fillstyle="none", markersize=8)
    axes.plot([], [], "s", color=plots.BLACK, fillstyle="none", markersize=8, label=_PAPER)


def _unit(cells: Iterable[TableCell], other: str = "points, mean over deals") -> str:
    return "%" if all(cell.ours is None or cell.share for cell in cells) else other


def _n(cells: Iterable[TableCell], where: str) -> str:
    figures = [cell.ours for cell in cells]
    text = f"n = {plots.range_of([figure.n for figure in figures if figure is not None])} {where}"
    return text if all(figures) else f"{text}; no mark: nothing to count"


# -- lines -------------------------------------------------------------------------------------------------------


def _vacillation(reproduction: Reproduction, path: Path, who: str) -> None:
    """What is shared in round 1, and teamwork from round to round: a panel for each role towards another."""
    players = list(dict.fromkeys(cell.row for cell in reproduction.cells))
    shared = [cell for cell in reproduction.cells if not _ROUND.fullmatch(cell.measure)]
    towards = dict.fromkeys(cell.of for cell in reproduction.cells if _ROUND.fullmatch(cell.measure))
    columns = 3
    lines = -(-(1 + len(towards)) // columns)
    who, n = f"{who}; players: {', '.join(players)}", _n(reproduction.cells, "occasions a mark")
    with _picture(reproduction, path, (11, 3.0 * lines), who, n) as made:
        panels = made.subplots(lines, columns, squeeze=False).ravel()
        of = {player: [cell for cell in shared if cell.row == player] for player in players}
        _panel(panels[0], _Panel("shared in round 1", "%", _names(shared), of, lambda cell: cell.of), players)
        for axes, other in zip(panels[1:], towards, strict=False):
            _rounds_of(axes, [cell for cell in reproduction.cells if cell.of == other], players)
            plots.label(axes, "round", "teamwork, %", other)
        for axes in panels[1 + len(towards) :]:
            axes.axis("off")
        plots.key(made)


def _rounds_of(axes: Any, cells: Sequence[TableCell], players: Sequence[str]) -> None:
    colours = plots.colours(players)
    for k, player in enumerate(players):
        points = [
            (int(match[1]), cell.drawn)
            for cell in cells
            if cell.row == player and cell.drawn is not None and (match := _ROUND.fullmatch(cell.measure))
        ]
        if points:
            at = [number + 0.08 * (k - (len(players) - 1) / 2) for number, _ in points]
            style: dict[str, Any] = {
                "color": colours[player],
                "fmt": f"{plots.MARKERS[k]}-",
                "label": f"{player}, {plots.INTERVAL}",
            }
            plots.points(axes, at, [drawn for _, drawn in points], **style)
    axes.set(xlim=(0.5, 5.5), ylim=(-3, 103))
    plots.whole(axes.xaxis)


def _sensors(reproduction: Reproduction, path: Path, who: str) -> None:
    """By number of sensors: the mean score over all choices of so many, from the lowest to the highest, and questions."""
    cells = [(int(match[1]), cell) for cell in reproduction.cells if (match := _SENSORS.fullmatch(cell.of))]
    n = _n([cell for _, cell in cells if cell.row == "mean"], "cases a mark")
    with _picture(reproduction, path, (10, 4), f"{who}; Questum with every choice of so many sensors", n) as made:
        left, right = made.subplots(1, 2)
        scores = [(size, cell) for size, cell in cells if cell.measure != _ASKED]
        low, high = (
            {k: cell.drawn[0] for k, cell in scores if cell.row == row and cell.drawn} for row in ("lowest", "highest")
        )
        left.vlines(
            [*low], [*low.values()], [*high.values()], color="0.8", linewidth=9, label="lowest to highest choice"
        )
        _line(left, [(k, cell) for k, cell in scores if cell.row == "mean"], "mean of the choices", 0)
        plots.label(left, "sensors", "right answers, %", "score over all questions of the quiz")
        _line(right, [(k, cell) for k, cell in cells if cell.measure == _ASKED], "mean of the choices", 0)
        plots.label(right, "sensors", "questions a game", _ASKED)
        for axes in (left, right):
            plots.whole(axes.xaxis)
        plots.key(made)


def _rounds(reproduction: Reproduction, path: Path, who: str) -> None:
    """By number of rounds, a line for each number of questions: win rate, score and questions to the model."""
    cells = [(match, cell) for cell in reproduction.cells if (match := _QUESTIONS.fullmatch(cell.row))]
    measures = list(dict.fromkeys(cell.measure for _, cell in cells))
    n = _n([cell for _, cell in cells], "a mark")
    with _picture(reproduction, path, (4.4 * len(measures), 4), f"{who}; Questum", n) as made:
        for axes, measure in zip(made.subplots(1, len(measures), squeeze=False)[0], measures, strict=True):
            for k, number in enumerate(sorted({match[2] for match, _ in cells})):
                of = [
                    (int(match[1]), cell)
                    for match, cell in cells
                    if match[2] == number and cell.measure == measure and cell.of.lower() == "overall"
                ]
                name = f"{number} question{'s' * (number != '1')} a round"
                _line(axes, sorted(of, key=lambda pair: pair[0]), name, k, _APART * (k - 1))
            unit = _unit((cell for _, cell in cells if cell.measure == measure), "number")
            plots.label(axes, "rounds", f"{measure}, {unit}", measure)
            plots.whole(axes.xaxis)
        plots.key(made)


def _line(axes: Any, cells: Sequence[tuple[int, TableCell]], name: str, k: int, shift: float = 0.0) -> None:
    colour = (plots.OWN, *plots.OTHERS)[k]
    drawn = [(at + shift, cell.drawn) for at, cell in cells if cell.drawn is not None]
    style: dict[str, Any] = {"color": colour, "fmt": f"{plots.MARKERS[k]}-", "label": f"{name}, {plots.INTERVAL}"}
    plots.points(axes, [at for at, _ in drawn], [estimate for _, estimate in drawn], **style)
    papers = [(at, cell.paper) for at, cell in cells if cell.paper is not None]
    if papers:
        _printed(axes, [at for at, _ in papers], [paper for _, paper in papers], colour)


def _quiz(reproduction: Reproduction, path: Path, who: str) -> None:
    """Points of each method in the quiz, with their intervals."""
    shown = [
        (cell.row, cell.ours) for cell in reproduction.cells if (cell.of, cell.measure) == (OVERALL, scores.OVERALL)
    ]
    rows = [(row, ours.with_ends) for row, ours in reversed(shown) if ours]
    with plots.picture(
        path,
        7.5,
        1.0 + _ROW * len(rows),
        title="Murder mysteries: share of the points in the quiz",
        who=f"{who}; bars: 95 % intervals",
        n=f"n = {shown[0][1].n if shown and shown[0][1] else 0} cases, each played by every method",
    ) as made:
        axes = made.add_subplot()
        plots.points(axes, range(len(rows)), [estimated for _, estimated in rows], across=True)
        axes.set_yticks(range(len(rows)), [row for row, _ in rows])
        axes.set(xlim=(0, 1.02), ylim=(-0.5, len(rows) - 0.5))
        plots.label(axes, x="share of the points", grid="x")


FIGURES: Final[Mapping[str, Callable[..., None]]] = {
    **dict.fromkeys([f"avalon-fig{number}" for number in (2, 3, 4, 5, 11, 12)], _by_measure),
    "avalon-fig6": _vacillation,
    **dict.fromkeys(("gratr-fig3", "gratr-fig4"), _by_opponent),
    **dict.fromkeys(("questum-fig4", "questum-fig5"), _by_measure),
    "questum-sensors": _sensors,
    **dict.fromkeys(("questum-rounds", "player-fig3"), _rounds),
    "compare": _quiz,
}
"""Name of a figure -> its picture: cells, file, and who played."""
