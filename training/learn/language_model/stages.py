"""The stages of a run: a tokenizer and a network are made, imitate, learn, and, for comparison, imitate for longer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.training.learn.language_model.config import ImitationConfig, LanguageModelConfig
from parlour.training.learn.language_model.deals import RoleTable
from parlour.training.learn.language_model.games import Tables
from parlour.training.learn.language_model.imitation import imitate, optimizer_of, rate_at
from parlour.training.learn.language_model.learning import Played, credits_of, learn
from parlour.training.learn.language_model.tokens import ChatTokens, make_tokenizer
from parlour.training.play.seeds import HELD_OUT, TRAINING

WORDS, IMITATION, LONGER, LEARNING, MEASURED = 0, 1, 2, 3, 7
"""Streams of a run's seeds."""
GAMES_OF_WORDS: Final = 300
"""Games of the heuristic from which the tokenizer learns."""

Progress = Callable[[int, int], None]
"""Told how many steps of a stage are done, and of how many."""


@dataclass(frozen=True)
class Spent:
    """What a stage took."""

    processor_seconds: float
    """Of this process, all threads."""
    seconds: float
    """On the clock."""


class StageClock:
    """Measures a stage."""

    def __init__(self) -> None:
        self.spent = Spent(0.0, 0.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the block runs."""
        processor, wall = time.process_time(), time.perf_counter()
        yield
        self.spent = Spent(time.process_time() - processor, time.perf_counter() - wall)


def seeds_of(seed: int, stream: int, step: int, count: int, among: range = TRAINING) -> list[int]:
    """Seeds of deals, or of what a model draws: the same for the same arguments.

    >>> seeds_of(0, LEARNING, 3, 2) == seeds_of(0, LEARNING, 3, 2) != seeds_of(0, LEARNING, 4, 2)
    True
    """
    rng = np.random.default_rng((seed, stream, step))
    return [int(one) for one in rng.integers(among.start, among.stop, count)]


def held_out_deals(config: LanguageModelConfig) -> list[int]:
    """The deals of the final measurement, in which no model of the run has played."""
    return seeds_of(config.seed, MEASURED, 0, config.held_out, HELD_OUT)


def make_tokens(config: LanguageModelConfig) -> ChatTokens:
    """A tokenizer made from what is told to the role's seat, and what the heuristic says there."""
    at = RoleTable(config.game, config.options, config.role)
    lines = []
    for seed in seeds_of(config.seed, WORDS, 0, GAMES_OF_WORDS):
        lines.append(at.deal(seed))
        while not at.seat.done:
            words = at.teacher_words()
            lines += [words, at.say(words)[1]]
    return ChatTokens(make_tokenizer(lines, config.network.vocabulary))


@dataclass(frozen=True)
class ImitationPoint:
    """A step of imitation."""

    step: int
    loss: float
    """Mean cross-entropy of the tokens of the heuristic's replies, in nats, in games not seen before."""


def imitation(
    model: Any, tables: Tables, stream: int, steps: int, config: ImitationConfig, progress: Progress
) -> list[ImitationPoint]:
    """Teach a network in place, with games of the heuristic that are played for it; the loss of every step."""
    optimizer, found = optimizer_of(model, config.rate), []
    for k in range(steps):
        games = tables.teach(seeds_of(tables.config.seed, stream, k, config.games))
        loss = imitate(model, optimizer, games, rate_at(config, k, steps), tables.tokens.pad)
        found.append(ImitationPoint(k + 1, loss))
        progress(k + 1, steps)
    return found


@dataclass(frozen=True)
class LearningPoint:
    """The games of some steps of learning, each on deals of its own."""

    step: int
    """The last of them."""
    games: int
    wins: int
    choices: int
    legal: int


def learning(model: Any, tables: Tables, progress: Progress) -> list[LearningPoint]:
    """Let a network learn in place from games that it plays: a point of the curve for every few steps."""
    run, config = tables.config, tables.config.learning
    optimizer, found, since = optimizer_of(model, config.rate), [], []
    for k in range(config.steps):
        deals = seeds_of(run.seed, LEARNING, k, config.deals)
        games = [seed for seed in deals for _ in range(config.group)]
        played = tables.play(model, games, seeds_of(run.seed, LEARNING, config.steps + k, len(games)))
        credit = credits_of(played, config)
        for part in np.array_split(np.arange(config.deals), min(config.updates, config.deals)):
            rows = [row for deal in part for row in range(deal * config.group, (deal + 1) * config.group)]
            own, gains = [played[row] for row in rows], [credit[row] for row in rows]
            learn(model, optimizer, own, gains, config, config.rate * (1 - k / config.steps), tables.tokens.pad)
        since.append(Played.of(played))
        if len(since) == run.every or k + 1 == config.steps:
            found.append(_point(k + 1, since))
            since = []
        progress(k + 1, config.steps)
    return found


def _point(step: int, since: list[Played]) -> LearningPoint:
    games, wins, choices, legal = (sum(of) for of in zip(*(vars(one).values() for one in since), strict=True))
    return LearningPoint(step, games, wins, choices, legal)
