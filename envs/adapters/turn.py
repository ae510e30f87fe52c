"""One turn of one seat: who plays it, how it is taken, and the seat's information set. Shared by every loop of parlour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.core import Event, GameText, Move, ParlourError, View


class Player(Protocol):
    """Anybody who can sit at a table; `parlour.policies.Policy` is one."""

    @property
    def wants(self) -> str:
        """The part of the observations that it reads.

        `"text"`, `"features"`, `"both"`, or `"view"` for none of them (it reads `info["view"]`).
        """

    def reset(self, seat: int, seed: int) -> None:
        """A new game begins: take this seat; draw all chance from this seed."""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The action: a number or words."""


def read_words(text: GameText[Any], words: str, view: View, rng: np.random.Generator) -> tuple[Move, bool]:
    """The move in the words, or the move that the rules prescribe for unusable words; and whether the words were usable."""
    try:
        return text.parse(" ".join(words.split()), view), True
    except ParlourError:
        return text.default(words, view, rng), False


def take_turn(env: Any, player: Player) -> None:
    """Let `player` act for the seat that `env` (one of parlour's, with `info="full"`) has selected."""
    observation, info = faced(env, player)
    end_turn(env, player, player.act(observation, info))


def faced(env: Any, player: Player) -> tuple[Any, dict[str, Any]]:
    """What `player` reads at the current turn of `env`."""
    agent = env.agent_selection
    return {} if player.wants == "view" else env.observe_as(agent, player.wants), env.infos[agent]


def end_turn(env: Any, player: Player, action: Any, hear: Callable[[Mapping[str, Any]], None] | None = None) -> None:
    """Step with what `player` has answered for the seat that `env` has selected.

    A player with a method `notes() -> dict` is asked for them after its answer; a Recorder writes them into the line of
    that answer, whether it is a move or words that were none. `hear` receives them before the answer is made.
    """
    notes = getattr(player, "notes", None)
    noted = notes() if notes is not None else None
    if noted:
        annotate = getattr(env, "annotate", None)
        if annotate is not None:
            annotate(**noted)
        if hear is not None:
            hear(noted)
    env.step(action)


# -- information sets ------------------------------------------------------------------------------------------

_APART: Final = ("seat", "legal", "events")


def infoset(view: View, own: Sequence[int]) -> str:
    """A seat's information set as one line: all that its View holds and the actions it has taken itself.

    Two moments have the same line exactly if the seat cannot distinguish them: the View remembers every event, and an event
    may show the seat's own action only later, such as a secret vote.

    Args:
        view: What the seat may know, a named tuple; see `parlour.envs.core.View`.
        own: The numbers of the actions that it has taken in this game, oldest first.
    """
    fields: dict[str, Any] = view._asdict()  # type: ignore[attr-defined]  # see above: a named tuple
    known = tuple([value for name, value in fields.items() if name not in _APART])
    events = " ".join([_event(event) for event in view.events])
    return f"{view.seat} {known!r} | {events} | {','.join(map(str, own))} | {_options(view.legal)}"


@lru_cache(maxsize=20_000)
def _event(event: Event) -> str:
    seen = "" if event.to is None else f">{','.join(map(str, event.to))}"
    return f"{event.seat}:{_move(event.move)}{seen}"


@lru_cache(maxsize=20_000)
def _options(legal: tuple[Move, ...]) -> str:
    return " ".join(map(_move, legal))


def _move(move: Move) -> str:
    return f"{move.kind}({','.join(map(str, move.args))}{f';{move.words!r}' if move.words else ''})"
