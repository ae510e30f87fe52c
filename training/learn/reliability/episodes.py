"""Episodes to learn reliabilities from: games of two methods, and what each seat of the village had heard at each of its turns.

At each seat of the village a reader of the trust graph listens with the errors of that game; it decides nothing. So an episode is
some hundred judgements whose truth is known in the end, and all that a judgement may rest on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Final, cast

from parlour.envs.werewolf.vocabulary import WEREWOLF
from parlour.policies import GratrAgent, Policy, make_policy
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import (
    KINDS,
    WEIGHTS,
    Evidence,
    Kind,
    LearnedEvidence,
    Reliabilities,
)
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.reliability.counts import WolfCounts, WolfRecord
from parlour.training.learn.reliability.judgements import ReadSeat
from parlour.training.learn.reliability.misreading import MisreadingModel
from parlour.training.learn.tuning.gratr import PLAYERS, RULES, wolves_block
from parlour.training.play import rollout
from parlour.training.records.werewolf.played import GAME

DESIGNS: Final = ("wolves_block", "leaders_block", "all_wolves", "all_village")
"""What the first method holds: a block of the paper's mixed table, or a whole side."""
NOTHING: Final = Reliabilities.of((0.0,) * WEIGHTS)


@dataclass(frozen=True)
class EpisodeTable:
    """The players of an episode, and their error rates."""

    seed: int
    design: str
    """One of `DESIGNS`."""
    other: str
    """Policy of the second method, without deceit."""
    misread: float
    deceit: float


@dataclass(frozen=True)
class TrustMoment:
    """The evidence of one villager at one of its turns, and the truth."""

    me: int
    acts: tuple[tuple[Kind, int, int], ...]
    claims: tuple[int, ...]
    dead: tuple[int, ...]
    known: tuple[tuple[int, bool], ...]
    targets: tuple[int, ...]
    """The living players it does not know for certain."""
    graph: tuple[float, ...]
    """Trust of the graph in each player."""
    wolves: tuple[int, ...]
    """Who the werewolves are."""

    def heard(self) -> Evidence:
        """The evidence as a reader keeps it."""
        return Evidence(list(self.acts), list(self.claims), list(self.dead))


@dataclass(frozen=True)
class PlayedEpisode:
    """What is kept of a game."""

    table: EpisodeTable
    winner: str
    moments: tuple[TrustMoment, ...]
    counts: WolfCounts
    """What was done how often."""

    def as_json(self) -> dict[str, Any]:
        """Plain values; the acts of a seat once, with how many of them each moment had."""
        by_seat: dict[int, list[TrustMoment]] = {}
        for moment in self.moments:
            by_seat.setdefault(moment.me, []).append(moment)
        seats = [
            {
                "seat": seat,
                "acts": [[KINDS.index(k), a, b] for k, a, b in own[-1].acts],
                "moments": [[len(m.acts), m.claims, m.dead, m.known, m.targets, m.graph] for m in own],
            }
            for seat, own in by_seat.items()
        ]
        wolves = list(self.moments[0].wolves) if self.moments else []
        of_game = {"table": asdict(self.table), "winner": self.winner, "wolves": wolves}
        return {**of_game, "seats": seats, "counts": asdict(self.counts)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> PlayedEpisode:
        """From what `as_json` made. Raises KeyError, TypeError or ValueError for anything else."""
        moments = tuple(
            moment for seat in stored["seats"] for moment in _moments(seat, tuple(map(int, stored["wolves"])))
        )
        counts = stored["counts"]
        fates = [(str(a), bool(b), int(c), int(d)) for a, b, c, d in counts["fates"]]
        done = WolfCounts(counts["yes"], counts["no"], fates)
        return cls(EpisodeTable(**stored["table"]), str(stored["winner"]), moments, done)


def _moments(seat: Mapping[str, Any], wolves: tuple[int, ...]) -> Iterator[TrustMoment]:
    acts = tuple((KINDS[k], int(a), int(b)) for k, a, b in seat["acts"])
    for many, claims, dead, known, targets, graph in seat["moments"]:
        knows = tuple((int(who), bool(bad)) for who, bad in known)
        yield TrustMoment(
            seat["seat"], acts[:many], tuple(claims), tuple(dead), knows, tuple(targets), tuple(graph), wolves
        )


# -- playing -----------------------------------------------------------------------------------------------------


def episode(table: EpisodeTable, ours: Parameters, reliabilities: Reliabilities | None) -> PlayedEpisode:
    """Play one game of GRATR, with these parameters and reliabilities, against the other method; a function of its arguments."""
    env = rollout.table(GAME, num_players=PLAYERS, rules=RULES)
    config = env.game_env.game.config
    model = MisreadingModel(OfflineModel(), table.misread) if table.misread else OfflineModel()
    lies = f"{',' if ':' in table.other else ':'}deceit={table.deceit}" if table.deceit else ""

    def player(first: bool) -> Policy:
        if first:
            return GratrAgent(model, parameters=ours, reliabilities=reliabilities, deceit=table.deceit)
        return make_policy(table.other + lies, GAME, config, model)

    env.reset(seed=table.seed)
    views: list[Any] = [env.game_env.view(seat) for seat in range(PLAYERS)]
    roles = [str(view.role) for view in views]
    readers = [_Listener(model, parameters=ours, reliabilities=NOTHING) for _ in roles]
    seats = [
        _Heard(player(first), reader) for first, reader in zip(first_seats(table.design, roles), readers, strict=True)
    ]
    played = rollout.play(env, seats, table.seed)
    wolves = tuple(seat for seat, role in enumerate(roles) if role == WEREWOLF)
    moments = tuple(replace(moment, wolves=wolves) for seat in seats for moment in seat.judged)
    counts, end = WolfCounts(), cast(Any, env.game_env)
    counts.count(WolfRecord("", tuple(roles), tuple(end.state_now.log), end.view(0)))
    return PlayedEpisode(table, str(played.outcome.winner), moments, counts)


def first_seats(design: str, roles: Sequence[str]) -> list[bool]:
    """Which seats the first method holds.

    >>> first_seats("all_village", ["Werewolf", "Seer", "Villager"])
    [False, True, True]
    """
    if design in ("wolves_block", "leaders_block"):
        block = wolves_block(roles)
        return [(seat in block) == (design == "wolves_block") for seat in range(len(roles))]
    return [(role == WEREWOLF) == (design == "all_wolves") for role in roles]


class _Listener(GratrAgent):
    """GRATR that keeps what it has heard, for others to read."""

    name: ClassVar[str] = "gratr listener"

    def _gathered(self, reliabilities: Reliabilities) -> LearnedEvidence:
        self.gathered = super()._gathered(reliabilities)
        return self.gathered

    def moment(self, targets: Sequence[int]) -> TrustMoment:
        """What it can go by now."""
        gathered, graph = self.gathered, self._graph()
        known = tuple(sorted(self._known.items()))
        trust = tuple(round(value, 6) for value in graph.trust)
        claims, dead = tuple(gathered.claims), tuple(gathered.dead)
        return TrustMoment(self.seat, tuple(gathered.acts), claims, dead, known, tuple(targets), trust, ())


class _Heard(ReadSeat[_Listener, TrustMoment]):
    """A seat of which the evidence at each turn is kept."""

    def _judge(self, notes: Mapping[str, Any], targets: list[int]) -> Iterable[TrustMoment]:
        return [self._reader.moment(targets)] if targets else []
