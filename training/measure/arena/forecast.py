"""How many questions an arena will put to a language model, counted in games by rules of thumb before it is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.arena.games import play_games
from parlour.training.play import seeds
from parlour.training.play.parallel.concurrent_games import MakePolicy
from pettingzoo.utils.env import AECEnv

_DEALS = 2


@dataclass(frozen=True)
class Forecast:
    """The questions of the games that an arena still has to play."""

    games: int
    questions: int
    """About so many; answers that cannot be read are asked for again, and are not in it."""


def forecast(
    env: AECEnv[str, Any, Any],
    config: ArenaConfig,
    by_rule: Callable[[str], MakePolicy],
    asking: Collection[str],
    played: int,
) -> Forecast:
    """Count the questions in the games of two deals that no arena uses, and estimate the rest.

    Args:
        env: The table.
        config: The arena.
        by_rule: Name -> the player, answered by rules of thumb.
        asking: Who asks a model.
        played: Games that are there.
    """
    some = replace(config, games=_DEALS, seed=len(seeds.HELD_OUT) - _DEALS)
    games = play_games(env, some, {name: by_rule(name) for name in config.players})
    asked = sum(
        made.asked.asked
        for game in games
        for name, made in zip((game.first, game.second), game.decisions, strict=True)
        if name in asking
    )
    left = max(0, config.games * len(config.players) ** 2 - played)
    return Forecast(left, ceil(asked / len(games) * left))
