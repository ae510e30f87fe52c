"""The agents that GRATR is compared with (Zhu et al. 2024, "Experimental setup"): a window of the history, and two RAGs.

All of them infer anew at each turn, from the K = 15 newest messages. `werewolf_rag` adds the texts of the whole history
that lie nearest to one fixed query, `werewolf_rerank` has these put in another order first. Xu et al.'s five questions and
their reflection are one question here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from parlour.envs.english import name
from parlour.policies.agents.werewolf import asks, notes
from parlour.policies.agents.werewolf.decide import WerewolfSituation
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.seat import InferredBelief, WerewolfSeat, WerewolfSettings
from parlour.policies.retrieval.embedders import CachedHashing
from parlour.policies.retrieval.memory import Memory
from parlour.policies.settings import Settings, setting, whole

QUERY: Final = "Which player is a werewolf, evil, and which is good? Who checked or accused whom, who claims a role, and how sure is it?"
TOP: Final = 5


class WindowAgent(WerewolfSeat):
    """Plays Werewolf by the newest messages alone."""

    name: ClassVar[str] = "werewolf_window"

    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        assert self.me is not None
        messages = self.record.messages[-self.chosen.window :]
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


@dataclass(frozen=True)
class RetrievalSettings(WerewolfSettings):
    """... and how much is retrieved."""

    top: int = setting(TOP, whole(1, 200))
    """How many texts it retrieves."""


class RetrievalAgent(WindowAgent):
    """... and by what lies nearest to a fixed query in the whole history (native RAG)."""

    name: ClassVar[str] = "werewolf_rag"
    settings_type: ClassVar[type[Settings]] = RetrievalSettings
    chosen: RetrievalSettings

    def _begin(self) -> None:
        super()._begin()
        self._memory = Memory(CachedHashing())

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        if messages:
            self._memory.add([notes.embedded(message) for message in messages])

    def _found(self) -> list[HeardMessage]:
        if not len(self._memory):
            return []
        return [self.record.messages[found.position] for found in self._memory.search(QUERY, self.chosen.top)]


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
