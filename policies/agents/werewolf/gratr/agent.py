"""The GRATR player of Werewolf (Zhu et al. 2024): each message changes its trust graph, each turn retrieves from it.

It puts the same questions for speaking and choosing as the agents it is compared with (`werewolf.agents`); what is
its own is the inference. What a seat knows for certain is pinned: its fellows, its checks, the roles that the moderator
reveals. A werewolf knows all sides; to it the graph says who is dangerous: who acts against werewolves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Self

from parlour.envs.core import Move, accept, check_one_of
from parlour.envs.settings import Settings
from parlour.envs.werewolf.vocabulary import CHECKED, HUNTER_SHOWN, REVEALED, WEREWOLF, WOLVES, WerewolfView
from parlour.policies.agents.werewolf.agents import WINDOW, InferredBelief, WerewolfSeat, WerewolfSettings
from parlour.policies.agents.werewolf.gratr import asks, equations as eq, export
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import (
    TRAINED,
    LearnedEvidence,
    LearnedParameters,
    Reliabilities,
    collect,
    read_parameters,
)
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.recorded import GraphNews
from parlour.policies.agents.werewolf.gratr.statements import Chain, Explanation
from parlour.policies.agents.werewolf.inference import DANGER, ENEMY, HARMLESS
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import IDENTITIES, MODERATOR, MOST, NOT_WEREWOLF, WEREWOLF as WOLF
from parlour.policies.agents.werewolf.situation import WerewolfSituation
from pydantic import Field, model_validator

_HOSTILE: Final = 0.4
"""What the chains, in [-1, 1], add to the standing of a villager in a werewolf's eyes."""

_MOVES: Final = 0.01
"""Evidence that moves a trust by less is not told."""


class GratrSettings(WerewolfSettings):
    """The settings. Words and files name the fields of `parameters` like all others; words override the file
    that `parameters` names.

    The default is the mode `trained`, with the reliabilities in `data/trained.json`. `parlour train gratr-trust` made them with
    its defaults. `mode=paper` is the paper's procedure as printed, `mode=grounded` the same by evidence alone.

    Raises:
        ParlourError: A value is not accepted.
    """

    window: int = Field(default=WINDOW, ge=1)
    """How many of the newest messages the question for an action holds."""
    parameters: Parameters = Field(default_factory=lambda: trained())
    """Parameters of the graph; None: trained ones."""
    reliabilities: Reliabilities | None = None
    """What evidence counts, as learned: the village then trusts by all evidence weighed together by these (`reliability`).
    None: in the mode `trained` the shipped ones, else none."""

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, values: Any) -> Any:
        """Gather the fields of `parameters`, and take what comes with parlour in the mode `trained`."""
        graph = {key: value for key, value in values.items() if key in Parameters.model_fields}
        own = {key: value for key, value in values.items() if key not in graph}
        parameters = own.get("parameters") or (Parameters.from_plain(graph) if graph else trained())
        if isinstance(own.get("reliabilities"), dict):
            own["reliabilities"] = Reliabilities.from_plain(own["reliabilities"])
        if isinstance(parameters, Parameters) and parameters.mode == TRAINED and own.get("reliabilities") is None:
            own["reliabilities"] = read_parameters(TRAINED).reliabilities
        return {**own, "parameters": parameters}

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """As the base does; the fields of `parameters` are read, too."""
        for key in words:
            check_one_of("setting", key, [*Parameters.model_fields, *cls.model_fields])
        graph = {key: value for key, value in words.items() if key in Parameters.model_fields}
        own = {key: value for key, value in words.items() if key not in graph}
        learned = _learned(own.pop("parameters", None), graph.get("mode"))
        read = Parameters.from_words(graph)
        parameters = Parameters(**{**learned.parameters, **{key: getattr(read, key) for key in graph}})
        return super().from_words(own).replace(parameters=parameters, reliabilities=learned.reliabilities)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        return super().from_plain(eq.of_record(values))

    def plain(self, *, sparse: bool = False) -> dict[str, Any]:
        """As the base has them, with the fields of `parameters` among the others."""
        values = super().plain(sparse=sparse)
        graph: dict[str, Any] = values.pop("parameters")
        return {**values, **graph}


def trained() -> Parameters:
    """Parameters of the graph as they come with parlour, in the mode `trained`."""
    return Parameters(**{**read_parameters(TRAINED).parameters, "mode": TRAINED})


def _learned(path: str | None, mode: str | None) -> LearnedParameters:
    """What words say was learned: in a file, or, in the mode `trained` and by default, what comes with parlour; else nothing."""
    if path is None and mode not in (None, TRAINED):
        return LearnedParameters({}, None)
    learned = read_parameters(path or TRAINED)
    weighed = {} if learned.reliabilities is None else {"mode": TRAINED}
    return LearnedParameters({**weighed, **learned.parameters}, learned.reliabilities)


class GratrAgent(WerewolfSeat):
    """Plays Werewolf by a trust graph."""

    name: ClassVar[str] = "gratr"
    settings_type: ClassVar[type[Settings]] = GratrSettings
    chosen: GratrSettings

    def _begin(self) -> None:
        super()._begin()
        self.graph: TrustGraph | None = None
        """Of this game; None before the first turn."""
        self._news = GraphNews()
        self.standing: tuple[float, ...] = ()
        """The trust in each player that its last decision was made by; empty before the first decision."""
        self._learned = None if self.chosen.reliabilities is None else self._gathered(self.chosen.reliabilities)
        self.dropped = 0
        """Parts of answers in this game that could not be used."""
        self._dropped_told = 0
        self._reasons: dict[int, str] = {}
        self._identities: dict[int, tuple[str, float]] = {}
        self._named: dict[int, tuple[str, float]] = {}

    def _gathered(self, reliabilities: Reliabilities) -> LearnedEvidence:
        """Where the evidence of a game is kept that learned reliabilities weigh."""
        return LearnedEvidence(reliabilities, self.chosen.parameters.rho)

    def explain(self, seat: int) -> Explanation:
        """What the present belief about a player rests on. Raises `ParlourError` before the first turn."""
        return self._graph().explain(seat)

    def _graph(self) -> TrustGraph:
        if self.graph is None:
            raise accept("explanation", "before the first turn", "after the first turn")
        return self.graph

    # -- what is heard -----------------------------------------------------------------------------------------

    def _learn(self, move: Move, role_names: Sequence[str]) -> None:
        super()._learn(move, role_names)
        if move.kind == CHECKED:
            self._reasons[move.args[0]] = f"my own check: {'a' if move.args[1] else 'no'} werewolf"
        elif move.kind == REVEALED:
            self._reasons[move.args[0]] = f"the moderator revealed the role, {role_names[move.args[1]]}"
        elif move.kind == HUNTER_SHOWN:
            self._reasons[move.args[0]] = "the hunter's card was shown"

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        assert self.me is not None
        if self.graph is None:
            self.graph = TrustGraph(len(self.me.roles), self.me.seat, parameters=self.chosen.parameters)
        self._pin(self.graph)
        said = [message for message in messages if message.speaker != MODERATOR]
        asked = self.seat_model.ask_shared(_about_intents(said, self.graph.players))
        intents = dict(zip(map(id, said), asked, strict=True))
        for message in messages:
            self._observe(self.graph, message, intents.get(id(message), asks.NO_INTENTS))

    def come_first(self, view: WerewolfView) -> None:  # type: ignore[override]  # of its own game
        """Claim the intents of what was said since the last turn."""
        said = [message for message in self.record.news(view.events, view.role_names) if message.speaker != MODERATOR]
        self.seat_model.claim_shared(_about_intents(said, len(view.roles)))

    def hear(self, view: WerewolfView) -> None:  # type: ignore[override]  # of its own game
        """Judge what was said; facts, which come from the moderator, are not among it."""
        if self._seated:
            self._take(view)

    def _pin(self, graph: TrustGraph) -> None:
        """Facts."""
        assert self.me is not None
        wolf = self.me.side == WOLVES
        for seat, bad in sorted(self._known.items()):
            if not graph.certain(seat):
                known = "I know the werewolves" if wolf else "known for certain"
                graph.pin(seat, 1 if bad == wolf else -1, self.record.day, self._reasons.get(seat, known))

    def _observe(self, graph: TrustGraph, message: HeardMessage, intents: asks.Intents) -> None:
        """One statement, whose intents are known: what it says of identities is asked, then Algorithm 1."""
        assert self.me is not None
        speaker = None if message.speaker == MODERATOR else message.speaker
        identities = asks.NO_IDENTITIES
        if speaker != self.me.seat:
            identities = self.seat_model.ask(
                (asks.AskRoles if self.me.side == WOLVES else asks.AskIdentity)(
                    me=self.me,
                    wolves=[seat for seat, bad in sorted(self._known.items()) if bad],
                    innocent=[seat for seat, bad in sorted(self._known.items()) if not bad],
                    trust=1.0 if speaker is None else graph.trust[speaker],
                    statement=message,
                )
            )
        sifted = asks.usable(message.speaker, intents, identities, self.me)
        self.dropped += sifted.dropped
        graph.observe(message.day, speaker, message.text, sifted.intents, sifted.judgements)
        if self._learned is not None and not message.private:
            collect(self._learned, message, sifted)
        for player, identity, confidence in sifted.identities:
            for kept, among in ((self._identities, DANGER), (self._named, IDENTITIES)):
                if identity in among and confidence >= kept.get(player, ("", 0.0))[1]:
                    kept[player] = (identity, confidence)

    # -- what is made of it ------------------------------------------------------------------------------------

    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        assert self.me is not None
        graph, others = self._graph(), [seat for seat in now.alive if seat != self.seat]
        wolf = self.me.side == WOLVES
        chains = {seat: graph.retrieve(seat, now.day) for seat in others if wolf or not graph.certain(seat)}
        standing = tuple(graph.trust)
        if wolf:
            standing = self._dangers(graph, chains, now.day)
        elif self._learned is not None:
            standing = self._weighed(self._learned, graph, chains, now.day)
        dead = [seat for seat in range(graph.players) if seat not in now.alive]
        retrieved = [chain for found in chains.values() for chain in found]
        graph.mark(f"day {now.day}, {now.does.replace('_', ' ')}", now.day, dead, retrieved)
        sides = ("a werewolf", "of the village") if wolf else ("of the village", "a werewolf")
        roles = {
            seat: f"{'a' if identity == 'villager' else 'the'} {identity}"
            for seat, (identity, _) in self._named.items()
            if identity not in (WOLF, NOT_WEREWOLF) and graph.role(seat) != (eq.ALLY if wolf else eq.ADVERSARY)
        }
        return InferredBelief(export.summary(graph, *sides, others, roles), standing)

    def _weighed(
        self, learned: LearnedEvidence, graph: TrustGraph, chains: dict[int, tuple[Chain, ...]], day: int
    ) -> tuple[float, ...]:
        """Trust of one of the village by all evidence weighed together. A chain weighs what the trust moves without its evidence."""
        assert self.me is not None
        given = self.me.seat, self.me.roles.count(WEREWOLF), self._known, graph.trust
        trusts = learned.trust(*given)
        basis = [(seat, chain) for seat in chains for chain in (*chains[seat], *graph.towards(seat))]
        left_out = [(seat, [(link.source, link.target) for link in chain.links]) for seat, chain in basis]
        moved = [
            abs(trusts[seat] - rest) for (seat, _), rest in zip(basis, learned.without(*given, left_out), strict=True)
        ]
        for seat in chains:
            weighed = [
                chain._replace(weight=weight)
                for (about, chain), weight in zip(basis, moved, strict=True)
                if about == seat and weight >= _MOVES
            ]
            extra = ", and a claim of a role of its own" * (seat in learned.claims) + ", and its death at night" * (
                seat in learned.dead
            )
            graph.act_on(seat, day, trusts[seat], f"by all that was said and done{extra}", tuple(weighed))
            chains[seat] = tuple(chain for chain in weighed if chain.links[0].source == seat)
        return tuple(trusts)

    def _dangers(self, graph: TrustGraph, chains: Mapping[int, Sequence[Chain]], day: int) -> tuple[float, ...]:
        """Standing in the eyes of a werewolf: trust in its fellows, and the danger of the others."""
        standing = tuple(
            trust if trust > 0 else self._danger(seat, chains.get(seat, ())) for seat, trust in enumerate(graph.trust)
        )
        for seat, found in chains.items():
            if standing[seat] < 0:
                graph.act_on(seat, day, standing[seat], "not one of us; the lower, the more dangerous", tuple(found))
        return standing

    def _danger(self, seat: int, chains: Sequence[Chain]) -> float:
        """What a werewolf makes of a villager: hostile by the chains of evidence (Eq. 8), and of a dangerous role."""
        hostile = eq.weighted([chain.u for chain in chains], [chain.weight for chain in chains]) or 0.0
        identity, confidence = self._identities.get(seat, ("", 0.0))
        danger = DANGER.get(identity, 0.0) * confidence / MOST
        return max(-1.0, min(HARMLESS, ENEMY + _HOSTILE * hostile - danger))

    def _note(self, belief: InferredBelief) -> None:
        super()._note(belief)
        self.standing = belief.standing

    def _stance(self, seat: int, trust: float) -> str:
        """By the classes of the graph, whose tolerance is a parameter."""
        return export.CLASSES[eq.role_class(trust, self.chosen.parameters.epsilon)]

    def notes(self) -> dict[str, Any]:
        """`beliefs`, where they changed; the questions asked; `graph`, what is new in the trust graph (`recorded`); and `dropped`,
        parts of answers that could not be used.
        """
        notes = super().notes()
        dropped, self._dropped_told = self.dropped - self._dropped_told, self.dropped
        news = {} if self.graph is None else self._news.since(self.graph)
        return notes | ({"graph": news} if news else {}) | ({"dropped": dropped} if dropped else {})


def _about_intents(said: Sequence[HeardMessage], players: int) -> list[asks.AskIntent]:
    """The questions for what speakers mean: the same for whoever hears them."""
    return [asks.AskIntent(players=players, statement=message) for message in said]
