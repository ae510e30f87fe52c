"""The questions of the methods that Questum is compared with: Werewolf-style and O-CoT (SPEC 4.7, paper C.3).

All of them question everybody and prune nothing. Their heuristics read the same facts from the same sorts of
excerpts as those of Questum, put their questions in the same words, and answer within the same limit; what differs is what
each procedure looks at before it asks.
"""

from __future__ import annotations

from typing import ClassVar, Final

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
    refuse_unnamed,
)
from parlour.policies.agents.murder_mystery.scene import ScenePart, Talk
from parlour.policies.agents.murder_mystery.sensors import answered, topics_put
from parlour.policies.llm.ask import Answer

PICKED: Final = 5
"""Questions that the Werewolf-style method chooses from the predefined ones."""
GOALS: Final = 3
"""Questions that O-CoT puts to itself, at most."""
LACKING: Final = "lack of information"


# -- Werewolf-style ----------------------------------------------------------------------------------------------


class Picked(Answer):
    """Numbers of predefined questions, from 1."""

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
        return Picked(numbers=[int(k) + 1 for k in sorted(order, key=lambda k: touched[k])[:PICKED]])

    def check(self, answer: Picked) -> None:
        least = min(PICKED, len(self.listed))
        if len(set(answer.numbers)) != least or not all(1 <= k <= len(self.listed) for k in answer.numbers):
            raise ValueError(f"numbers {answer.numbers}; accepted: {least} different ones from 1 to {len(self.listed)}")


class WerewolfQuestion(CharacterAsk[Questions]):
    """One question in words of one's own, after the five."""

    kind: ClassVar[str] = "questum.werewolf_question"

    picked: list[str]
    script: list[str]
    dialogue: list[Talk]
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        open_one, colon = topics.put(self.scene, OPEN, self.victim), self.scene.say.colon
        opening = open_one.partition(colon)[0]
        listed = self.picked[: self.number] or [open_one]
        return Questions(questions=[f"{opening}{colon}{words}" for words in listed])

    def check(self, answer: Questions) -> None:
        refuse_unnamed(answer.questions, self.number, self.scene, self.victim)


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
        return Words(words=("said before" if told else "new") + f": {self.draft}")


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

    def check(self, answer: Questions) -> None:
        if not 1 <= len([one for one in answer.questions if one.strip()]) <= GOALS:
            raise ValueError(f"{len(answer.questions)} questions; accepted: 1 to {GOALS}")


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
        return Words(words=self.scene.join(said[: replies.LIMIT]) or LACKING)


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
        lacking = [goal.question for goal in self.considered if goal.answer == LACKING]
        others = [goal.question for goal in self.considered if goal.answer != LACKING]
        wished = [
            topic for words in (*lacking, *others) for topic in topics.wanted(self.scene, words, person, victim).topics
        ]
        fresh = list(dict.fromkeys(topic for topic in wished if topic not in asked)) or [OPEN]
        return Questions(questions=[topics.put(self.scene, topic, self.victim) for topic in fresh[: self.number]])

    def check(self, answer: Questions) -> None:
        refuse_unnamed(answer.questions, self.number, self.scene, self.victim)
