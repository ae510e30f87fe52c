"""The files of an analysis: decisions as CSV, the figures of the folder as plain values for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from parlour.envs.common.plain import plain
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.report.result_table import ResultTable

from parlour_people.analysis.compare import (
    DecidedGame,
    compared_guesses,
    compared_votes,
    surprises,
    wrong_guesses,
)
from parlour_people.analysis.decisions import Decision

DECISIONS: Final = (
    *("game", "players", "reasoning_effort", "memory", "move", "seat", "role", "side", "kind", "quest", "proposal"),
    *("did", "heuristic", "team", "clean", "thought_clean", "bits", "choices", "right", "heuristic_right"),
)
"""Columns of `decisions.csv`; quests and proposals count from 1, seats from 0."""


def decisions_table(games: Sequence[tuple[AnalysedGame, Sequence[Decision]]]) -> ResultTable:
    """All decisions of all games, a row each."""
    rows = (_decision(game, decision) for game, decisions in games for decision in decisions)
    return ResultTable.plain("Decisions", DECISIONS, rows, file="decisions.csv")


def _decision(game: AnalysedGame, decision: Decision) -> tuple[Any, ...]:
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
    )


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
