"""Which responses of the seats were valid (Lan et al. 2023, equation 8): an answer that does what was asked.

At the table, of a game played here:

* every move of a seat is a valid response, and every entry of words that were no move an invalid one;
* a move made in a seat's place after such words is no response, nor is a forfeit.

At the table, of a published game, as its header tells (`records.published_2023`):

* a vote is valid; a statement is valid if it has words, and is counted only if the words were imported;
* a leader's choice is invalid if it was not confirmed, that is, could not be used;
* a quest card is invalid unless the reply itself told it;
* an answer of the Assassin is invalid unless it said yes or no; counted only if the words were imported.

A call in the transcript (`calls` of a line) with a `reply` is a model's reply; with a `fault` it is invalid. A heuristic that
answers in the model's place makes no call: the replies before it have been counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.vocabulary import BALLOT, CARD, GUESS, TEAM
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.language import speech
from parlour.envs.replay import Transcript

FORFEIT: Final = "forfeit"
ITSELF: Final = "text"
"""How a header tells that a card or an answer was read from the reply itself."""


class Response(NamedTuple):
    """One response of a seat."""

    seat: int
    valid: bool


def of_models(transcript: Transcript) -> Iterator[Response]:
    """The replies of models, where the transcript was read from a file that holds their calls."""
    for line in transcript.lines:
        for call in line.get("calls") or ():
            if isinstance(call, dict) and "reply" in call:
                yield Response(int(str(line["seat"]).removeprefix("player_")), not call.get("fault"))


def at_the_table(transcript: Transcript) -> tuple[Response, ...]:
    """The responses of the seats, as the module says."""
    notes = transcript.header.get("published")
    return tuple(_played(transcript) if notes is None else _published(transcript, notes))


def _played(transcript: Transcript) -> Iterator[Response]:
    faulty = NATURE
    for entry in transcript.entries:
        if entry.move is None:
            if entry.fault != FORFEIT:
                yield Response(entry.seat, False)
            faulty = entry.seat
            continue
        replaced = entry.seat == faulty and entry.raw is None
        if entry.seat != NATURE and not replaced:
            yield Response(entry.seat, True)
        faulty = NATURE


def _published(transcript: Transcript, notes: Mapping[str, Any]) -> Iterator[Response]:
    spoken = transcript.heard
    verdicts = {
        TEAM: iter([bool(logged) for logged in notes["confirm_logged"]]),
        CARD: iter([card[0] == ITSELF for card in notes["cards"]]),
        GUESS: iter([basis == ITSELF for basis in notes.get("answers", ())]),
    }
    for entry in transcript.entries:
        if entry.move is None or entry.seat == NATURE:
            continue
        kind = entry.move.kind
        if kind in speech.ACTS:
            if spoken:
                yield Response(entry.seat, bool(entry.move.words or entry.move.kind != speech.SILENT))
        elif kind == BALLOT:
            yield Response(entry.seat, True)
        elif kind != GUESS or spoken:
            valid = next(verdicts[kind], None)
            if valid is None:
                raise ParlourError(
                    f'the header\'s "published" has too few moves {kind!r}; accepted: what `import` writes'
                )
            yield Response(entry.seat, valid)
