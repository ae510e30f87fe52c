"""Who plays at which table until the next snapshot: the network alone, against a fixed player or an earlier snapshot, or among
strangers (a population, after fictitious co-play; see `pool.families`).

Earlier snapshots are drawn by prioritised fictitious self-play, after AlphaStar (Vinyals et al., "Grandmaster level in
StarCraft II using multi-agent reinforcement learning", Nature 575, 2019, Methods): a member against which the learner wins a
share p of its games is drawn with a weight f(p), (1 - p) ** power or p (1 - p). Ours differs in this: p is estimated
apart for each side of the game, because one side may win more games than the other with any player; older games count
less, because the learner changes; and every member keeps a weight of at least `floor`.

From one snapshot to the next is a phase of the run. A finished phase has a file; the phases of a run are a table as CSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json, write_json
from parlour.training.learn.selfplay.config import LOSSES, RULE, SelfplayConfig
from parlour.training.statistics import Estimate

ALONE: Final = -1
"""Number of the opponent where the network plays all seats."""
WHOLE_SIDE: Final = -1


@dataclass(frozen=True)
class MemberScore:
    """The learner's games against one member between two snapshots, on one side."""

    member: str
    side: str
    """The learner's."""
    n: int
    won: int


def win_rate(phases: Sequence[Sequence[MemberScore]], member: str, side: str, memory: float) -> float:
    """Estimated share of games that the learner wins, by Laplace's rule: 1/2 where it has played none.

    Args:
        phases: What was counted between each two snapshots so far.
        member: The opponent.
        side: The learner's.
        memory: Weight of a game of the last phase but one, if one of the last phase has 1; and so on.
    """
    won = n = 0.0
    for counted in phases:
        scores = [score for score in counted if (score.member, score.side) == (member, side)]
        won = memory * won + sum(score.won for score in scores)
        n = memory * n + sum(score.n for score in scores)
    return (won + 1) / (n + 2)


def weight(config: SelfplayConfig, p: float) -> float:
    """Weight of a member against which the learner wins a share p; see `SelfplayConfig.weighting`.

    >>> [weight(SelfplayConfig(weighting="hard", power=2.0, floor=0.02), p) for p in (0.0, 0.5, 1.0)]
    [1.0, 0.25, 0.02]
    >>> [weight(SelfplayConfig(weighting="near", floor=0.02), p) for p in (0.0, 0.5, 0.75, 1.0)]
    [0.02, 1.0, 0.75, 0.02]
    """
    return max(config.floor, 4 * p * (1 - p) if config.weighting == "near" else float((1 - p) ** config.power))


@dataclass(frozen=True)
class Seating:
    """Arrays of shape (B,), fixed until the next snapshot."""

    opponents: tuple[str, ...]
    opponent: NDArray[np.int32]
    """A number into `opponents`, or `ALONE`."""
    side: NDArray[np.int8]
    """The side of the network where it has an opponent."""
    seat: NDArray[np.int8]
    """Its seat where it has a single one; the opponent plays all others but those in `extra_seats`. Else `WHOLE_SIDE`."""
    extra_seats: NDArray[np.int32] | int = 0
    """Bits of more seats that the network holds among strangers."""

    @classmethod
    def alone(cls, count: int) -> Self:
        """The network, or its teacher, at all seats of all tables."""
        nobody = np.full(count, -1)
        return cls((), nobody.astype(np.int32), nobody.astype(np.int8), nobody.astype(np.int8))

    @classmethod
    def against(cls, opponent: str, count: int, *, side: int = -1, seat: NDArray[Any] | int = WHOLE_SIDE) -> Self:
        """One opponent at all tables, the network as one side, or in one seat of each table."""
        seats = np.broadcast_to(np.asarray(seat, np.int8), count)
        return cls((opponent,), np.zeros(count, np.int32), np.full(count, side, np.int8), seats)

    def own(self, actor: NDArray[np.int32], sides: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Whether the network is to move, shape (B,).

        Args:
            actor: The seat to move, shape (B,).
            sides: The side of each seat in the present games, shape (B, n).
        """
        of_actor = sides[np.arange(len(actor)), np.maximum(actor, 0)]
        with_side = np.where(self.seat == WHOLE_SIDE, of_actor == self.side, actor == self.seat)
        own: NDArray[np.bool_] = (
            (self.opponent == ALONE) | with_side | ((self.extra_seats >> np.maximum(actor, 0)) & 1 != 0)
        )
        return own


def seating(
    config: SelfplayConfig,
    seats: int,
    sides: Sequence[str],
    fixed: Sequence[str],
    earlier: Sequence[str],
    phases: Sequence[Sequence[MemberScore]],
    rng: np.random.Generator,
    strangers: Sequence[Sequence[str]] = (),
) -> Seating:
    """Seat everybody until the next snapshot: shares of the tables as configured, half of them on each side.

    Args:
        config: Shares, weighting, power, floor and memory.
        seats: Number of seats.
        sides: The sides of the game.
        fixed: Players met from the beginning.
        earlier: The snapshots so far; without any, their share goes to the network alone.
        phases: What was counted between each two snapshots so far.
        rng: Draws the snapshots, and the seats that the network holds among strangers.
        strangers: The players of each family of the population; families have equal shares, and so have players within one.
    """
    tables = config.tables
    among_fixed = round(tables * config.fixed_share) if fixed else 0
    in_pool = round(tables * config.pool_share) if earlier else 0
    opponent = np.full(tables, ALONE, np.int32)
    side = np.full(tables, -1, np.int8)
    seat = np.full(tables, WHOLE_SIDE, np.int8)
    names = [*fixed, *earlier]
    opponent[:among_fixed] = np.arange(among_fixed) % max(1, len(fixed))
    side[:among_fixed] = np.arange(among_fixed) // max(1, len(fixed)) % 2
    single = round(among_fixed * config.one_seat)
    seat[:single] = np.arange(single) % seats
    for number, own in enumerate(sides):
        mine = np.arange(among_fixed + number, among_fixed + in_pool, 2)
        if not len(mine):
            continue
        weights = np.array([weight(config, win_rate(phases, name, own, config.memory)) for name in earlier])
        chosen = rng.choice(len(earlier), size=config.opponents, p=weights / weights.sum())
        at_table = chosen[np.arange(len(mine)) % config.opponents]
        opponent[mine] = np.array([names.index(name) for name in earlier])[at_table]
        side[mine] = number
    learners = np.zeros(tables, np.int32)
    at = among_fixed + in_pool + np.arange(round(tables * config.population_share) if strangers else 0)
    if len(at):
        opponent[at] = len(names) + _of_families(strangers, len(at))
        seat[at] = np.arange(len(at)) % seats
        of_network = rng.random((len(at), seats)) >= config.stranger_seats
        learners[at] = (of_network << np.arange(seats)).sum(axis=1, dtype=np.int32)
        names += [name for family in strangers for name in family]
    return Seating(tuple(names), opponent, side, seat, learners)


def _of_families(strangers: Sequence[Sequence[str]], count: int) -> NDArray[np.int64]:
    """Which stranger sits at each of so many tables: families in turn, and within each its players in turn.

    >>> _of_families([["a"], ["b", "c"]], 6)
    array([0, 1, 0, 2, 0, 1])
    """
    sizes = np.array([len(family) for family in strangers])
    family = np.arange(count) % len(sizes)
    stranger: NDArray[np.int64] = (np.cumsum(sizes) - sizes)[family] + np.arange(count) // len(sizes) % sizes[family]
    return stranger


PHASES: Final = "phases"
RATE: Final = ("n", "win_rate", "low", "high")
"""Columns of a rate in a CSV file."""


@dataclass(frozen=True)
class Phase:
    """A finished phase: of imitation the first, of self-play the others."""

    number: int
    """From 0."""
    steps: int
    """Decisions learned from until its end, imitation left aside."""
    seconds: float
    """Processor time until its end."""
    share: float
    """How much of the run is done, 0 to 1."""
    games: int
    """Games that ended in it."""
    scores: tuple[MemberScore, ...]
    losses: Mapping[str, float]
    """Losses of its last update."""
    against: Mapping[str, tuple[int, int]]
    """Side -> games won and played against the heuristic on validation deals, as whole side."""
    returned: float | None = None
    """Mean return in the games against opponents that ended in it."""

    def won(self, side: str | None = None) -> Estimate | None:
        """Share of the validation games won, as one side or both."""
        counts = [count for name, count in self.against.items() if side in (None, name)]
        return Estimate.rate(sum(won for won, _ in counts), sum(n for _, n in counts))

    @property
    def metrics(self) -> dict[str, float | None]:
        """Under the names of all trainers."""
        metrics: dict[str, float | None] = {"charts/episodes": self.games, "charts/episodic_return": self.returned}
        for side in (None, *self.against):
            won, name = self.won(side), "eval/win_rate" if side is None else f"eval/win_rate_{side}"
            value, low, high = (None, None, None) if won is None else (won.value, *won.ends)
            metrics |= {name: value, f"{name}_low": low, f"{name}_high": high}
        metrics["eval/episodes"] = sum(n for _, n in self.against.values())
        return metrics | {LOSSES[name]: value for name, value in self.losses.items()}

    @property
    def note(self) -> str:
        """How the network stood against the heuristic on validation deals."""
        shares = [f"{won / n:.2f} as {name}" for name, (won, n) in self.against.items()]
        return f"win rate against {RULE} {', '.join(shares)}" if shares else ""

    def write(self, folder: Path) -> None:
        """Replace its file as a whole."""
        write_json(_file(folder, self.number), asdict(self))

    @classmethod
    def read(cls, folder: Path, number: int) -> Phase:
        """Raises `ParlourError` for a file that is none of a phase."""
        path = _file(folder, number)
        stored: dict[str, Any] = read_json(path)
        try:
            scores = tuple(MemberScore(**score) for score in stored["scores"])
            against = {side: (won, n) for side, (won, n) in stored["against"].items()}
            return cls(**stored | {"scores": scores, "against": against})
        except (KeyError, TypeError, ValueError) as error:
            raise ParlourError(
                f"{str(path)!r} cannot be used ({error}); accepted: what `train selfplay` left"
            ) from None


def _file(folder: Path, number: int) -> Path:
    return folder / PHASES / f"phase{number:03d}.json"


def training_rows(phases: Sequence[Phase]) -> list[list[Any]]:
    """Each phase's games by opponent and side of the network: steps, side, opponent, and the columns `RATE`."""
    return [
        [phase.steps, score.side, score.member, *rate_cells(Estimate.rate(score.won, score.n))]
        for phase in phases
        for score in phase.scores
    ]


def rate_cells(estimate: Estimate | None) -> list[Any]:
    """A rate under the columns `RATE`."""
    if estimate is None:
        return [0, None, None, None]
    return [estimate.n, *(round(x, 4) for x in (estimate.value, *estimate.ends))]
