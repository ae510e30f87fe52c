"""The final measurement: every player at the same seat of the same held-out deals, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from parlour.training.learn.language_model.deals import JudgedReply
from parlour.training.learn.language_model.games import Tables
from parlour.training.measure.statistics import SHARE, MeanEstimate, PairedDifference, Rate, paired, rate, weighted_mean


@dataclass(frozen=True)
class MeasuredGame:
    """What is kept of a game: counts of replies, and whether it was won."""

    seed: int
    won: bool
    choices: int
    """Replies that choose."""
    canonical: int
    """Of these: one of the options, word for word."""
    legal: int
    """Of these: the table could use it."""
    speeches: int
    canonical_speeches: int


def counted(seed: int, won: bool, judged: Sequence[JudgedReply]) -> MeasuredGame:
    """The counts of a game."""
    choices = [one for one in judged if not one.speech]
    spoken = [one for one in judged if one.speech]
    return MeasuredGame(
        seed,
        won,
        len(choices),
        sum(one.canonical for one in choices),
        sum(one.legal for one in choices),
        len(spoken),
        sum(one.canonical for one in spoken),
    )


def model_games(
    tables: Tables, model: Any, deals: Sequence[int], *, greedy: bool = False, at_once: int = 100
) -> list[MeasuredGame]:
    """The games of a model: sampled at temperature 1, where what it draws follows from the deal's seed, or greedy."""
    played = []
    for start in range(0, len(deals), at_once):
        part = deals[start : start + at_once]
        played += tables.play(model, part, part, greedy=greedy)
    return [counted(game.seed, game.won, [one.judged for one in game.replies]) for game in played]


def heuristic_games(tables: Tables, deals: Sequence[int]) -> list[MeasuredGame]:
    """The games of the heuristic in the same seat."""
    return [counted(game.seed, game.won, [one.judged for one in game.replies]) for game in tables.teach(deals)]


def random_games(tables: Tables, deals: Sequence[int]) -> list[MeasuredGame]:
    """The games of a player that says one of the options, each as likely as the others."""
    return [_random_game(tables, seed) for seed in deals]


def _random_game(tables: Tables, seed: int) -> MeasuredGame:
    (at,), rng, judged = tables.take(1), np.random.default_rng(seed), []
    at.deal(seed)
    while not at.seat.done:
        options = at.seat.options
        judged.append(at.say(options[int(rng.integers(len(options)))])[0])
    return counted(seed, at.seat.reward > 0, judged)


# -- what is told of them ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlayerRow:
    """A player on the held-out deals."""

    name: str
    wins: Rate
    canonical: MeanEstimate
    """Share of canonical first replies among those that choose; games are what is independent."""
    legal: MeanEstimate
    canonical_speech: MeanEstimate | None
    clean: Rate | None
    """Wins in games without an illegal reply."""
    faulty: Rate | None
    """Wins in games with one."""


def player_row(name: str, games: Sequence[MeasuredGame]) -> PlayerRow:
    """The figures of a player."""
    won = rate(sum(game.won for game in games), len(games))
    assert won is not None
    clean = [game.won for game in games if game.legal == game.choices]
    faulty = [game.won for game in games if game.legal < game.choices]
    return PlayerRow(
        name,
        won,
        _share(games, lambda game: game.canonical, lambda game: game.choices),
        _share(games, lambda game: game.legal, lambda game: game.choices),
        _share(games, lambda game: game.canonical_speeches, lambda game: game.speeches)
        if any(game.speeches for game in games)
        else None,
        rate(sum(clean), len(clean)),
        rate(sum(faulty), len(faulty)),
    )


def _share(
    games: Sequence[MeasuredGame], hits: Callable[[MeasuredGame], int], of: Callable[[MeasuredGame], int]
) -> MeanEstimate:
    """A share of replies, where those of one game hang together."""
    kept = [game for game in games if of(game)]
    return weighted_mean([hits(game) / of(game) for game in kept], [of(game) for game in kept], SHARE)


def gain(games: Mapping[str, Sequence[MeasuredGame]], a: str, b: str) -> PairedDifference:
    """How much more often A won than B on the same deals."""
    return paired([game.won for game in games[a]], [game.won for game in games[b]])
