"""The plain player: one question a turn, which holds what the seat reads and what it may do. Plays any game."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.llm.ask import Answer, Ask


class TurnWords(Answer):
    """What a player says."""

    thoughts: str
    """Nobody else reads them."""
    words: str
    """Read by the game as the player's move."""


class TakeTurn(Ask[TurnWords]):
    """What to say or do now. The heuristic is any option, each as likely as the others."""

    kind: ClassVar[str] = "chat.take_turn"

    observation: str
    """What the seat reads: who it is, what happened, what it may do."""
    options: list[str]
    """What it may do, in the words that the game understands best."""

    def heuristic(self, rng: np.random.Generator) -> TurnWords:
        return TurnWords(thoughts="", words=self.options[int(rng.integers(len(self.options)))])

    def check(self, answer: TurnWords) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")


class ChatPlayer(AskingPolicy):
    """Asks a model one question a turn. Needs `info="full"` and text actions.

    Args:
        model: Who answers; by default the heuristic, which plays at random.
    """

    name: ClassVar[str] = "chat"
    wants: ClassVar[str] = "text"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        question = TakeTurn(observation=observation["text"], options=list(info["options"]))
        return self.seat_model.ask(question).words
