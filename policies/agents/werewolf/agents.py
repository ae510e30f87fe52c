"""The agents that GRATR is compared with (Zhu et al. 2024, "Experimental setup"): a window of the history, and two RAGs.

All of them infer anew at each turn, from the K = 15 newest messages. `werewolf_rag` adds the texts of the whole history
that lie nearest to one fixed query, `werewolf_rerank` has these put in another order first. Xu et al.'s five questions and
their reflection are one question here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from parlour.envs.core import accept, check_one_of
from parlour.envs.english import name
from parlour.policies.agents.werewolf import asks, notes
from parlour.policies.agents.werewolf.decide import WerewolfSituation
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.seat import WINDOW, InferredBelief, WerewolfSeat
from parlour.policies.heuristic.deceit import deceit_of
from parlour.policies.llm.model import Model
from parlour.policies.retrieval.embedders import CachedHashing
from parlour.policies.retrieval.memory import Memory

QUERY: Final = "Which player is a werewolf, evil, and which is good? Who checked or accused whom, who claims a role, and how sure is it?"
TOP: Final = 5
_MOST: Final = range(1, 201)


class WindowAgent(WerewolfSeat):
    """Plays Werewolf by the newest messages alone.

    Args:
        model: Who answers; the heuristics by default.
        window: How many messages that is.
        deceit: As of any Werewolf agent (`WerewolfSeat`).

    Raises:
        ParlourError: A setting is not accepted.
    """

    name: ClassVar[str] = "werewolf_window"
    takes: ClassVar[tuple[str, ...]] = ("window", "deceit")

    def __init__(self, model: Model | None = None, *, window: int = WINDOW, deceit: float = 0.0) -> None:
        check_one_of("window", window, _MOST)
        super().__init__(model, window=window, deceit=deceit)

    @classmethod
    def _from_words(cls, settings: Mapping[str, str]) -> dict[str, Any]:
        """Numbers for what it `takes`."""
        lying = {key: deceit_of(value) for key, value in settings.items() if key == "deceit"}
        numbers = {key: value for key, value in settings.items() if key not in lying}
        for key, value in numbers.items():
            if not (value.isascii() and value.isdigit()):
                raise accept(key, value, _MOST)
        return {**{key: int(value) for key, value in numbers.items()}, **lying}

    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        assert self.me is not None
        messages = self.record.messages[-self.window :]
        found = self._found()
        opinions = self.seat_model.ask(asks.Infer(me=self.me, now=now, found=found, messages=messages)).opinions
        reflected = self.seat_model.ask(
            asks.ReflectOnWindow(
                me=self.me, now=now, questions=list(asks.QUESTIONS), messages=messages, opinions=opinions
            )
        )
        standing = [0.0] * len(self.me.roles)
        standing[self.me.seat] = 1.0
        for one in opinions:
            standing[one.player] = one.trust
        return InferredBelief("\n".join([*map(told, opinions), reflected.reflection]), tuple(standing))

    def _found(self) -> list[HeardMessage]:
        """What was retrieved, the most useful first."""
        return []


def told(opinion: asks.InferredOpinion) -> str:
    """An opinion in a sentence."""
    who, trust = name(opinion.player), opinion.trust
    if opinion.stance == "unsure":
        return f"{who} may be on either side (trust {trust:+.2f})."
    return f"{who} is inferred to be my {opinion.stance} (trust {trust:+.2f})."


class RetrievalAgent(WindowAgent):
    """... and by what lies nearest to a fixed query in the whole history (native RAG).

    Args:
        model: Who answers; the heuristics by default.
        window: How many of the newest messages a question holds.
        top: How many texts it retrieves.
        deceit: As of any Werewolf agent.

    Raises:
        ParlourError: A setting is not accepted.
    """

    name: ClassVar[str] = "werewolf_rag"
    takes: ClassVar[tuple[str, ...]] = ("window", "top", "deceit")

    def __init__(
        self, model: Model | None = None, *, window: int = WINDOW, top: int = TOP, deceit: float = 0.0
    ) -> None:
        check_one_of("top", top, _MOST)
        self.top = top
        super().__init__(model, window=window, deceit=deceit)

    def _begin(self) -> None:
        super()._begin()
        self._memory = Memory(CachedHashing())

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        if messages:
            self._memory.add([notes.embedded(message) for message in messages])

    def _found(self) -> list[HeardMessage]:
        if not len(self._memory):
            return []
        return [self.record.messages[found.position] for found in self._memory.search(QUERY, self.top)]

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "top": self.top}


class RerankAgent(RetrievalAgent):
    """... which are put in another order first (rerank RAG)."""

    name: ClassVar[str] = "werewolf_rerank"

    def _found(self) -> list[HeardMessage]:
        found = super()._found()
        if len(found) < 2:
            return found
        texts = {str(number): text for number, text in enumerate(found)}
        named = self.seat_model.ask(asks.Rerank(query=QUERY, texts=texts)).order
        return [found[number] for number in dict.fromkeys((*named, *range(len(found))))]  # those left out come last
