"""What follows when a player fails in a game: its model does not answer, or a player of the user's own raises.

One bad call costs one decision by default: the heuristic answers in the model's place, which is counted. What no other call
can mend ends a run in any case: a wrong key, an unknown model, no quota, no server, a budget that is spent, a cache that does
not hold a reply, a transcript that cannot be written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from parlour.envs.common.writing import CannotWrite
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.transport.request import BudgetSpent, CacheMiss, ModelUnavailable, ModelUnusable
from pydantic import Field

OnFailure = Literal["rule", "stop", "skip-game"]
LEAST: Final = 20
"""Least decisions of a player before its share is checked."""
ENDS_THE_RUN: Final = (ModelUnavailable, ModelUnusable, BudgetSpent, CacheMiss, CannotWrite, EOFError)
"""What a player may raise that no other game would go better after."""


class Failures(Settings):
    """What follows when a player fails.

    Raises:
        ParlourError: A value is not accepted.
    """

    on_failure: OnFailure = "rule"
    """Handling of a question that the model does not answer: `rule` (the heuristic answers it, and that is counted),
    `stop`
    (the run ends) or `skip-game` (the game ends unfinished and is listed; also if a player raises an error)."""
    max_fallback: float | None = Field(default=None, ge=0, le=1)
    """End the run once a player did not make more than this share of its decisions itself, such as 0.2; checked after
    each game,
    from 20 decisions on; None: no limit."""

    @property
    def skips(self) -> bool:
        """Whether a game is given up in which a player fails."""
        return self.on_failure == "skip-game"

    def check(self, who: str, notes: Mapping[str, Any]) -> None:
        """Raise `NotAnswered` for notes of a question that was answered in the model's place, unless that is allowed."""
        if self.on_failure == "rule":
            return
        for call in notes.get("calls") or ():
            if call.get("by"):
                raise NotAnswered(f"{who}: the model did not answer {call.get('ask')} ({call.get('reason')})")


RULE: Final = Failures()
"""The heuristic answers, and there is no limit."""


class NotAnswered(ParlourError):  # noqa: N818 - named for what happened
    """A model did not answer a question, and the heuristic must not."""


class TooManyFallbacks(ParlourError):  # noqa: N818 - named for what happened
    """Too large a share of a player's decisions was not its own."""


class Ceiling:
    """The share of a run's decisions that were not their players' own.

    Args:
        limit: Above which a run ends; None for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._own: Counter[str] = Counter()
        self._all: Counter[str] = Counter()

    def add(self, names: Iterable[str], decisions: Iterable[Decisions]) -> None:
        """Count a game. Raises `TooManyFallbacks` if a player, by name, is above the limit now."""
        if self._limit is None:
            return
        for name, decision in zip(names, decisions, strict=False):
            self._own[name] += decision.own
            self._all[name] += decision.decisions
        for name, made in self._all.items():
            foreign = made - self._own[name]
            if made >= LEAST and foreign > self._limit * made:
                raise TooManyFallbacks(
                    f"{name!r}: {foreign} of {made} decisions ({foreign / made:.1%}) were not its own; accepted with "
                    f"--max-fallback: {self._limit:g}"
                )
