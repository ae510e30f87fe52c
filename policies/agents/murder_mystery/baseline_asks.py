"""The questions of the methods that Questum is compared with: Werewolf-style and O-CoT (SPEC 4.7, paper C.3).

All of them question everybody and prune nothing. Their heuristics read the same facts from the same sorts of
excerpts as those of Questum, put their questions in the same words, and answer within the same limit; what differs is what
each procedure looks at before it asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, OPEN, say
from parlour.policies.agents.murder_mystery import replies, topics
from parlour.policies.agents.murder_mystery.asks import (
    AnswerAsk,
    CharacterAsk,
    Questions,
    VictimAsk,
    Words,
    refuse_blank,
    refuse_number,
    sized,
)
from parlour.policies.agents.murder_mystery.scene import ScenePart, Talk
from parlour.policies.agents.murder_mystery.sensors import answered, topics_put
from parlour.policies.llm.ask import Answer, Choices

PICKED: Final = 5
"""Questions that the Werewolf-style method chooses from the predefined ones."""
GOALS: Final = 3
"""Questions that O-CoT puts to itself, at most."""


# -- Werewolf-style ----------------------------------------------------------------------------------------------


class Picked(Answer):
    """Numbers of predefined questions, from 1, the best first."""

    reason: str
    numbers: list[int]


class WerewolfSelect(CharacterAsk[Picked]):
    """Five of the ten predefined questions."""

    kind: ClassVar[str] = "questum.werewolf_select"

    listed: list[str]
    script: list[str]
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Picked:
        """Those on topics that the character was asked least about; of equals any, as the list knows no case."""
        person, victim = self.scene.person(self.about), self.scene.person(self.victim)
        asked = [t for one in answered(self.excerpts, person) for t in one.topics]
        order = list(rng.permutation(len(self.listed)))
        touched = {
            k: sum(asked.count(topic) for topic in topics.wanted(self.scene, self.listed[k], person, victim).topics)
            for k in order
        }
        return Picked(reason="", numbers=[int(k) + 1 for k in sorted(order, key=lambda k: touched[k])[:PICKED]])

    def choices(self) -> Choices:
        return {"numbers": dict(enumerate(self.listed, 1))}

    def schema_of_answer(self) -> dict[str, Any]:
        least = min(PICKED, len(self.listed))
        return sized(super().schema_of_answer(), "numbers", least, least)

    def check(self, answer: Picked) -> None:
        if not answer.numbers:
            raise ValueError(f"no number; accepted: {PICKED} from 1 to {len(self.listed)}")

    def picked(self, numbers: Sequence[int]) -> list[str]:
        """The questions of these numbers; of a number that is given twice once, what is missing in order of the list."""
        order = dict.fromkeys((*numbers, *range(1, len(self.listed) + 1)))
        return [self.listed[number - 1] for number in order][:PICKED]


class WerewolfQuestion(CharacterAsk[Questions]):
    """One question in words of one's own, after the five."""

    kind: ClassVar[str] = "questum.werewolf_question"

    picked: list[str]
    script: list[str]
    dialogue: list[Talk]
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        listed = self.picked[: self.number] or [topics.put(self.scene, OPEN, self.victim)]
        return Questions(questions=[topics.naming(self.scene, self.victim, words) for words in listed])


class WerewolfDraft(AnswerAsk[Words]):
    """A first answer."""

    kind: ClassVar[str] = "questum.werewolf_draft"

    script: list[str]
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=replies.reply(self.excerpts, self.question))


class WerewolfReflect(AnswerAsk[Words]):
    """What is to be said of the draft."""

    kind: ClassVar[str] = "questum.werewolf_reflect"

    draft: str
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        told = any(talk.speaker == self.me.name and talk.answer == self.draft for talk in self.dialogue)
        said = self.scene.say
        return Words(words=(said.said_before if told else said.new).format(self.draft))


class Considered(Answer):
    """A thought and the answer that is given."""

    thought: str
    final_answer: str


class WerewolfFinal(AnswerAsk[Considered]):
    """The answer that is given, after the reflection."""

    kind: ClassVar[str] = "questum.werewolf_final"

    draft: str
    reflection: str
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Considered:
        return Considered(thought=self.reflection, final_answer=self.draft or self.scene.say.nothing)

    def check(self, answer: Considered) -> None:
        refuse_blank(answer.final_answer)


# -- O-CoT -------------------------------------------------------------------------------------------------------


class Goal(ScenePart):
    """A question that one puts to oneself, and the answer so far."""

    question: str
    answer: str


class OcotGoals(CharacterAsk[Questions]):
    """What one has to find out, after one's objectives."""

    kind: ClassVar[str] = "questum.ocot_goals"

    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        put = [topics.put(self.scene, topic, self.victim) for topic in (topics.DEATH, MOTIVE, MEANS)]
        return Questions(questions=[*self.me.objectives[: GOALS - 1], *put][:GOALS])

    def schema_of_answer(self) -> dict[str, Any]:
        return sized(super().schema_of_answer(), "questions", 1, GOALS)

    def check(self, answer: Questions) -> None:
        refuse_number(answer.questions, GOALS)


class OcotConsider(VictimAsk[Words]):
    """What the excerpts say on one of these."""

    kind: ClassVar[str] = "questum.ocot_consider"

    goal: str
    script: list[str]
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        known = self.known
        asks = topics.wanted(self.scene, self.goal, known.person, known.victim)
        facts = [one.fact for one in known.told if replies.answers(one.fact, asks, known.person, known.victim)]
        said = [say(fact, self.scene.vocabulary, None) for fact in dict.fromkeys(facts)]
        return Words(words=self.scene.join(said[: replies.LIMIT]) or self.scene.say.lacking)


class OcotQuestion(CharacterAsk[Questions]):
    """A question to a character, after what was considered."""

    kind: ClassVar[str] = "questum.ocot_question"

    considered: list[Goal]
    dialogue: list[Talk]
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        """On what the goals lack; otherwise on a goal that this character was not asked about."""
        person, victim = self.scene.person(self.about), self.scene.person(self.victim)
        asked = topics_put(answered(self.excerpts, person))
        none = self.scene.say.lacking
        lacking = [goal.question for goal in self.considered if goal.answer == none]
        others = [goal.question for goal in self.considered if goal.answer != none]
        wished = [
            topic for words in (*lacking, *others) for topic in topics.wanted(self.scene, words, person, victim).topics
        ]
        fresh = list(dict.fromkeys(topic for topic in wished if topic not in asked)) or [OPEN]
        return Questions(questions=[topics.put(self.scene, topic, self.victim) for topic in fresh[: self.number]])
