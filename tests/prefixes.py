"""How much of what a game asks has been sent before: what a server's cache of prompts can spare."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext


class Prompts(OfflineModel):
    """Answers by heuristic and keeps every prompt as it would be sent, in order."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.sent.append(f"{question.system(context.rules)}\n{question.prompt()}")
        return super().answer(question, context)


def common(a: str, b: str) -> int:
    """Characters of the longest common beginning.

    >>> common("abcd", "abd")
    2
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


def shared(prompts: Iterable[str]) -> list[int]:
    """Of each prompt the characters that begin some earlier one: it is a neighbour in alphabetical order."""
    earlier: list[str] = []
    found = []
    for prompt in prompts:
        place = bisect_left(earlier, prompt)
        found.append(max((common(prompt, one) for one in earlier[max(0, place - 1) : place + 1]), default=0))
        earlier.insert(place, prompt)
    return found


def share(prompts: list[str]) -> float:
    """The share of all characters that had been sent before as the beginning of another prompt."""
    return sum(shared(prompts)) / sum(map(len, prompts))
