"""The questions of the six modules, after Lan et al. 2023 (arXiv 2310.14985, section 4 and tables 4 and 5).

Memory asks to summarise (Eq. 1), analysis judges the others (Eq. 2), planning chooses a line of play (Eq. 3), action takes
an option (Eq. 4), response puts it into words; after a game, experience learning asks for three suggestions, for a better
strategy, and for the strategies of the other roles. The heuristics read the same lines as a language model does.
"""

from __future__ import annotations

from typing import ClassVar, Generic, Literal

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon.vocabulary import EVIL_ROLES, FAILS
from parlour.envs.english import name
from parlour.policies.agents.avalon import estimate, lines, notes
from parlour.policies.agents.avalon.decide import AvalonDecision, AvalonSelfInfo, AvalonSituation, RoleProbabilities
from parlour.policies.agents.avalon.estimate import Estimate
from parlour.policies.llm.ask import A, Answer, Ask
from pydantic import Field

About = Literal["all", "teammates", "adversaries"]


class RoundsSummary(Answer):
    """What is kept of the rounds so far."""

    summary: str


class Summarise(Ask[RoundsSummary]):
    """Memory: compress what was said and done in the round that ended, together with what was kept before."""

    kind: ClassVar[str] = "avalon_agent.summarise"
    max_tokens: ClassVar[int] = 3000

    me: AvalonSelfInfo
    kept: str
    """The summary of the rounds before."""
    messages: list[str]
    """Lines of the round that ended."""

    def heuristic(self, rng: np.random.Generator) -> RoundsSummary:
        facts = [notes.without_words(line) for line in self.messages if notes.read(line) is not None]
        return RoundsSummary(summary="\n".join([*self.kept.splitlines(), *facts]))


class PlayerOpinion(Answer):
    """What a seat thinks of another."""

    player: int
    """Its number."""
    evil: float = Field(ge=0, le=1)
    """Chance that it is evil."""
    merlin: float = Field(ge=0, le=1)
    """Chance that it is Merlin."""
    looks_evil: float = Field(ge=0, le=1)
    """How evil it looks to the other players."""


class Analysis(Answer):
    """What a seat thinks of the others, and of how it looks itself."""

    opinions: list[PlayerOpinion]
    words: str
    """The reasons, in at most 100 words."""


class Analyse(Ask[Analysis]):
    """Analysis: the roles of the other players, from memory and role information."""

    kind: ClassVar[str] = "avalon_agent.analyse"

    me: AvalonSelfInfo
    about: About
    """Whom the analysis is about (the paper's table 8)."""
    others: str
    """What earlier games taught of the strategies of other roles."""
    summary: str
    messages: list[str]

    def heuristic(self, rng: np.random.Generator) -> Analysis:
        told, habits = [*self.summary.splitlines(), *self.messages], estimate.habits_in(self.others)
        seat = self.me.knowledge
        mine = estimate.careful(seat, told, habits)
        seen = estimate.careful(seat.onlooker(), told, habits)
        opinions = [
            PlayerOpinion(
                player=j, evil=_unit(mine.evil[j]), merlin=_unit(mine.merlin[j]), looks_evil=_unit(seen.evil[j])
            )
            for j in range(len(seat.roles))
            if self._concerns(j, mine)
        ]
        worst = max((j for j in range(len(seat.roles)) if j != seat.seat), key=lambda j: mine.evil[j])
        return Analysis(opinions=opinions, words=f"{name(worst)} is the most likely to be evil.")

    def _concerns(self, player: int, mine: Estimate) -> bool:
        fellow = (mine.evil[player] >= 0.5) == (self.me.role in EVIL_ROLES)
        return player == self.me.seat or self.about == "all" or fellow == (self.about == "teammates")

    def check(self, answer: Analysis) -> None:
        named = [opinion.player for opinion in answer.opinions]
        if len(set(named)) < len(named) or not set(named) <= set(range(len(self.me.roles))):
            raise ValueError(f"opinions on the players {named}; accepted: each of 0..{len(self.me.roles) - 1} once")


def _unit(chance: float) -> float:
    """A chance without the last digits, which differ from machine to machine."""
    return round(min(1.0, max(0.0, chance)), 6)


class PlayingAsk(Ask[A], Generic[A]):
    """What the modules that play are told in common."""

    me: AvalonSelfInfo
    strategy: str
    """The role's strategy, from experience."""
    summary: str
    """Of the rounds before."""
    messages: list[str]
    """Lines of this round."""
    now: AvalonSituation

    def chances(self, analysis: Analysis | None) -> RoleProbabilities:
        """What is held for true: the analysis, and superficial counting where it says nothing."""
        chances = estimate.believed(self.me.knowledge, [*self.summary.splitlines(), *self.messages])
        for one in analysis.opinions if analysis else ():
            chances.evil[one.player], chances.merlin[one.player] = one.evil, one.merlin
            chances.looks[one.player] = one.looks_evil
        return chances

    def decision(self, options: dict[str, str], line: str, analysis: Analysis | None, rng: np.random.Generator) -> str:
        """The option that a player takes who follows this line and believes this analysis."""
        return AvalonDecision(self.me, self.now, self.chances(analysis), line, rng).choose(options)


class Plan(Answer):
    """How to go on."""

    line: str
    """The line of play, one of those offered."""
    steps: list[str]
    """A sentence for each quest from now on."""


class Devise(PlayingAsk[Plan]):
    """Planning: which line of play, given what happened and what is thought of the others."""

    kind: ClassVar[str] = "avalon_agent.devise"

    lines: dict[str, str]
    """Lines of play, with what they mean."""
    previous: str
    """The line followed so far; empty at first."""
    analysis: Analysis | None
    try_out: bool
    """Whether this is practice, in which lines with few games are worth a try."""

    def heuristic(self, rng: np.random.Generator) -> Plan:
        line = self.previous if self.previous in self.lines and self.try_out else self._first(rng)
        if not self.try_out:
            line = self._adapted(line)
        return Plan(line=line, steps=[f"Quest {quest}: {self.lines[line]}" for quest in range(self.now.quest, 6)])

    def _first(self, rng: np.random.Generator) -> str:
        """The preferred line; in practice one drawn by its chances to be the best (Thompson 1933)."""
        if not self.try_out:
            return lines.preferred_line(self.strategy, self.me.role)
        results = lines.results_in(self.strategy)
        drawn = {line: float(rng.beta(*_counts(results.get(line, (0, 0))))) for line in self.lines}
        return max(drawn, key=lambda line: drawn[line])

    def _adapted(self, line: str) -> str:
        """The line, given the score and how one looks."""
        if self.me.role not in EVIL_ROLES or self.analysis is None:
            return line
        looks = {one.player: one.looks_evil for one in self.analysis.opinions}
        fellows = [looks.get(j, 0.0) for j in self.me.fellows if j != self.me.seat]
        if fellows and looks.get(self.me.seat, 0.0) > max(0.6, *fellows):
            return lines.SHADOW
        return line

    def check(self, answer: Plan) -> None:
        if answer.line not in self.lines:
            raise ValueError(f"line {answer.line!r} is not accepted; accepted: {', '.join(self.lines)}")


def _counts(result: tuple[int, int]) -> tuple[int, int]:
    won, played = result
    return won + 1, played - won + 1


class Action(Answer):
    """An option, taken."""

    choice: str
    """The code of the option."""
    why: str
    """One sentence; nobody else reads it."""


class Act(PlayingAsk[Action]):
    """Action: which option to take. Secret: only the seat itself knows it."""

    kind: ClassVar[str] = "avalon_agent.act"
    decides: ClassVar[bool] = True

    plan: Plan | None
    analysis: Analysis | None
    options: dict[str, str]
    """Code -> what it does, in the words of the game."""

    def heuristic(self, rng: np.random.Generator) -> Action:
        line = self.plan.line if self.plan else ""
        choice = self.decision(self.options, line, self.analysis, rng)
        return Action(choice=choice, why=f"By the line {line}." if line else "Without a plan.")

    def check(self, answer: Action) -> None:
        if answer.choice not in self.options:
            raise ValueError(f"choice {answer.choice!r} is not accepted; accepted: {', '.join(self.options)}")


class Response(Answer):
    """What is said to the table, or to the moderator in secret."""

    words: str
    """At most 100 words."""


class Respond(PlayingAsk[Response]):
    """Response: the words for an option. Without one, the words decide by themselves; the analysis is not told here."""

    kind: ClassVar[str] = "avalon_agent.respond"

    plan: Plan | None
    options: dict[str, str]
    chosen: str
    """The code of the option to put into words; empty if none was chosen."""
    refused: list[str]
    """Words that were tried for this turn and could not be used."""

    def heuristic(self, rng: np.random.Generator) -> Response:
        line = self.plan.line if self.plan else ""
        chosen = self.chosen or self.decision(self.options, line, None, rng)
        return Response(words=self.options[chosen])

    def check(self, answer: Response) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")


# -- after the game --------------------------------------------------------------------------------------------


class Suggestions(Answer):
    """Advice for games to come."""

    suggestions: list[str]
    """Three, of at most two sentences each, that name roles and no players."""


class Suggest(Ask[Suggestions]):
    """Experience, first step for the own role: three suggestions from the game that ended."""

    kind: ClassVar[str] = "avalon_agent.suggest"

    me: AvalonSelfInfo
    role_of: list[str]
    """The role of each player."""
    won: bool
    line: str
    """The line of play that was followed; empty if there was no plan."""
    summary: str
    strategy: str
    earlier: list[str]
    """Suggestions from the game before."""

    def heuristic(self, rng: np.random.Generator) -> Suggestions:
        result = "won" if self.won else "lost"
        facts = [fact for fact in map(notes.read, self.summary.splitlines()) if fact is not None]
        failed = sum(fact.kind == FAILS and not fact.args[2] for fact in facts)
        blamed = sum(fact.kind == speech.ACCUSE and fact.args[0] == self.me.seat for fact in facts)
        return Suggestions(
            suggestions=[
                f"As {self.me.role} the line {self.line} was followed and {result}.",
                f"{failed} quests failed; as {self.me.role} watch who was on them.",
                f"{self.me.role} was accused {blamed} times; give little reason for it.",
            ]
        )

    def check(self, answer: Suggestions) -> None:
        if len(answer.suggestions) != 3:
            raise ValueError(f"{len(answer.suggestions)} suggestions; accepted: 3")


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


class StudyOthers(Ask[OtherRoles]):
    """Experience about the other roles: what their strategies are, from this game and from those before."""

    kind: ClassVar[str] = "avalon_agent.study_others"

    me: AvalonSelfInfo
    role_of: list[str]
    """The role of each player."""
    summary: str
    earlier: str
    """What was known of their strategies before."""

    def heuristic(self, rng: np.random.Generator) -> OtherRoles:
        counted = estimate.count_habits(self.summary.splitlines(), self.role_of)
        return OtherRoles(strategies=estimate.put_tally(estimate.add_tallies(estimate.tally_in(self.earlier), counted)))
