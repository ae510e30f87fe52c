"""The files of an analysis: decisions and beliefs as CSV, the figures of the folder as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.belief import ONLOOKER
from parlour.envs.english import name
from parlour.training.measure.analysis.beliefs import BeliefLine
from parlour.training.measure.analysis.compare import (
    DecidedGame,
    compared_guesses,
    compared_votes,
    surprises,
    wrong_guesses,
)
from parlour.training.measure.analysis.decisions import Decision
from parlour.training.measure.analysis.games import AnalysedGame
from parlour.training.measure.analysis.values import DecisionValue
from parlour.training.measure.statistics import plain
from parlour.training.results.runs import write_csv

DECISIONS: Final = (
    *("game", "players", "reasoning_effort", "memory", "move", "seat", "role", "side", "kind", "quest", "proposal"),
    *("did", "heuristic", "team", "clean", "thought_clean", "bits", "choices", "right", "heuristic_right"),
    *("value", "best", "best_move", "lost", "error"),
)
"""Columns of `decisions.csv`; quests and proposals count from 1, seats from 0."""
_BELIEFS: Final = ("viewer", "words", "event", "by", "kind", "args", "true_side")


def write_decisions(
    path: Path, games: Sequence[tuple[AnalysedGame, Sequence[Decision], Mapping[int, DecisionValue]]]
) -> None:
    """All decisions of all games, a row each."""
    rows = [
        _decision(game, decision, values.get(decision.number))
        for game, decisions, values in games
        for decision in decisions
    ]
    write_csv(path, DECISIONS, rows)


def _decision(game: AnalysedGame, decision: Decision, value: DecisionValue | None) -> tuple[Any, ...]:
    valued: tuple[Any, ...] = (None,) * 5
    if value is not None:
        best = f"{value.best_move.kind} {_numbers(value.best_move.args)}"
        valued = (_short(value.value), _short(value.best), best, _short(value.loss), _short(value.error))
    return (
        *(game.name, game.seats, game.noted("reasoning_effort"), game.noted("memory"), decision.number, decision.seat),
        *(decision.role, decision.side, decision.kind, decision.quest + 1, decision.proposal),
        *(
            _did(decision.move.kind, decision.move.args),
            _did(decision.ours.kind, decision.ours.args),
            _numbers(decision.team),
        ),
        _flag(not game.evil.intersection(decision.team)) if decision.team else None,
        *(
            _short(decision.clean),
            _short(decision.bits),
            decision.choices,
            _flag(decision.right),
            _flag(decision.ours_right),
        ),
        *valued,
    )


def write_beliefs(path: Path, lines: Sequence[BeliefLine]) -> None:
    """The beliefs of all viewers of a game after each event, a row each; the row before the first has event -1."""
    seats = len(lines[0].points[0].evil)
    heading = (*_BELIEFS, *(f"evil_{j}" for j in range(seats)), *(f"merlin_{j}" for j in range(seats)))
    write_csv(path, heading, list(_points(lines)))


def _points(lines: Sequence[BeliefLine]) -> Iterator[tuple[Any, ...]]:
    for line in lines:
        viewer = "onlooker" if line.viewer == ONLOOKER else name(line.viewer)
        for point in line.points:
            fields = (viewer, _flag(line.words), point.event, point.by, point.kind, _numbers(point.args))
            yield (*fields, _short(point.truth), *map(_short, point.evil), *map(_short, point.merlin))


def figures(games: Sequence[DecidedGame]) -> dict[str, Any]:
    """The comparison of a folder as plain values."""
    return {
        "votes": [plain(row) for row in compared_votes(games)],
        "guesses": [plain(row) for row in compared_guesses(games)],
        "wrong_guesses": wrong_guesses(games),
        "surprise": [plain(row) for row in surprises(games)],
    }


def _did(kind: str, args: tuple[int, ...]) -> str:
    return f"{kind} {_numbers(args)}".strip()


def _numbers(args: tuple[int, ...]) -> str:
    return " ".join(map(str, args))


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _flag(value: bool | None) -> int | None:
    return None if value is None else int(value)
