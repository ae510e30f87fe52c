"""How far each kind of evidence can be relied on, learned from episodes: the weights by which a trust graph's evidence is read.

Of parlour's own. As in `weighed`, all evidence of the graph is weighed together over who can be a werewolf at once; here what
an act counts is not put together from rates and a rate of misreading, but learned with all its errors by
`parlour train gratr-trust` (log loss of trust at every judgement). Evidence decays on its edge by rho as in Eq. 4, so that
later evidence discounts what it contradicts; what the graph itself makes of a player (Eqs. 2-9) is one piece of evidence more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.json_values import json_value
from parlour.policies.agents.werewolf.gratr.parameters import Parameters
from parlour.policies.agents.werewolf.gratr.weighed import Array, Kind

Table = np.ndarray[Any, np.dtype[np.intp]]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_SIDES: Final = 4
"""Village to village, village to werewolf, werewolf to village, werewolf to werewolf."""
SIGNS: Final = ("claim", "death", "graph")
WEIGHTS: Final = len(KINDS) * _SIDES + len(SIGNS)
TRAINED: Final = "trained"
"""Name of the parameters that come with parlour."""
FORM: Final = "what `parlour train gratr-trust` or `parlour train gratr` wrote"


@dataclass(frozen=True)
class Reliabilities:
    """What evidence counts, in nats for or against who the werewolves are."""

    acts: Mapping[str, tuple[float, ...]]
    """By kind of act: for each pair of sides, in the order village to village, village to werewolf, werewolf to village,
    werewolf to werewolf. Only their differences matter."""
    claim: float = 0.0
    """Of a claim of a single role, for the speaker being a werewolf."""
    death: float = 0.0
    """Of being found dead, for having been one."""
    graph: float = 0.0
    """Of full trust by the graph, for being one."""

    def __post_init__(self) -> None:
        if set(self.acts) != set(KINDS) or any(len(one) != _SIDES for one in self.acts.values()):
            raise ParlourError(
                f"reliabilities of {sorted(self.acts)} are not accepted; accepted: four for each of {KINDS}"
            )
        if not np.isfinite(self.vector).all():
            raise ParlourError("reliabilities that are no numbers are not accepted; accepted: finite numbers")

    @property
    def vector(self) -> Array:
        """All weights, shape (WEIGHTS,): those of the acts by kind, then the signs."""
        return np.array([*(x for kind in KINDS for x in self.acts[kind]), *(self.sign(one) for one in SIGNS)])

    def sign(self, name: str) -> float:
        """The weight of a sign."""
        return {"claim": self.claim, "death": self.death, "graph": self.graph}[name]

    @classmethod
    def of(cls, vector: Iterable[float]) -> Reliabilities:
        """From all weights, shape (WEIGHTS,)."""
        numbers = [round(float(x), 6) for x in vector]
        acts: dict[str, tuple[float, ...]] = {
            kind: tuple(numbers[k * _SIDES : (k + 1) * _SIDES]) for k, kind in enumerate(KINDS)
        }
        return cls(acts, *numbers[len(KINDS) * _SIDES :])

    def as_json(self) -> dict[str, Any]:
        """Plain values, which `read_parameters` reads."""
        return {"acts": {kind: list(self.acts[kind]) for kind in KINDS}} | {one: self.sign(one) for one in SIGNS}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Reliabilities:
        """From plain values. Raises `ParlourError`, KeyError, TypeError or ValueError for others."""
        acts = {str(kind): tuple(map(float, weights)) for kind, weights in dict(told["acts"]).items()}
        return cls(acts, *(float(told[one]) for one in SIGNS))


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
        given, told = {**stored["parameters"]}, stored.get("reliabilities")
        if unknown := set(given) - {one.name for one in fields(Parameters)}:
            raise ParlourError(f"parameters {sorted(unknown)}")
        return LearnedParameters(given, None if told is None else Reliabilities.from_json(told))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ParlourError(
            f"parameters {str(path)!r} cannot be read ({error}); accepted: {TRAINED!r}, {FORM}"
        ) from None


# -- evidence ----------------------------------------------------------------------------------------------------


class LearnedEvidence:
    """What one seat has heard and seen, weighed by learned reliabilities.

    Args:
        reliabilities: The weights.
        rho: Eq. 4: what evidence on an edge keeps of its weight with every later one on it.
    """

    def __init__(self, reliabilities: Reliabilities, rho: float) -> None:
        self._weights, self._rho = reliabilities.vector, rho
        self.acts: list[tuple[Kind, int, int]] = []
        """Kind, who acts, towards whom; oldest first."""
        self.claims: list[int] = []
        self.dead: list[int] = []

    def act(self, kind: Kind, source: int, target: int) -> None:
        """A player acts towards another."""
        self.acts.append((kind, source, target))

    def claim(self, player: int) -> None:
        """A player says that he holds a role of which there is one; it counts once."""
        if player not in self.claims:
            self.claims.append(player)

    def die(self, player: int) -> None:
        """A player is found dead in the morning."""
        if player not in self.dead:
            self.dead.append(player)

    def trust(self, me: int, wolves: int, known: Mapping[int, bool], graph: Sequence[float]) -> list[float]:
        """Trust in each player, in seat order: 1 - 2 times the chance that he is a werewolf.

        Args:
            me: The observer, one of the village.
            wolves: How many werewolves there are.
            known: Whom he knows, and whether it is a werewolf.
            graph: What the graph's trust in each player is.
        """
        table = hypotheses(len(graph), me, wolves, known)
        logs = features(table, me, graph, self, self._rho) @ self._weights
        weights = np.exp(logs - logs.max())
        return [float(round(1 - 2 * one, 6)) for one in weights @ table / weights.sum()]


def hypotheses(players: int, me: int, wolves: int, known: Mapping[int, bool]) -> Table:
    """Who can be the werewolves, 0/1 of shape (H, players), for one of the village who knows some."""
    sure = {**known, me: False}
    unknown = [seat for seat in range(players) if seat not in sure]
    rest = min(max(0, wolves - sum(sure.values())), len(unknown))
    sets = [{*bad} for bad in combinations(unknown, rest)]
    return np.array([[int(sure.get(seat, seat in bad)) for seat in range(players)] for bad in sets], dtype=np.intp)


def features(table: Table, me: int, graph: Sequence[float], heard: LearnedEvidence, rho: float) -> Array:
    """What speaks for each hypothesis, shape (H, WEIGHTS): by kind of act and pair of sides how much of it there is, and the signs.

    Who acts towards the observer does so towards one of the village. The observer's own acts tell it nothing.
    """
    found = np.zeros((len(table), WEIGHTS))
    edges = _edges(heard.acts, me, rho)
    if edges:
        ends = np.array(list(edges))
        counts = np.array(list(edges.values()))
        pairs = 2 * table[:, ends[:, 0]] + table[:, ends[:, 1]]
        for sides in range(_SIDES):
            found[:, sides : len(KINDS) * _SIDES : _SIDES] = (pairs == sides) @ counts
    for place, seats in ((-3, heard.claims), (-2, heard.dead)):
        found[:, place] = table[:, seats].sum(axis=1)
    found[:, -1] = table @ np.array(graph)
    return found


def _edges(acts: Sequence[tuple[Kind, int, int]], me: int, rho: float) -> dict[tuple[int, int], list[float]]:
    """The evidence on each edge by kind, each item discounted by every later one on the same edge."""
    found: dict[tuple[int, int], list[float]] = {}
    for kind, source, target in acts:
        if source != me:
            held = [rho * x for x in found.get((source, target), (0.0,) * len(KINDS))]
            held[KINDS.index(kind)] += 1.0
            found[source, target] = held
    return found
