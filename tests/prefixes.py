"""How much of what a game asks has been sent before: what a server's cache of prompts can spare."""

from __future__ import annotations

from typing import Any

from parlour.policies.llm.ask import Ask
from parlour.policies.llm.decisions import Beginnings
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext


class Prompts(OfflineModel):
    """Answers by heuristic and keeps every prompt as it would be sent, in order."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.sent.append(f"{question.system(context.rules)}\n{question.prompt()}")
        return super().answer(question, context)


def share(prompts: list[str]) -> float:
    """The share of all characters that had been sent before as the beginning of another prompt."""
    seen = Beginnings()
    return sum(map(seen.shared, prompts)) / sum(map(len, prompts))
