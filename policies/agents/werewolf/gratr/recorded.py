"""A trust graph in a transcript: each decision's notes hold what is new in the graph, and the notes in order give it again.

A transcript may come from anybody. A note that does not continue the graph is refused as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypeVar

from parlour.envs.common.terminal import printable
from parlour.envs.core import ParlourError, in_short
from parlour.policies.agents.werewolf.gratr.equations import Parameters, of_record
from parlour.policies.agents.werewolf.gratr.export import CLASSES
from parlour.policies.agents.werewolf.gratr.graph import TrustGraph
from parlour.policies.agents.werewolf.gratr.statements import (
    Chain,
    EdgeEvidence,
    GraphHistory,
    Snapshot,
    TrustBelief,
    needs,
)
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError


class GraphNews:
    """What a graph holds that was not written down yet."""

    def __init__(self) -> None:
        self._moments = 0
        self._beliefs = 0
        self._items: dict[tuple[int, int], int] = {}

    def since(self, graph: TrustGraph) -> dict[str, Any]:
        """What is new since the last call, as plain values (`GraphNote`): named tuples are lists; nothing where no moment was marked since then."""
        moments, beliefs = graph.history[self._moments :], graph.beliefs[self._beliefs :]
        if not moments:
            return {}
        evidence = [item for edge in graph.edges() for item in graph.evidence(*edge)[self._items.get(edge, 0) :]]
        given = (
            {} if self._moments else {"me": graph.me, "players": graph.players, "parameters": graph.parameters.plain()}
        )
        self._moments, self._beliefs = len(graph.history), len(graph.beliefs)
        self._items = {edge: len(graph.evidence(*edge)) for edge in graph.edges()}
        now = [graph.belief(seat).number for seat in range(graph.players)]
        return given | {
            "moments": _rounded(moments),
            "evidence": _rounded(evidence),
            "beliefs": _rounded(beliefs),
            "now": now,
        }


DIGITS: Final = 6
"""Digits behind the point that a note keeps of trust, weights and values."""


def _rounded(value: Any) -> Any:
    """Named tuples as lists of their fields, and numbers to `DIGITS`: a transcript has many."""
    if isinstance(value, (tuple, list)):
        return [_rounded(part) for part in value]
    return round(value, DIGITS) if isinstance(value, float) else value


MOST_PLAYERS: Final = 64
"""A note of more players is refused: no table has so many."""
_STRICT: Final = ConfigDict(extra="forbid", allow_inf_nan=False)


class GraphNote(BaseModel):
    """One note."""

    model_config = _STRICT

    moments: list[Snapshot]
    evidence: list[EdgeEvidence]
    beliefs: list[TrustBelief]
    now: list[int]
    """The number of the present belief about each seat."""


class FirstGraphNote(GraphNote):
    """The first note of a game, which also says whose graph it is."""

    me: int
    players: int = Field(ge=2, le=MOST_PLAYERS)
    parameters: Annotated[
        Parameters, BeforeValidator(lambda values: of_record(values) if isinstance(values, dict) else values)
    ]


N = TypeVar("N", bound=GraphNote)


@dataclass
class RecordedGraph(GraphHistory):
    """The graph that the notes read so far give, with the fields of a `TrustGraph`."""

    me: int
    players: int
    parameters: Parameters
    history: list[Snapshot] = field(default_factory=list)
    beliefs: list[TrustBelief] = field(default_factory=list)
    _now: list[int] = field(default_factory=list)
    _evidence: dict[tuple[int, int], list[EdgeEvidence]] = field(default_factory=dict)

    @classmethod
    def begin(cls, note: Any) -> RecordedGraph:
        """The graph after the first note. Raises `ParlourError` for any other."""
        first = _read(FirstGraphNote, note)
        graph = cls(first.me, first.players, first.parameters)
        graph._add(first)
        return graph

    def take(self, note: Any) -> None:
        """Take in the next note. Raises `ParlourError`, and changes nothing, if the note does not continue the graph."""
        self._add(_read(GraphNote, note))

    def edges(self) -> list[tuple[int, int]]:
        return sorted(self._evidence)

    def evidence(self, source: int, target: int) -> tuple[EdgeEvidence, ...]:
        return tuple(self._evidence.get((source, target), ()))

    def belief(self, seat: int) -> TrustBelief:
        return self.beliefs[self._now[seat]]

    def _add(self, note: GraphNote) -> None:
        count = len(self.beliefs) + len(note.beliefs)
        numbered = [belief.number for belief in note.beliefs] == list(range(len(self.beliefs), count))
        rests = all(0 <= number < belief.number for belief in note.beliefs for number in needs(belief))
        seats = all(0 <= seat < self.players for seat in (self.me, *_seats(note)))
        holds = len(note.now) == self.players and all(0 <= number < count for number in note.now)
        bounded = all(-1 <= value <= 1 for value in _trusts(note))
        sized = all(
            len(moment.trust) == len(moment.role) == len(moment.certain) == self.players for moment in note.moments
        )
        classed = all({*moment.role} <= {*CLASSES} for moment in note.moments)
        linked = all(_linked(chain) for belief in note.beliefs for chain in belief.chains)
        if not (note.moments and numbered and rests and seats and holds and bounded and sized and classed and linked):
            raise ParlourError(
                "a trust graph's note does not continue the graph; accepted: notes of one game, in order"
            )
        self.history += note.moments
        self.beliefs += note.beliefs
        self._now = note.now
        for item in note.evidence:
            self._evidence.setdefault((item.source, item.target), []).append(item)


def recorded_graphs(notes: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, int, RecordedGraph]]:
    """The graphs in a transcript's lines: after each line that notes one, the number of the line, the seat and its graph so far.

    Args:
        notes: Seat and notes of each line. A seat whose notes cannot be read has no graph from there on.
    """
    graphs: dict[int, RecordedGraph | None] = {}
    for number, (seat, noted) in enumerate(notes):
        note = noted.get("graph")
        if note is None or seat < 0 or graphs.get(seat, note) is None:
            continue
        try:
            graph = graphs.get(seat)
            if graph is None:
                graph = RecordedGraph.begin(note)
                graphs[seat] = graph
            else:
                graph.take(note)
        except ParlourError:
            graphs[seat] = None
        else:
            yield number, seat, graph


def _read(form: type[N], note: Any) -> N:
    try:
        return form.model_validate(note)
    except ValidationError as error:
        where = in_short(printable(".".join(map(str, error.errors()[0]["loc"]))))
        raise ParlourError(f"a trust graph's note cannot be read at {where}; accepted: as parlour writes it") from None


def _linked(chain: Chain) -> bool:
    """Whether a chain has a belief for each player, and a link between each two."""
    return len(chain.players) == len(chain.beliefs) == len(chain.links) + 1


def _seats(note: GraphNote) -> Iterator[int]:
    """All seats that a note names."""
    for item in note.evidence:
        yield from (item.source, item.target)
    for belief in note.beliefs:
        yield belief.player
        if belief.stated is not None and belief.stated.statement.speaker is not None:
            yield belief.stated.statement.speaker
        for chain in belief.chains:
            yield from chain.players
            yield from (seat for link in chain.links for seat in (link.source, link.target))
    for moment in note.moments:
        yield from moment.dead
        yield from (seat for chain in moment.chains for seat in chain.players)
        yield from (seat for source, target, _, _ in moment.edges for seat in (source, target))


def _trusts(note: GraphNote) -> Iterator[float]:
    """All trust in a note."""
    yield from (belief.trust for belief in note.beliefs)
    yield from (trust for moment in note.moments for trust in moment.trust)
