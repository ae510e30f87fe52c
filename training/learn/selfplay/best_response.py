"""A best response to a fixed player: how much more a side can win against it than the player itself wins there.

A network takes one side and learns against the player on the other side; it starts from an imitation of the player. What it
gains on held-out deals is a lower bound of how exploitable the player's other side is (approximate best response; Timbers
et al., arXiv 2004.09677): another learner, or more time, may gain more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import check_one_of
from parlour.envs.registry import build, lookup
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.learn.selfplay import pool
from parlour.training.learn.selfplay.config import MINUTES, BestResponseConfig, SelfplayConfig
from parlour.training.learn.selfplay.learn import OPPONENT, Session, imitate
from parlour.training.learn.selfplay.learner import SelfplayLearner, rates
from parlour.training.learn.selfplay.seating import Seating
from parlour.training.measure.evaluate import two_sides
from parlour.training.play import seeds
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import Estimate

_AT_ONCE: Final = 1000
_IMITATION: Final = 600_000
"""Decisions of the player that the learner imitates first, at most."""


@dataclass(frozen=True)
class BestResponse:
    """What was found."""

    side: str
    against: str
    steps: int
    seconds: float
    """Processor time."""
    response: Estimate
    """Held-out deals that the response won as its side."""
    player: Estimate
    """Those that the player itself won as that side, against itself."""
    gain: Estimate
    """The first minus the second, paired by deal."""


def best_responses(config: BestResponseConfig, progress: StageProgress = no_progress) -> list[BestResponse]:
    """Learn and measure for the side of the settings, or for each in turn. Raises `ParlourError` for a side that the game lacks."""
    sides = two_sides(lookup(config.game).spec)
    check_one_of("side", config.side, ("all", *sides))
    chosen = sides if config.side == "all" else (config.side,)
    return [best_response(config.replace(side=side), progress) for side in chosen]


def learning_of(config: BestResponseConfig) -> SelfplayConfig:
    """The learner's settings: no anchor, all tables against the player, and no more imitation than learning."""
    return SelfplayConfig(
        game=config.game,
        options=config.options,
        features=config.features or _record(config),
        hidden=config.hidden,
        start=config.against,
        imitation_steps=_IMITATION if config.steps is None else min(_IMITATION, config.steps),
        kl=0.0,
        last_kl=0.0,
        seed=seeds.derive(config.seed, seeds.Purpose.BEST_RESPONSE),
    )


def _record(config: BestResponseConfig) -> str | None:
    """The features of a network that sees the record, which tables with other features do not show; else None."""
    network = pool.network_of(config.against, config.game, build(lookup(config.game).spec, config.options).config)
    return network.features if network is not None and "record" in network.features else None


def best_response(config: BestResponseConfig, progress: StageProgress = no_progress) -> BestResponse:
    """Learn and measure.

    Args:
        config: The opponent, and the budget.
        progress: Called with the decisions, or the seconds of processor time, so far, and the win rate.
    """
    learning = learning_of(config)
    tables = pool.tables_for(learning, learning.tables)
    check_one_of("side", config.side, tables.spec.sides)
    side = tables.spec.sides.index(config.side)
    learner, started = SelfplayLearner(learning, tables), process_time()
    imitate(learner, progress)
    learner.begin()
    seated = Seating.against(OPPONENT, learning.tables, side=side)
    players = {OPPONENT: pool.batch_player(config.against, tables, "player")}
    session, share = Session(learner, seated, players, pool.seeds_of_tables(learning, 1)), 0.0
    seconds = 60 * (MINUTES if config.minutes is None else config.minutes)
    steps, unit = (round(seconds), "s of processor time") if config.steps is None else (config.steps, "decisions")
    stage = Stage(f"Training {config.side} against {config.against}", steps, unit)
    progress(stage, 0)
    while share < 1:
        session.update(rates(learning, share))
        passed = (process_time() - started) / seconds
        share = passed if config.steps is None else session.steps / config.steps
        won = 0.0 if session.won is None else session.won.value
        progress(stage, share * steps, f"win rate {won:.2f}")
    seconds = round(process_time() - started, 1)
    response, itself = _measure(config, learner, side)
    own, player = (Estimate.rate(int(won_by.sum()), len(won_by)) for won_by in (response, itself))
    assert own, "there are deals"
    assert player, "there are deals"
    gain = Estimate.mean(response.astype(float) - itself, (-1.0, 1.0))
    return BestResponse(config.side, config.against, session.steps, seconds, own, player, gain)


def _measure(config: BestResponseConfig, learner: SelfplayLearner, side: int) -> list[NDArray[np.bool_]]:
    """Deals won as `side`, by the response and by the player itself, each of shape (deals,)."""
    at_once = min(_AT_ONCE, config.deals)
    tables = pool.tables_for(learning_of(config), at_once, autoreset=None)
    own = NetworkPlayer("response", learner.playing(), tables.names)
    player, other = (pool.batch_player(config.against, tables, "player") for _ in range(2))
    won: list[list[NDArray[np.bool_]]] = [[], []]
    deals: Sequence[int] = seeds.HELD_OUT[config.first_deal : config.first_deal + config.deals]
    for start in range(0, config.deals, at_once):
        block = deals[start : start + at_once]
        sides = matches.sides_of(tables, block)
        for parts, first in zip(won, (own, player), strict=True):
            parts.append(matches.play(tables, (first, other), (sides != side).astype(np.int8), block) == side)
    return [np.concatenate(parts) for parts in won]
