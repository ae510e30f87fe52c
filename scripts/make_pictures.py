#!/usr/bin/env python3
"""Draws docs/pictures from the tables of the pages that show them, so that picture and table have the same numbers.

Run it from anywhere; needs the extra `train`. Each picture is on the page of its name in docs/explanation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlour.training.results.plots import (
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    REFERENCE,
    Estimated,
    colours,
    key,
    label,
    picture,
    points,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
FOLDER = DOCS / "pictures"
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
_OFFLINE = "No language model played"
_RECORDED = {"who": "94 games of GPT-5.1 at Avalon", "n": "five folds"}
_COLOURS = (BLUE, ORANGE, GREEN, REFERENCE)
_NEXT = (25.0, 1.5)
"""How far to the right, and above or below, a point lies so that a name goes to the left of its own."""


def main() -> None:
    """Draw every picture; files that stay equal byte for byte are rewritten all the same."""
    FOLDER.mkdir(exist_ok=True)
    for draw in (strength, selfplay, dials, questum, arena, clones, records_study, mediators):
        draw()


# -- tables --------------------------------------------------------------------------------------------------------


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table on a page whose first heading starts with `heading`, without marks of code.

    Raises:
        LookupError: There is no such table on the page.
    """
    lines = (DOCS / "explanation" / f"{page}.md").read_text("utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith(f"| {heading}")]
    if not starts:
        raise LookupError(f"{page}.md: no table starts with {heading!r}")
    cells = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return cells


def estimated(cell: str) -> Estimated:
    """A cell such as `+1.5 [+1.0, +2.0]` as a value with both ends of its interval.

    >>> estimated("86.2 % [84.6, 87.8]"), estimated("0.5")
    ((86.2, 84.6, 87.8), (0.5, None, None))
    """
    numbers = [float(number.replace(",", "")) for number in _NUMBER.findall(re.sub(r", (?=[+-]?\d)", " ", cell))]
    return (numbers[0], numbers[1], numbers[2]) if len(numbers) > 2 else (numbers[0], None, None)


# -- kinds of pictures -----------------------------------------------------------------------------------------------


def _beside(axes: Any, names: Sequence[str], groups: Mapping[str, Sequence[Estimated]], x: str) -> None:
    """Points with intervals along the x axis: a line for each name, and the groups one below the other in it."""
    step = 0.6 / len(groups)
    for number, (group, values) in enumerate(groups.items()):
        at = [-row - step * (number - (len(groups) - 1) / 2) for row in range(len(names))]
        points(axes, at, values, across=True, color=_COLOURS[number], label=group, fmt=MARKERS[number])
    axes.set_yticks([-row for row in range(len(names))], names)
    axes.axvline(0, color="0.6", linewidth=0.8)
    label(axes, x, grid="x")


def _chart(
    name: str, size: tuple[float, float], words: Mapping[str, str], names: Sequence[str], groups: Any, x: str
) -> None:
    """A picture of one panel, as `_beside` draws it; `words` are the title, who played and how much was counted."""
    with picture(FOLDER / f"{name}.png", *size, **words) as made:
        _beside(made.subplots(), names, groups, x)
        key(made)


def _groups(table: Sequence[Sequence[str]], columns: Mapping[str, int]) -> dict[str, list[Estimated]]:
    return {name: [estimated(row[column]) for row in table] for name, column in columns.items()}


# -- the pictures ------------------------------------------------------------------------------------------------------


def strength() -> None:
    """The networks: strength among strangers against what best responses gain."""
    table = rows("strength", "table")
    title = "The networks among strangers, and what best responses gain"
    n = "n = 2,000 held-out deals a network; 95 % intervals"
    with picture(FOLDER / "strength.png", 10, 4.6, title=title, who=_OFFLINE, n=n) as made:
        axes = made.subplots()
        at = [(sum(estimated(gain)[0] for gain in gains), estimated(among)[0]) for _, _, among, *gains in table]
        for (name, _, among, *_), (gained, value) in zip(table, at, strict=True):
            _, low, high = estimated(among)
            assert low is not None
            assert high is not None
            color = _COLOURS[0] if name.startswith("Avalon") else _COLOURS[1]
            axes.errorbar([gained], [value], yerr=[[value - low], [high - value]], fmt=MARKERS[0], color=color)
            beside = any(0 < x - gained < _NEXT[0] and abs(y - value) < _NEXT[1] for x, y in at)
            offset, side = ((-8, 4), "right") if beside else ((8, 4), "left")
            axes.annotate(name, (gained, value), xytext=offset, textcoords="offset points", ha=side)
        axes.set_xlim(0, 100)
        axes.set_ylim(bottom=0)
        label(
            axes, "sum of what best responses gain on both sides, in points; less is better", "points among strangers"
        )


def selfplay() -> None:
    """What best responses gain against five players."""
    table = rows("selfplay", "player")
    names = ["heuristic", "expert", "trained with exploiters", "its last 12 snapshots", "imitation of those 12"]
    words = {"title": "What best responses gain (Avalon 5, no talk)", "who": _OFFLINE}
    words |= {"n": "n = 2,000 held-out deals, 4 million decisions a side"}
    groups = _groups(table, {"good gains": 1, "evil gains": 2})
    _chart("selfplay", (8, 3.3), words, names, groups, "points of 100; less is better")


def dials() -> None:
    """Trained GRATR against three methods, by noise and deceit."""
    table = rows("dials", "setting for both")
    settings = list(dict.fromkeys(row[0] for row in table))
    title = "Trained GRATR: points against three methods"
    n = "n = 400 held-out deals a point"
    with picture(FOLDER / "dials.png", 9, 2.9, title=title, who=_OFFLINE, n=n) as made:
        for axes, (name, column) in zip(
            made.subplots(1, 2, sharex=True, sharey=True), (("mixed sides", 2), ("whole sides", 3)), strict=True
        ):
            groups = {
                method: [estimated(row[column]) for row in table if row[1] == method]
                for method in dict.fromkeys(row[1] for row in table)
            }
            _beside(axes, settings, groups, "points of 100, 95 % intervals")
            axes.set_title(name)
        key(made)


def questum() -> None:
    """Murderers named by six methods, by budget."""
    table = rows("questum", "method")
    budgets = [25, 50, 100, 200, 300]
    title = "Murderers named correctly, by number of questions"
    n = "n = 500 held-out cases (250 at 200 questions)"
    names = [row[0].partition(",")[0] for row in table]
    with picture(FOLDER / "questum.png", 8, 4, title=title, who=_OFFLINE, n=n) as made:
        axes = made.subplots()
        for row, name, mark in zip(table, names, MARKERS, strict=False):
            values = [float(cell) for cell in row[1:6]]
            axes.plot(budgets, values, marker=mark, label=name, color=BLUE if name == "planner" else None)
        for line, colour in zip(axes.lines[1:], colours(names[1:]).values(), strict=True):
            line.set_color(colour)
        axes.set_ylim(0, 104)
        label(axes, "budget: questions to the model", "murderers named, %")
        key(made)


def arena() -> None:
    """Ratings of the players at one table."""
    table = rows("arena", "place")
    words = {"title": "Ratings at Avalon 5 with talk", "who": _OFFLINE, "n": "n = 60 held-out deals, 2,160 games"}
    groups = _groups(table, {"rating": 2, "as good": 3, "as evil": 4})
    x = "Elo points; 400 are odds of ten to one; 95 % intervals"
    _chart("arena", (8, 3.6), words, [row[1] for row in table], groups, x)


def clones() -> None:
    """Accuracy of the clone, the heuristic and the frequency."""
    table = rows("clones", "decision")
    names = [f"{row[0]} (n = {row[1]})" for row in table]
    words = {"title": "How often the most probable move is the recorded one", **_RECORDED}
    groups = _groups(table, {"clone": 2, "heuristic": 3, "frequency": 4})
    _chart("clones", (8, 3.6), words, names, groups, "top-1 accuracy, %")


def records_study() -> None:
    """GPT-5.1 and the heuristic at the same positions."""
    table = rows("records_study", "|")
    names = ["Merlin named, of 47 guesses", "right votes of good seats", "clean teams approved"]
    title = "GPT-5.1's decisions and those of the heuristic at the same positions"
    with picture(FOLDER / "records_study.png", 8, 2.7, title=title, **_RECORDED) as made:
        axes = made.subplots()
        shares = [[estimated(cell) for cell in row[1:4]] for row in table[:3]]
        shares[0] = [(100 * count / 47, None, None) for count, _, _ in shares[0]]
        columns = ("GPT-5.1", "heuristic, usual habits", "heuristic, learned habits")
        groups = {name: [row[at] for row in shares] for at, name in enumerate(columns)}
        _beside(axes, names, groups, "share, %")
        axes.set_xlim(0, 100)
        key(made)


def mediators() -> None:
    """Net utility of policies that see more than the state."""
    first, *table = rows("mediators", "policy")
    words = {"title": "Net utility over the table of nine states", "who": "Generated questions, simulated memory"}
    words |= {"n": "n = 3,000 held-out questions a column; 95 % intervals"}
    levels = {f"{name} (table: {first[at]})": at for at, name in enumerate(("easy", "medium", "hard"), 1)}
    names, x = [row[0] for row in table], "net utility more than the table"
    _chart("mediators", (8, 3.6), words, names, _groups(table, levels), x)


if __name__ == "__main__":
    main()
