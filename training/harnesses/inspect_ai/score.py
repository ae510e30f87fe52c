"""The scorer: the model's return, whether it won, and its faults; by side where the game has sides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspect_ai.scorer import Metric, Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState
from parlour.training.harnesses.inspect_ai.played import STORED, StoredGame


def metrics_of(sides: bool) -> dict[str, list[Metric]]:
    """The metrics of a task; standard errors count a deal once, however many seats of it were played."""
    overall = [mean(), stderr(cluster="seed")]
    by_side = [grouped(mean(), "side", all=False)] if sides else []
    return {"win": [*overall, *by_side], "reward": [*overall, *by_side], "faults": [mean()]}


@scorer(metrics=metrics_of(sides=False), name="game")
def game_score() -> Scorer:
    """How the game ended for the model: means over its seats of the return and of `return > 0`; words that were no move."""

    async def score(state: TaskState, target: Target) -> Score:
        stored = state.store.get(STORED)
        if stored is None:
            return Score.unscored(reason="scoring_failed", explanation="no game was played")
        game = StoredGame.from_json(stored)
        return Score(
            value=values_of(game),
            answer=game.winner,
            explanation=f"{game.winner} wins ({game.reason})."
            if game.winner != "draw"
            else f"Nobody wins ({game.reason}).",
            metadata={
                "side": state.metadata["side"],
                "role": state.metadata["role"],
                "seats": list(game.own),
                "returns": dict(game.returns),
                "faults": {agent: dict(counts) for agent, counts in game.faults.items()},
                "winner": game.winner,
                "reason": game.reason,
                "moves": game.moves,
                "left": game.left,
                "models": dict(game.models),
            },
        )

    return score


def values_of(game: StoredGame) -> Mapping[str, Any]:
    """The numbers of a game, of the seats of the evaluated model."""
    own = [game.returns[agent] for agent in game.own]
    refused = [sum(n for kind, n in game.faults[agent].items() if kind != "replaced") for agent in game.own]
    return {"win": sum(one > 0 for one in own) / len(own), "reward": sum(own) / len(own), "faults": sum(refused)}
