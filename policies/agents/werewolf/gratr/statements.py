"""The data of a trust graph as plain values: statements, evidence, chains, and beliefs with their origins."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypedDict

Origin = Literal["start", "certain", "stated", "retrieved"]


class Statement(NamedTuple):
    """What was said or done, as the observer saw it."""

    turn: int
    """Of the game; the day, in Werewolf."""
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
    """Whether a role of which there is one was named; only mode `"code"` reads it."""


class Backward(NamedTuple):
    """One backward update of an edge (Eq. 9) since its evidence was last merged."""

    belief: int
    """Number of the belief that holds T(p_o)."""
    before: int
    """Number of the one that holds T(p_(o-1))."""
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


class Stated(NamedTuple):
    """How a statement changed a belief (Eqs. 2 and 3)."""

    statement: Statement
    factor: float
    """What the speaker's word counted: his trust, the prior, or 1."""
    speaker_belief: int | None
    """Number of the belief about the speaker at that time; None for the moderator."""
    strength: float
    """|w| of the intent that came with it; 1 if there was none."""
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
    """Of a certain one: how it is known."""
    stated: Stated | None = None
    chains: tuple[Chain, ...] = ()


class EdgeData(TypedDict):
    """The attributes of an edge of the networkx graph."""

    tau: float
    evidence: list[EdgeEvidence]
    total: float
    """The sum in Eq. 4."""
    backward: tuple[Backward, ...]


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


def plain(value: Any) -> Any:
    """Named tuples as plain values."""
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {key: plain(part) for key, part in value._asdict().items()}
        return [plain(part) for part in value]
    return value
