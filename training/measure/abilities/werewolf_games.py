"""Recorded games of Werewolf played again: roles, events, decisions, and the moments at which the village is asked for its beliefs.

Seats of the village are asked at their first decision after each execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.training.measure.abilities.moments import BeliefMoment, moment_of
from parlour.training.measure.werewolf.played import GAME


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
    transcript = replay.read(path)
    finished = replay.finished(transcript, GAME)
    if finished is None:
        raise ParlourError(f"{str(path)!r} was not finished; accepted: a finished game")
    rules, states = finished
    return PlayedWerewolf(path.stem, transcript, rules, tuple(states))


def village_moments(games: Iterable[PlayedWerewolf]) -> Iterator[BeliefMoment]:
    """The moments of some games of a benchmark, in the order of the games; exact posteriors are not computed (`with_exact`)."""
    for played in games:
        for view in _asked(played):
            yield _moment(played, view)


def _asked(played: PlayedWerewolf) -> Iterator[WerewolfView]:
    """The first decision of each seat of the village after each execution."""
    days = dict.fromkeys(range(len(played.roles)), 0)
    for state in played.states[:-1]:
        seat = state.actor
        if seat < 0 or played.roles[seat] == game.WEREWOLF:
            continue
        view: WerewolfView = played.rules.view(state, seat)
        executed = sum(event.move.kind == game.EXECUTED for event in view.events)
        if executed > days[seat]:
            days[seat] = executed
            yield view


def _moment(played: PlayedWerewolf, view: WerewolfView) -> BeliefMoment:
    evil = [role == game.WEREWOLF for role in played.roles]
    return moment_of(played, view, game.WOLVES, evil, SeatBeliefs(view, onlooker=False).own.wolf_chance())
