"""The steps of a game: one for each line of its transcript, and one for its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from parlour.envs.core import NATURE, Move
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER, BY_TABLE
from parlour.training.play import heard
from parlour.training.replay.asked import Pieces, as_text, asked_calls
from parlour.training.replay.model import Offer, ReplayStep, To
from parlour.training.replay.played import FORFEIT, PlayedGame

END: Final = "end"
REFUSED: Final = "refused"
LISTED: Final = 60
"""Options of a turn that are listed."""
_PLACED: Final = frozenset(
    {"n", "seat", "move", "say", "words", "to", "raw", "fault", "by", "reason", "calls", "beliefs"}
)
"""What a line holds that has a place of its own."""
_MOST_NOTES: Final = 4000
"""Characters of a line's other notes that are kept."""


class Choices:
    """What seats were asked, each offer once."""

    def __init__(self, played: PlayedGame) -> None:
        self._text = played.text
        self._numbers: dict[tuple[Move, ...], int] = {}

    def number(self, legal: tuple[Move, ...]) -> int:
        """The number of an offer."""
        return self._numbers.setdefault(legal, len(self._numbers))

    @property
    def offers(self) -> tuple[Offer, ...]:
        """All offers, by number."""
        say = self._text.say
        return tuple(
            Offer(self._text.ask(legal), tuple(map(say, legal[:LISTED])), max(0, len(legal) - LISTED))
            for legal in self._numbers
        )


def steps_of(played: PlayedGame, pieces: Pieces, choices: Choices) -> tuple[ReplayStep, ...]:
    """All steps; `pieces` and `choices` are filled on the way."""
    closing = {key: value for key, value in played.transcript.closing.items() if key not in ("outcome", "unfinished")}
    end = ReplayStep(NATURE, END, notes=_others(closing))  # nothing happens, and all may know everything
    return (*_steps(played, pieces, choices), end)


def _steps(played: PlayedGame, pieces: Pieces, choices: Choices) -> Iterator[ReplayStep]:
    for step, (entry, notes) in enumerate(zip(played.entries, played.notes, strict=True)):
        move, seat = entry.move, entry.seat
        legal = played.game.legal(played.states[step]) if seat != NATURE else ()
        by = BY_TABLE if entry.replaced else str(notes["by"]) if notes.get("by") in (BY_HEURISTIC, BY_PAPER) else ""
        yield ReplayStep(
            seat=seat,
            kind=move.kind if move else FORFEIT if entry.fault == FORFEIT else REFUSED,
            said=heard.said(played.transcript, move) if move and seat != NATURE else "",
            words=move.words if move else "",
            raw=as_text(entry.raw),
            whom=_whom(played, step),
            fault=entry.fault,
            by=by,
            reason=entry.replaced or (str(notes.get("reason", "")) if by else ""),
            choice=choices.number(legal) if legal else None,
            asks=asked_calls(notes, pieces),
            notes=_others(notes),
        )


def _whom(played: PlayedGame, step: int) -> To:
    """Who was shown a move as it was made, by the Views."""
    entry, before, state = played.entries[step], played.states[step], played.states[step + 1]
    if entry.move is None:
        return ()
    for event in state.log[len(before.log) :]:
        if event.seat == entry.seat and event.move == entry.move:
            seats = range(played.game.seats)
            shown = tuple(seat for seat in seats if event in played.game.view(state, seat).events)
            return None if event.to is None and len(shown) == len(seats) else shown
    return ()


def _others(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Notes without a place of their own; of long ones the beginning, as text."""
    others: dict[str, Any] = {}
    for key, value in notes.items():
        if key not in _PLACED:
            text = json.dumps(value, ensure_ascii=False)
            others[key[:_MOST_NOTES]] = value if len(text) <= _MOST_NOTES else text[:_MOST_NOTES]
    return others
