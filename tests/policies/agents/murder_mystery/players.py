"""Tables of one method for the tests of murder mysteries, and models that keep what they are asked or say what a test wants."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.llm.ask import Ask, BadReply
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext
from parlour.training.play import rollout


class Listener(OfflineModel):
    """Answers by heuristic and keeps on whose behalf it is asked, what, and what it said."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[RequestContext, Ask[Any], Any]] = []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        answered = super().answer(question, context)
        self.calls.append((context, question, answered.value))
        return answered


class Scripted(Listener):
    """Gives replies by kind of question, or one to all; where that is no answer the heuristic answers, as behind a chat."""

    def __init__(self, replies: dict[str, str] | str) -> None:
        super().__init__()
        self.replies = replies

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        reply = self.replies if isinstance(self.replies, str) else self.replies.get(question.kind)
        if reply is None:
            return super().answer(question, context)
        self.calls.append((context, question, reply))
        try:
            return Answered(question.read(reply))
        except BadReply:
            return Answered(question.heuristic(np.random.default_rng(context.sample)), 3, "invalid")


def seats_of(name: str, model: Any = None, reference: str = "seed:9:en:5:1") -> list[Any]:
    """A player of this method for each seat of a case."""
    return [make_policy(name, "murder_mystery_v0", {}, model) for _ in range(find(reference).seats)]


def game_of(name: str, reference: str, model: Any = None, seed: int = 1, **options: Any) -> tuple[list[Any], Any]:
    """The players of a game and how it went."""
    players = seats_of(name, OfflineModel() if model is None else model, reference)
    return players, rollout.play(rollout.table("murder_mystery_v0", case=reference, **options), players, seed)


def plans(players: list[Any]) -> list[PlannedInterview]:
    """The procedures of the players that plan."""
    return [player.procedure for player in players if isinstance(player.procedure, PlannedInterview)]
