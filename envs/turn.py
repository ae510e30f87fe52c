"""A table: who sits at which seat, and how one turn is taken. Shared by every loop of parlour."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from parlour.envs.core import GameText, Move, ParlourError, View


class Player(Protocol):
    """Anybody who can sit at a table; `parlour.policies.Policy` is one."""

    @property
    def wants(self) -> str:
        """What it reads of the environment's observations.

        `"text"`, `"features"`, `"both"`, or `"view"` for none of them (it goes by `info["view"]`).
        """

    def reset(self, seat: int, seed: int) -> None:
        """A new game begins: take this seat; draw all chance from this seed."""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The action: a number or words."""


def read_words(text: GameText[Any], words: str, view: View, rng: np.random.Generator) -> tuple[Move, bool]:
    """The move that words say, or the one that the rules prescribe for words that cannot be used; and whether they were."""
    try:
        return text.parse(" ".join(words.split()), view), True
    except ParlourError:
        return text.default(words, view, rng), False


def take_turn(env: Any, player: Player) -> None:
    """Let `player` act for the seat that `env` (one of parlour's, with `info="full"`) has selected."""
    observation, info = faced(env, player)
    end_turn(env, player, player.act(observation, info))


def faced(env: Any, player: Player) -> tuple[Any, dict[str, Any]]:
    """What `player` goes by at the turn that `env` has come to."""
    agent = env.agent_selection
    return {} if player.wants == "view" else env.observe_as(agent, player.wants), env.infos[agent]


def end_turn(env: Any, player: Player, action: Any, hear: Callable[[Mapping[str, Any]], None] | None = None) -> None:
    """Step with what `player` has answered for the seat that `env` has selected.

    A player with a method `notes() -> dict` is asked for them after its answer; a Recorder writes them into the line of
    that answer, whether it is a move or words that were none. `hear` is told them before the answer is made.
    """
    notes = getattr(player, "notes", None)
    told = notes() if notes is not None else None
    if told:
        annotate = getattr(env, "annotate", None)
        if annotate is not None:
            annotate(**told)
        if hear is not None:
            hear(told)
    env.step(action)
