"""A recorded game of Avalon as an onlooker sees it, with the roles that the record tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import Array, Key
from parlour.envs.core import Event, ParlourError
from parlour.envs.registry import name_of


@dataclass(frozen=True)
class PublicGame:
    """One game."""

    name: str
    """Where it is from."""
    roles: tuple[str, ...]
    """Of each seat."""
    events: tuple[Event, ...]
    """What everybody saw, in the order of the game."""

    @property
    def players(self) -> int:
        """How many."""
        return len(self.roles)

    @cached_property
    def evil(self) -> Array:
        """1 for each evil seat, shape (n,)."""
        return np.array([role in game.EVIL_ROLES for role in self.roles], dtype=np.float64)

    def key(self, *, apart: bool = True) -> Key:
        """The onlooker's hypotheses; `apart`: Mordred is told apart, as conduct has it."""
        deck = tuple(sorted(self.roles, key=game.ROLES.index))
        return Key(deck, -1, "", (), (game.MORDRED,) if apart and game.MORDRED in deck else ())


def of_transcript(found: replay.Transcript, name: str = "") -> PublicGame:
    """The game of a transcript, as far as it goes.

    Raises:
        ParlourError: It is of another game, or was not dealt.
    """
    if name_of(found.spec) != GAME.id:
        raise ParlourError(f"a transcript of {name_of(found.spec)} is not accepted; accepted: {GAME.id}")
    rules = found.game()
    state = list(replay.states(rules, found.moves))[-1]
    if not state.standing.roles:
        raise ParlourError(f"transcript {name!r} holds no deal; accepted: a game that was begun")
    roles = tuple(rules.role_names[number] for number in state.standing.roles)  # type: ignore[attr-defined]
    return PublicGame(name, roles, tuple(event for event in state.log if event.to is None))


def of_transcripts(found: Iterable[replay.Transcript], names: Sequence[str] | None = None) -> list[PublicGame]:
    """The games of transcripts. Raises `ParlourError` as `of_transcript` does."""
    return [of_transcript(one, names[k] if names else str(k)) for k, one in enumerate(found)]
