"""How well a belief tells who is evil: an onlooker's, after every quest of recorded games.

The loss is -log of the chance of the true evil side, in nats; the chances of single seats are compared with the truth by AUC (of
all seats after all quests) and by the expected calibration error. The unit of every interval is the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.avalon.deals import Array
from parlour.envs.replay import Transcript
from parlour.training.learn.habits.avalon.games import PublicGame, of_transcripts
from scipy.stats import rankdata

BINS = 10
"""Of the calibration: equal parts of the chances from 0 to 1."""
RESAMPLES = 2000
"""Of a bootstrap over games."""


@dataclass(frozen=True)
class QuestRead:
    """What an onlooker believes after one quest."""

    game: int
    """Number of the game among those read."""
    players: int
    quest: int
    """0-4."""
    loss: float
    """-log of the chance of the true evil side."""
    chances: tuple[float, ...]
    """That each seat is evil."""
    evil: tuple[int, ...]
    """1 for each seat that is."""
    merlin: float = 0.0
    """The chance of the seat that is Merlin to be."""


@dataclass(frozen=True)
class Bin:
    """Seats whose chance lies in one part of the range."""

    low: float
    high: float
    n: int
    mean: float
    """Of the chances."""
    share: float
    """Of the seats that are evil."""


@dataclass(frozen=True)
class Interval:
    """A mean over quests with its interval at 95 %, by bootstrap over games."""

    mean: float
    low: float
    high: float
    n: int
    """Games."""


def onlooker(transcripts: Iterable[Transcript], habits_of: Callable[[int], AvalonHabits]) -> list[QuestRead]:
    """What an onlooker believes after every quest. Raises `ParlourError` as `of_transcript` does.

    Args:
        transcripts: Of `avalon_v0`.
        habits_of: Number of players -> how seats behave; such as `HabitsFile.of`.
    """
    return read_all(of_transcripts(transcripts), habits_of)


def read_all(games: Sequence[PublicGame], habits_of: Callable[[int], AvalonHabits]) -> list[QuestRead]:
    """The same for recorded games."""
    return [one for k, record in enumerate(games) for one in read(record, habits_of(record.players), k)]


def read(record: PublicGame, habits: AvalonHabits, number: int = 0) -> list[QuestRead]:
    """What an onlooker believes after each quest of one game, who hears no word unless the habits know words."""
    belief = AvalonBelief(record.key().roles, -1, "", (), habits)
    found: list[QuestRead] = []
    quest = 0
    for seat, (kind, args, words), _ in record.events:
        if kind in _LATER:
            break
        if kind in speech.ACTS and not belief.hears:
            continue
        belief.see(seat, kind, args, words)
        if kind == game.FAILS:
            quest = args[0]
        elif kind == game.SCORE:
            found.append(_standing(belief, record, number, quest))
    return found


_LATER = (game.GUESS, game.EXPOSED)
"""The hunt shows who the Assassin is: what an onlooker believes is asked for up to it."""


def _standing(belief: AvalonBelief, record: PublicGame, number: int, quest: int) -> QuestRead:
    side = float(belief.weights[(belief.evil == record.evil).all(axis=1)].sum())
    merlin = belief.merlin_chance()[record.roles.index(game.MERLIN)]
    chances = tuple(float(chance) for chance in belief.evil_chance())
    evil = tuple(int(one) for one in record.evil)
    return QuestRead(number, record.players, quest, -float(np.log(max(side, 1e-300))), chances, evil, float(merlin))


# -- numbers of many ---------------------------------------------------------------------------------------------


def chance_loss(players: int, evil: int) -> float:
    """The loss of who thinks all evil sides alike."""
    return float(np.log(comb(players, evil)))


def log_loss(reads: Sequence[QuestRead], seed: int = 0) -> Interval:
    """Mean loss over all quests."""
    return _over_games([one.loss for one in reads], [one.game for one in reads], seed)


def difference(a: Sequence[QuestRead], b: Sequence[QuestRead], seed: int = 0) -> Interval:
    """Mean loss of `a` less that of `b` on the same quests, paired by game."""
    if [(one.game, one.quest) for one in a] != [(one.game, one.quest) for one in b]:
        raise ValueError("two readings are of different games")
    losses = [one.loss - other.loss for one, other in zip(a, b, strict=True)]
    return _over_games(losses, [one.game for one in a], seed)


def auc(reads: Sequence[QuestRead]) -> float:
    """Chance that a random evil seat is thought more evil than a random good one; all quests and tables together."""
    chances, evil = seats(reads)
    ranks, hits = rankdata(chances), evil.sum()
    if not 0 < hits < len(evil):
        return float("nan")
    return float((ranks[evil == 1].sum() - hits * (hits + 1) / 2) / (hits * (len(evil) - hits)))


def seats(reads: Sequence[QuestRead]) -> tuple[Array, Array]:
    """Chance and truth of every seat after every quest."""
    chances = np.array([chance for one in reads for chance in one.chances])
    return chances, np.array([evil for one in reads for evil in one.evil], dtype=np.float64)


def calibration(reads: Sequence[QuestRead], bins: int = BINS) -> list[Bin]:
    """Chances of seats against how many of them are evil, in equal parts of the range; parts without a seat are left out."""
    chances, evil = seats(reads)
    part = np.minimum((chances * bins).astype(int), bins - 1)
    return [
        Bin(k / bins, (k + 1) / bins, int(here.sum()), float(chances[here].mean()), float(evil[here].mean()))
        for k in range(bins)
        if (here := part == k).any()
    ]


def calibration_error(reads: Sequence[QuestRead], bins: int = BINS) -> float:
    """Expected calibration error: mean over seats of how far chance and share of their part lie apart."""
    found = calibration(reads, bins)
    return sum(one.n * abs(one.mean - one.share) for one in found) / max(1, sum(one.n for one in found))


def _over_games(values: Sequence[float], games: Sequence[int], seed: int) -> Interval:
    """Mean over values; games are drawn with all their values."""
    numbers, which = np.unique(np.array(games), return_inverse=True)
    sums = np.bincount(which, weights=np.array(values))
    counts = np.bincount(which).astype(np.float64)
    drawn = np.random.default_rng(seed).integers(len(numbers), size=(RESAMPLES, len(numbers)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high), len(numbers))
