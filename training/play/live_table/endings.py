"""How a game was, for everybody at the table and all who watched it: known to nobody before it is over.

All that is told is read from the transcript, as `parlour replay` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.envs.text import agents_of, end_of, was
from parlour.training.play.live_table.messages import DID, SAID, TOLD, Message


@dataclass(frozen=True)
class Place:
    """A seat, once the game is over."""

    agent: str
    player: str
    """Who played it."""
    was: str
    """Who it was, in one sentence; empty in a game without roles."""
    role: str
    side: str
    returned: float | None
    """None for a game that was given up."""


@dataclass(frozen=True)
class Ending:
    """How a game was."""

    end: str
    """In one sentence."""
    places: tuple[Place, ...]
    lines: tuple[Message, ...]
    """Everything that happened, secrets included."""

    def message(self, replay_path: str, number: int, games: int, before: Sequence[Ending]) -> Message:
        """What browsers are sent; `before` are the games up to this one."""
        totals = [sum(game.places[seat].returned or 0.0 for game in before) for seat in range(len(self.places))]
        seats = [{**vars(place), "total": total} for place, total in zip(self.places, totals, strict=True)]
        told = {"type": "over", "number": number, "games": games, "end": self.end, "replay": replay_path}
        return {**told, "seats": seats, "lines": list(self.lines)}


def ending(found: replay.Transcript, players: Sequence[str]) -> Ending:
    """The ending of a game that is over, from its transcript.

    Args:
        found: As read from the file.
        players: Who played, by seat.
    """
    game, text = found.game(), replay.text_of(found)
    states = list(replay.states(game, found.moves))
    outcome = found.outcome
    views = [game.view(states[-1], seat) for seat in range(game.seats)]
    places = tuple(
        Place(
            agent,
            player,
            was(text, view),
            str(getattr(view, "role", "")),
            str(getattr(view, "side", "")),
            None if outcome is None else outcome.returns[view.seat],
        )
        for agent, player, view in zip(agents_of(game), players, views, strict=True)
    )
    why = f"The game was given up: {found.closing.get('unfinished', '')}"
    return Ending(why if outcome is None else end_of(text, outcome), places, tuple(_lines(found, text, states)))


def _lines(found: replay.Transcript, text: Any, states: Sequence[Any]) -> list[Message]:
    """All that was shown to anybody, and the moves that were shown to nobody at the time."""
    moved = [entry for entry in found.entries if entry.move is not None]
    lines = []
    for before, after, entry in zip(states, states[1:], moved, strict=False):
        new = after.log[len(before.log) :]
        if not new and entry.seat != NATURE and entry.move is not None:
            lines.append(_line(entry.seat, DID, True, text.say(entry.move)))
        for event in new:
            kind = TOLD if event.seat < 0 else SAID if event.move.words else DID
            lines.append(_line(event.seat, kind, event.to is not None, text.line(event)))
    return lines


def _line(seat: int, kind: str, secret: bool, text: str) -> Message:
    return {"seat": seat, "kind": kind, "secret": secret, "text": text}
