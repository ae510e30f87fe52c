"""Recorded games of Werewolf played again: roles, events, decisions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript

GAME: Final = "werewolf_v0"


@dataclass(frozen=True)
class PlayedWerewolf:
    """A finished game, with the state before each move and after the last."""

    name: str
    """The transcript's file, without its ending."""
    transcript: Transcript
    rules: Any
    states: tuple[Any, ...]

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """Role of each seat."""
        return tuple(self.rules.role_names[role] for role in self.states[-1].standing.roles)


def read_werewolf(path: Path) -> PlayedWerewolf:
    """A game from its transcript.

    Raises:
        ParlourError: The file holds no finished game of Werewolf; the message names the file.
    """
    transcript = replay.Transcript.read(path)
    finished = transcript.finished(GAME)
    if finished is None:
        raise ParlourError(f"{str(path)!r} was not finished; accepted: a finished game")
    rules, states = finished
    return PlayedWerewolf(path.stem, transcript, rules, tuple(states))
