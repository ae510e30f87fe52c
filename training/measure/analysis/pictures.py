"""Pictures of an analysis: beliefs over a game; right votes and guesses of recorded players beside the heuristic's.

They need matplotlib, of the extra `train`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.belief import ONLOOKER
from parlour.envs.avalon.vocabulary import FAILS
from parlour.training.measure.analysis.beliefs import BeliefLine
from parlour.training.measure.analysis.compare import ComparedGuesses, ComparedVotes
from parlour.training.measure.analysis.games import NOT_TOLD, AnalysedGame
from parlour.training.measure.statistics import Estimate
from parlour.training.results import plots

_DPI: Final = 100
_EVIL: Final = (plots.VERMILION, plots.ORANGE, plots.PURPLE, "#8C510A")
_GOOD: Final = (plots.BLUE, plots.SKY, plots.GREEN, plots.BLACK, "#5C6BC0", "#4D7F8F")
"""Warm and whole lines for the evil seats, cold and dashed ones for the good."""
_THEIRS: Final = plots.ORANGE
_OURS: Final = plots.PLAYERS["heuristic"]


def beliefs(game: AnalysedGame, lines: Sequence[BeliefLine], path: Path) -> None:
    """A panel for each onlooker's line, how evil each seat looks; below, how sure the good seats are of the true evil side."""
    looking = [line for line in lines if line.viewer == ONLOOKER]
    with plots.picture(
        path,
        10,
        2.8 * (len(looking) + 1),
        title=f"Beliefs over the game {game.name}",
        who=f"Exact inference by habits; played by {_players(game)}",
        n=f"n = 1 game, {game.seats} seats, {len(game.log)} events",
        dpi=_DPI,
    ) as made:
        panels = made.subplots(len(looking) + 1, 1, squeeze=False)[:, 0]
        for axes, line in zip(panels, looking, strict=False):
            for seat in range(game.seats):
                axes.plot(_at(line), [point.evil[seat] for point in line.points], **_style(game, seat))
            evidence = "deeds and words" if line.words else "deeds"
            _finish(axes, game, line, "probability of evil", f"What an onlooker could believe, by {evidence}")
        words = any(line.words for line in lines)
        of_seats = [line for line in lines if line.viewer != ONLOOKER and line.words == words]
        for line in (of_seat for of_seat in of_seats if of_seat.viewer not in game.evil):
            panels[-1].plot(_at(line), [point.truth for point in line.points], **_style(game, line.viewer))
        _finish(panels[-1], game, looking[-1], "probability", "How likely each good seat could hold the true evil side")
        plots.key(made)


def _players(game: AnalysedGame) -> str:
    """Who sat at the table, each name once."""
    named = game.transcript.header.get("players")
    known = list(named.values()) if isinstance(named, Mapping) else []
    return ", ".join(dict.fromkeys(map(str, known))) or game.noted("model").replace(NOT_TOLD, "recorded players")


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
            axes.text(point.event, 1.03, named, fontsize=7, ha="right", va="bottom")
    axes.set_ylim(-0.03, 1.13)
    axes.set_xlim(-1, len(game.log))
    plots.label(axes, "event", y, title)


# -- a folder ------------------------------------------------------------------------------------------------------


def votes(rows: Sequence[ComparedVotes], theirs: str, path: Path) -> None:
    """Shares of right votes by group, theirs and ours, with intervals."""
    named = [(f"{_group(row.by, row.group)}\n{row.votes} votes", row.theirs, row.ours) for row in rows]
    counted = f"n = {plots.range_of([row.votes for row in rows])} votes a row"
    _pairs(named, theirs, ("Right votes of good seats", counted, "right votes of good seats, %"), path, {})


def guesses(rows: Sequence[ComparedGuesses], theirs: str, path: Path) -> None:
    """Shares of right guesses by group, theirs and ours, with intervals, and that of naming a good seat at random."""
    named = [(f"{_group(row.by, row.group)}\n{row.theirs.n} guesses", row.theirs, row.ours) for row in rows]
    chance = {number: row.chance / row.theirs.n for number, row in enumerate(rows)}
    counted = f"n = {plots.range_of([row.theirs.n for row in rows])} guesses a row"
    _pairs(named, theirs, ("Guesses at Merlin", counted, "guesses that named Merlin, %"), path, chance)


def _group(by: str, group: str) -> str:
    if by == group:
        return group
    return {"memory": f"{group} memory", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")


def _pairs(
    rows: Sequence[tuple[str, Estimate, Estimate]],
    theirs: str,
    words: tuple[str, str, str],
    path: Path,
    chance: Mapping[int, float],
) -> None:
    title, counted, x = words
    with plots.picture(
        path,
        8,
        0.6 * len(rows) + 1.4,
        title=f"{title}: {theirs}, and the heuristic at the same Views",
        who=f"{theirs}; heuristic; bars: {plots.INTERVAL}s",
        n=counted,
    ) as made:
        axes = made.add_subplot()
        for number, (_, a, b) in enumerate(rows):
            height = len(rows) - number
            _dot(axes, a, height + 0.15, "o", _THEIRS, theirs)
            _dot(axes, b, height - 0.15, "s", _OURS, "heuristic, same Views")
            if number in chance:
                at, ends = 100 * chance[number], [height - 0.3, height + 0.3]
                axes.plot([at, at], ends, color=plots.BLACK, linestyle=":", label="a good seat at random")
        axes.set_yticks(range(len(rows), 0, -1), [name for name, _, _ in rows])
        axes.set_xlim(-2, 102)
        plots.label(axes, x, grid="x")
        plots.key(made)


def _dot(axes: Any, estimate: Estimate, height: float, mark: str, colour: str, label: str) -> None:
    mean = estimate.value
    ends = tuple(None if end is None else 100 * end for end in (estimate.low, estimate.high))
    plots.points(axes, [height], [(100 * mean, ends[0], ends[1])], across=True, fmt=mark, color=colour, label=label)
