"""A transcript played again as far as it goes: the states after each of its lines, and what each seat's View then holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from parlour.envs.core import NATURE, OVER, Event, Game, GameText, IllegalMove, Outcome, View, given_up
from parlour.envs.language.entries import Entry
from parlour.envs.replay import Transcript, text_of

FORFEIT = "forfeit"


@dataclass(frozen=True)
class News:
    """What one seat's View holds after a step that it did not hold before."""

    step: int
    view: View
    events: tuple[Event, ...]


@dataclass(frozen=True)
class PlayedGame:
    """A game as far as its moves fit the rules."""

    transcript: Transcript
    game: Game[Any]
    text: GameText[Any]
    states: tuple[Any, ...]
    """The initial one, and the one after each line of `entries`."""
    entries: tuple[Entry, ...]
    """The lines that could be played, words that were no move among them."""
    notes: tuple[Mapping[str, Any], ...]
    """All that the file holds in each of these lines."""
    stopped: str
    """Why it stops before the transcript does; empty if it does not."""
    outcome: Outcome | None
    """That of the moves; None if they lead to no end."""

    @property
    def last(self) -> Any:
        """The last state."""
        return self.states[-1]

    @property
    def last_views(self) -> list[Any]:
        """What each seat may know at the end."""
        return [self.game.view(self.last, seat) for seat in range(self.game.seats)]

    @property
    def shown_to_all(self) -> list[tuple[int, Event]]:
        """What everybody was shown, with the steps."""
        return [(news.step, event) for news in self.news(0) for event in news.events if event.to is None]

    def view(self, seat: int, step: int) -> View:
        """What a seat may know after a step."""
        return self.game.view(self.states[step + 1], seat)

    def calls(self) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
        """Step, seat and contents of each call to a model; in a foreign file, of entries with the form of a call."""
        for step, (entry, notes) in enumerate(zip(self.entries, self.notes, strict=True)):
            calls = notes.get("calls")
            for call in calls if isinstance(calls, list) else ():
                if isinstance(call, Mapping):
                    yield step, entry.seat, call

    def news(self, seat: int) -> Iterator[News]:
        """What is new to a seat, step by step; steps after which nothing was shown to anybody are left out."""
        known: tuple[Event, ...] = ()
        before: tuple[Event, ...] | None = None
        for step, state in enumerate(self.states[1:]):
            if state.log is before:
                continue
            before, view = state.log, self.game.view(state, seat)
            if view.events != known:
                yield News(step, view, _added(known, view.events))
                known = view.events


def _added(known: tuple[Event, ...], now: tuple[Event, ...]) -> tuple[Event, ...]:
    """Events that were not known; games of others may show a record that does not only grow at its end."""
    if now[: len(known)] == known:
        return now[len(known) :]
    left = list(known)
    added = []
    for event in now:
        if event in left:
            left.remove(event)
        else:
            added.append(event)
    return tuple(added)


def play_again(transcript: Transcript) -> PlayedGame:
    """Play a transcript again, as far as its moves fit the rules.

    Raises:
        ParlourError: Its game is not known, or its config cannot be used or opens paths that it may not.
    """
    game, text = transcript.game(), text_of(transcript)
    states, stopped = [game.initial()], ""
    for number, entry in enumerate(transcript.entries):
        state, actor = states[-1], game.actor(states[-1])
        if entry.move is None:
            states.append(state)
            continue
        if actor == OVER or entry.seat != actor:
            accepted = "nothing, the game is over" if actor == OVER else _who(actor)
            stopped = f"Line {number + 2} is a move of {_who(entry.seat)}; accepted: {accepted}."
            break
        try:
            states.append(game.apply(state, entry.move))
        except IllegalMove as error:
            stopped = f"The move of line {number + 2} does not fit the rules: {error}."
            break
    played = len(states) - 1
    notes = transcript.lines or ({},) * len(transcript.entries)
    entries = transcript.entries[:played]
    outcome = game.outcome(states[-1])
    if outcome is None and entries and entries[-1].fault == FORFEIT and entries[-1].seat == game.actor(states[-1]):
        outcome = given_up(game.seats, entries[-1].seat)
    return PlayedGame(transcript, game, text, tuple(states), entries, notes[:played], stopped, outcome)


def _who(seat: int) -> str:
    return "nature" if seat == NATURE else f"player_{seat}"
