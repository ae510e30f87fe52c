"""Evidence of a trust graph weighed together: which players can all be werewolves at once, given all actions between players.

This is parlour's own method; the paper's trust moves from edge to edge. `Reliabilities` say how much each kind of evidence counts
by the sides of source and target. No single accuser can settle a belief. Words that contradict each other are weighed against each
other. The trust that follows is a chance, 1 - 2 P(werewolf). `parlour train gratr-trust` learns the reliabilities, with all errors
of reading, by the log loss of trust at every judgement. Evidence decays on its edge by rho as in Eq. 4, so that later evidence
discounts what it contradicts; what the graph itself makes of a player (Eqs. 2-9) is one piece of evidence more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import Settings
from parlour.policies.agents.werewolf.gratr.asks import StatementEvidence
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.inference import DANGER
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import CHECK, FOUND_DEAD, MODERATOR, MOST
from pydantic import field_validator

Array = np.ndarray[Any, np.dtype[np.float64]]
Table = np.ndarray[Any, np.dtype[np.intp]]
Kind = Literal["accuse", "defend", "evil", "good", "vote"]


@dataclass
class Evidence:
    """What one seat has heard and seen."""

    acts: list[tuple[Kind, int, int]] = field(default_factory=list)
    """Kind, acting player, target; oldest first."""
    claims: list[int] = field(default_factory=list)
    """Players that claimed a role that the game has once, without repeats."""
    dead: list[int] = field(default_factory=list)
    """Players that were found dead in the morning."""


def _trust(logs: Array, table: Table) -> list[float]:
    """1 - 2 times the chance of each player to be a werewolf, by the log weights of hypotheses."""
    weights = np.exp(logs - logs.max())
    return [float(round(1 - 2 * chance, 6)) for chance in weights @ table / weights.sum()]


def collect(evidence: Evidence, message: HeardMessage, statement: StatementEvidence) -> None:
    """Take in what a public statement says: acts towards others, a claim of the speaker's, a death."""
    if message.speaker == MODERATOR:
        dead = [identity.player for identity in statement.identities if identity.confidence == FOUND_DEAD]
        evidence.dead += [player for player in dead if player not in evidence.dead]
        return
    for target, weight in statement.intents:
        kind: Kind = "accuse" if weight < 0 else "defend"
        if message.act:
            kind = "vote"
        elif abs(weight) >= CHECK / MOST:
            kind = "evil" if weight < 0 else "good"
        evidence.acts.append((kind, message.speaker, target))
    own = [identity for identity in statement.identities if identity.player == message.speaker]
    claims = not statement.intents and any(identity.identity in DANGER for identity in own)
    if claims and message.speaker not in evidence.claims:
        evidence.claims.append(message.speaker)


KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_SIDES: Final = 4
"""Village to village, village to werewolf, werewolf to village, werewolf to werewolf."""
SIGNS: Final = ("claim", "death", "graph")
WEIGHTS: Final = len(KINDS) * _SIDES + len(SIGNS)
TRAINED: Final = "trained"
"""Name of the parameters that come with parlour."""
FORM: Final = "what `parlour train gratr-trust` or `parlour train gratr` wrote"


class Reliabilities(Settings):
    """What evidence counts, in nats for or against who the werewolves are."""

    acts: Mapping[Kind, tuple[float, float, float, float]]
    """By kind of act: for each pair of sides, in the order village to village, village to werewolf, werewolf to village,
    werewolf to werewolf. Only their differences matter."""
    claim: float = 0.0
    """Log-odds of a claim of a single role, for the speaker being a werewolf."""
    death: float = 0.0
    """Log-odds of a death at night, for the dead player being a werewolf."""
    graph: float = 0.0
    """Log-odds of full trust by the graph, for the trusted player being a werewolf."""

    @field_validator("acts")
    @classmethod
    def _all_acts(cls, acts: Mapping[Kind, tuple[float, ...]]) -> Mapping[Kind, tuple[float, ...]]:
        if set(acts) != set(KINDS):
            raise accept("acts", sorted(acts), f"weights for each of {', '.join(KINDS)}")
        return acts

    @property
    def vector(self) -> Array:
        """All weights, shape (WEIGHTS,): acts by kind, then signs."""
        return np.array([*(x for kind in KINDS for x in self.acts[kind]), *(getattr(self, sign) for sign in SIGNS)])

    @classmethod
    def of(cls, vector: Iterable[float]) -> Reliabilities:
        """From all weights, shape (WEIGHTS,)."""
        numbers = [round(float(x), 6) for x in vector]
        acts: dict[Kind, Any] = {kind: tuple(numbers[k * _SIDES : (k + 1) * _SIDES]) for k, kind in enumerate(KINDS)}
        return cls(acts=acts, **dict(zip(SIGNS, numbers[len(KINDS) * _SIDES :], strict=True)))


@dataclass(frozen=True)
class LearnedParameters:
    """What a training run learned."""

    parameters: Mapping[str, Any]
    """Fields of `Parameters`; those that are not there have their defaults."""
    reliabilities: Reliabilities | None


def read_parameters(path: str | Path) -> LearnedParameters:
    """Read what a training run wrote, or what comes with parlour for `"trained"`. Raises `ParlourError` for anything else."""
    try:
        if str(path) == TRAINED:
            stored = json_value(resources.files(__package__).joinpath("data/trained.json").read_bytes())
        else:
            stored = json_value(Path(path).read_bytes())
        given, reliabilities = {**stored["parameters"]}, stored.get("reliabilities")
        if unknown := set(given) - {*Parameters.model_fields}:
            raise ParlourError(f"parameters {sorted(unknown)}")
        return LearnedParameters(given, None if reliabilities is None else Reliabilities.from_plain(reliabilities))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParlourError(
            f"parameters {str(path)!r} cannot be read ({error}); accepted: {TRAINED!r}, {FORM}"
        ) from None


# -- evidence ----------------------------------------------------------------------------------------------------


class LearnedEvidence(Evidence):
    """Evidence weighed by learned reliabilities.

    Args:
        reliabilities: The weights.
        rho: Eq. 4: what evidence on an edge keeps of its weight with every later one on it.
    """

    def __init__(self, reliabilities: Reliabilities, rho: float) -> None:
        super().__init__()
        self._weights, self._rho = reliabilities.vector, rho

    def trust(self, me: int, wolves: int, known: Mapping[int, bool], graph: Sequence[float]) -> list[float]:
        """Trust in each player, in seat order: 1 - 2 times the chance that he is a werewolf.

        Args:
            me: The observer, one of the village.
            wolves: How many werewolves there are.
            known: Players whose side he knows: whether each is a werewolf.
            graph: What the graph's trust in each player is.
        """
        table = hypotheses(len(graph), me, wolves, known)
        return _trust(features(table, me, graph, self, self._rho) @ self._weights, table)

    def without(
        self,
        me: int,
        wolves: int,
        known: Mapping[int, bool],
        graph: Sequence[float],
        left_out: Sequence[tuple[int, Sequence[tuple[int, int]]]],
    ) -> list[float]:
        """Trust as `trust` has it, but in one player each time, without the evidence on some edges (source, target)."""
        table, acts = (
            hypotheses(len(graph), me, wolves, known),
            self._weights[: -len(SIGNS)].reshape(len(KINDS), _SIDES),
        )
        logs = features(table, me, graph, self, self._rho) @ self._weights
        moves = {
            (source, target): (np.array(counts) @ acts)[2 * table[:, source] + table[:, target]]
            for (source, target), counts in _edges(self.acts, me, self._rho).items()
        }
        left = [logs - sum(moves[edge] for edge in edges if edge in moves) for _, edges in left_out]
        return [_trust(rest, table)[player] for (player, _), rest in zip(left_out, left, strict=True)]


def hypotheses(players: int, me: int, wolves: int, known: Mapping[int, bool]) -> Table:
    """Who can be the werewolves, 0/1 of shape (H, players), for one of the village who knows some."""
    sure = {**known, me: False}
    unknown = [seat for seat in range(players) if seat not in sure]
    rest = min(max(0, wolves - sum(sure.values())), len(unknown))
    sets = [{*bad} for bad in combinations(unknown, rest)]
    return np.array([[int(sure.get(seat, seat in bad)) for seat in range(players)] for bad in sets], dtype=np.intp)


def features(table: Table, me: int, graph: Sequence[float], evidence: Evidence, rho: float) -> Array:
    """What speaks for each hypothesis, shape (H, WEIGHTS): by kind of act and pair of sides how much of it there is, and the signs.

    Who acts towards the observer does so towards one of the village. The observer's own acts tell it nothing.
    """
    columns = np.zeros((len(table), WEIGHTS))
    edges = _edges(evidence.acts, me, rho)
    if edges:
        ends = np.array(list(edges))
        counts = np.array(list(edges.values()))
        pairs = 2 * table[:, ends[:, 0]] + table[:, ends[:, 1]]
        for sides in range(_SIDES):
            columns[:, sides : len(KINDS) * _SIDES : _SIDES] = (pairs == sides) @ counts
    for place, seats in ((-3, evidence.claims), (-2, evidence.dead)):
        columns[:, place] = table[:, seats].sum(axis=1)
    columns[:, -1] = table @ np.array(graph)
    return columns


def _edges(acts: Sequence[tuple[Kind, int, int]], me: int, rho: float) -> dict[tuple[int, int], list[float]]:
    """The evidence on each edge by kind, each item discounted by every later one on the same edge."""
    edges: dict[tuple[int, int], list[float]] = {}
    for kind, source, target in acts:
        if source != me:
            weights = [rho * x for x in edges.get((source, target), (0.0,) * len(KINDS))]
            weights[KINDS.index(kind)] += 1.0
            edges[source, target] = weights
    return edges
