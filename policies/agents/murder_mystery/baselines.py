"""The procedures that Questum is compared with (decisions 4.7, paper C.3), and the questions of two of them.

Werewolf-style, O-CoT and ThinkThrice ask every other player about every victim in every round, and prune nothing. Their
heuristics read the same facts from the same excerpts as Questum's, ask in the same words, and answer within the same limit. The
procedures differ in what they read before they ask. Who has a secret answers in the same way in all methods, as murderers do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import MEANS, MOTIVE, OPEN, say
from parlour.policies.agents.murder_mystery import heuristics, think_asks, wording
from parlour.policies.agents.murder_mystery.asks import (
    AnswerAsk,
    CharacterAsk,
    Questions,
    VictimAsk,
    WithExcerpts,
    Words,
    refuse_number,
)
from parlour.policies.agents.murder_mystery.procedure import QUESTION, Procedure
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.agents.murder_mystery.seat_memory import Exchange
from parlour.policies.agents.murder_mystery.sensors import answered, topics_put
from parlour.policies.agents.seat import InputPart
from parlour.policies.llm.ask import Answer, Choices, SaidWords
from parlour.policies.llm.reading import with_length

PICKED: Final = 5
"""Questions that the Werewolf-style method chooses from the predefined ones."""
GOALS: Final = 3
"""Questions that O-CoT puts to itself, at most."""


# -- Werewolf-style ----------------------------------------------------------------------------------------------


class Picked(Answer):
    """Numbers of predefined questions, from 1, the best first."""

    reason: str
    numbers: list[int]


class WerewolfSelect(WithExcerpts, CharacterAsk[Picked], kind="questum.werewolf_select"):
    """Five of the ten predefined questions."""

    listed: list[str]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Picked:
        """Those on topics that the character was asked least about; of equals any, as the list knows no case."""
        person, victim = self.scene.person(self.about), self.scene.person(self.victim)
        asked = [t for question in answered(self.excerpts, person) for t in question.topics]
        order = list(rng.permutation(len(self.listed)))
        touched = {
            k: sum(asked.count(topic) for topic in wording.wanted(self.scene, self.listed[k], person, victim).topics)
            for k in order
        }
        return Picked(reason="", numbers=[int(k) + 1 for k in sorted(order, key=lambda k: touched[k])[:PICKED]])

    def choices(self) -> Choices:
        return {"numbers": dict(enumerate(self.listed, 1))}

    def schema_of_answer(self) -> dict[str, Any]:
        least = min(PICKED, len(self.listed))
        return with_length(super().schema_of_answer(), "numbers", least, least)

    def check(self, answer: Picked) -> None:
        if not answer.numbers:
            raise ValueError(f"no number; accepted: {PICKED} from 1 to {len(self.listed)}")

    def picked(self, numbers: Sequence[int]) -> list[str]:
        """The questions with these numbers, without repetitions; missing questions follow in the order of the list."""
        order = dict.fromkeys((*numbers, *range(1, len(self.listed) + 1)))
        return [self.listed[number - 1] for number in order][:PICKED]


class WerewolfQuestion(WithExcerpts, CharacterAsk[Questions], kind="questum.werewolf_question"):
    """One question in words of your own, after the five."""

    picked: list[str]
    number: int
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        listed = self.picked[: self.number] or [wording.put(self.scene, OPEN, self.victim)]
        return Questions(questions=[wording.naming(self.scene, self.victim, words) for words in listed])


class WerewolfDraft(WithExcerpts, AnswerAsk[Words], kind="questum.werewolf_draft"):
    """A first answer."""

    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        return Words(words=heuristics.reply(self.excerpts, self.question))


class WerewolfReflect(AnswerAsk[Words], kind="questum.werewolf_reflect"):
    """What is to be said about the draft."""

    draft: str
    dialogue: list[Talk]
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        repeated = any(talk.speaker == self.me.name and talk.answer == self.draft for talk in self.dialogue)
        said = self.scene.say
        return Words(words=(said.said_before if repeated else said.new).format(self.draft))


class Considered(Answer):
    """A thought and the answer that is given."""

    thought: str
    final_answer: SaidWords


class WerewolfFinal(AnswerAsk[Considered], kind="questum.werewolf_final"):
    """The answer that is given, after the reflection."""

    draft: str
    reflection: str
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Considered:
        return Considered(thought=self.reflection, final_answer=self.draft or self.scene.say.nothing)


# -- O-CoT -------------------------------------------------------------------------------------------------------


class Goal(InputPart):
    """A question that one puts to oneself, and the answer so far."""

    question: str
    answer: str


class OcotGoals(CharacterAsk[Questions], kind="questum.ocot_goals"):
    """What the player has to find out, according to its objectives."""

    stance: str

    def heuristic(self, rng: np.random.Generator) -> Questions:
        put = [wording.put(self.scene, topic, self.victim) for topic in (wording.DEATH, MOTIVE, MEANS)]
        return Questions(questions=[*self.me.objectives[: GOALS - 1], *put][:GOALS])

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "questions", 1, GOALS)

    def check(self, answer: Questions) -> None:
        refuse_number(answer.questions, GOALS)


class OcotConsider(WithExcerpts, VictimAsk[Words], kind="questum.ocot_consider"):
    """What the excerpts say on one of these."""

    goal: str
    stance: str

    def heuristic(self, rng: np.random.Generator) -> Words:
        known = self.known
        asks = wording.wanted(self.scene, self.goal, known.person, known.victim)
        facts = [f for f, _, _, _ in known.statements if heuristics.answers(f, asks, known.person, known.victim)]
        said = [say(fact, self.scene.vocabulary, None) for fact in dict.fromkeys(facts)]
        return Words(words=self.scene.join(said[: heuristics.LIMIT]) or self.scene.say.lacking)


class OcotQuestion(WithExcerpts, CharacterAsk[Questions], kind="questum.ocot_question"):
    """A question to a character, after what was considered."""

    considered: list[Goal]
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
            topic for words in (*lacking, *others) for topic in wording.wanted(self.scene, words, person, victim).topics
        ]
        fresh = list(dict.fromkeys(topic for topic in wished if topic not in asked)) or [OPEN]
        return Questions(questions=[wording.put(self.scene, topic, self.victim) for topic in fresh[: self.number]])


NEAREST: Final = 5
"""Pieces of dialogue that the Werewolf-style method looks at."""


class Silent(Procedure):
    """Asks nobody, and answers. At the quiz, with the own script alone: the personal perspective (PP)."""

    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        return None

    def questions(self, target: int, victim: str, number: int) -> list[str]:
        return []


class _Everybody(Procedure):
    """Questions everybody else."""

    def choose(self, view: MysteryView, asked: tuple[int, ...]) -> int | None:
        return next((seat for seat in self.room.others if seat not in asked), None)

    def questions(self, target: int, victim: str, number: int) -> list[str]:
        answer = self.room.ask_or_fail(self._question(target, victim, number), QUESTION)
        return self.room.put(answer.questions, victim, number) if answer is not None else []

    @abstractmethod
    def _question(self, target: int, victim: str, number: int) -> Any:
        """The last question to the model, for the words of that to the character."""


class Werewolf(_Everybody):
    """Five of ten predefined questions, one made of them; an answer with a draft and a reflection."""

    def _question(self, target: int, victim: str, number: int) -> WerewolfQuestion:
        room, name = self.room, self.room.name(target)
        query = f"{name},{victim}"
        excerpts = {"script": room.seat_memory.excerpts(query), "dialogue": self._nearest(query)}
        inputs: dict[str, Any] = {**room.about(victim), "about": name, **excerpts}
        select = WerewolfSelect(**inputs, listed=list(room.scene.say.predefined))
        picked = select.picked(room.seat_model.ask(select).numbers)
        return WerewolfQuestion(**inputs, picked=picked, number=number)

    def reply(self, exchange: Exchange) -> str:
        if self.room.secretive:
            return super().reply(exchange)
        room, asked = self.room, self.asked(exchange)
        dialogue = self._nearest(exchange.question)
        script = room.seat_memory.excerpts(exchange.question)
        draft = room.seat_model.ask(WerewolfDraft(**asked, script=script, dialogue=dialogue)).words
        thought = room.seat_model.ask(WerewolfReflect(**asked, draft=draft, dialogue=dialogue)).words
        return room.seat_model.ask(WerewolfFinal(**asked, draft=draft, reflection=thought)).final_answer

    def _nearest(self, query: str) -> list[Talk]:
        return self.room.seat_memory.nearest(query, NEAREST)


class Ocot(_Everybody):
    """Goals as questions to oneself, what is known about each, then one question; a plain answer."""

    def _question(self, target: int, victim: str, number: int) -> OcotQuestion:
        room, about = self.room, self.room.about(victim)
        goals = room.seat_model.ask(OcotGoals(**about, about=room.name(target))).questions
        goals = [words for words in goals if words.strip()][:GOALS]
        said = room.seat_model.ask_all([OcotConsider(**about, goal=goal, **room.recalled(goal)) for goal in goals])
        considered = [Goal(question=goal, answer=answer.words) for goal, answer in zip(goals, said, strict=True)]
        return OcotQuestion(**room.about_player(target, victim), considered=considered, number=number)


class ThinkThrice(_Everybody):
    """A question from a summary and memories of the character; an answer that is held against a timeline."""

    def _question(self, target: int, victim: str, number: int) -> think_asks.ThinkQuestion:
        room = self.room
        inputs = room.about_player(target, victim)
        summary = room.seat_model.ask(think_asks.ThinkSummary(**inputs)).words
        return think_asks.ThinkQuestion(**inputs, summary=summary, number=number)

    def reply(self, exchange: Exchange) -> str:
        if self.room.secretive:
            return super().reply(exchange)
        room, asked, excerpts = self.room, self.asked(exchange), self.room.recalled(exchange.question)
        plain = {key: value for key, value in asked.items() if key != "asker"}
        entries = room.seat_model.ask(think_asks.ThinkTimeline(**plain, script=excerpts["script"])).entries
        entries = [entry for entry in entries if entry.strip()][: think_asks.ENTRIES]
        judged = room.seat_model.ask_all([think_asks.ThinkUseful(**plain, entry=entry) for entry in entries])
        useful = [entry for entry, answer in zip(entries, judged, strict=True) if answer.yes]
        answer = room.seat_model.ask(think_asks.ThinkAnswer(**asked, **excerpts, useful=useful)).words
        inputs: dict[str, Any] = {"scene": room.scene, "me": room.me, "answer": answer}
        contained = room.seat_model.ask_all([think_asks.ThinkContained(**inputs, entry=entry) for entry in useful])
        missing = [entry for entry, answer in zip(useful, contained, strict=True) if not answer.yes]
        return room.seat_model.ask(think_asks.ThinkRefine(**asked, answer=answer, missing=missing)).words
