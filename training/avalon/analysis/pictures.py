"""Pictures of an analysis: beliefs over a game; right votes and guesses of recorded players beside the heuristic's.

They need matplotlib, of the extra `train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.belief import ONLOOKER
from parlour.envs.avalon.vocabulary import FAILS
from parlour.training import plots
from parlour.training.avalon.analysis.beliefs import BeliefLine
from parlour.training.avalon.analysis.compare import ComparedGuesses, ComparedVotes
from parlour.training.avalon.analysis.games import AnalysedGame
from parlour.training.statistics import MeanEstimate, Rate

_DPI: Final = 80
_EVIL: Final = ("#c1272d", "#e0724c", "#8e1b5b", "#f0a35e")
_GOOD: Final = ("#1f4e9c", "#4a90c4", "#2a9d8f", "#7fb3d5", "#5c6bc0", "#3f7f5f")
_THEIRS: Final = "tab:orange"
_OURS: Final = "tab:blue"


def beliefs(game: AnalysedGame, lines: Sequence[BeliefLine], path: Path) -> None:
    """A panel for each onlooker's line, how evil each seat looks; below, how sure the good seats are of the true evil side."""
    looking = [line for line in lines if line.viewer == ONLOOKER]
    figure = plots.figure(10, 2.6 * (len(looking) + 1), dpi=_DPI)
    panels = figure.subplots(len(looking) + 1, 1, squeeze=False)[:, 0]
    for axes, line in zip(panels, looking, strict=False):
        for seat in range(game.seats):
            axes.plot(_at(line), [point.evil[seat] for point in line.points], **_style(game, seat))
        told = "deeds and words" if line.words else "deeds"
        _finish(axes, game, line, "probability of evil", f"What an onlooker could believe, by {told}")
    words = any(line.words for line in lines)
    for line in (one for one in lines if one.viewer != ONLOOKER and one.words == words and one.viewer not in game.evil):
        panels[-1].plot(_at(line), [point.truth for point in line.points], **_style(game, line.viewer))
    _finish(panels[-1], game, looking[-1], "probability", "How likely each good seat could hold the true evil side")
    plots.save(figure, path)


def _at(line: BeliefLine) -> list[int]:
    return [point.event for point in line.points]


def _style(game: AnalysedGame, seat: int) -> dict[str, Any]:
    evil = seat in game.evil
    colours = _EVIL if evil else _GOOD
    among = [j for j in range(game.seats) if (j in game.evil) == evil].index(seat)
    label = f"player_{seat} {game.roles[seat]}"
    return {
        "color": colours[among % len(colours)],
        "linestyle": "-" if evil else "--",
        "drawstyle": "steps-post",
        "label": label,
    }


def _finish(axes: Any, game: AnalysedGame, line: BeliefLine, y: str, title: str) -> None:
    for point in line.points:
        if point.kind == FAILS:
            quest, fails, _ = point.args
            axes.axvline(point.event, color=plots.REFERENCE, linewidth=0.8)
            named = f"quest {quest + 1}: {fails} fail{'' if fails == 1 else 's'}"
            axes.text(point.event, 1.04, named, fontsize=7, ha="right")
    axes.set_ylim(-0.03, 1.13)
    axes.set_xlim(-1, len(game.log))
    plots.label(axes, "event", y, title, small=True)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)


# -- a folder ------------------------------------------------------------------------------------------------------


def votes(rows: Sequence[ComparedVotes], theirs: str, path: Path) -> None:
    """Shares of right votes by group, theirs and ours, with intervals."""
    named = [(f"{_group(one.by, one.group)}\n{one.votes} votes", one.theirs, one.ours) for one in rows]
    _pairs(named, theirs, "right votes of good seats, %", path, {})


def guesses(rows: Sequence[ComparedGuesses], theirs: str, path: Path) -> None:
    """Shares of right guesses by group, theirs and ours, with intervals, and that of naming a good seat at random."""
    named = [(f"{_group(one.by, one.group)}\n{one.theirs.n} guesses", one.theirs, one.ours) for one in rows]
    chance = {number: one.chance / one.theirs.n for number, one in enumerate(rows)}
    _pairs(named, theirs, "guesses that named Merlin, %", path, chance)


def _group(by: str, group: str) -> str:
    if by == group:
        return group
    return {"memory": f"{group} memory", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")


def _pairs(
    rows: Sequence[tuple[str, MeanEstimate | Rate, MeanEstimate | Rate]],
    theirs: str,
    x: str,
    path: Path,
    chance: Mapping[int, float],
) -> None:
    figure = plots.figure(8, 0.55 * len(rows) + 1.4)
    axes = figure.add_subplot()
    for number, (_, a, b) in enumerate(rows):
        height = len(rows) - number
        _dot(axes, a, height + 0.13, _THEIRS, theirs if not number else None)
        _dot(axes, b, height - 0.13, _OURS, "heuristic, same Views" if not number else None)
        if number in chance:
            at = 100 * chance[number]
            label = None if number else "a good seat at random"
            axes.plot([at, at], [height - 0.3, height + 0.3], color=plots.REFERENCE, linestyle=":", label=label)
    axes.set_yticks(range(len(rows), 0, -1), [name for name, _, _ in rows], fontsize=8)
    axes.set_xlim(-2, 102)
    plots.label(axes, x, grid="x")
    figure.legend(loc="outside upper center", ncols=3, fontsize=8)
    plots.save(figure, path)


def _dot(axes: Any, found: MeanEstimate | Rate, height: float, colour: str, label: str | None) -> None:
    mean = found.rate if isinstance(found, Rate) else found.mean
    if found.low is not None and found.high is not None:
        axes.plot([100 * found.low, 100 * found.high], [height, height], color=colour, linewidth=1.5)
    axes.plot(100 * mean, height, "o", color=colour, markersize=5, label=label)
