"""Seats of Werewolf that ask a model, and the agents that GRATR is compared with: a window of the history, and two RAGs.

A seat keeps the record, infers, and bases speech and choices on the inference. Methods differ in `_infer` alone: all put the same
questions `speak` and `choose` afterwards, so that a difference in games won comes from the inference.

The baselines (Zhu et al. 2024, "Experimental setup") infer again at each turn, from the K = 15 newest messages. `werewolf_rag`
adds the texts of the whole history that lie nearest to one fixed query, `werewolf_rerank` has these put in another order
first. Xu et al.'s five questions and their reflection are one question here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Final, NamedTuple, cast

from parlour.envs.core import NATURE, Move
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.settings import SPARSE, Settings
from parlour.envs.werewolf.reading import claims_of, read_talk
from parlour.envs.werewolf.vocabulary import (
    ATTACKED,
    CHECKED,
    HUNTER_SHOWN,
    NIGHT,
    POISONS,
    REVEALED,
    WEREWOLF,
    WerewolfView,
)
from parlour.policies.agents.seat import GameSeat, code, coded
from parlour.policies.agents.werewolf import asks, notes
from parlour.policies.agents.werewolf.inference import stance
from parlour.policies.agents.werewolf.notes import HeardMessage, HeardMessages
from parlour.policies.agents.werewolf.situation import Does, SeerCheck, WerewolfSelfInfo, WerewolfSituation
from parlour.policies.llm.ask import Ask
from parlour.policies.retrieval.embedders import CachedHashing
from parlour.policies.retrieval.memory import Memory
from pydantic import Field

WINDOW: Final = 15
"""Visible messages that a prompt shows: K of the paper's baseline."""


class WerewolfSettings(Settings):
    """What can be set."""

    window: int = Field(default=WINDOW, ge=1, le=200)
    """How many of the newest messages the question for an action holds."""
    deceit: Annotated[float, SPARSE] = Field(default=0.0, ge=0, le=1)
    """How often the heuristics lie as a werewolf (`parlour.policies.heuristic.werewolf`), over the lies that they tell in any
    case."""


class InferredBelief(NamedTuple):
    """What a method of inference found."""

    text: str
    """For the prompt of an action."""
    standing: tuple[float, ...]
    """Standing of each player, in seat order, each in [-1, 1]. To a werewolf: the lower, the more dangerous."""


class WerewolfSeat(GameSeat[WerewolfView]):
    """A seat of Werewolf that asks a model. Needs `info="full"`; answers with words when it speaks, else with a number."""

    settings_type: ClassVar[type[Settings]] = WerewolfSettings
    chosen: WerewolfSettings
    plays: ClassVar[tuple[str, str]] = ("Werewolf", "werewolf_v0")
    view_type: ClassVar[type] = WerewolfView

    def _begin(self) -> None:
        super()._begin()
        self.record = HeardMessages()
        self.me: WerewolfSelfInfo | None = None
        self._known: dict[int, bool] = {}
        self._attacked: int | None = None
        self._speaking: WerewolfView | None = None
        self._noted: dict[str, list[Any]] = {}
        self._told: dict[str, list[Any]] = {}

    def act(self, observation: Any, info: dict[str, Any]) -> int | str:
        words = self._say_again(info)
        if words is not None:
            return words
        view = self._view(info)
        if len(view.legal) == 1:
            return int(info["legal"][0])  # nothing to decide, and nothing to ask
        now = self._situation(view)
        belief = self._infer(now)
        self._note(belief)
        options = coded(info)
        inputs: dict[str, Any] = {"me": self.me, "now": now, "options": options}
        inputs |= {"inference": belief.text, "standing": list(belief.standing)}
        inputs |= {"messages": self.record.messages[-self.chosen.window :]}
        if now.does in ("speak", "last_words", "whisper"):
            self._speaking = view
            return self._say(asks.Speak(**inputs, refused=[]))
        chosen = self.seat_model.ask(asks.Choose(**inputs)).choice
        return int(info["legal"][list(options).index(chosen)])

    @abstractmethod
    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        """What the method makes of `self.record.messages`, for `self.me`."""

    def _worded(self, turn: Ask[Any], reply: asks.SpokenReply) -> str:
        """The words of a reply, which make the chosen claim, perhaps among others; with the option's sentence where they do not."""
        assert isinstance(turn, asks.Speak)
        assert self._speaking is not None
        sentence, chosen, words = turn.options[reply.choice], reply.choice, " ".join(reply.words.split())
        if words == sentence or (words and chosen == code(speech.SILENT, ())):
            return words  # silence is free talk: whatever the table finds in it
        if chosen in (code(claim.kind, claim.args) for claim in claims_of(words, self._speaking)):
            return words
        taken = read_talk(both := f"{words} {sentence}", self._speaking)
        return both if code(taken.kind, taken.args) == chosen else sentence

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        """Called with what is new, before `_infer`; also for what was shown after the last turn."""

    def notes(self) -> dict[str, Any]:
        """`beliefs`, where they changed: player -> stance and trust; and the questions asked."""
        beliefs, self._told = self._told, {}
        return {**super().notes(), **({"beliefs": beliefs} if beliefs else {})}

    def _note(self, belief: InferredBelief) -> None:
        shown = {
            name(seat): [self._stance(seat, trust), round(trust, 4)]
            for seat, trust in enumerate(belief.standing)
            if seat != self.seat
        }
        if shown != self._noted:
            self._noted = self._told = shown

    def _stance(self, seat: int, trust: float) -> str:
        """The class of a player, for the transcript."""
        return stance(trust)

    # -- what is seen ------------------------------------------------------------------------------------------

    def _sit_down(self, view: WerewolfView) -> None:
        fellows = [seat for fact in view.knows if WEREWOLF in fact.roles for seat in fact.seats]
        side: Any = view.side
        self.me = WerewolfSelfInfo(
            seat=view.seat,
            role=view.role,
            side=side,
            roles=list(view.roles),
            fellows=fellows,
            deceit=self.chosen.deceit,
        )
        if view.role == WEREWOLF:
            self._known = {seat: seat in fellows for seat in range(len(view.roles)) if seat != view.seat}

    def _take(self, view: WerewolfView) -> None:
        for event in view.events[self.record.read :]:
            if event.seat == NATURE:
                self._learn(event.move, view.role_names)
            elif event.seat == self.seat and event.move.kind == POISONS:
                self._remember_poison(event.move.args)
        self._heard(self.record.take(view.events, view.role_names))

    def _remember_poison(self, poisoned: tuple[int, ...]) -> None:
        """The witch knows who dies by her own hand; whom the werewolves attacked as well, she takes for their victim."""
        assert self.me is not None
        own = tuple(seat for seat in poisoned if seat != self._attacked)
        self.me = self.me.model_copy(update={"poisoned": self.me.poisoned + own})

    def _learn(self, move: Move, role_names: Sequence[str]) -> None:
        """What the moderator says is certain."""
        kind, args, _ = move
        if kind == NIGHT:
            self._attacked = None
        elif kind == ATTACKED:
            self._attacked = args[0] if args else None
        elif kind == CHECKED:
            self._known[args[0]] = bool(args[1])
        elif kind == REVEALED:
            self._known[args[0]] = role_names[args[1]] == WEREWOLF
        elif kind == HUNTER_SHOWN:
            self._known[args[0]] = False
        self._known.pop(self.seat, None)

    def _situation(self, view: WerewolfView) -> WerewolfSituation:
        return WerewolfSituation(
            does=_asked(view),
            day=view.day,
            alive=[seat for seat, alive in enumerate(view.alive) if alive],
            wolves=[seat for seat, bad in sorted(self._known.items()) if bad],
            innocent=[seat for seat, bad in sorted(self._known.items()) if not bad],
            checks=[SeerCheck(player=seat, werewolf=wolf) for seat, wolf in view.checks],
            attacked=self._attacked,
        )


def _asked(view: WerewolfView) -> Does:
    """What the options are for."""
    kinds = {move.kind for move in view.legal}
    if speech.RECOMMEND in kinds:
        return "whisper"
    if kinds & {speech.SILENT, speech.ACCUSE}:
        return "speak" if view.alive[view.seat] else "last_words"
    return cast(Does, view.legal[0].kind)


QUERY: Final = "Which player is a werewolf, evil, and which is good? Who checked or accused whom, who claims a role, and how sure is it?"
TOP: Final = 5


class MessageReader(WerewolfSeat):
    """Infers from the newest messages, and from those that it retrieves."""

    def _begin(self) -> None:
        super()._begin()
        self._memory = Memory(CachedHashing())

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        if messages:
            self._memory.add([notes.embedded(message) for message in messages])

    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        assert self.me is not None
        messages = self.record.messages[-self.chosen.window :]
        retrieved = self._retrieved()
        opinions = self.seat_model.ask(asks.Infer(me=self.me, now=now, found=retrieved, messages=messages)).opinions
        reflected = self.seat_model.ask(
            asks.ReflectOnWindow(
                me=self.me, now=now, questions=list(asks.QUESTIONS), messages=messages, opinions=opinions
            )
        )
        standing = [0.0] * len(self.me.roles)
        standing[self.me.seat] = 1.0
        for opinion in opinions:
            standing[opinion.player] = opinion.trust
        return InferredBelief("\n".join([*map(sentence_of, opinions), reflected.reflection]), tuple(standing))

    @abstractmethod
    def _retrieved(self) -> list[HeardMessage]:
        """What was retrieved, the most useful first."""


class WindowSettings(WerewolfSettings):
    """... and how far back it looks."""

    older: Annotated[int, SPARSE] = Field(default=0, ge=0, le=200)
    """How many messages before the window it retrieves, the nearest to its standing questions; the paper's baseline: 3."""


class WindowAgent(MessageReader):
    """Plays Werewolf by the newest messages, and a few older ones."""

    name: ClassVar[str] = "werewolf_window"
    settings_type: ClassVar[type[Settings]] = WindowSettings
    chosen: WindowSettings

    def _retrieved(self) -> list[HeardMessage]:
        before, wanted = len(self.record.messages) - self.chosen.window, self.chosen.older
        if before <= 0 or not wanted:
            return []
        nearest = self._memory.search(" ".join(asks.QUESTIONS), self.chosen.window + wanted)
        return [self.record.messages[hit.position] for hit in nearest if hit.position < before][:wanted]


def sentence_of(opinion: asks.InferredOpinion) -> str:
    """An opinion in a sentence."""
    who, trust = name(opinion.player), opinion.trust
    if opinion.stance == "unsure":
        return f"{who} may be on either side (trust {trust:+.2f})."
    return f"{who} is inferred to be my {opinion.stance} (trust {trust:+.2f})."


class RetrievalSettings(WerewolfSettings):
    """... and how much is retrieved."""

    top: int = Field(default=TOP, ge=1, le=200)
    """How many texts it retrieves."""


class RetrievalAgent(MessageReader):
    """Plays Werewolf by the newest messages, and by those nearest to a fixed query in the whole history (native RAG)."""

    name: ClassVar[str] = "werewolf_rag"
    settings_type: ClassVar[type[Settings]] = RetrievalSettings
    chosen: RetrievalSettings

    def _retrieved(self) -> list[HeardMessage]:
        if not len(self._memory):
            return []
        return [self.record.messages[excerpt.position] for excerpt in self._memory.search(QUERY, self.chosen.top)]


class RerankAgent(RetrievalAgent):
    """... which are put in another order first (rerank RAG)."""

    name: ClassVar[str] = "werewolf_rerank"

    def _retrieved(self) -> list[HeardMessage]:
        retrieved = super()._retrieved()
        if len(retrieved) < 2:
            return retrieved
        texts = {str(place): text for place, text in enumerate(retrieved)}
        named = self.seat_model.ask(asks.Rerank(query=QUERY, texts=texts)).order
        order = dict.fromkeys((*named, *range(len(retrieved))))  # those left out come last
        return [retrieved[place] for place in order]
