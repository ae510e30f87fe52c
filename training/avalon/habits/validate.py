"""Habits learned from games, and how they do on games that they were not learned from: cross-validation by game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from parlour.envs.avalon.habits import HabitsFile, LearnedHabits
from parlour.training.avalon.habits import cases, scores
from parlour.training.avalon.habits.fit import fit
from parlour.training.avalon.habits.games import PublicGame
from parlour.training.avalon.habits.priors import Widths
from parlour.training.avalon.habits.weights import evidence, fit_weights, weighed

Told = Callable[[int, int], None]
"""Called with how many games of how many are read."""


@dataclass(frozen=True)
class Learning:
    """How habits are learned."""

    widths: Widths = field(default_factory=Widths)
    weight_widths: Widths = field(default_factory=lambda: Widths(shared=1.0, own=0.2))
    """Of the logarithms of the weights of evidence."""
    folds: int = 5
    seed: int = 0


def folds(games: Sequence[PublicGame], count: int, seed: int) -> list[list[int]]:
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
        conduct = fit(cases.of_games(one for k, one in enumerate(games) if k not in held), how.widths)
        unseen += [evidence(games[k], conduct[games[k].players]) for k in fold]
    conducts = weighed(fit(cases.of_games(games), how.widths), fit_weights(unseen, how.weight_widths))
    return HabitsFile({n: LearnedHabits(conduct=conduct) for n, conduct in conducts.items()})


def cross_validate(games: Sequence[PublicGame], how: Learning, told: Told = lambda _done, _all: None) -> list[Any]:
    """What an onlooker believes after each quest of each game, by habits learned from the games of the other folds."""
    found: list[Any] = []
    for fold in folds(games, min(how.folds, len(games)), how.seed):
        held = set(fold)
        habits = learn([one for k, one in enumerate(games) if k not in held], how)
        found += [one for k in fold for one in scores.read(games[k], habits.of(games[k].players), k)]
        told(len({one.game for one in found}), len(games))
    return sorted(found, key=lambda one: (one.game, one.quest))
