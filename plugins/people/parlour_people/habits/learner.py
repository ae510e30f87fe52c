"""How habits of a game are learned and read: coefficients under priors, and cross-validation by game; the same for all games.

The differences between the games are in a `HabitsOfGame` (`avalon_fit.AVALON`, `werewolf.WEREWOLF`). Coefficients are in
log-odds under normal priors: a part shared by tables of all numbers of players, and a separate part for each number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from parlour.envs import replay
from parlour.envs.avalon.habits import Terms
from parlour.envs.core import ParlourError
from parlour.training.runs.progress import Stage, no_progress
from scipy.optimize import minimize

from parlour_people.habits import report
from parlour_people.habits.report import BeliefRead, SourceGame


@dataclass(frozen=True)
class Widths:
    """Standard deviations of the priors, in log-odds."""

    shared: float = 1.5
    """Width of the shared part, around today's rates."""
    own: float = 0.5
    """Width of the separate part of a number of players."""


def odds(chance: float) -> float:
    """Log-odds of a chance."""
    return log(chance / (1 - chance))


def one_hot(names: Sequence[str], **given: float) -> Terms:
    """Terms by name; those not given are zero."""
    return tuple(given.get(name, 0.0) for name in names)


Loss = Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]
"""Coefficients -> - log likelihood and its gradient."""


def nothing(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The loss of no cases."""
    return 0.0, np.zeros_like(coefficients)


def by_table(losses: Sequence[Loss], prior: Terms, widths: Widths, accuracy: float = 1e-10) -> list[Terms]:
    """Coefficients for each of several tables that share a part: with the least loss plus squared distance to the prior.

    The search ends when a step gains less than `accuracy`, as a share of the loss.
    """
    size = len(prior)

    def loss(packed: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        shared, *own = packed.reshape(-1, size)
        shift = shared - prior
        total = 0.5 * float((shift @ shift) / widths.shared**2 + (packed[size:] @ packed[size:]) / widths.own**2)
        slope = np.concatenate([shift / widths.shared**2, packed[size:] / widths.own**2])
        for k, (loss, part) in enumerate(zip(losses, own, strict=True)):
            value, gradient = loss(shared + part)
            total += value
            slope[:size] += gradient
            slope[(k + 1) * size : (k + 2) * size] += gradient
        return total, slope

    start = np.concatenate([np.array(prior), np.zeros(size * len(losses))])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": accuracy, "gtol": 1e-7})
    shared, *own = best.x.reshape(-1, size)
    return [tuple(float(x) for x in shared + part) for part in own]


LEARNED: Final = "learned"
"""The reading with learned habits."""


@dataclass(frozen=True)
class Learning:
    """How habits are learned."""

    widths: Widths = field(default_factory=Widths)
    weight_widths: Widths = field(default_factory=lambda: Widths(shared=1.0, own=0.2))
    """Widths of the logarithms of the weights of evidence."""
    words: bool = True
    """Whether what was said counts as evidence, where free words are recorded."""
    folds: int = 5
    seed: int = 0
    reader: bool = False
    """Whether evidence is learned instead of conduct; Avalon only."""


# -- what differs between the games ------------------------------------------------------------------------------


G = TypeVar("G", bound=SourceGame)


@dataclass(frozen=True)
class HabitsOfGame(Generic[G]):
    """How habits of one game are learned and read."""

    id: str
    title: str
    """Heading of the report."""
    record: Callable[[str, tuple[str, ...], Any, Any], G]
    """A game from its name, its roles, its rules and the state in which it ended."""
    learn: Callable[[Sequence[G], Learning], Any]
    """Habits from games."""
    read: Callable[[G, Any, int], list[BeliefRead]]
    """What an onlooker believes of a game by some habits; the number of the game."""
    fixed: Any
    """Today's fixed rates."""
    variants: Callable[[Sequence[G], Learning], Mapping[str, Learning]]
    """Name of the reading -> how habits are learned for it; the last reading's habits are kept."""
    groups: Callable[[Sequence[G]], report.Groups]
    """Tables whose scores are reported together."""
    panels: tuple[str, ...]
    """Groups that the picture shows."""
    read_often: Callable[[G, Any, int], tuple[list[BeliefRead], list[BeliefRead]]] | None = None
    """As `read`, and what an onlooker believes at more moments, for games that are held out by date."""
    others: tuple[str, ...] = ()
    """Other games whose transcripts are read."""

    def of_transcript(self, transcript: replay.Transcript, name: str = "") -> G:
        """The game of a transcript, as far as it goes. Raises `ParlourError` where it is of another game, or was not dealt."""
        if transcript.header["game"] not in (self.id, *self.others):
            raise ParlourError(f"a transcript of {transcript.header['game']} is not accepted; accepted: {self.id}")
        rules: Any = transcript.game()
        state: Any = list(transcript.states())[-1]
        roles = tuple(rules.role_names[number] for number in state.standing.roles)
        if not roles:
            raise ParlourError(f"transcript {name!r} holds no deal; accepted: a game that was begun")
        return self.record(name, roles, rules, state)

    def games_in(self, folder: str | Path) -> list[G]:
        """The games of a folder of transcripts, by the names of their files. Raises `ParlourError` as `of_transcript` does."""
        return [self.of_transcript(replay.Transcript.read(path), path.stem) for path in replay.Transcript.files(folder)]

    def read_all(self, games: Sequence[G], habits_of: Callable[[int], Any]) -> list[BeliefRead]:
        """What an onlooker believes of games; `habits_of`: number of players -> how seats behave."""
        return [read for k, game in enumerate(games) for read in self.read(game, habits_of(game.players), k)]

    def read_all_often(self, games: Sequence[G], habits_of: Callable[[int], Any]) -> list[list[BeliefRead]]:
        """The same, then at more moments if the game has them."""
        if self.read_often is None:
            return [self.read_all(games, habits_of)]
        by_game = [self.read_often(game, habits_of(game.players), k) for k, game in enumerate(games)]
        return [[read for reads in some for read in reads] for some in zip(*by_game, strict=True)]

    def read_by_default(self, games: Sequence[G]) -> list[BeliefRead]:
        """What an onlooker believes by today's fixed rates."""
        return self.read_all(games, lambda _: self.fixed)


# -- cross-validation --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fold:
    """Habits learned from all games but some, and what an onlooker believes of those by them."""

    held_out: tuple[int, ...]
    """NDArray[np.intp] of the games."""
    habits: Any
    reads: tuple[BeliefRead, ...]


def folds(games: Sequence[SourceGame], count: int, seed: int) -> list[list[int]]:
    """NDArray[np.intp] of the games of each fold: drawn, each number of players spread over all folds."""
    rng = np.random.default_rng(seed)
    sizes = [[k for k, game in enumerate(games) if game.players == n] for n in sorted({game.players for game in games})]
    order = [number for same in sizes for number in rng.permutation(same).tolist()]
    return [sorted(order[k::count]) for k in range(count)]


def dealt(games: Sequence[G], how: Learning) -> list[tuple[list[int], list[G]]]:
    """The numbers of the games of each fold, and the games of the others."""
    parts = folds(games, min(how.folds, len(games)), how.seed)
    return [(fold, [game for k, game in enumerate(games) if k not in set(fold)]) for fold in parts]


def cross_validate(
    of_game: HabitsOfGame[G],
    games: Sequence[G],
    how: Learning,
    progress: Callable[..., None] = no_progress,
    name: str = LEARNED,
) -> Iterator[Fold]:
    """Read each game by habits learned from the games of the other folds."""
    done = 0
    stage = Stage(f"Cross-validating: {name}", len(games), "games")
    progress(stage, 0)
    for fold, others in dealt(games, how):
        habits = of_game.learn(others, how)
        reads = tuple(read for k in fold for read in of_game.read(games[k], habits.of(games[k].players), k))
        yield Fold(tuple(fold), habits, reads)
        done += len(fold)
        progress(stage, done)


def reads_of(folds: Sequence[Fold]) -> list[BeliefRead]:
    """What was believed after each round of each game, in the order of the games."""
    return sorted((read for fold in folds for read in fold.reads), key=lambda read: (read.game, read.round))
