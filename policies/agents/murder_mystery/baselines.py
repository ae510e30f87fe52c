"""The procedures that Questum is compared with (SPEC 4.7): Werewolf-style, O-CoT, ThinkThrice, and asking nobody.

The three that ask put a question to everybody else about every victim in every round. Who has a secret answers in the same
way in all methods, as murderers do.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final

from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.policies.agents.murder_mystery import baseline_asks as asks
from parlour.policies.agents.murder_mystery import think_asks
from parlour.policies.agents.murder_mystery.procedure import QUESTION, Procedure
from parlour.policies.agents.murder_mystery.scene import Talk
from parlour.policies.agents.murder_mystery.seat_memory import Exchange

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

    def _about(self, target: int, victim: str) -> dict[str, Any]:
        return {**self.room.about(victim), "about": self.room.name(target)}

    def _query(self, target: int, victim: str) -> str:
        return f"{self.room.name(target)},{victim}"


class Werewolf(_Everybody):
    """Five of ten predefined questions, one made of them; an answer with a draft and a reflection."""

    def _question(self, target: int, victim: str, number: int) -> asks.WerewolfQuestion:
        room, query = self.room, self._query(target, victim)
        inputs: dict[str, Any] = {
            **self._about(target, victim),
            "script": room.seat_memory.excerpts(query),
            "dialogue": self._nearest(query),
        }
        select = asks.WerewolfSelect(**inputs, listed=list(room.scene.say.predefined))
        picked = select.picked(room.seat_model.ask(select).numbers)
        return asks.WerewolfQuestion(**inputs, picked=picked, number=number)

    def reply(self, exchange: Exchange) -> str:
        if self.room.secretive:
            return super().reply(exchange)
        room, asked = self.room, self.asked(exchange)
        dialogue = self._nearest(exchange.question)
        script = room.seat_memory.excerpts(exchange.question)
        draft = room.seat_model.ask(asks.WerewolfDraft(**asked, script=script, dialogue=dialogue)).words
        thought = room.seat_model.ask(asks.WerewolfReflect(**asked, draft=draft, dialogue=dialogue)).words
        return room.seat_model.ask(asks.WerewolfFinal(**asked, draft=draft, reflection=thought)).final_answer

    def _nearest(self, query: str) -> list[Talk]:
        return self.room.seat_memory.nearest(query, NEAREST)


class Ocot(_Everybody):
    """Goals as questions to oneself, what is known of each, then one question; a plain answer."""

    def _question(self, target: int, victim: str, number: int) -> asks.OcotQuestion:
        room, common = self.room, self._about(target, victim)
        goals = room.seat_model.ask(asks.OcotGoals(**common)).questions
        goals = [words for words in goals if words.strip()][: asks.GOALS]
        said = room.seat_model.ask_all(
            [
                asks.OcotConsider(
                    **room.about(victim),
                    goal=goal,
                    script=room.seat_memory.excerpts(goal),
                    dialogue=room.seat_memory.heard(goal),
                )
                for goal in goals
            ]
        )
        considered = [asks.Goal(question=goal, answer=answer.words) for goal, answer in zip(goals, said, strict=True)]
        dialogue = room.seat_memory.heard(self._query(target, victim))
        return asks.OcotQuestion(**common, considered=considered, dialogue=dialogue, number=number)


class ThinkThrice(_Everybody):
    """A question from a summary and memories of the character; an answer that is held against a timeline."""

    def _question(self, target: int, victim: str, number: int) -> think_asks.ThinkQuestion:
        room, query = self.room, self._query(target, victim)
        found = {"script": room.seat_memory.excerpts(query), "dialogue": room.seat_memory.heard(query)}
        inputs = {**self._about(target, victim), **found}
        summary = room.seat_model.ask(think_asks.ThinkSummary(**inputs)).words
        return think_asks.ThinkQuestion(**inputs, summary=summary, number=number)

    def reply(self, exchange: Exchange) -> str:
        if self.room.secretive:
            return super().reply(exchange)
        room, asked, found = self.room, self.asked(exchange), self.found(exchange)
        plain = {key: value for key, value in asked.items() if key != "asker"}
        entries = room.seat_model.ask(think_asks.ThinkTimeline(**plain, script=found["script"])).entries
        entries = [entry for entry in entries if entry.strip()][: think_asks.ENTRIES]
        judged = room.seat_model.ask_all([think_asks.ThinkUseful(**plain, entry=entry) for entry in entries])
        useful = [entry for entry, one in zip(entries, judged, strict=True) if one.yes]
        answer = room.seat_model.ask(think_asks.ThinkAnswer(**asked, **found, useful=useful)).words
        held: dict[str, Any] = {"scene": room.scene, "me": room.me, "answer": answer}
        contained = room.seat_model.ask_all([think_asks.ThinkContained(**held, entry=entry) for entry in useful])
        missing = [entry for entry, one in zip(useful, contained, strict=True) if not one.yes]
        return room.seat_model.ask(think_asks.ThinkRefine(**asked, answer=answer, missing=missing)).words
