"""Recorded games as chat messages: for each seat what it read at each of its turns, and what it answered.

The form is that of supervised fine-tuning: a record for each seat with `messages`, as `Conversation` would send them. An answer with
`"weight": 0` is left out of the loss (the key of OpenAI's fine-tuning format).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from parlour.envs.core import NATURE, GameText, Move, ParlourError, View
from parlour.envs.language.headings import SeatNews, sections_of
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER
from parlour.envs.replay import Transcript, reenact, states, text_of

V = TypeVar("V", bound=View)


def conversations(transcript: Transcript) -> Iterator[dict[str, Any]]:
    """The conversations of a game, one for each seat that moved, in the order of the seats.

    Each has `game`, `seat`, `role` and `return` (None if the game has none, or was not finished), and `messages`: `user` and
    `assistant` in turn. An answer is the seat's own words where the game reads the same move in them, else the sentence of the move.
    The weight of an answer that was not the seat's own is 0.

    Raises:
        ParlourError: The moves do not fit the rules or the outcome.
    """
    game, text = transcript.game(), text_of(transcript)
    reached = [state for state in states(game, transcript.moves) if game.actor(state) >= 0]
    own = [not replaced for seat, replaced in _authors(transcript) if seat != NATURE]
    news: dict[int, SeatNews] = {}
    agents: dict[int, str] = {}
    messages: dict[int, list[dict[str, Any]]] = {}
    for step, state, by_seat in zip(reenact(transcript), reached, own, strict=False):
        if step.move is None:
            break
        seat = game.actor(state)
        agents[seat] = step.agent
        sections = sections_of(step.observations[step.agent]["text"])
        assert sections is not None  # an environment writes all its headings
        asked = news.setdefault(seat, SeatNews()).tell(sections).message
        answer = _answer(text, game.view(state, seat), step.move)
        messages.setdefault(seat, []).extend(
            ({"role": "user", "content": asked}, {"role": "assistant", "content": answer, "weight": int(by_seat)})
        )
    outcome = transcript.outcome
    for seat in sorted(messages):
        yield {
            "game": transcript.header["game"],
            "seat": agents[seat],
            "role": getattr(game.view(reached[-1], seat), "role", None),
            "return": None if outcome is None else outcome.returns[seat],
            "messages": messages[seat],
        }


def _authors(transcript: Transcript) -> Iterator[tuple[int, bool]]:
    """The seat of each move, and whether another player or the table made it in its place."""
    notes: tuple[Mapping[str, Any], ...] = transcript.lines or ({},) * len(transcript.entries)
    for entry, line in zip(transcript.entries, notes, strict=True):
        if entry.move is not None:
            yield entry.seat, bool(entry.replaced) or line.get("by") in (BY_HEURISTIC, BY_PAPER)


def _answer(text: GameText[V], view: V, move: Move) -> str:
    """What the seat says to make this move, in its own words if the game reads the move in them."""
    sentence = text.say(move)
    if not move.words:
        return sentence
    wordings = (move.words, f"{sentence} {move.words}")
    read = {words: _read(text, view, words) for words in wordings}
    exact = [words for words, parsed in read.items() if parsed == move]
    same = [words for words, parsed in read.items() if parsed is not None and parsed[:2] == move[:2]]
    return next(iter([*exact, *same]), sentence)


def _read(text: GameText[V], view: V, words: str) -> Move | None:
    try:
        return text.parse(words, view)
    except ParlourError:
        return None
