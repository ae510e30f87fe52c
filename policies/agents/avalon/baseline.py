"""The agent that the six-module agent is compared with: history, reflection, experiences of similar situations.

After Xu et al. 2023 (arXiv 2309.04658), as the code of arXiv 2310.14985 puts it to Avalon: the 15 newest messages and the 15
most informative older ones, three fixed questions answered from the three messages most like each, a reflection, a
suggestion from experiences whose reflections are alike (cosine above 0.85, the 50 newest), an answer. An experience scores 1000
minus the length of the game if it was won, and the length if it was lost. Messages are rated all at once, where that
code asks once for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, Generic, Literal

import numpy as np
from parlour.envs.avalon.vocabulary import CARD, EXPOSED, FAILS, TEAM, VOTES, AvalonView
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.avalon import estimate, notes
from parlour.policies.agents.avalon.asks import choices_of_words, worded
from parlour.policies.agents.avalon.decide import AvalonDecision, by_default
from parlour.policies.agents.avalon.experience import RoleStore
from parlour.policies.agents.avalon.lines import DISCREET, first_strategy
from parlour.policies.agents.avalon.seat import (
    AvalonSeat,
    AvalonSeatSettings,
    AvalonSelfInfo,
    AvalonSituation,
    situation,
)
from parlour.policies.agents.seat import InputPart
from parlour.policies.llm.ask import A, Answer, Ask, Choices, SaidWords
from parlour.policies.llm.reading import with_length
from parlour.policies.retrieval.embedders import CachedHashing, HashingEmbedder
from parlour.policies.retrieval.memory import Memory
from pydantic import Field

_WEIGHTS = {FAILS: 5, EXPOSED: 5, VOTES: 4, TEAM: 3, speech.ACCUSE: 3}
_FOLLOWS = 0.5
"""How often the heuristic does what a suggestion says."""


class Weights(Answer):
    """How informative messages are."""

    weights: list[Annotated[int, Field(ge=1, le=5)]]
    """From 1 to 5, one for each message."""


class Weigh(Ask[Weights], kind="avalon_agent.weigh"):
    """Rate messages by how much they tell about who is who."""

    messages: list[str]

    def heuristic(self, rng: np.random.Generator) -> Weights:
        facts = map(notes.read, self.messages)
        return Weights(weights=[_WEIGHTS.get(fact.kind, 2) if fact else 1 for fact in facts])

    def check(self, answer: Weights) -> None:
        if len(answer.weights) != len(self.messages):
            raise ValueError(f"{len(answer.weights)} weights; accepted: {len(self.messages)} numbers from 1 to 5")

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "weights", len(self.messages), len(self.messages))


def _sentence(line: str) -> str:
    """A message without its speaker's words, as a sentence."""
    return f"{notes.without_words(line).removesuffix('.')}."


class Findings(Answer):
    """What the record says."""

    answers: list[str]
    """One for each question."""


class LookUp(Ask[Findings], kind="avalon_agent.look_up", fixed=("me",)):
    """Answer questions from a few messages each."""

    me: AvalonSelfInfo
    questions: list[str]
    material: list[list[str]]
    """For each question the messages most like it."""

    def heuristic(self, rng: np.random.Generator) -> Findings:
        return Findings(answers=[" ".join(map(_sentence, messages)) or "Unknown." for messages in self.material])

    def check(self, answer: Findings) -> None:
        if len(answer.answers) != len(self.questions):
            raise ValueError(f"{len(answer.answers)} answers; accepted: {len(self.questions)}")

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "answers", len(self.questions), len(self.questions))


class AvalonReflection(Answer):
    """Where the seat stands."""

    reflection: str
    """In at most 100 words."""


class KeptAsk(Ask[A], Generic[A], fixed=("me",)):
    """The game so far, as the agent sees it."""

    record: ClassVar[tuple[str, ...]] = ("messages", "now")
    """With `now`, which is the same in all questions of a turn."""

    me: AvalonSelfInfo
    messages: list[str]
    """The newest and the most informative ones, in order."""

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return not notes.is_fact(str(entry))


class ReflectOnFindings(KeptAsk[AvalonReflection], kind="avalon_agent.reflect", spare=("findings",)):
    """Think over what was kept and found."""

    findings: list[str]
    now: AvalonSituation

    def heuristic(self, rng: np.random.Generator) -> AvalonReflection:
        mine = estimate.superficial(self.me.knowledge, self.messages)
        bad = [name(j) for j, chance in enumerate(mine.evil) if chance > 0.5 and j != self.me.seat]
        on_team = self.me.seat in self.now.team
        task = "play a card" if self.now.does == CARD else self.now.does
        return AvalonReflection(
            reflection=f"As {self.me.role} I must {task}: quest {self.now.quest}, score "
            f"{self.now.good} to {self.now.evil}, {'on' if on_team else 'off'} the team. I suspect {len(bad)} players."
        )


class Past(InputPart):
    """A situation of an earlier game, with what was said and how the game went."""

    reflection: str
    response: str
    score: int


class Advice(Answer):
    """A suggestion from experience."""

    suggestion: str
    """One or two sentences; empty if experience says nothing."""


class Advise(Ask[Advice], kind="avalon_agent.advise", fixed=("me",)):
    """What experiences in similar situations suggest."""

    me: AvalonSelfInfo
    reflection: str
    past: list[Past]

    def heuristic(self, rng: np.random.Generator) -> Advice:
        scores: dict[str, list[int]] = {}
        for past in self.past:
            scores.setdefault(past.response, []).append(past.score)
        if not scores:
            return Advice(suggestion="")
        best = max(scores, key=lambda response: sum(scores[response]) / len(scores[response]))
        return Advice(suggestion=f"What went best before: {best}")


class TableWords(Answer):
    """What is said to the table; to the moderator in secret, an option."""

    words: SaidWords
    """At most 100 words; to the moderator the code of the option."""


class AnswerTable(
    KeptAsk[TableWords], kind="avalon_agent.answer_table", temperature=0.0, spare=("strategy", "suggestion")
):
    """Answer, from what was kept, the reflection and the suggestion."""

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

    def fallback(self, unclear: str, rng: np.random.Generator) -> TableWords | None:
        choice = by_default(unclear, self.me, self.now, self.options, rng)
        return None if choice is None else TableWords(words=choice)

    def choices(self) -> Choices:
        return choices_of_words(self.options, self.now)


NEWEST: Final = 15
MOST_INFORMATIVE: Final = 15
ALIKE: Final = 0.85
WINDOW: Final = 50
_FOUND: Final = 3
QUESTIONS: Final = (
    "Who was on the team of a quest that failed?",
    "Who accuses whom of being evil?",
    "Who approved a team, and who rejected it?",
)


class Pool(RoleStore):
    """Experiences by role, the oldest first. Shared by the seats of a team; it changes only between games."""

    format: Literal["parlour avalon experiences 1"] = "parlour avalon experiences 1"
    """What the file calls its content."""
    roles: Annotated[
        dict[str, list[Past]], Accepts("for each role a list of: reflection, response (texts) and score (a number)")
    ] = Field(default_factory=dict)
    """Experiences in each role, the oldest first."""

    def add(self, role: str, past: Sequence[Past]) -> None:
        """Add experiences; only the newest `WINDOW` stay."""
        self.roles[role] = [*self.roles.get(role, []), *past][-WINDOW:]

    def alike(self, role: str, reflection: str) -> list[Past]:
        """The experiences in a role whose reflection is like this one."""
        kept = self.roles.get(role, [])
        if not kept:
            return []
        *rows, wanted = CachedHashing().embed([*(past.reflection for past in kept), reflection])
        cosines = (np.stack(rows) @ wanted).tolist()
        return [past for past, cosine in zip(kept, cosines, strict=True) if cosine > ALIKE]


class BaselineSettings(AvalonSeatSettings):
    """What can be set."""

    experience: Annotated[Pool, Accepts("a file of `train avalon`")] = Field(default_factory=Pool)
    """Experiences from games before, from a file. Shared, not copied."""


class BaselineAgent(AvalonSeat):
    """Plays Avalon by history, reflection and similar experiences."""

    name: ClassVar[str] = "avalon_baseline"
    settings_type: ClassVar[type[Settings]] = BaselineSettings
    chosen: BaselineSettings

    def _begin(self) -> None:
        super()._begin()
        self._lines: list[str] = []
        self._weights: list[int] = []
        self._memory = Memory(HashingEmbedder())
        self._turns: list[tuple[str, str]] = []
        """Of each turn, the reflection and the words it led to."""

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        words = super().act(observation, info)
        if self._turn is not None:
            self._turns[-1] = (self._turns[-1][0], words)  # of several, the last ones; the others were no answer
        return words

    def _think(self, view: AvalonView, options: dict[str, str]) -> AnswerTable:
        assert self.me is not None
        self._hear()
        now, messages = situation(view, self.notes_taken.score), self._kept()
        material = [[excerpt.text for excerpt in self._memory.search(question, _FOUND)] for question in QUESTIONS]
        findings = self.seat_model.ask(LookUp(me=self.me, questions=list(QUESTIONS), material=material)).answers
        reflection = self.seat_model.ask(
            ReflectOnFindings(me=self.me, messages=messages, findings=findings, now=now)
        ).reflection
        past = self.chosen.experience.alike(self.me.role, reflection)
        suggestion = (
            self.seat_model.ask(Advise(me=self.me, reflection=reflection, past=past)).suggestion if past else ""
        )
        self._turns.append((reflection, ""))
        return AnswerTable(
            me=self.me,
            strategy=first_strategy(self.me.role),
            messages=messages,
            reflection=reflection,
            suggestion=suggestion,
            now=now,
            options=options,
            refused=[],
        )

    def _hear(self) -> None:
        """Rate and remember what was said since the last turn."""
        lines = [line for messages in self.notes_taken.rounds for line in messages]
        new = lines[len(self._lines) :]
        if new:
            self._weights += self.seat_model.ask(Weigh(messages=new)).weights
            self._memory.add(new, tag="dialogue")
            self._lines = lines

    def _kept(self) -> list[str]:
        """The newest messages and the most informative of the older ones, in order."""
        older = range(max(0, len(self._lines) - NEWEST))
        best = sorted(older, key=lambda k: (-self._weights[k], -k))[:MOST_INFORMATIVE]
        return [self._lines[k] for k in sorted(best)] + self._lines[len(older) :]

    def learn(self, *, won: bool, moves: int) -> list[Past]:
        """The experiences of a finished game: every turn, scored by how the game went."""
        score = 1000 - moves if won else moves
        return [Past(reflection=reflection, response=words, score=score) for reflection, words in self._turns]
