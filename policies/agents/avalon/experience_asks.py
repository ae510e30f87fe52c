"""The questions of experience learning, after Lan et al. 2023 (arXiv 2310.14985, section 4.8).

When a game is over and the roles are told: three suggestions for the own role, a better strategy from them, and the strategies
of the other roles.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon.vocabulary import FAILS
from parlour.policies.agents.avalon import estimate, lines, notes
from parlour.policies.agents.avalon.asks import RecordAsk
from parlour.policies.llm.ask import Answer, Ask
from pydantic import Field


class Suggestions(Answer):
    """Advice for games to come."""

    suggestions: list[str] = Field(min_length=3, max_length=3)
    """Three, of at most two sentences each, that name roles and no players."""


class Suggest(RecordAsk[Suggestions]):
    """Experience, first step for the own role: three suggestions from the game that ended."""

    kind: ClassVar[str] = "avalon_agent.suggest"
    spare: ClassVar[tuple[str, ...]] = ("earlier",)

    role_of: dict[str, str]
    """Player -> role."""
    won: bool
    line: str
    """The line of play that was followed; empty if there was no plan."""
    strategy: str
    earlier: list[str]
    """Suggestions from the game before."""

    def heuristic(self, rng: np.random.Generator) -> Suggestions:
        result = "won" if self.won else "lost"
        facts = [fact for fact in map(notes.read, self.told) if fact is not None]
        failed = sum(fact.kind == FAILS and not fact.args[2] for fact in facts)
        blamed = sum(fact.kind == speech.ACCUSE and fact.args[0] == self.me.seat for fact in facts)
        return Suggestions(
            suggestions=[
                f"As {self.me.role} the line {self.line} was followed and {result}.",
                f"{failed} quests failed; as {self.me.role} watch who was on them.",
                f"{self.me.role} was accused {blamed} times; give little reason for it.",
            ]
        )


class Strategy(Answer):
    """How a role is to be played."""

    strategy: str
    """At most two sentences."""


class Improve(Ask[Strategy]):
    """Experience, second step for the own role: a better strategy from the suggestions."""

    kind: ClassVar[str] = "avalon_agent.improve"

    role: str
    strategy: str
    suggestions: list[str]

    def heuristic(self, rng: np.random.Generator) -> Strategy:
        results = lines.results_in(self.strategy)
        for line in lines.lines_of(self.role):
            for result in ("won", "lost"):
                if any(f"the line {line} was followed and {result}" in one for one in self.suggestions):
                    won, played = results.get(line, (0, 0))
                    results[line] = (won + (result == "won"), played + 1)
        return Strategy(strategy=lines.put_results(results, self.role) if results else self.strategy)


class OtherRoles(Answer):
    """How the other roles play."""

    strategies: str
    """At most 100 words that name roles and no players."""


class StudyOthers(RecordAsk[OtherRoles]):
    """Experience about the other roles: what their strategies are, from this game and from those before."""

    kind: ClassVar[str] = "avalon_agent.study_others"

    role_of: dict[str, str]
    """Player -> role."""
    earlier: str
    """What was known of their strategies before."""

    def heuristic(self, rng: np.random.Generator) -> OtherRoles:
        counted = estimate.count_habits(self.told, [*self.role_of.values()])
        return OtherRoles(strategies=estimate.put_tally(estimate.add_tallies(estimate.tally_in(self.earlier), counted)))
