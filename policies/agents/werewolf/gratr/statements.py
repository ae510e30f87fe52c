"""The data of a trust graph: statements, evidence, chains, beliefs with their origins; and why it believes what it believes.

The paper's second claim is that its reasoning can be traced. An `Explanation` holds every number, down to single pieces of
evidence with their turn and speaker, from which the belief can be computed again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from parlour.envs.common.plain import plain
from parlour.envs.language.english import name
from parlour.policies.agents.werewolf.gratr.equations import Parameters

Origin = Literal["start", "certain", "stated", "retrieved", "weighed"]


class Statement(NamedTuple):
    """What was said or done, as the observer saw it."""

    turn: int
    """Turn of the game; the day, in Werewolf."""
    speaker: int | None
    """None for the moderator."""
    text: str


class EdgeEvidence(NamedTuple):
    """One item on the edge from `source` to `target`: what the one did to the other."""

    turn: int
    source: int
    target: int
    text: str
    weight: float
    """In [-1, 1]: positive for support, negative for attack or deceit."""


class GraphJudgement(NamedTuple):
    """What the observer takes a player for after a statement."""

    player: int
    confidence: float
    """In [-1, 1]: positive for the observer's own side."""
    special: bool = False
    """Whether a role that only one player has was named; only mode `"code"` reads it."""


class Backward(NamedTuple):
    """One backward update of an edge (Eq. 9) since its evidence was last merged."""

    belief: int
    """Number of the belief that holds T(p_o)."""
    before: int
    """Number of the belief that holds T(p_(o-1))."""
    tau: float
    """The weight after it."""


class Link(NamedTuple):
    """An edge of a chain, as it was at the retrieval."""

    source: int
    target: int
    tau: float
    items: int
    """How many items of the edge's evidence there were."""
    backward: tuple[Backward, ...]


class Chain(NamedTuple):
    """A chain of evidence that the search found."""

    players: tuple[int, ...]
    """The target first, the player that the search started from last."""
    start: float
    """Trust in the last of them."""
    beliefs: tuple[int, ...]
    """For each of them the number of the belief that the graph had then."""
    links: tuple[Link, ...]
    """The edges in the same order, one fewer."""
    u: float
    """Eq. 6."""
    value: float
    """Eq. 5."""
    entropy: float
    """Eq. 7."""
    weight: float
    """In Eq. 8, as a number that stands for itself; only the ratio between chains matters."""


def path_of(chain: Chain) -> str:
    """The players of a chain, the target first; the arrow points at the player acted on."""
    return (" -> " if chain.links[0].source == chain.players[0] else " <- ").join(map(name, chain.players))


class Stated(NamedTuple):
    """How a statement changed a belief (Eqs. 2 and 3)."""

    statement: Statement
    factor: float
    """What the speaker's word counted: his trust, the prior, or 1."""
    speaker_belief: int | None
    """Number of the belief about the speaker at that time; None for the moderator."""
    strength: float
    """|w| Strength of the intent that came with it; 1 if there was none."""
    confidence: float
    special: bool
    u: float


class TrustBelief(NamedTuple):
    """The trust in one player from one moment on, with all that produced it."""

    number: int
    """In the graph's log of beliefs."""
    player: int
    turn: int
    trust: float
    origin: Origin
    replaces: int | None
    """Number of the belief before it."""
    reason: str = ""
    """How a certain belief is known, or what a weighed belief rests on."""
    stated: Stated | None = None
    chains: tuple[Chain, ...] = ()


class EdgeData(TypedDict):
    """The attributes of an edge of the networkx graph."""

    tau: float
    evidence: list[EdgeEvidence]
    total: float
    """The sum in Eq. 4."""
    backward: tuple[Backward, ...]


class JudgedChain(NamedTuple):
    """A chain that a decision retrieved, whether or not the belief changed by it."""

    players: tuple[int, ...]
    """The target first, the player that the search started from last."""
    u: float
    """Eq. 6."""
    weight: float
    """In Eq. 8; only the ratio between chains of one target matters."""


class Snapshot(NamedTuple):
    """The graph at one moment."""

    label: str
    turn: int
    trust: tuple[float, ...]
    role: tuple[int, ...]
    certain: tuple[bool, ...]
    edges: tuple[tuple[int, int, float, int], ...]
    """Source, target, tau and number of items of each edge with evidence."""
    dead: tuple[int, ...] = ()
    """The seats that did not live any more."""
    chains: tuple[JudgedChain, ...] = ()
    """The chains that were retrieved for the decision of this moment."""


class Explanation(NamedTuple):
    """A belief and what produced it."""

    belief: TrustBelief
    beliefs: Mapping[int, TrustBelief]
    """The belief and all that it rests on, by number; nothing refers to a belief outside."""
    evidence: Mapping[tuple[int, int], tuple[EdgeEvidence, ...]]
    """Evidence of each edge (source, target) in the chains of these beliefs, oldest first; a link says how many items it used."""
    parameters: Parameters
    """Parameters of the graph."""

    def lines(self, depth: int = 2) -> list[str]:
        """The explanation in words; it follows beliefs behind beliefs for `depth` steps."""
        return list(self._lines(self.belief, depth, ""))

    def as_json(self) -> dict[str, Any]:
        """Plain values: the belief, all it rests on, and the evidence of its chains."""
        return {
            "player": self.belief.player,
            "trust": self.belief.trust,
            "beliefs": [plain(self.beliefs[number]) for number in sorted(self.beliefs)],
            "evidence": [plain(item) for items in self.evidence.values() for item in items],
        }

    def _lines(self, belief: TrustBelief, depth: int, indent: str) -> Iterator[str]:
        head = f"{indent}{name(belief.player)}: trust {belief.trust:+.2f}"
        if belief.stated is not None:
            yield from self._statement_lines(belief, depth, indent, head)
        elif belief.chains:
            yield from self._chain_lines(belief, depth, indent, head)
        else:
            yield f"{head}, {belief.reason or 'as at the start'}"

    def _statement_lines(self, belief: TrustBelief, depth: int, indent: str, head: str) -> Iterator[str]:
        stated = belief.stated
        assert stated is not None
        said, confidence = stated.statement, f"confidence {stated.confidence:+.2f}"
        speaker = "the moderator" if said.speaker is None else name(said.speaker)
        yield f"{head}, from what {speaker} said (turn {said.turn}): {said.text!r}"
        if self.parameters.mode != "code":
            confidence = f"speaker {stated.factor:+.2f} x strength {stated.strength:.2f} x {confidence}"
        yield f"{indent}  = {confidence}"
        if stated.speaker_belief is not None and depth:
            yield from self._lines(self.beliefs[stated.speaker_belief], depth - 1, indent + "    ")

    def _chain_lines(self, belief: TrustBelief, depth: int, indent: str, head: str) -> Iterator[str]:
        total = sum(chain.weight for chain in belief.chains)
        formed = belief.reason or f"the mean of {len(belief.chains)} chain{'s' * (len(belief.chains) > 1)} of evidence"
        yield f"{head}, {formed}"
        for chain in sorted(belief.chains, key=lambda chain: -chain.weight):
            yield f"{indent}  {path_of(chain)}: carries {chain.u:+.2f}, counts {chain.weight / total if total else 1:.0%}"
            for link in chain.links:
                yield f"{indent}    {name(link.source)} towards {name(link.target)}: {link.tau:+.2f}"
                for item in self.evidence[link.source, link.target][: link.items]:
                    yield f"{indent}      turn {item.turn}, {item.weight:+.2f}: {item.text!r}"
                if link.backward:
                    yield f"{indent}      and {len(link.backward)} backward update{'s' * (len(link.backward) > 1)}"
            if depth:
                yield from self._lines(self.beliefs[chain.beliefs[-1]], depth - 1, indent + "    ")


class GraphHistory(ABC):
    """A trust graph over time: a player's own, or that of a transcript."""

    me: int
    players: int
    parameters: Parameters
    history: list[Snapshot]
    """The moments that were kept, oldest first."""
    beliefs: list[TrustBelief]
    """All there ever were, by number."""

    @abstractmethod
    def edges(self) -> list[tuple[int, int]]:
        """Source and target of each edge with evidence, sorted."""

    @abstractmethod
    def evidence(self, source: int, target: int) -> tuple[EdgeEvidence, ...]:
        """The evidence on an edge, oldest first."""

    @abstractmethod
    def belief(self, seat: int) -> TrustBelief:
        """The present belief about a player."""

    def explain(self, seat: int) -> Explanation:
        """All that produced the present belief about a player."""
        belief = self.belief(seat)
        basis = _rests_on(belief, self.beliefs)
        links = [link for entry in basis.values() for chain in entry.chains for link in chain.links]
        edges = {(link.source, link.target): self.evidence(link.source, link.target) for link in links}
        return Explanation(belief, basis, edges, self.parameters)


def _rests_on(belief: TrustBelief, beliefs: Sequence[TrustBelief]) -> dict[int, TrustBelief]:
    rests_on: dict[int, TrustBelief] = {}
    open_ = [belief.number]
    while open_:
        number = open_.pop()
        if number not in rests_on:
            rests_on[number] = beliefs[number]
            open_ += needs(beliefs[number])
    return rests_on


def needs(belief: TrustBelief) -> list[int]:
    """The numbers of the beliefs that a belief rests on directly."""
    needed = [number for chain in belief.chains for number in chain.beliefs]
    updates = [update for chain in belief.chains for link in chain.links for update in link.backward]
    needed += [number for update in updates for number in (update.belief, update.before)]
    if belief.stated is not None and belief.stated.speaker_belief is not None:
        needed.append(belief.stated.speaker_belief)
    return needed
