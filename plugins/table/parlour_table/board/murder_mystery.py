"""The board of a murder mystery: rounds, who asks about which victim, how the votes fell."""

from __future__ import annotations

from typing import Any

from parlour.envs.murder_mystery import vocabulary as game

from parlour_table.board import EVIL, GOOD, NOW, PLAIN, Board, Mark, Track, TrackStep, public


def mystery_board(view: Any) -> Board:
    """What lies on the table."""
    marks: list[list[Mark]] = [[] for _ in view.names]
    at, asks = -1, ""
    for event in public(view):
        kind, args = event.move.kind, event.move.args
        if kind == game.ROUND:
            at, asks = args[0], ""
        elif kind == game.TURN:
            asks = f"{view.names[args[0]]} asks about the death of {view.victims[args[1]]}"
            marks = [[Mark("asks", NOW)] if seat == args[0] else [] for seat in range(len(view.names))]
        elif kind == game.VOTES:
            for seat, count in enumerate(args[1:]):
                if count:
                    marks[seat].append(
                        Mark(
                            "1 vote" if count == 1 else f"{count} votes",
                            EVIL,
                            f"for the murder of {view.victims[args[0]]}",
                        )
                    )
        elif kind == game.VERDICT and args[1] >= 0:
            marks[args[1]].append(Mark("found", GOOD if args[2] == game.Verdict.SOLVED else PLAIN))
    phase = "Introductions" if at < 0 else "The vote" if at == view.rounds else f"Round {at + 1} of {view.rounds}"
    steps = [*(str(number + 1) for number in range(view.rounds)), "vote"]
    places = (
        TrackStep(step, "", NOW if number == at else GOOD if number < at else PLAIN)
        for number, step in enumerate(steps)
    )
    title = ": ".join(filter(None, (phase, asks)))
    return Board(tuple(map(tuple, marks)), title, (Track("Rounds", tuple(places)),))
