"""The questions of all Werewolf agents, and of the baselines.

`speak` and `choose` are the same for every method of inference; they receive the method's result, as a text and as numbers. Both
answers hold one of the options, so that it is plain what was decided, whatever words go with it. `infer` and
`reflect` are the history window's (Xu et al. 2023, arXiv 2309.04658, as Zhu et al. 2024 compare with it), `rerank` orders
what retrieval found.

`traverse` orders them as the published reranker does ("A*-style, over negative dot products, from the block nearest to the
query"): a text costs the negative dot product with the text it is reached from, added up along the way, and is expected to
cost the negative dot product with the query; the cheapest is taken next.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Annotated, Any, Final, Generic, Literal

import numpy as np
from parlour.envs.language.english import name, names
from parlour.policies.agents.werewolf import inference, notes
from parlour.policies.agents.werewolf.decide import WerewolfDecision
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.situation import Player, WerewolfSelfInfo, WerewolfSituation, observer_of
from parlour.policies.llm.ask import A, Answer, Ask, Choices, Rounded
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.reading import with_length
from parlour.policies.retrieval.embedders import CachedHashing
from pydantic import BeforeValidator, Field, PlainSerializer, field_validator

_DIGITS: Final = 5
"""Decimals of a dot product; what differs by less is a tie, which the earlier text wins."""


def traverse(query: str, texts: Sequence[str]) -> list[int]:
    """The positions of the texts in the order of the traversal; the first is the one nearest to the query.

    Raises:
        EmbeddingFailed: A text is blank.
    """
    if not texts:
        return []
    vectors = CachedHashing().embed([*texts, query]).astype(np.float64)
    return order(vectors[:-1] @ vectors[:-1].T, vectors[:-1] @ vectors[-1])


def order(between: np.ndarray[Any, Any], to_query: np.ndarray[Any, Any]) -> list[int]:
    """The traversal itself.

    Args:
        between: Dot products of the texts with each other, shape (n, n).
        to_query: Dot products of the texts with the query, shape (n,).
    """
    between, to_query = np.round(between, _DIGITS), np.round(to_query, _DIGITS)
    start = int(np.argmax(to_query))
    heap: list[tuple[float, int, float]] = [(-float(to_query[start]), start, 0.0)]
    taken: list[int] = []
    while heap:
        _, at, spent = heappop(heap)
        if at in taken:
            continue
        taken.append(at)
        for k in range(len(to_query)):
            if k not in taken:
                cost = spent - float(between[at, k])
                heappush(heap, (cost - float(to_query[k]), k, cost))
    return taken


Number = Annotated[Rounded, Field(ge=-1, le=1, allow_inf_nan=False)]


def _in_order(standing: Any) -> Any:
    """The numbers of a standing by name; anything else as it is."""
    return list(standing.values()) if isinstance(standing, dict) else standing


def _by_name(standing: list[float]) -> dict[str, float]:
    return {name(seat): number for seat, number in enumerate(standing)}


Standing = Annotated[list[Number], BeforeValidator(_in_order), PlainSerializer(_by_name, when_used="json")]
"""Trust in each player, in seat order; questions call the players by name."""

QUESTIONS: Final = (
    "Who accuses whom, and who defends whom?",
    "Who claims which role, and does anything speak against it?",
    "Who died, and who gained by it?",
)
_RANKED: Final = 0.9
"""What a text counts against the one before it in the order of retrieval."""
_BY_TRUST: Final = "By how far I trust each of them."
"""The reason of the rule for whatever it does."""


def others_of(me: WerewolfSelfInfo) -> dict[str, str]:
    """The numbers of the other players, for `choices`."""
    return {name(seat): "" for seat in range(len(me.roles)) if seat != me.seat}


class HeardAsk(Ask[A], Generic[A], fixed=("me",), recent=("messages",), words_first=True):
    """What a seat is asked who is shown the newest messages, oldest first.

    They are a window of the game that moves on, so nothing after them can be shared with earlier prompts. Therefore the question,
    the shape of its answer, and what changes least come before them.
    """

    me: WerewolfSelfInfo

    @classmethod
    def is_speech(cls, entry: HeardMessage) -> bool:
        return entry.said


class ChosenOption(Answer):
    """What is done."""

    why: str
    """In a sentence or two; nobody else reads it."""
    choice: str
    """The code of one option."""


class SpokenReply(ChosenOption):
    """What is said to the table, or to the other wolves."""

    words: str
    """At most 100 words that amount to the choice; blank ones stand for the option's own sentence."""


class InferredAsk(HeardAsk[A], Generic[A], spare=("inference",), max_tokens=400):
    """Further inputs of an action: the inference about the others, and the options."""

    options: dict[str, str]
    """Code -> what it says, in the words of the game."""
    now: WerewolfSituation
    messages: list[HeardMessage]
    inference: str
    standing: Standing

    def decided(self, rng: np.random.Generator) -> str:
        """The code of the option that the rule takes."""
        return WerewolfDecision(self.me, self.now, self.standing, self.messages, rng).choose(self.options)

    def choices(self) -> Choices:
        return {"choice": self.options}


class Speak(InferredAsk[SpokenReply], kind="werewolf.speak", temperature=0.3):
    """Say something, given what was inferred about the others."""

    refused: list[str]
    """Words that were tried for this turn and could not be used."""

    def heuristic(self, rng: np.random.Generator) -> SpokenReply:
        choice = self.decided(rng)
        return SpokenReply(why=_BY_TRUST, choice=choice, words=self.options[choice])


class Choose(InferredAsk[ChosenOption], kind="werewolf.choose", temperature=0.0):
    """Take one of several options in secret, given what was inferred about the others."""

    def heuristic(self, rng: np.random.Generator) -> ChosenOption:
        return ChosenOption(why=_BY_TRUST, choice=self.decided(rng))


class InferredOpinion(Answer):
    """What a seat holds of another."""

    player: Player
    stance: Literal["ally", "adversary", "unsure"]
    trust: Rounded = Field(ge=-1, le=1, allow_inf_nan=False)
    """From -1 to 1."""


class Inference(Answer):
    """What the texts say about the others."""

    why: str
    """Evidence for and against each player, in a few sentences."""
    opinions: list[InferredOpinion]
    """One for each of the others; of two, the later one."""

    @field_validator("opinions")
    @classmethod
    def _one_each(cls, opinions: list[InferredOpinion]) -> list[InferredOpinion]:
        return list({opinion.player: opinion for opinion in opinions}.values())


class Infer(HeardAsk[Inference], kind="werewolf.infer", spare=("found",)):
    """Who is on the own side, and how sure is that, by the texts alone."""

    now: WerewolfSituation
    messages: list[HeardMessage]
    found: list[HeardMessage]
    """Retrieved from the whole history, the most useful first; empty without retrieval."""

    def heuristic(self, rng: np.random.Generator) -> Inference:
        texts = [*self.found, *(message for message in self.messages if message not in self.found)]
        weights = [_RANKED**k for k in range(len(self.found))] + [1.0] * (len(texts) - len(self.found))
        trusts = inference.infer(
            observer_of(self.me, self.now.wolves, self.now.innocent), len(self.me.roles), texts, weights
        )
        opinions = [
            InferredOpinion(player=seat, stance=inference.stance(trust), trust=trust)  # type: ignore[arg-type]
            for seat, trust in enumerate(trusts)
            if seat != self.me.seat
        ]
        return Inference(why="By what was said of them, and by whom.", opinions=opinions)

    def choices(self) -> Choices:
        return {"opinions.player": others_of(self.me), "opinions.stance": dict.fromkeys(inference.STANCES, "")}

    def schema_of_answer(self) -> dict[str, Any]:
        others = len(others_of(self.me))
        return with_length(super().schema_of_answer(), "opinions", others, others)


class WerewolfReflection(Answer):
    """Where the seat stands."""

    asked: list[str]
    """Two questions that matter now."""
    reflection: str
    """In at most 100 words."""


class ReflectOnWindow(HeardAsk[WerewolfReflection], kind="werewolf.reflect"):
    """Answer the standing questions and two own ones from the window, and reflect."""

    questions: list[str]
    now: WerewolfSituation
    messages: list[HeardMessage]
    opinions: list[InferredOpinion]

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "asked", 2, 2)

    def heuristic(self, rng: np.random.Generator) -> WerewolfReflection:
        ranked = sorted(self.opinions, key=lambda opinion: (-abs(opinion.trust), opinion.player))
        asked = [f"Is {name(opinion.player)} who they seem to be?" for opinion in ranked[:2]]
        foes = [opinion.player for opinion in ranked if opinion.stance == inference.ADVERSARY]
        return WerewolfReflection(
            asked=asked,
            reflection=f"It is day {self.now.day}, and {len(self.now.alive)} players live. I am a {self.me.role}. "
            f"My adversaries: {names(foes)}.",
        )


class Order(Answer):
    """Texts put in order."""

    why: str
    """What is certain and what goes together, in a sentence or two."""
    order: list[int]
    """Their numbers, the most useful first, each once."""

    @field_validator("order")
    @classmethod
    def _once(cls, order: list[int]) -> list[int]:
        return list(dict.fromkeys(order))


class Rerank(Ask[Order], kind="werewolf.rerank"):
    """Put retrieved texts in the order of their use for a question."""

    query: str
    texts: dict[str, HeardMessage]
    """By number, from `"0"`, nearest to the query first."""

    def system(self, rules: str = "", templates: Templates = Templates()) -> str:  # noqa: B008 - frozen
        """General words alone: what bears on a question is seen without the rules, which would be most of the prompt."""
        return super().system("", templates)

    def heuristic(self, rng: np.random.Generator) -> Order:
        texts = [notes.embedded(text) for text in self.texts.values()]
        return Order(why="Each next one lies near to the last and to the question.", order=traverse(self.query, texts))

    def choices(self) -> Choices:
        return {"order": {int(number): text.line() for number, text in self.texts.items()}}

    def schema_of_answer(self) -> dict[str, Any]:
        return with_length(super().schema_of_answer(), "order", len(self.texts), len(self.texts))
