"""A best response to a fixed player: how much more a side can win against it than the player itself wins there.

A network takes one side and learns against the player on the other side; it starts from an imitation of the player. What it
gains on held-out deals is a lower bound of how exploitable the player's other side is (approximate best response; Timbers
et al., arXiv 2004.09677): another learner, or more time, may gain more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.core import check_one_of
from parlour.envs.registry import build, lookup
from parlour.envs.settings import Settings
from parlour.training.learn.batch import matches
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.learn.selfplay import pool
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.learn.selfplay.learn import OPPONENT, Session, imitate
from parlour.training.learn.selfplay.learner import SelfplayLearner, rates
from parlour.training.learn.selfplay.seating import Seating
from parlour.training.play import seeds
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import Estimate, mean_estimate, rate
from pydantic import Field

_AT_ONCE: Final = 1000
_IMITATION: Final = 600_000
"""Decisions of the player that the learner imitates first, at most."""


class BestResponseConfig(Settings):
    """What a best response learns with.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str = "avalon_v0"
    """Name of the game."""
    options: Mapping[str, Any]
    """Options of the game."""
    against: str = "heuristic"
    """The fixed player: heuristic, random or a policy file."""
    side: str
    """The side that learns."""
    minutes: float = Field(default=4.0, gt=0)
    """Processor time for learning."""
    steps: int | None = Field(default=None, ge=1)
    """Number of decisions to learn from instead of a time, so that the result can be repeated; None: as many as the time
    allows."""
    deals: int = Field(default=2000, ge=1)
    """Number of held-out deals."""
    first_deal: int = Field(default=0, ge=0)
    """Number of the first of them."""
    features: str | None = None
    """Kind of features that it learns from; by default the own features of a network that sees the record, else `belief` if the game has it."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    seed: int = 0
    """Seed of the learner."""

    @property
    def learning(self) -> SelfplayConfig:
        """The learner's settings: no anchor, all tables against the player, and no more imitation than learning."""
        return SelfplayConfig(
            game=self.game,
            options=self.options,
            features=self.features or self._record(),
            hidden=self.hidden,
            start=self.against,
            imitation_steps=_IMITATION if self.steps is None else min(_IMITATION, self.steps),
            kl=0.0,
            last_kl=0.0,
            seed=seeds.derive(self.seed, seeds.Purpose.BEST_RESPONSE),
        )

    def _record(self) -> str | None:
        """The features of a network that sees the record, which tables with other features do not show; else None."""
        network = pool.network_of(self.against, self.game, build(lookup(self.game).spec, self.options).config)
        return network.features if network is not None and "record" in network.features else None


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


def best_response(config: BestResponseConfig, progress: StageProgress = no_progress) -> BestResponse:
    """Learn and measure.

    Args:
        config: The opponent, and the budget.
        progress: Called with the decisions, or the seconds of processor time, so far, and the win rate.
    """
    learning = config.learning
    tables = pool.tables_for(learning, learning.tables)
    check_one_of("side", config.side, tables.spec.sides)
    side = tables.spec.sides.index(config.side)
    learner, started = SelfplayLearner(learning, tables), process_time()
    imitate(learner, progress)
    learner.begin()
    seated = Seating.against(OPPONENT, learning.tables, side=side)
    players = {OPPONENT: pool.batch_player(config.against, tables, "player")}
    session, share = Session(learner, seated, players, pool.seeds_of_tables(learning, 1)), 0.0
    steps, unit = (
        (round(60 * config.minutes), "s of processor time") if config.steps is None else (config.steps, "decisions")
    )
    stage = Stage(f"Training {config.side} against {config.against}", steps, unit)
    progress(stage, 0)
    while share < 1:
        session.update(rates(learning, share))
        passed = (process_time() - started) / (60 * config.minutes)
        share = passed if config.steps is None else session.steps / config.steps
        won = 0.0 if session.won is None else session.won.value
        progress(stage, share * steps, f"win rate {won:.2f}")
    seconds = round(process_time() - started, 1)
    response, itself = _measure(config, learner, side)
    own, player = (rate(int(won_by.sum()), len(won_by)) for won_by in (response, itself))
    assert own, "there are deals"
    assert player, "there are deals"
    gain = mean_estimate(response.astype(float) - itself, (-1.0, 1.0))
    return BestResponse(config.side, config.against, session.steps, seconds, own, player, gain)


def _measure(config: BestResponseConfig, learner: SelfplayLearner, side: int) -> list[NDArray[np.bool_]]:
    """Deals won as `side`, by the response and by the player itself, each of shape (deals,)."""
    at_once = min(_AT_ONCE, config.deals)
    tables = pool.tables_for(config.learning, at_once, autoreset=False)
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
