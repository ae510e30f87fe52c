#!/usr/bin/env python3
"""Draws docs/pictures/strength.png from the cards, and conventions.png from docs/lab/data/strangers-among-held-out.csv.

Usage: scripts/make_pictures.py; look at both afterwards.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any, Final

from parlour.policies.experts.catalogue import DATA, ExpertCard, cards
from parlour.training.report import plots

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
ARMS: Final = DOCS / "lab" / "data" / "strangers-among-held-out.csv"
MEAN: Final = "mean of the six families"
COLOURS: Final = {"avalon_v0": plots.BLUE, "werewolf_v0": plots.ORANGE}
LEFT: Final = ("avalon-6-official", "avalon-7-official", "werewolf-8-paper", "werewolf-9-paper")
"""Their names are to the left of their points."""


def strength() -> None:
    """A point for each `expert` with both figures: that among strangers over what best responses gain."""
    measured = (card for card in cards(DATA) if card.among_strangers is not None and card.exploits)
    known = [card for card in measured if card.game in COLOURS and not card.style]
    title = "The networks among strangers, and what best responses gain"
    n = "n = 2,000 held-out deals a network; 95 % intervals"
    with plots.picture(
        DOCS / "pictures" / "strength.png", 10, 4.7, title=title, who="No language model played", n=n
    ) as made:
        axes = made.subplots()
        for card in known:
            _point(axes, card)
        axes.set(xlim=(0, 100), ylim=(0, None))
        plots.label(
            axes, "sum of what best responses gain on both sides, in points; less is better", "points among strangers"
        )


def _point(axes: Any, card: ExpertCard) -> None:
    gained, points = sum(exploit.gain.mean for exploit in card.exploits), card.among_strangers
    assert points is not None
    plots.points(axes, [gained], [(points.mean, points.low, points.high)], color=COLOURS[card.game])
    _name(axes, card.name, gained, points.mean, left=card.name in LEFT)


def _name(axes: Any, text: str, x: float, y: float, *, left: bool = False) -> None:
    shift, side = (-8, "right") if left else (8, "left")
    axes.annotate(
        text,
        (x, y),
        (shift, -12 if text == "werewolf-9-paper" else 5),
        textcoords="offset points",
        ha=side,
        fontsize=9,
    )


def conventions() -> None:
    """A point for each player of Avalon at DeepRole's table: points over the heuristic, over Merlin's approvals of bad teams."""
    with ARMS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["among"] == MEAN]
    arms = list(dict.fromkeys(map(_arm, rows)))
    title = "Approvals of teams with an evil seat, and points among strangers"
    who = "Avalon, DeepRole's table, one seat among six families, which the last two met while learning; no language model played"
    n = "n = 2,000 held-out deals a family; 95 % intervals"
    with plots.picture(DOCS / "pictures" / "conventions.png", 10, 4.2, title=title, who=who, n=n) as made:
        left, right = made.subplots(1, 2, sharey=True)
        for row in rows:
            k = arms.index(_arm(row))
            how = {
                "color": plots.BLUE if arms[k] == "expert" else (plots.REFERENCE, *plots.OTHERS)[k],
                "fmt": plots.MARKERS[k % 7],
                "label": arms[k],
            }
            points = _estimated(row["points over the heuristic in the seat"])
            plots.points(left, [100 * float(row["Merlin approves bad teams"])], [points], **how)
            plots.points(right, [100 * float(row["Servant on bad teams approves"])], [points], **how)
        for axes in (left, right):
            axes.set_xlim(0, 80)
        plots.label(left, "Merlin approves them, in %", "points over the heuristic")
        plots.label(right, "a Loyal Servant on them approves them, in %")
        plots.key(made)


def _arm(row: dict[str, str]) -> str:
    """Its name without the seed: seeds have one colour."""
    return row["arm"].replace("`", "").partition(", seed")[0]


def _estimated(text: str) -> plots.Estimated:
    """Mean, low and high of `+6.2 [+5.1, +7.2]`; 0 for the heuristic itself."""
    mean, low, high = map(float, re.findall(r"[-+]\d+\.\d", text)) if text else (0.0, 0.0, 0.0)
    return mean, low, high


if __name__ == "__main__":
    strength()
    conventions()
