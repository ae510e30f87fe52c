"""The dynamic trust graph of one observer (Zhu et al. 2024, section "Methodology"): what it holds and how it changes.

    graph = TrustGraph(8, me=0)
    graph.observe(1, 3, "player_4 is a werewolf.", intents=[(4, -0.8)], judgements=[Judgement(4, -0.7)])
    graph.retrieve(3, 1)            # chains of evidence, and the trust in player_3 that follows from them
    graph.explain(3)                # what that belief rests on

The edges lie in a `networkx.DiGraph` (`graph.net`) whose nodes are seats, each with its `observations` (statements), and
whose edges have `EdgeData`. The same dictionaries are reached through plain lists where it is hot.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import networkx as nx
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.policies.agents.werewolf.gratr import equations as eq
from parlour.policies.agents.werewolf.gratr.chains import FoundChain, search
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.statements import (
    Backward,
    Chain,
    EdgeData,
    EdgeEvidence,
    GraphHistory,
    GraphJudgement,
    JudgedChain,
    Link,
    Snapshot,
    Stated,
    Statement,
    TrustBelief,
)

_SAME: Final = 1e-12
"""A belief that changes by less has not changed."""


class TrustGraph(GraphHistory):
    """What one player makes of the others.

    Args:
        players: How many there are.
        me: The observer's seat; trust in him is 1 and stays so.
        initial: Trust at the start where it is not 0; it may change.
        parameters: Parameters of the equations.

    Raises:
        ParlourError: A seat or a number is not accepted.
    """

    def __init__(
        self,
        players: int,
        me: int,
        initial: Mapping[int, float] | None = None,
        parameters: Parameters | None = None,
    ) -> None:
        if players < 2:
            raise accept("players", players, "at least 2")
        self.players = players
        self.me = self._seat(me)
        self.parameters = parameters or Parameters()
        self.net: Any = nx.DiGraph()
        self.trust = [0.0] * players
        """Per seat, in [-1, 1]."""
        self.beliefs: list[TrustBelief] = []
        """All there ever were, by number."""
        self.history: list[Snapshot] = []
        """What `mark` stored, oldest first."""
        self._certain: set[int] = set()
        self._into: list[dict[int, EdgeData]] = [{} for _ in range(players)]
        self._current = list(range(players))
        self._established = [0.0] * players
        self._ground = list(range(players))
        """Trust, and the numbers of its beliefs, as far as statements and facts go: what a search sets out from."""
        self._acted: dict[int, int] = {}
        """Numbers of the beliefs that the last decision was made by, by player, where these are not the graph's own."""
        self._later: dict[tuple[int, int], Backward] = {}
        """Results of Eq. 9 that hold from the next evidence on, by edge (source, target)."""
        self._begin(dict(initial or {}))
        self.pin(me, 1, 0, "that is me")

    def _begin(self, initial: dict[int, float]) -> None:
        for seat, trust in initial.items():
            self._number("initial trust", trust)
            self._seat(seat)
        for seat in range(self.players):
            trust = float(initial.get(seat, 0.0))
            self.net.add_node(seat, observations=[])
            self.trust[seat] = self._established[seat] = trust
            self.beliefs.append(TrustBelief(seat, seat, 0, trust, "start", None))

    # -- what it says ------------------------------------------------------------------------------------------

    def role(self, seat: int) -> int:
        """Table 1: 1 ally, 0 indifferent, -1 adversary."""
        return eq.role_class(self.belief(seat).trust, self.parameters.epsilon)

    def certain(self, seat: int) -> bool:
        """Whether the trust in a player is a fact and no longer moves."""
        return seat in self._certain

    def belief(self, seat: int) -> TrustBelief:
        """The present belief about a player; that of the last decision, if it was another than the graph's own."""
        return self.beliefs[self._acted.get(seat, self._current[self._seat(seat)])]

    def tau(self, source: int, target: int) -> float:
        """The weight of an edge; 0 where there is no evidence."""
        edge = self._into[target].get(source)
        return edge["tau"] if edge else 0.0

    def edges(self) -> list[tuple[int, int]]:
        return sorted(self.net.edges)

    def evidence(self, source: int, target: int) -> tuple[EdgeEvidence, ...]:
        edge = self._into[target].get(source)
        return tuple(edge["evidence"]) if edge else ()

    # -- how it changes ----------------------------------------------------------------------------------------

    def pin(self, seat: int, side: int, turn: int, reason: str) -> None:
        """Fix the trust in a player, as it is known: 1 for the observer's side, -1 for the other.

        Raises:
            ParlourError: There is no such player, the side is neither, or the opposite is known for certain.
        """
        self._seat(seat)
        if side not in (1, -1):
            raise accept("side", side, "1, -1")
        if seat in self._certain:
            if self.trust[seat] != side:
                raise ParlourError(f"player_{seat} is known to be on the other side; accepted: {-side}")
            return
        self._believe(TrustBelief(len(self.beliefs), seat, turn, float(side), "certain", self._current[seat], reason))
        self._certain.add(seat)
        self._acted.pop(seat, None)

    def observe(
        self,
        turn: int,
        speaker: int | None,
        text: str,
        intents: Iterable[tuple[int, float]] = (),
        judgements: Iterable[GraphJudgement] = (),
    ) -> None:
        """Take in one statement (Algorithm 1): evidence first (Eq. 1), then trust (Eqs. 2 and 3).

        Args:
            turn: Turn of the game.
            speaker: Who speaks; None for the moderator, whose word counts fully.
            text: The statement.
            intents: Target -> strength, in [-1, 1].
            judgements: What the observer takes players for after it.

        Raises:
            ParlourError: A seat or a number is not accepted; nothing has changed then.
        """
        statement = Statement(turn, speaker, text)
        meant, judged = list(intents), list(judgements)
        self._check(speaker, meant, judged)
        if meant or judged:
            self._update()
        strength: dict[int, float] = {}
        for target, weight in meant:
            assert speaker is not None
            self._add(EdgeEvidence(turn, speaker, target, text, float(weight)))
            strength[target] = max(strength.get(target, 0.0), abs(weight))
        trust, belief = (None, None) if speaker is None else (self._established[speaker], self._ground[speaker])
        for judgement in judged:  # all by the trust in the speaker before this statement
            self._hear(judgement, statement, trust, belief, strength.get(judgement.player, 1.0))
        for seat in sorted({judgement.player for judgement in judged} | ({speaker} if speaker is not None else set())):
            self.net.nodes[seat]["observations"].append(statement)

    def retrieve(self, target: int, turn: int) -> tuple[Chain, ...]:
        """Chains of evidence that lead to a player (Algorithm 2), the trust that follows (Eqs. 5-8), and Eq. 9.

        A player who is known for certain keeps his trust, and his edges their weights. In the modes of `CLOSED` the result is what
        the evidence says and no evidence itself: searches set out from what statements and facts established, and the weights
        of Eq. 9 hold from the next evidence on. So asking again, about any players in any order, changes nothing. In the mode
        `paper` the result stays, and errors feed on themselves.
        """
        met = [
            self._met(found, target, turn)
            for found in search(self._into, self._established, self._seat(target), self.parameters)
        ]
        chains = tuple(chain for chain in met if chain.players[0] == target)
        new = eq.weighted([chain.u for chain in chains], [chain.weight for chain in chains])
        old = self._established[target]
        replaces = new is not None and (self.parameters.mode == "paper" or eq.takes_over(old, new))
        if new is None or not replaces or self.certain(target):
            self._set(target, self._ground[target])
            return chains
        if abs(new - self.trust[target]) > _SAME:
            ground = self._ground[target]
            retrieved = TrustBelief(len(self.beliefs), target, turn, new, "retrieved", ground, chains=chains)
            self._believe(retrieved, established=self.parameters.mode not in eq.CLOSED)
            self._backward(target, chains)
        return chains

    def towards(self, target: int) -> tuple[Chain, ...]:
        """What others did to a player, each a chain of one edge that leads to him."""
        return tuple(
            self._chain(FoundChain((target, source), self._established[source] * edge["tau"], 0.0), incoming=True)
            for source, edge in sorted(self._into[target].items())
        )

    def act_on(self, seat: int, turn: int, trust: float, reason: str, chains: tuple[Chain, ...]) -> None:
        """Log the belief that a decision is made by, where it is not the graph's own; the graph's trust stays as it is."""
        held = self.belief(seat)
        if (held.trust, held.reason, held.chains) != (trust, reason, chains):
            self._acted[seat] = len(self.beliefs)
            current = self._current[seat]
            self.beliefs.append(
                TrustBelief(len(self.beliefs), seat, turn, trust, "weighed", current, reason, chains=chains)
            )

    def mark(self, label: str, turn: int, dead: Iterable[int] = (), retrieved: Iterable[Chain] = ()) -> Snapshot:
        """Keep the graph as it is now, and the chains `retrieved` for a decision; `dead` are the seats that live no more."""
        gone = tuple(sorted(map(self._seat, dead)))
        edges = tuple(
            (source, target, edge["tau"], len(edge["evidence"]))
            for target in range(self.players)
            for source, edge in sorted(self._into[target].items())
        )
        trust = tuple(self.belief(seat).trust for seat in range(self.players))
        roles, certain = tuple(map(self.role, range(self.players))), tuple(map(self.certain, range(self.players)))
        judged = tuple(JudgedChain(chain.players, chain.u, chain.weight) for chain in retrieved)
        self.history.append(Snapshot(label, turn, trust, roles, certain, edges, gone, judged))
        return self.history[-1]

    # -- the parts ---------------------------------------------------------------------------------------------

    def _add(self, item: EdgeEvidence) -> None:
        """Eqs. 1 and 4: the edge's weight is a function of its evidence alone, so that Eq. 9 holds until the next item."""
        edge = self._into[item.target].get(item.source)
        if edge is None:
            self.net.add_edge(item.source, item.target, **EdgeData(tau=0.0, evidence=[], total=0.0, backward=()))
            edge = self._into[item.target][item.source] = self.net.edges[item.source, item.target]
        edge["evidence"].append(item)
        edge["total"] = eq.discounted(edge["total"], item.weight, self.parameters.rho)
        edge["tau"] = math.tanh(edge["total"])
        edge["backward"] = ()

    def _hear(
        self, said: GraphJudgement, statement: Statement, trust: float | None, belief: int | None, strength: float
    ) -> None:
        """Eqs. 2 and 3 for one judgement; the moderator's word, whose trust is None, counts fully."""
        player, confidence, special = said
        given = self.parameters
        if given.mode == "code":
            factor, u = 1.0, eq.inferred_by_code(confidence, special)
        else:
            factor = 1.0 if trust is None else eq.word(trust, confidence, player == statement.speaker, given)
            u = eq.inferred(factor, strength, confidence)
        old = self._established[player]
        if self.certain(player) or eq.stronger(old, u) == old:
            return
        stated, ground = Stated(statement, factor, belief, strength, confidence, special, u), self._ground[player]
        self._believe(TrustBelief(len(self.beliefs), player, statement.turn, u, "stated", ground, stated=stated))

    def _met(self, found: FoundChain, target: int, turn: int) -> Chain:
        """A chain that the search found; a player on the way to the target keeps the trust that it gives him, if that is stronger."""
        chain, player = self._chain(found), found.players[0]
        if player != target and not self.certain(player) and abs(chain.u) > abs(self._established[player]):
            number, ground = len(self.beliefs), self._ground[player]
            self._believe(TrustBelief(number, player, turn, chain.u, "retrieved", ground, chains=(chain,)))
        return chain

    def _chain(self, chain: FoundChain, *, incoming: bool = False) -> Chain:
        """With all that it rests on; an `incoming` chain is one edge that leads to its target."""
        ends = list(zip(chain.players, chain.players[1:], strict=False))
        if incoming:
            ends = [(source, target) for target, source in ends]
        edges = [(source, target, self._into[target][source]) for source, target in ends]
        links = [Link(source, target, e["tau"], len(e["evidence"]), e["backward"]) for source, target, e in edges]
        return Chain(
            chain.players,
            self._established[chain.players[-1]],
            tuple(self._ground[k] for k in chain.players),
            tuple(links),
            chain.u,
            chain.value,
            eq.entropy(chain.u, self.parameters.mode),
            eq.chain_weight(chain.u, chain.value, self.parameters),
        )

    def _backward(self, target: int, chains: Sequence[Chain]) -> None:
        """Eq. 9 for the edges by which the chains leave the target, each once; in the modes of `CLOSED` once after new evidence of
        the edge, and from the next evidence on.
        """
        next_to = sorted({chain.players[1] for chain in chains})
        if self.parameters.mode == "code":
            next_to = [k for k in range(self.players) if self.tau(target, k)] if len(chains) > 1 else []
        for k in next_to:
            edge = self._into[k][target]
            closed = self.parameters.mode in eq.CLOSED
            if closed and (edge["backward"] or (target, k) in self._later):
                continue
            tau = eq.backward(edge["tau"], self.parameters.gamma, self.trust[target], self.trust[k])
            self._later[target, k] = Backward(self._current[target], self._current[k], tau)
            if not closed:
                self._update()

    def _update(self) -> None:
        """Put the results of Eq. 9 in their edges."""
        for (source, target), update in self._later.items():
            edge = self._into[target][source]
            if update.tau != edge["tau"]:
                edge["tau"] = update.tau
                edge["backward"] += (update,)
        self._later.clear()

    def _believe(self, belief: TrustBelief, *, established: bool = True) -> None:
        """Log a new belief, and hold it from now on."""
        self.beliefs.append(belief)
        self._set(belief.player, belief.number, established=established)

    def _set(self, seat: int, number: int, *, established: bool = True) -> None:
        trust = self.beliefs[number].trust
        if established:
            self._established[seat], self._ground[seat] = trust, number
        self._current[seat] = number
        self.trust[seat] = trust

    # -- what is accepted --------------------------------------------------------------------------------------

    def _seat(self, seat: int) -> int:
        check_one_of("player", seat, range(self.players))
        return seat

    def _number(self, name: str, value: float) -> None:
        if not (math.isfinite(value) and -1 <= value <= 1):
            raise accept(name, value, "a number -1..1")

    def _check(self, speaker: int | None, intents: list[tuple[int, float]], judgements: list[GraphJudgement]) -> None:
        if speaker is not None:
            self._seat(speaker)
        elif intents:
            raise ParlourError("the moderator takes no side; accepted: intents of a player")
        for target, weight in intents:
            if self._seat(target) == speaker:
                raise ParlourError(f"an intent of player_{target} towards himself; accepted: towards another")
            self._number("weight", weight)
        for judgement in judgements:
            self._seat(judgement.player)
            self._number("confidence", judgement.confidence)
