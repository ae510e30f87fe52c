"""Habits learned from games, and how they do on games that they were not learned from: cross-validation by game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from parlour.envs.avalon.habits import ClaimHabits, Conduct, HabitsFile
from parlour.training.learn.habits.avalon import cases, scores
from parlour.training.learn.habits.avalon.fit import fit
from parlour.training.learn.habits.avalon.games import PublicGame
from parlour.training.learn.habits.avalon.priors import Widths
from parlour.training.learn.habits.avalon.scores import QuestRead
from parlour.training.learn.habits.avalon.weights import evidence, fit_weights, weighed
from parlour.training.learn.habits.avalon.words import fit_words, statements_of

Told = Callable[[int, int], None]
"""Called with how many games of how many are read."""


@dataclass(frozen=True)
class Learning:
    """How habits are learned."""

    widths: Widths = field(default_factory=Widths)
    weight_widths: Widths = field(default_factory=lambda: Widths(shared=1.0, own=0.2))
    """Of the logarithms of the weights of evidence."""
    words: bool = True
    """Whether what was said counts as evidence, where free words are recorded."""
    folds: int = 5
    seed: int = 0


class Seated(Protocol):
    """A recorded game."""

    @property
    def players(self) -> int:
        """How many."""


def folds(games: Sequence[Seated], count: int, seed: int) -> list[list[int]]:
    """Numbers of the games of each fold: drawn, each number of players spread over all folds."""
    rng = np.random.default_rng(seed)
    found: list[list[int]] = [[] for _ in range(count)]
    at = 0
    for players in sorted({one.players for one in games}):
        for number in rng.permutation([k for k, one in enumerate(games) if one.players == players]):
            found[at % count].append(int(number))
            at += 1
    return [sorted(one) for one in found]


def learn(games: Sequence[PublicGame], how: Learning) -> HabitsFile:
    """Habits from games: conduct from all of them; weights of evidence from each fold as read by conduct from the others."""
    unseen = []
    for fold in folds(games, min(how.folds, len(games)), how.seed):
        held = set(fold)
        conduct, claimed = _fitted([one for k, one in enumerate(games) if k not in held], how)
        unseen += [evidence(games[k], conduct[games[k].players], claimed.get(games[k].players)) for k in fold]
    weights = fit_weights(unseen, how.weight_widths)
    conduct, claimed = _fitted(games, how)
    return HabitsFile({n: weighed(conduct[n], claimed.get(n), weights[n]) for n in conduct})


def _fitted(games: Sequence[PublicGame], how: Learning) -> tuple[dict[int, Conduct], dict[int, ClaimHabits]]:
    said = statements_of(games) if how.words else []
    return fit(cases.of_games(games), how.widths), fit_words(said) if said else {}


@dataclass(frozen=True)
class Fold:
    """Habits learned from all games but some, and what an onlooker believes of those by them."""

    held_out: tuple[int, ...]
    """Numbers of the games."""
    habits: HabitsFile
    reads: tuple[QuestRead, ...]


def cross_validate(games: Sequence[PublicGame], how: Learning, told: Told = lambda _done, _all: None) -> list[Fold]:
    """Read each game by habits learned from the games of the other folds."""
    found: list[Fold] = []
    for fold in folds(games, min(how.folds, len(games)), how.seed):
        held = set(fold)
        habits = learn([one for k, one in enumerate(games) if k not in held], how)
        reads = tuple(one for k in fold for one in scores.read(games[k], habits.of(games[k].players), k))
        found.append(Fold(tuple(fold), habits, reads))
        told(sum(len(one.held_out) for one in found), len(games))
    return found


def reads_of(found: Sequence[Fold]) -> list[QuestRead]:
    """What was believed after each quest of each game, in the order of the games."""
    return sorted((read for fold in found for read in fold.reads), key=lambda one: (one.game, one.quest))
