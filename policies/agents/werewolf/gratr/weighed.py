"""Evidence of a trust graph weighed together: which players can all be werewolves at once, given who acted how towards whom.

Of parlour's own; the paper's trust moves from edge to edge. Each edge's evidence counts by how often each side acts so towards
each side, and by the rate at which readings are wrong (`doubt`): no single accuser can settle a belief, words that contradict
each other are weighed against each other, and the trust that follows is a chance, 1 - 2 P(werewolf). The rates were counted in
games of GRATR and of the history window at every seat, answered by heuristics (40 deals each, seeds 1 to 40).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from math import log
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
from parlour.policies.agents.werewolf.gratr.asks import StatementEvidence
from parlour.policies.agents.werewolf.inference import DANGER
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import CHECK, FOUND_DEAD, MODERATOR, MOST

Array = np.ndarray[Any, np.dtype[np.float64]]
Kind = Literal["accuse", "defend", "evil", "good", "vote"]


class _Rate(NamedTuple):
    """How one side does something."""

    often: float
    """Share of its words that are of this kind; 1 for votes."""
    hits: float
    """Share of these that are about a werewolf."""
    chance: float
    """What that share would be by chance."""


RATES: Final[Mapping[Kind, tuple[_Rate, _Rate]]] = {
    "accuse": (_Rate(0.555, 0.678, 0.514), _Rate(0.448, 0.02, 0.344)),
    "defend": (_Rate(0.120, 0.366, 0.466), _Rate(0.366, 0.02, 0.336)),
    "evil": (_Rate(0.061, 0.98, 0.434), _Rate(0.185, 0.02, 0.306)),
    "good": (_Rate(0.033, 0.02, 0.449), _Rate(0.002, 0.5, 0.33)),
    "vote": (_Rate(1.0, 0.625, 0.481), _Rate(1.0, 0.034, 0.347)),
}
"""Kind -> of the village, and of the werewolves. What was never seen is taken to be rare, not impossible."""
_CONTRARY: Final[Mapping[Kind, Kind]] = {"accuse": "defend", "defend": "accuse", "evil": "good", "good": "evil"}
CLAIMS: Final = (0.035, 0.005)
"""Share of words that claim a single role: of the village, of the werewolves."""
DIES: Final = 0.06
"""How likely it is that a player found dead was a werewolf, against any one of the village."""
ECHO: Final = 0.5
"""What the same evidence on the same edge counts each further time."""


class WeighedEvidence:
    """What one seat has heard and seen.

    Args:
        doubt: The rate at which a statement is misread, 0..1; votes and deaths are seen.
    """

    def __init__(self, doubt: float) -> None:
        self._doubt = doubt
        self._edges: Counter[tuple[Kind, int, int]] = Counter()
        self._claims: set[int] = set()
        self._dead: set[int] = set()

    def act(self, kind: Kind, source: int, target: int) -> None:
        """A player acts towards another."""
        self._edges[kind, source, target] += 1

    def claim(self, player: int) -> None:
        """A player says that he holds a role of which there is one."""
        self._claims.add(player)

    def die(self, player: int) -> None:
        """A player is found dead in the morning."""
        self._dead.add(player)

    def trust(self, players: int, me: int, wolves: int, known: Mapping[int, bool]) -> list[float]:
        """Trust in each player, in seat order.

        Args:
            players: How many there are.
            me: The observer, one of the village.
            wolves: How many werewolves there are.
            known: Whom he knows, and whether it is a werewolf.
        """
        sure = {**known, me: False}
        unknown = [seat for seat in range(players) if seat not in sure]
        rest = min(max(0, wolves - sum(sure.values())), len(unknown))
        table = np.array([self._row(players, sure, bad) for bad in combinations(unknown, rest)]).reshape(-1, players)
        logs = self._log_weights(table, me)
        weights = np.exp(logs - logs.max())
        chance = weights @ table / weights.sum()
        return [float(round(1 - 2 * one, 6)) for one in chance]

    def _row(self, players: int, sure: Mapping[int, bool], bad: Iterable[int]) -> list[int]:
        among = set(bad)
        return [int(sure.get(seat, seat in among)) for seat in range(players)]

    def _log_weights(self, table: np.ndarray[Any, np.dtype[np.int_]], me: int) -> Array:
        logs = np.zeros(len(table))
        for (kind, source, target), times in self._edges.items():
            if me not in (source, target):
                logs += _worth(times) * self._of_kind(kind)[table[:, source], table[:, target]]
            elif target == me:
                logs += _worth(times) * self._of_kind(kind)[table[:, source], 0]
        for player in self._claims:
            logs += np.log(np.array(CLAIMS))[table[:, player]] * (1 - self._doubt)
        for player in self._dead:
            logs += log(DIES) * table[:, player]
        return logs

    def _of_kind(self, kind: Kind) -> Array:
        """The logarithm of how likely an act is, by the sides of who acts and of whom it is about, shape (2, 2)."""
        doubt = 0.0 if kind == "vote" else self._doubt
        found = np.zeros((2, 2))
        for side, rate in enumerate(RATES[kind]):
            of_chance = np.array([1 - rate.chance, rate.chance])
            said = rate.often * np.array([1 - rate.hits, rate.hits])
            contrary = RATES[_CONTRARY.get(kind, kind)][side]
            other = contrary.often * np.array([1 - contrary.hits, contrary.hits])
            heard = (1 - doubt) * said + doubt / 2 * rate.often * of_chance + doubt / 2 * other
            found[side] = np.log(heard / of_chance)
        return found


def _worth(times: int) -> float:
    """What evidence counts that came so often.

    >>> _worth(1), _worth(2)
    (1.0, 1.5)
    """
    return (1 - ECHO**times) / (1 - ECHO)


class Gathers(Protocol):
    """What takes evidence in."""

    def act(self, kind: Kind, source: int, target: int) -> None:
        """A player acts towards another."""

    def claim(self, player: int) -> None:
        """A player says that he holds a role of which there is one."""

    def die(self, player: int) -> None:
        """A player is found dead in the morning."""


def collect(evidence: Gathers, message: HeardMessage, found: StatementEvidence) -> None:
    """Take in what a public statement says: acts towards others, a claim of the speaker's, a death."""
    if message.speaker == MODERATOR:
        for one in found.identities:
            if one.confidence == FOUND_DEAD:
                evidence.die(one.player)
        return
    for target, weight in found.intents:
        if message.act:
            evidence.act("vote", message.speaker, target)
        elif abs(weight) >= CHECK / MOST:
            evidence.act("evil" if weight < 0 else "good", message.speaker, target)
        else:
            evidence.act("accuse" if weight < 0 else "defend", message.speaker, target)
    own = [one for one in found.identities if one.player == message.speaker]
    if not found.intents and any(one.identity in DANGER for one in own):
        evidence.claim(message.speaker)
