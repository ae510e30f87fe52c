"""A recorded game of Avalon played again for analysis: its roles, its events and the moments at which seats decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs import replay
from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief, AvalonHabits
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonState
from parlour.envs.avalon.vocabulary import EVIL_ROLES, MERLIN, AvalonView
from parlour.envs.core import Event, Move, ParlourError
from parlour.envs.language.text import end_of
from parlour.envs.replay import Transcript, text_of
from parlour.training.records.avalon.importing import check_avalon

RECORD: Final = "record"
"""The header's key under which a reader of records notes where a game comes from."""
NOT_TOLD: Final = "-"


class Moment(NamedTuple):
    """A decision of a seat, as it stood."""

    number: int
    """Number of the move, including nature's, from 0."""
    view: AvalonView
    """What the seat knew then."""
    move: Move


@dataclass(frozen=True)
class AnalysedGame:
    """A game as it was recorded, with the state before each move and after the last."""

    name: str
    """The transcript's file, without its ending."""
    transcript: Transcript
    rules: Avalon
    states: tuple[AvalonState, ...]

    @classmethod
    def read(cls, path: Path) -> AnalysedGame:
        """A game from its file. Raises `ParlourError`, which names the file."""
        transcript = replay.Transcript.read(path)
        try:
            return analysed_game(path.stem, transcript)
        except ParlourError as error:
            raise ParlourError(f"{str(path)!r}: {error}") from None

    def opening_belief(self, viewer: int, habits: AvalonHabits) -> AvalonBelief:
        """The belief of a seat, or of an onlooker (-1), before the first event."""
        guesser = self.rules.role_names[self.rules.guesser]
        if viewer == ONLOOKER:
            return AvalonBelief(self.rules.roles, ONLOOKER, "", (), habits, guesser)
        knows = self.rules.night(self.states[-1].standing.roles, viewer)
        return AvalonBelief(self.rules.roles, viewer, self.roles[viewer], knows, habits, guesser)

    @property
    def log(self) -> tuple[Event, ...]:
        """All events, those that only some saw included."""
        return self.states[-1].log

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """Role of each seat."""
        return tuple(self.rules.role_names[number] for number in self.states[-1].standing.roles)

    @cached_property
    def evil(self) -> frozenset[int]:
        """The evil seats."""
        return frozenset(seat for seat, role in enumerate(self.roles) if role in EVIL_ROLES)

    @property
    def merlin(self) -> int:
        """The seat of Merlin."""
        return self.roles.index(MERLIN)

    @property
    def seats(self) -> int:
        """How many play."""
        return self.rules.seats

    def noted(self, key: str) -> str:
        """One note of the record in words; `NOT_TOLD` where there is none.

        >>> AnalysedGame("a", Transcript({}, (), None), None, ()).noted("memory")
        '-'
        """
        record = self.transcript.header.get(RECORD)
        value = record.get(key) if isinstance(record, Mapping) else None
        if isinstance(value, bool):
            return "with" if value else "without"
        return NOT_TOLD if value is None else str(value)

    @property
    def end(self) -> str:
        """How it ended, in words."""
        outcome = self.transcript.outcome
        return "not finished" if outcome is None else end_of(text_of(self.transcript), outcome)

    def moments(self) -> Iterator[Moment]:
        """The decisions of the seats, in order, except for those that the record does not tell."""
        unknown = self.transcript.assumed_moves()
        for number, (state, move) in enumerate(zip(self.states, self.transcript.moves, strict=False)):
            if state.actor >= 0 and number not in unknown:
                view = self.rules.view(state, state.actor)
                yield Moment(number, view, move)


def analysed_game(name: str, transcript: Transcript) -> AnalysedGame:
    """Play a transcript again.

    Raises:
        ParlourError: It is of another game than Avalon, holds no deal, or its moves do not fit the rules.
    """
    check_avalon(transcript)
    rules: Any = transcript.game()
    states = tuple(replay.states(rules, transcript.moves))
    if not states[-1].standing.roles:
        raise ParlourError(f"game {name!r} ends before the deal; accepted: games whose roles are known")
    return AnalysedGame(name, transcript, rules, states)
