"""What is learned from game to game: for each role a strategy, suggestions, and what is known about the other roles.

It belongs to a role, not to a seat: the next seat with the role plays by it (the code published with arXiv 2310.14985 does
the same). The file is JSON that a person can read and edit.

Its questions follow Lan et al. 2023 (section 4.8). After a game, when the roles are known: three suggestions for the own
role, a better strategy from them, and the strategies of the other roles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from parlour.envs.avalon.vocabulary import EVIL_ROLES, FAILS
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.language import speech
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.avalon import estimate, lines, notes
from parlour.policies.agents.avalon.asks import RecordAsk
from parlour.policies.agents.avalon.lines import first_strategy
from parlour.policies.files import read_json, write_json
from parlour.policies.llm.ask import Answer, Ask
from pydantic import (
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_validator,
)


@dataclass(frozen=True)
class Lesson:
    """What is known about playing one role."""

    strategy: str
    suggestions: tuple[str, ...] = ()
    """From the last game in the role."""
    others: str = ""
    """Strategies of the other roles."""
    games: Annotated[int, Field(ge=0, strict=True)] = 0
    """How many games it comes from."""


class RoleStore(Settings):
    """What is learned for each role from game to game, in a file that a person can read and edit.

    As a setting: itself, a file's path, or plain values.
    """

    model_config = ConfigDict(strict=False)

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        write_json(path, self.plain())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote, or a person. Raises `ParlourError` if it cannot be used."""
        stored = read_json(path)
        try:
            for name in cls.model_fields:
                check_one_of("entry", name, stored)
            return cls.from_plain(stored)
        except ParlourError as error:
            raise ParlourError(f"file {str(path)!r} cannot be used: {error}") from None

    @model_validator(mode="wrap")
    @classmethod
    def _of_file(cls, value: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        return cls.load(value) if isinstance(value, str) else read(value)

    @field_serializer("roles", mode="wrap", check_fields=False)
    def _in_order(self, roles: Any, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return dict(sorted(write(roles).items()))


class Experience(RoleStore):
    """The lessons of all roles. Shared by the seats of a team; it changes only between games."""

    format: Literal["parlour avalon experience 1"] = "parlour avalon experience 1"
    """What the file calls its content."""
    roles: Annotated[
        dict[str, Lesson], Accepts("for each role strategy, suggestions (a list), others (texts) and games (a number)")
    ] = Field(default_factory=dict)
    """Lesson of each role."""

    def of(self, role: str) -> Lesson:
        """What is known about a role; its first strategy if nothing yet."""
        return self.roles.get(role) or Lesson(first_strategy(role))


class Suggestions(Answer):
    """Advice for games to come."""

    suggestions: list[str] = Field(min_length=3, max_length=3)
    """Three, of at most two sentences each, that name roles and no players."""


class Suggest(RecordAsk[Suggestions], kind="avalon_agent.suggest", spare=("earlier",)):
    """Experience, first step for the own role: three suggestions from the game that ended."""

    role_of: dict[str, str]
    """Player -> role."""
    won: bool
    line: str
    """The line of play that was followed; empty if there was no plan."""
    strategy: str
    earlier: list[str]
    """Suggestions from the game before."""

    def heuristic(self, rng: np.random.Generator) -> Suggestions:
        """The result of the line; the next line if most quests went wrong; the least conspicuous one if it was much accused."""
        result = "won" if self.won else "lost"
        facts = [fact for fact in map(notes.read, self.evidence) if fact is not None]
        failed = [not fact.args[2] for fact in facts if fact.kind == FAILS]
        blamed = [fact.args[0] == self.me.seat for fact in facts if fact.kind == speech.ACCUSE]
        known = [*lines.lines_of(self.me.role)]
        at = known.index(self.line) if self.line in known else 0
        wanted = sum(failed) if self.me.role in EVIL_ROLES else len(failed) - sum(failed)
        for_quests = known[at] if 2 * wanted >= len(failed) else known[(at + 1) % len(known)]
        for_trust = known[-1] if sum(blamed) * len(self.role_of) > len(blamed) else known[at]
        return Suggestions(
            suggestions=[
                f'As {self.me.role}, the line of play "{self.line}" was followed and {result}.',
                f'Quests failed: {sum(failed)} of {len(failed)}. As {self.me.role}, try the line of play "{for_quests}".',
                f'Accusations of {self.me.role}: {sum(blamed)} of {len(blamed)}. Try the line of play "{for_trust}".',
            ]
        )


class Strategy(Answer):
    """How a role is to be played."""

    strategy: str
    """At most two sentences."""


class Improve(Ask[Strategy], kind="avalon_agent.improve"):
    """Experience, second step for the own role: a better strategy from the suggestions."""

    role: str
    strategy: str
    suggestions: list[str]

    def heuristic(self, rng: np.random.Generator) -> Strategy:
        results = lines.results_in(self.strategy)
        for line in lines.lines_of(self.role):
            for result in ("won", "lost"):
                followed = re.compile(rf"the line (?:of play )?\W?{line}\W? was followed and {result}")
                if any(map(followed.search, self.suggestions)):
                    won, played = results.get(line, (0, 0))
                    results[line] = (won + (result == "won"), played + 1)
        tried = re.compile(r"[Tt]ry the line (?:of play )?\W?(\w+)")
        advised = [line for suggestion in self.suggestions for line in tried.findall(suggestion)]
        return Strategy(strategy=lines.put_results(results, self.role, advised) if results else self.strategy)


class OtherRoles(Answer):
    """How the other roles play."""

    strategies: str
    """At most 100 words that name roles and no players."""


class StudyOthers(RecordAsk[OtherRoles], kind="avalon_agent.study_others"):
    """Experience about the other roles: what their strategies are, from this game and from those before."""

    role_of: dict[str, str]
    """Player -> role."""
    earlier: str
    """What was known about their strategies before."""

    def heuristic(self, rng: np.random.Generator) -> OtherRoles:
        counted = estimate.count_habits(self.evidence, [*self.role_of.values()])
        return OtherRoles(strategies=estimate.put_tally(estimate.add_tallies(estimate.tally_in(self.earlier), counted)))
