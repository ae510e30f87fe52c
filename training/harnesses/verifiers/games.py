"""The games that are dealt: one task of verifiers is one game, numbered by its seed, without an end.

Interfaces of the package `verifiers` 0.4: `Taskset.load`, `TaskData`. A task holds all that is needed to deal the game again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

import verifiers.v1 as vf
from parlour.envs.core import accept, check_from, check_one_of
from parlour.envs.registry import build, lookup
from parlour.envs.text import agents_of
from parlour.wrappers.base import SEEDS, inner_game
from parlour.wrappers.conversation import table
from parlour.wrappers.opponents import seated
from parlour.wrappers.text_actions import ON_BAD
from pydantic import Field, model_validator

ALL: Final = "all"
EACH: Final = "each"
OPPONENT: Final = "opponent"
"""Names the agent of verifiers among the opponents: `TableConfig.opponent`."""


class GamesConfig(vf.TasksetConfig):
    """Which games are dealt: `--env.taskset.*`."""

    game: str = "avalon_v0"
    options: dict[str, Any] = Field(default_factory=dict)
    """Of the game, such as `{"num_players": 5}`."""
    seats: str = ALL
    """The seats of the agent `player`: `all` (one model plays itself), `each` (one seat a game, in turn), or agents' names with
    commas between them."""
    opponents: str = "heuristic"
    """At the other seats: a player of parlour's, or `opponent` for the agent of that name."""
    seed: int = Field(0, ge=0, lt=SEEDS)
    """Of the first game; the next ones count on."""
    on_bad: str = "ask_again"
    """What follows words that cannot be used: see `parlour.wrappers.TextActions`."""
    tries: int = 3
    """How often a seat is asked."""
    list_options: bool = True
    """Whether the messages list what may be said."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_one_of("on_bad", self.on_bad, ON_BAD)
        check_from("tries", self.tries, 1)
        _seats_of(self, agents_at(self.game, self.options), 0)
        if self.opponents != OPPONENT:
            seated(self.opponents, inner_game(table(self.game, **self.options), "GamesConfig"))
        return self


class GameData(vf.TaskData):
    """One game: all that is needed to deal it again."""

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    """Of the agent `player`."""
    opponents: str
    seed: int
    on_bad: str
    tries: int
    list_options: bool


class GameTask(vf.Task[GameData]):
    """One game; its rewards are recorded by `TableEnv`."""


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):
    """Games from the first seed on."""

    INFINITE: ClassVar[bool] = True

    def load(self) -> Iterator[GameTask]:
        """The games in order of their seeds, up to the last seed that a game may have."""
        config = self.config
        agents = agents_at(config.game, config.options)
        told = {
            name: getattr(config, name) for name in ("game", "options", "opponents", "on_bad", "tries", "list_options")
        }
        for number, seed in enumerate(range(config.seed, SEEDS)):
            seats = _seats_of(config, agents, number)
            yield GameTask(GameData(name=f"{config.game}#{seed}", seats=seats, seed=seed, **told), config.task)


def agents_at(game: str, options: Mapping[str, Any]) -> list[str]:
    """The agents at a table. Raises `ParlourError` for a game or options that are not accepted."""
    return agents_of(build(lookup(game).spec, options))


def talking(data: GameData) -> tuple[str, ...]:
    """The seats of a game that models play, in order."""
    agents = agents_at(data.game, data.options)
    return tuple(agent for agent in agents if data.opponents == OPPONENT or agent in data.seats)


def _seats_of(config: GamesConfig, agents: Sequence[str], number: int) -> tuple[str, ...]:
    """The seats of the agent `player` in a game, by its number from 0. Raises `ParlourError`."""
    if config.seats == ALL:
        return tuple(agents)
    if config.seats == EACH:
        return (agents[number % len(agents)],)
    chosen = tuple(config.seats.split(","))
    for seat in chosen:
        if seat not in agents or chosen.count(seat) > 1:
            raise accept("seats", config.seats, [ALL, EACH, *agents])
    return chosen
