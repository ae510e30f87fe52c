"""The questions of the baseline agent, after Xu et al. 2023 (arXiv 2309.04658) as Lan et al. put it to Avalon.

It keeps the newest and the most informative messages, answers questions from the record, reflects, takes a suggestion from
experiences in similar situations, and answers.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Generic, Self

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon.vocabulary import EXPOSED, FAILS, TEAM, VOTES
from parlour.envs.english import name
from parlour.policies.agents.avalon import estimate, mishearing, notes
from parlour.policies.agents.avalon.asks import choices_of_words, worded
from parlour.policies.agents.avalon.decide import AvalonDecision
from parlour.policies.agents.avalon.lines import DISCREET
from parlour.policies.agents.avalon.situation import AvalonSelfInfo, AvalonSituation
from parlour.policies.llm.ask import A, Answer, Ask, Choices
from parlour.policies.llm.noise import Ear
from parlour.policies.llm.reading import with_length
from pydantic import BaseModel, ConfigDict, Field

_WEIGHTS = {FAILS: 5, EXPOSED: 5, VOTES: 4, TEAM: 3, speech.ACCUSE: 3}
_FOLLOWS = 0.5
"""How often the heuristic does what a suggestion says."""


class Weights(Answer):
    """How informative messages are."""

    weights: list[Annotated[int, Field(ge=1, le=5)]]
    """From 1 to 5, one for each message."""


class Weigh(Ask[Weights]):
    """Rate messages by how much they tell about who is who."""

    kind: ClassVar[str] = "avalon_agent.weigh"

    messages: list[str]

    def heuristic(self, rng: np.random.Generator) -> Weights:
        facts = map(notes.read, self.messages)
        return Weights(weights=[_WEIGHTS.get(fact.kind, 2) if fact else 1 for fact in facts])

    def check(self, answer: Weights) -> None:
        if len(answer.weights) != len(self.messages):
            raise ValueError(f"{len(answer.weights)} weights; accepted: {len(self.messages)} numbers from 1 to 5")

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "weights", len(self.messages), len(self.messages))


class Findings(Answer):
    """What the record says."""

    answers: list[str]
    """One for each question."""


class LookUp(Ask[Findings]):
    """Answer questions from a few messages each."""

    kind: ClassVar[str] = "avalon_agent.look_up"
    fixed: ClassVar[tuple[str, ...]] = ("me",)

    me: AvalonSelfInfo
    questions: list[str]
    material: list[list[str]]
    """For each question the messages most like it."""

    def heuristic(self, rng: np.random.Generator) -> Findings:
        return Findings(answers=[" ".join(map(notes.without_words, found)) or "Unknown." for found in self.material])

    def check(self, answer: Findings) -> None:
        if len(answer.answers) != len(self.questions):
            raise ValueError(f"{len(answer.answers)} answers; accepted: {len(self.questions)}")

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "answers", len(self.questions), len(self.questions))

    def misheard(self, ear: Ear) -> Self:
        heard = [mishearing.heard(found, ear, len(self.me.roles)) for found in self.material]
        return self.model_copy(update={"material": heard})


class AvalonReflection(Answer):
    """Where the seat stands."""

    reflection: str
    """In at most 100 words."""


class KeptAsk(Ask[A], Generic[A]):
    """What is told of the game so far."""

    fixed: ClassVar[tuple[str, ...]] = ("me",)
    record: ClassVar[tuple[str, ...]] = ("messages", "now")
    """With `now`, which is the same in all questions of a turn."""

    me: AvalonSelfInfo
    messages: list[str]
    """The newest and the most informative ones, in order."""

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return not notes.is_fact(str(entry))

    def misheard(self, ear: Ear) -> Self:
        return self.model_copy(update={"messages": mishearing.heard(self.messages, ear, len(self.me.roles))})


class ReflectOnFindings(KeptAsk[AvalonReflection]):
    """Think over what was kept and found."""

    kind: ClassVar[str] = "avalon_agent.reflect"
    spare: ClassVar[tuple[str, ...]] = ("findings",)

    findings: list[str]
    now: AvalonSituation

    def heuristic(self, rng: np.random.Generator) -> AvalonReflection:
        mine = estimate.superficial(self.me.knowledge, self.messages)
        bad = [name(j) for j, chance in enumerate(mine.evil) if chance > 0.5 and j != self.me.seat]
        on_team = self.me.seat in self.now.team
        return AvalonReflection(
            reflection=f"As {self.me.role} I am to {self.now.does} in quest {self.now.quest} at {self.now.good} to "
            f"{self.now.evil}, {'on' if on_team else 'off'} the team. I suspect {len(bad)} players."
        )


class Past(BaseModel):
    """A situation of an earlier game, with what was said and how the game went."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reflection: str
    response: str
    score: int


class Advice(Answer):
    """A suggestion from experience."""

    suggestion: str
    """One or two sentences; empty if experience says nothing."""


class Advise(Ask[Advice]):
    """What experiences in similar situations suggest."""

    kind: ClassVar[str] = "avalon_agent.advise"
    fixed: ClassVar[tuple[str, ...]] = ("me",)

    me: AvalonSelfInfo
    reflection: str
    past: list[Past]

    def heuristic(self, rng: np.random.Generator) -> Advice:
        scores: dict[str, list[int]] = {}
        for one in self.past:
            scores.setdefault(one.response, []).append(one.score)
        if not scores:
            return Advice(suggestion="")
        best = max(scores, key=lambda response: sum(scores[response]) / len(scores[response]))
        return Advice(suggestion=f"What went best before: {best}")


class TableWords(Answer):
    """What is said to the table; to the moderator in secret, an option."""

    words: str
    """At most 100 words; to the moderator the code of the option."""


class AnswerTable(KeptAsk[TableWords]):
    """Answer, from what was kept, the reflection and the suggestion."""

    kind: ClassVar[str] = "avalon_agent.answer_table"
    temperature: ClassVar[float | None] = 0.0
    spare: ClassVar[tuple[str, ...]] = ("strategy", "suggestion")

    strategy: str
    reflection: str
    suggestion: str
    now: AvalonSituation
    options: dict[str, str]
    """Code -> what it does, in the words of the game."""
    refused: list[str]
    """Words that were tried for this turn and could not be used."""

    def heuristic(self, rng: np.random.Generator) -> TableWords:
        advised = [code for code, sentence in self.options.items() if self.suggestion.endswith(f": {sentence}")]
        if advised and rng.random() < _FOLLOWS:
            return TableWords(words=worded(advised[0], self.options, self.now))
        chances = estimate.believed(self.me.knowledge, self.messages)
        line = "" if self.me.fellows else DISCREET  # the rules it is told warn it against giving its role away
        chosen = AvalonDecision(self.me, self.now, chances, line, rng).choose(self.options)
        return TableWords(words=worded(chosen, self.options, self.now))

    def choices(self) -> Choices:
        return choices_of_words(self.options, self.now)

    def check(self, answer: TableWords) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")
