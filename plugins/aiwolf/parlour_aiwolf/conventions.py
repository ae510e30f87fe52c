"""Conventions at AIWolf's tables: claims by day, those that the village knows to be false, and reports of results.

The measures are those of `parlour.training.measure.conventions`, without misleading claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from parlour.envs.core import NATURE, Move
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, DEFEND, REPORT
from parlour.envs.werewolf.vocabulary import CHECKED, SEER, VILLAGE, WEREWOLF, WOLVES, WerewolfView

from parlour_aiwolf.vocabulary import IDENTIFIED, TALK_ACTS

Results = set[tuple[int, ...]]
_RESULTS: Final = (CHECKED, IDENTIFIED)
"""What a seer, and a medium, may report."""


def in_aiwolf(views: Sequence[WerewolfView], seat: int) -> Iterator[tuple[str, str, int]]:
    """What a seat said in a game, by the last View of every seat: measures, of its side or role, and values."""
    for measure, value in _counts(views, views[seat]):
        yield measure, views[seat].side, value
        yield measure, f"role: {views[seat].role}", value


def _counts(views: Sequence[WerewolfView], view: WerewolfView) -> Iterator[tuple[str, int]]:
    results, reported = Results(), Results()
    claims = reports = first = 0
    for event in view.events:
        move = event.move
        if event.seat == NATURE and move.kind in _RESULTS:
            results.add(move.args)
        elif event.seat == view.seat and event.to is None and move.kind in TALK_ACTS:
            claims += 1
            yield "false claims", _is_false(move, view, views)
            if view.side == VILLAGE:
                yield "claims known to be false", _known_false(move, view, results)
            if move.kind == REPORT:
                reports += 1
                first += move.args in results - reported
                reported.add(move.args)
                yield "reports of no check", move.args not in results
    yield "claims a game", claims
    yield "reports a game", reports
    if view.role == SEER:
        yield "first true reports a game", first
        yield "repeated or false reports a game", reports - first


def _is_false(move: Move, view: WerewolfView, views: Sequence[WerewolfView]) -> bool:
    """Whether the deal contradicts a claim. To a report a possessed is no werewolf."""
    kind, args, _ = move
    if kind == CLAIM_ROLE:
        return view.role_names[args[0]] != view.role
    if kind == REPORT:
        return (args[1] == 1) != (views[args[0]].role == WEREWOLF)
    return (kind == ACCUSE) != (views[args[0]].side == WOLVES)


def _known_false(move: Move, view: WerewolfView, results: Results) -> bool:
    kind, args, _ = move
    if kind == CLAIM_ROLE:
        return view.role_names[args[0]] != view.role
    if kind == REPORT:
        return args not in results
    return (args[0], int(kind == DEFEND)) in results
