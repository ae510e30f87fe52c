"""The questions that all Werewolf agents put, and those of the baselines.

`speak` and `choose` are the same for every method of inference; they are told what the method found, as a text and as
numbers. `infer` and `reflect` are the history window's (Xu et al. 2023, arXiv 2309.04658, as Zhu et al. 2024 compare with
it), `rerank` orders what retrieval found.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Generic, Literal

import numpy as np
from parlour.envs.english import name, names
from parlour.policies.agents.werewolf import inference, notes, rerank
from parlour.policies.agents.werewolf.decide import WerewolfDecision, WerewolfSelfInfo, WerewolfSituation, observer_of
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.llm.ask import A, Answer, Ask
from pydantic import Field

Number = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]

QUESTIONS: Final = (
    "Who accuses whom, and who defends whom?",
    "Who claims which role, and does anything speak against it?",
    "Who died, and who gained by it?",
)
_RANKED: Final = 0.9
"""What a text counts against the one before it in the order of retrieval."""


class SpokenReply(Answer):
    """What is said to the table, or to the other wolves."""

    words: str
    """At most 100 words."""


class InferredAsk(Ask[A], Generic[A]):
    """What an action is told: who acts, how things stand, and what was inferred about the others."""

    me: WerewolfSelfInfo
    now: WerewolfSituation
    inference: str
    standing: list[Number]
    messages: list[HeardMessage]
    options: dict[str, str]
    """Code -> what it says, in the words of the game."""

    def decided(self, rng: np.random.Generator) -> str:
        """The code of the option that the rule takes."""
        return WerewolfDecision(self.me, self.now, self.standing, self.messages, rng).choose(self.options)


class Speak(InferredAsk[SpokenReply]):
    """Say something, given what was inferred about the others."""

    kind: ClassVar[str] = "werewolf.speak"
    max_tokens: ClassVar[int] = 300
    temperature: ClassVar[float | None] = 0.3

    refused: list[str]
    """Words that were tried for this turn and could not be used."""

    def heuristic(self, rng: np.random.Generator) -> SpokenReply:
        return SpokenReply(words=self.options[self.decided(rng)])

    def check(self, answer: SpokenReply) -> None:
        if not answer.words.strip():
            raise ValueError("no words; accepted: at least one")


class ChosenOption(Answer):
    """What is done."""

    choice: str
    """The code of one option."""


class Choose(InferredAsk[ChosenOption]):
    """Take one of several options in secret, given what was inferred about the others."""

    kind: ClassVar[str] = "werewolf.choose"
    max_tokens: ClassVar[int] = 300
    temperature: ClassVar[float | None] = 0.0

    def heuristic(self, rng: np.random.Generator) -> ChosenOption:
        return ChosenOption(choice=self.decided(rng))

    def check(self, answer: ChosenOption) -> None:
        if answer.choice not in self.options:
            raise ValueError(f"choice {answer.choice[:40]!r}; accepted: {', '.join(self.options)}")


class InferredOpinion(Answer):
    """What a seat holds of another."""

    player: int
    stance: Literal["ally", "adversary", "unsure"]
    trust: Number
    """From -1 to 1."""


class Inference(Answer):
    """What the texts say of the others."""

    opinions: list[InferredOpinion]


class Infer(Ask[Inference]):
    """Who is on the own side, and how sure is that, by the texts alone."""

    kind: ClassVar[str] = "werewolf.infer"

    me: WerewolfSelfInfo
    now: WerewolfSituation
    found: list[HeardMessage]
    """Retrieved from the whole history, the most useful first; empty without retrieval."""
    messages: list[HeardMessage]
    """The newest ones, oldest first."""

    def heuristic(self, rng: np.random.Generator) -> Inference:
        texts = [*self.found, *(message for message in self.messages if message not in self.found)]
        weights = [_RANKED**k for k in range(len(self.found))] + [1.0] * (len(texts) - len(self.found))
        trusts = inference.infer(
            observer_of(self.me, self.now.wolves, self.now.innocent), len(self.me.roles), texts, weights
        )
        opinions = [
            InferredOpinion(player=seat, stance=inference.stance(trust), trust=round(trust, 6))  # type: ignore[arg-type]
            for seat, trust in enumerate(trusts)
            if seat != self.me.seat
        ]
        return Inference(opinions=opinions)

    def check(self, answer: Inference) -> None:
        named = [opinion.player for opinion in answer.opinions]
        others = set(range(len(self.me.roles))) - {self.me.seat}
        if len(set(named)) < len(named) or not set(named) <= others:
            raise ValueError(f"opinions on the players {named[:20]}; accepted: each of {sorted(others)} once at most")


class WerewolfReflection(Answer):
    """Where the seat stands."""

    asked: list[str]
    """Two questions that matter now."""
    reflection: str
    """In at most 100 words."""


class ReflectOnWindow(Ask[WerewolfReflection]):
    """Answer the standing questions and two own ones from the window, and reflect."""

    kind: ClassVar[str] = "werewolf.reflect"

    me: WerewolfSelfInfo
    now: WerewolfSituation
    questions: list[str]
    messages: list[HeardMessage]
    opinions: list[InferredOpinion]

    def heuristic(self, rng: np.random.Generator) -> WerewolfReflection:
        ranked = sorted(self.opinions, key=lambda one: (-abs(one.trust), one.player))
        asked = [f"Is {name(one.player)} what he seems to be?" for one in ranked[:2]]
        foes = [one.player for one in ranked if one.stance == inference.ADVERSARY]
        return WerewolfReflection(
            asked=asked,
            reflection=f"It is day {self.now.day}, {len(self.now.alive)} live. As {self.me.role} I am to "
            f"{self.now.does.replace('_', ' ')}. I hold {names(foes)} for adversaries.",
        )


class Order(Answer):
    """Texts put in order."""

    order: list[int]
    """Their positions in the list that was given, from 0, the most useful first."""


class Rerank(Ask[Order]):
    """Put retrieved texts in the order of their use for a question."""

    kind: ClassVar[str] = "werewolf.rerank"

    query: str
    texts: list[HeardMessage]
    """Nearest to the query first."""

    def heuristic(self, rng: np.random.Generator) -> Order:
        return Order(order=rerank.traverse(self.query, [notes.line(text) for text in self.texts]))

    def check(self, answer: Order) -> None:
        if sorted(answer.order) != list(range(len(self.texts))):
            raise ValueError(f"order {answer.order[:20]}; accepted: each of 0..{len(self.texts) - 1} once")
