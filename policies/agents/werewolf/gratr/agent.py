"""The GRATR player of Werewolf (Zhu et al. 2024): each message changes its trust graph, each turn retrieves from it.

It puts the same questions for speaking and choosing as the agents it is compared with (`werewolf_agents.seat`); what is
its own is the inference. What a seat knows for certain is pinned: its fellows, its checks, the roles that the moderator
reveals. A werewolf knows all sides; to it the graph says who is dangerous: who acts against werewolves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, ClassVar, Final, Self

from parlour.envs.core import Move, accept
from parlour.envs.english import name
from parlour.envs.werewolf.vocabulary import CHECKED, REVEALED, WEREWOLF, WOLVES, WerewolfView
from parlour.policies.agents.werewolf.decide import WerewolfSituation
from parlour.policies.agents.werewolf.gratr import asks, export, render
from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.explain import Explanation
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.parameters import Parameters
from parlour.policies.agents.werewolf.gratr.reliability import LearnedEvidence, Reliabilities, read_parameters
from parlour.policies.agents.werewolf.gratr.statements import Chain
from parlour.policies.agents.werewolf.gratr.weighed import WeighedEvidence, collect
from parlour.policies.agents.werewolf.inference import DANGER, ENEMY, HARMLESS
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import MODERATOR, MOST
from parlour.policies.agents.werewolf.seat import WINDOW, InferredBelief, WerewolfSeat
from parlour.policies.heuristic.deceit import deceit_of
from parlour.policies.llm.model import Model

_KINDS: Final = {field.name: type(field.default) for field in fields(Parameters)} | {
    "window": int,
    "deceit": float,
    "doubt": float,
    "parameters": str,
}
_OF_SEAT: Final = ("window", "deceit", "doubt", "reliabilities")
"""Settings that are none of the graph's."""
_HOSTILE: Final = 0.4
"""What the chains, in [-1, 1], add to the standing of a villager in a werewolf's eyes."""


class GratrAgent(WerewolfSeat):
    """Plays Werewolf by a trust graph.

    Args:
        model: Who answers; the heuristics by default.
        parameters: Of the graph.
        window: How many of the newest messages the question for an action holds.
        deceit: As of any Werewolf agent (`WerewolfSeat`).
        doubt: The rate at which it takes readings to be wrong, 0..1: the village then trusts by all evidence weighed
            together (`weighed`); None: by statements and chains, as the paper has it.
        reliabilities: What evidence counts, as learned: the village then trusts by all evidence weighed together by these
            (`reliability`). Not with `doubt`.

    Raises:
        ParlourError: A setting is not accepted, or doubt and reliabilities are both given.
    """

    name: ClassVar[str] = "gratr"
    takes: ClassVar[tuple[str, ...]] = tuple(_KINDS)

    def __init__(
        self,
        model: Model | None = None,
        *,
        parameters: Parameters | None = None,
        window: int = WINDOW,
        deceit: float = 0.0,
        doubt: float | None = None,
        reliabilities: Reliabilities | None = None,
    ) -> None:
        if isinstance(window, bool) or not isinstance(window, int) or window < 1:
            raise accept("window", window, "a whole number, at least 1")
        if doubt is not None and not 0 <= doubt <= 1:
            raise accept("doubt", doubt, "a number 0..1")
        if doubt is not None and reliabilities is not None:
            raise accept("doubt", doubt, "none where parameters hold learned reliabilities")
        self.parameters, self.doubt, self.reliabilities = parameters or Parameters(), doubt, reliabilities
        super().__init__(model, window=window, deceit=deceit)

    @classmethod
    def _from_words(cls, settings: Mapping[str, str]) -> dict[str, Any]:
        """The fields of `Parameters`, `window`, `deceit`, `doubt`, and a file of learned `parameters`, which the others precede."""
        values: dict[str, Any] = {
            key: deceit_of(value) if key == "deceit" else _number(key, value, _KINDS[key])
            for key, value in settings.items()
        }
        seat: dict[str, Any] = {key: values.pop(key) for key in _OF_SEAT if key in values}
        if "parameters" in values:
            learned = read_parameters(values.pop("parameters"))
            values, seat = {**learned.parameters, **values}, {**seat, "reliabilities": learned.reliabilities}
        return {**seat, "parameters": Parameters(**values)}

    def _begin(self) -> None:
        super()._begin()
        self.graph: TrustGraph | None = None
        """Of this game; None before the first turn."""
        self._evidence = None if self.doubt is None else WeighedEvidence(self.doubt)
        self._learned = None if self.reliabilities is None else self._gathered(self.reliabilities)
        self.dropped = 0
        """Parts of answers in this game that could not be used."""
        self._dropped_told = 0
        self._reasons: dict[int, str] = {}
        self._identities: dict[int, tuple[str, float]] = {}

    def _gathered(self, reliabilities: Reliabilities) -> LearnedEvidence:
        """Where the evidence of a game is kept that learned reliabilities weigh."""
        return LearnedEvidence(reliabilities, self.parameters.rho)

    def explain(self, seat: int) -> Explanation:
        """What the present belief about a player rests on. Raises `ParlourError` before the first turn."""
        return self._graph().explain(seat)

    def _graph(self) -> TrustGraph:
        if self.graph is None:
            raise accept("explanation", "of a game that has not begun", "after the first turn")
        return self.graph

    # -- what is heard -----------------------------------------------------------------------------------------

    def _learn(self, told: Move, role_names: Sequence[str]) -> None:
        super()._learn(told, role_names)
        if told.kind == CHECKED:
            self._reasons[told.args[0]] = f"my own check: {'a' if told.args[1] else 'no'} werewolf"
        elif told.kind == REVEALED:
            self._reasons[told.args[0]] = f"the moderator revealed the role, {role_names[told.args[1]]}"

    def _heard(self, messages: Sequence[HeardMessage]) -> None:
        assert self.me is not None
        if self.graph is None:
            self.graph = TrustGraph(len(self.me.roles), self.me.seat, parameters=self.parameters)
        self._pin(self.graph)
        said = [message for message in messages if message.speaker != MODERATOR]
        asked = self.seat_model.ask_shared(_about_intents(said, self.graph.players))
        intents = dict(zip(map(id, said), asked, strict=True))
        for message in messages:
            self._observe(self.graph, message, intents.get(id(message), asks.NO_INTENTS))

    def come_first(self, view: WerewolfView) -> None:  # type: ignore[override]  # of its own game
        """Claim the intents of what was said since the last turn."""
        said = [one for one in self.record.news(view.events, view.role_names) if one.speaker != MODERATOR]
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
                asks.AskIdentity(
                    me=self.me,
                    wolves=[seat for seat, bad in sorted(self._known.items()) if bad],
                    innocent=[seat for seat, bad in sorted(self._known.items()) if not bad],
                    trust=1.0 if speaker is None else graph.trust[speaker],
                    statement=message,
                )
            )
        found = asks.usable(message.speaker, intents, identities, self.me)
        self.dropped += found.dropped
        graph.observe(message.day, speaker, message.text, found.intents, found.judgements)
        for evidence in (self._evidence, self._learned):
            if evidence is not None and not message.private:
                collect(evidence, message, found)
        for one in found.identities:
            if one.identity in DANGER and one.confidence >= self._identities.get(one.player, ("", 0.0))[1]:
                self._identities[one.player] = (one.identity, one.confidence)

    # -- what is made of it ------------------------------------------------------------------------------------

    def _infer(self, now: WerewolfSituation) -> InferredBelief:
        assert self.me is not None
        graph, others = self._graph(), [seat for seat in now.alive if seat != self.seat]
        wolf = self.me.side == WOLVES
        chains = {seat: graph.retrieve(seat, now.day) for seat in others if wolf or not graph.certain(seat)}
        dead = [seat for seat in range(graph.players) if seat not in now.alive]
        graph.mark(f"day {now.day}, {now.does.replace('_', ' ')}", now.day, dead)
        trusts = None if wolf else self._weighed(graph)
        if trusts is not None:
            return InferredBelief("\n".join(_in_words(seat, trusts[seat]) for seat in others), tuple(trusts))
        if not wolf:
            return InferredBelief(render.summary(graph, "of the village", "a werewolf", others), tuple(graph.trust))
        standing = tuple(
            trust if trust > 0 else self._danger(seat, chains.get(seat, ())) for seat, trust in enumerate(graph.trust)
        )
        return InferredBelief(self._told_to_wolf(graph, others, standing), standing)

    def _weighed(self, graph: TrustGraph) -> list[float] | None:
        """Trust of one of the village by all evidence weighed together; None where it goes by the graph alone."""
        assert self.me is not None
        me, wolves = self.me.seat, self.me.roles.count(WEREWOLF)
        if self._learned is not None:
            return self._learned.trust(me, wolves, self._known, graph.trust)
        return None if self._evidence is None else self._evidence.trust(graph.players, me, wolves, self._known)

    def _danger(self, seat: int, chains: Sequence[Chain]) -> float:
        """What a werewolf makes of a villager: hostile by the chains of evidence (Eq. 8), and of a dangerous role."""
        hostile = eq.weighted([chain.u for chain in chains], [chain.weight for chain in chains]) or 0.0
        identity, confidence = self._identities.get(seat, ("", 0.0))
        danger = DANGER.get(identity, 0.0) * confidence / MOST
        return max(-1.0, min(HARMLESS, ENEMY + _HOSTILE * hostile - danger))

    def _told_to_wolf(self, graph: TrustGraph, others: Sequence[int], standing: Sequence[float]) -> str:
        foes = sorted((seat for seat in others if standing[seat] < 0), key=lambda seat: (standing[seat], seat))
        lines = [render.summary(graph, "a werewolf", "of the village", others)]
        for seat in foes[: render.EXTREMES]:
            identity = self._identities.get(seat, ("", 0.0))[0]
            maybe = f", perhaps the {identity}" if identity else ""
            lines.append(f"{name(seat)} is dangerous to us{maybe}: {standing[seat]:+.2f}.")
        return "\n".join(lines)

    def _stance(self, seat: int, trust: float) -> str:
        """By the graph's own classes, whose tolerance is a parameter."""
        if self._evidence is not None or self._learned is not None:
            return export.CLASSES[eq.role_class(trust, self.parameters.epsilon)]
        return export.CLASSES[self._graph().role(seat)]

    def notes(self) -> dict[str, Any]:
        """`beliefs`, where they changed; the questions asked; and `dropped`, parts of answers that could not be used."""
        told = super().notes()
        dropped, self._dropped_told = self.dropped - self._dropped_told, self.dropped
        return told | ({"dropped": dropped} if dropped else {})

    # -- saving ------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        doubted = {} if self.doubt is None else {"doubt": self.doubt}
        learned = {} if self.reliabilities is None else {"reliabilities": self.reliabilities.as_json()}
        return {**super().settings(), **asdict(self.parameters), **doubted, **learned}

    @classmethod
    def _saved(cls, model: Model, settings: dict[str, Any]) -> Self:
        seat = {key: settings.pop(key) for key in _OF_SEAT if key in settings}
        if "reliabilities" in seat:
            seat["reliabilities"] = Reliabilities.from_json(seat["reliabilities"])
        return cls(model, parameters=Parameters(**settings), **seat)


def _in_words(seat: int, trust: float) -> str:
    return f"The chance that {name(seat)} is a werewolf is {(1 - trust) / 2:.0%}, by all that was said and done."


def _about_intents(said: Sequence[HeardMessage], players: int) -> list[asks.AskIntent]:
    """The questions for what speakers mean: the same for whoever hears them."""
    return [asks.AskIntent(players=players, statement=message) for message in said]


def _number(key: str, value: str, kind: type) -> Any:
    """A setting from words. Raises `ParlourError`; whether a number is accepted is for `Parameters` to say."""
    try:
        return kind(value)
    except ValueError:
        raise accept(key, value, "a whole number" if kind is int else "a number") from None
