"""The questions of the modules that play, after Lan et al. 2023 (arXiv 2310.14985, section 4 and tables 4 and 5).

Memory asks to summarise (Eq. 1), analysis judges the others (Eq. 2), planning chooses a line of play (Eq. 3), action takes
an option (Eq. 4), response puts it into words; `experience` has those that follow a game. The heuristics read the same lines
as a language model does.

All prompts begin with the same parts: the player, the facts of earlier rounds word for word, the summary of their talk, then the
current round. So what one question has sent is the beginning of the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Generic, Literal

import numpy as np
from parlour.envs.avalon.vocabulary import EVIL_ROLES
from parlour.envs.language.english import name
from parlour.policies.agents.avalon import estimate, lines, notes
from parlour.policies.agents.avalon.decide import AvalonDecision, RoleProbabilities, by_default
from parlour.policies.agents.avalon.estimate import Estimate
from parlour.policies.agents.avalon.seat import TALK, AvalonSelfInfo, AvalonSituation
from parlour.policies.llm.ask import A, Answer, Ask, Choices, SaidWords
from parlour.policies.llm.reading import with_length
from pydantic import AfterValidator, BeforeValidator, Field

About = Literal["all", "teammates", "adversaries"]
_QUESTS: Final = 5


class RecordAsk(Ask[A], Generic[A], fixed=("me",), record=("facts", "summary", "messages")):
    """The game so far, as all modules see it."""

    me: AvalonSelfInfo
    facts: list[str]
    """Teams, votes, cards, results and exposures of the rounds before, as they were noted."""
    summary: str
    """What is kept of the talk of the rounds before."""
    messages: list[str]
    """Lines of this round."""

    @property
    def evidence(self) -> list[str]:
        """All lines that may hold something to count; facts that a summary repeats are not counted twice."""
        return [*self.facts, *notes.claims_in(self.summary.splitlines()), *self.messages]

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return not notes.is_fact(str(entry))


class RoundsSummary(Answer):
    """What is kept of the talk of the rounds so far."""

    summary: str


class Summarise(RecordAsk[RoundsSummary], kind="avalon_agent.summarise", max_tokens=1500):
    """Memory: compress what was said in the round that ended, together with what was kept before."""

    def heuristic(self, rng: np.random.Generator) -> RoundsSummary:
        return RoundsSummary(summary="\n".join([*self.summary.splitlines(), *notes.claims_in(self.messages)]))


def _as_share(value: Any) -> Any:
    """A whole number from 2 to 100 can only be meant as per cent."""
    return value / 100 if type(value) in (int, float) and 2 <= value <= 100 and value == int(value) else value


Chance = Annotated[
    float, Field(ge=0, le=1), AfterValidator(lambda chance: round(chance, 3)), BeforeValidator(_as_share)
]
"""Rounded as `Rounded` is; the schema contains the limits only if they come first."""


class PlayerOpinion(Answer):
    """What a seat thinks of another."""

    player: int
    """Its number."""
    evil: Chance
    """Chance that it is evil."""
    merlin: Chance
    """Chance that it is Merlin."""
    looks_evil: Chance
    """How evil it looks to the other players."""


def _once(opinions: list[PlayerOpinion]) -> list[PlayerOpinion]:
    """Of several opinions on a player the last one counts."""
    return list({opinion.player: opinion for opinion in opinions}.values())


_OPINION: Final = re.compile(
    r"player_(\d{1,2}): evil (0(?:\.\d+)?|1), Merlin (0(?:\.\d+)?|1), looks evil (0(?:\.\d+)?|1)"
)


class Analysis(Answer):
    """What a seat thinks of the others, and of how it looks itself."""

    words: str
    """The reasons, in at most 100 words."""
    opinions: Annotated[list[PlayerOpinion], AfterValidator(_once)]

    def in_lines(self) -> list[str]:
        """The same for other modules, a line for each player."""
        opinions = (
            f"{name(opinion.player)}: evil {opinion.evil:g}, Merlin {opinion.merlin:g}, looks evil {opinion.looks_evil:g}"
            for opinion in self.opinions
        )
        return [*opinions, f"Reasons: {self.words}"]


def opinions_in(analysis: Iterable[str]) -> dict[int, PlayerOpinion]:
    """The opinions in lines of an analysis, by player."""
    matches = [match for match in map(_OPINION.fullmatch, analysis) if match]
    opinions = [dict(zip(PlayerOpinion.model_fields, map(float, match.groups()), strict=True)) for match in matches]
    return {int(fields["player"]): PlayerOpinion.model_validate(fields) for fields in opinions}


class Analyse(RecordAsk[Analysis], kind="avalon_agent.analyse", spare=("others",)):
    """Analysis: the roles of the other players, from memory and role information."""

    about: About
    """The players that the analysis covers (the paper's table 8)."""
    others: str
    """What earlier games taught of the strategies of other roles."""

    def heuristic(self, rng: np.random.Generator) -> Analysis:
        record, habits = self.evidence, estimate.habits_in(self.others)
        seat = self.me.knowledge
        mine = estimate.careful(seat, record, habits)
        seen = estimate.careful(seat.onlooker(), record, habits)
        opinions = [
            PlayerOpinion(player=j, evil=mine.evil[j], merlin=mine.merlin[j], looks_evil=seen.evil[j])
            for j in range(len(seat.roles))
            if self._concerns(j, mine)
        ]
        worst = max((j for j in range(len(seat.roles)) if j != seat.seat), key=lambda j: mine.evil[j])
        return Analysis(words=f"{name(worst)} is the most likely to be evil.", opinions=opinions)

    def _concerns(self, player: int, mine: Estimate) -> bool:
        fellow = (mine.evil[player] >= 0.5) == (self.me.role in EVIL_ROLES)
        return player == self.me.seat or self.about == "all" or fellow == (self.about == "teammates")

    def choices(self) -> Choices:
        return {"opinions.player": {j: name(j) for j in range(len(self.me.roles))}}

    def schema_of_answer(self) -> dict[str, Any]:
        n = len(self.me.roles)
        return with_length(super().schema_of_answer(), "opinions", n if self.about == "all" else 1, n)


class PlayingAsk(RecordAsk[A], Generic[A]):
    """Inputs that all playing modules share."""

    strategy: str
    """The role's strategy, from experience."""
    now: AvalonSituation

    def chances(self, analysis: Sequence[str]) -> RoleProbabilities:
        """What is held for true: the analysis, and superficial counting where it says nothing."""
        chances = estimate.believed(self.me.knowledge, self.evidence)
        for j, opinion in opinions_in(analysis).items():
            if j < len(chances.evil):
                chances.evil[j], chances.merlin[j], chances.looks[j] = opinion.evil, opinion.merlin, opinion.looks_evil
        return chances

    def decision(self, options: Mapping[str, str], line: str, analysis: Sequence[str], rng: np.random.Generator) -> str:
        """The option that a player takes who follows this line and believes this analysis."""
        return AvalonDecision(self.me, self.now, self.chances(analysis), line, rng).choose(options)


_LINE: Final = re.compile(r"Line of play: (\w*)")


class Plan(Answer):
    """A plan for the quests ahead."""

    goal: str
    """What the player wants to reach, in its own words."""
    steps: list[str]
    """A sentence for each quest from now on."""
    line: str
    """The line of play, one of those offered."""

    def in_lines(self) -> list[str]:
        """The same for other modules."""
        return [f"Line of play: {self.line}", f"Goal: {self.goal}", *self.steps]


def line_in(plan: Sequence[str]) -> str:
    """The line of play in the lines of a plan; empty if there is no plan."""
    match = _LINE.fullmatch(plan[0]) if plan else None
    return match[1] if match else ""


class Devise(PlayingAsk[Plan], kind="avalon_agent.devise", spare=("analysis", "previous")):
    """Planning: goal, steps and line of play, given the plan before, what happened, and what is thought of the others."""

    lines: dict[str, str]
    """Lines of play, with what they mean."""
    previous: list[str]
    """The whole plan of the turn before; empty at first."""
    analysis: list[str]
    """Empty if nothing was analysed."""
    try_out: bool
    """Whether this is practice, in which lines with few games are worth a try."""

    def heuristic(self, rng: np.random.Generator) -> Plan:
        before = line_in(self.previous)
        line = before if before in self.lines and self.try_out else self._first(rng)
        if not self.try_out:
            line = self._adapted(line)
        when = f"Quest {_QUESTS}" if self.now.quest == _QUESTS else f"Quests {self.now.quest} to {_QUESTS}"
        goal = f"Three quests {'fail' if self.me.role in EVIL_ROLES else 'succeed'}."
        return Plan(goal=goal, steps=[f"{when}: {self.lines[line]}"], line=line)

    def _first(self, rng: np.random.Generator) -> str:
        """The preferred line; in practice one drawn by its chances to be the best (Thompson 1933)."""
        if not self.try_out:
            return lines.preferred_line(self.strategy, self.me.role)
        results = lines.results_in(self.strategy)
        counts = {line: results.get(line, (0, 0)) for line in self.lines}
        drawn = {line: float(rng.beta(won + 1, played - won + 1)) for line, (won, played) in counts.items()}
        return max(drawn, key=lambda line: drawn[line])

    def _adapted(self, line: str) -> str:
        """The line, given the score and how one looks."""
        if self.me.role not in EVIL_ROLES or not self.analysis:
            return line
        looks = {j: opinion.looks_evil for j, opinion in opinions_in(self.analysis).items()}
        fellows = [looks.get(j, 0.0) for j in self.me.fellows if j != self.me.seat]
        if fellows and looks.get(self.me.seat, 0.0) > max(0.6, *fellows):
            return lines.SHADOW
        return line

    def choices(self) -> Choices:
        return {"line": self.lines}

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "steps", 1, max(1, _QUESTS + 1 - self.now.quest))


class Action(Answer):
    """An option, taken."""

    why: str
    """One sentence; nobody else reads it."""
    choice: str
    """The code of the option."""


class Act(PlayingAsk[Action], kind="avalon_agent.act", decides=True, spare=("strategy", "analysis", "plan")):
    """Action: which option to take. Secret: only the seat itself knows it."""

    plan: list[str]
    """Empty if there is none."""
    analysis: list[str]
    """Empty if nothing was analysed."""
    options: dict[str, str]
    """Code -> what it does, in the words of the game."""

    def heuristic(self, rng: np.random.Generator) -> Action:
        line = line_in(self.plan)
        choice = self.decision(self.options, line, self.analysis, rng)
        return Action(why=f'I follow the line of play "{line}".' if line else "I have no plan.", choice=choice)

    def fallback(self, unclear: str, rng: np.random.Generator) -> Action | None:
        choice = by_default(unclear, self.me, self.now, self.options, rng)
        return None if choice is None else Action(why="The answer was unclear.", choice=choice)

    def choices(self) -> Choices:
        return {"choice": self.options}


class Response(Answer):
    """What is said to the table; to the moderator in secret, an option."""

    words: SaidWords
    """At most 100 words; to the moderator the code of the option."""


class Respond(PlayingAsk[Response], kind="avalon_agent.respond", spare=("strategy", "plan")):
    """Response: the words for an option. Without one, it decides by itself; the analysis is not told here.

    Only talk has words of its own: to the moderator, the answer is one of the options.
    """

    plan: list[str]
    """Empty if there is none."""
    options: dict[str, str]
    chosen: str
    """The code of the option to put into words; empty if none was chosen."""
    refused: list[str]
    """Words that were tried for this turn and could not be used."""

    def heuristic(self, rng: np.random.Generator) -> Response:
        chosen = self.chosen or self.decision(self.options, line_in(self.plan), (), rng)
        return Response(words=worded(chosen, self.options, self.now))

    def fallback(self, unclear: str, rng: np.random.Generator) -> Response | None:
        choice = by_default(unclear, self.me, self.now, self.options, rng)
        return None if choice is None else Response(words=choice)

    def choices(self) -> Choices:
        return choices_of_words(self.options, self.now)


def worded(chosen: str, options: Mapping[str, str], now: AvalonSituation) -> str:
    """An option as an answer in words: its sentence to the table, its code to the moderator."""
    return options[chosen] if now.does == TALK else chosen


def choices_of_words(options: Mapping[str, str], now: AvalonSituation) -> Choices:
    """What words must be: to the moderator the code of an option, so that none has to be read from them."""
    return {} if now.does == TALK else {"words": options}
