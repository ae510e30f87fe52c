"""What a seat says to a question: a claim about a player, or facts about its vote, about what it saw, about its card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs import questions, speech
from parlour.envs.core import Event, Move, View
from parlour.envs.questions import Question
from parlour.policies.voice.evidence import Ledger, Mind, SeatFact

UNSURE: Final = 0.1
"""Within this distance of the average a seat says the probability, and neither accuses nor defends."""
_OF_ITSELF: Final = (questions.WHY_VOTED, questions.SEEN, questions.ROLE)
_OF_OTHERS: Final = (questions.TRUST, questions.SUSPECT, questions.TEAM)
_CLAIMS: Final = {
    questions.TRUST: (speech.DEFEND, speech.RECOMMEND),
    questions.SUSPECT: (speech.ACCUSE,),
    questions.TEAM: (speech.RECOMMEND, speech.DEFEND),
}


class SeatReply(NamedTuple):
    """An answer."""

    moves: tuple[Move, ...] = ()
    """The claim that it is; the first that the table allows."""
    facts: tuple[SeatFact, ...] = ()
    """What it says, if it makes no claim."""


def reply_to(question: Question, view: View, mind: Mind[Any]) -> SeatReply | None:
    """The answer of a seat to a question; None where there is none besides its own words."""
    if question.topic == questions.ROLE and (claimed := _claimed(view)):
        return SeatReply((claimed,))
    if question.topic in _OF_ITSELF:
        allowed = mind.invents(view)
        facts = [fact for fact in mind.answers(view, question) if not fact.lie or fact.kind in allowed]
        return SeatReply((), tuple(facts[:1])) if facts else None
    if question.topic in _OF_OTHERS:
        return _named(question, view, mind)
    if question.topic == questions.WHY and (again := _said_before(question, view)) is not None:
        return SeatReply((again,))
    about = [seat for seat in question.about if seat != view.seat]
    return _opinion(about[0], view, mind) if about else None


def percent_of(ledger: Ledger, mind: Mind[Any], about: int) -> SeatFact:
    """The probability that a seat is evil, as a fact."""
    kind = "my_count" if ledger is mind.own else "the_record"
    return SeatFact(kind, about, (), {"percent": 5 * round(20 * float(ledger.chance()[about]))})


def _named(question: Question, view: View, mind: Mind[Any]) -> SeatReply | None:
    """The player whom the seat trusts or suspects most, of those that the question names, or of all."""
    chance, seats = _leaning(view, mind), _others(view)
    among = [seat for seat in seats if seat in question.about] or seats
    if question.topic == questions.SUSPECT and mind.deceives(view):
        among = [seat for seat in among if mind.own.chance()[seat] < 1 - UNSURE]  # not its own side
    if not among:
        return None
    sign = -1 if question.topic == questions.SUSPECT else 1
    best = min(among, key=lambda seat: (round(sign * float(chance[seat]), 6), (seat - view.seat) % len(chance)))
    return SeatReply(tuple(Move(kind, (best,)) for kind in _CLAIMS[question.topic]))


def _opinion(about: int, view: View, mind: Mind[Any]) -> SeatReply:
    """Whether the seat trusts a player."""
    chance, ledger = _leaning(view, mind), mind.shown(view)
    apart = float(chance[about] - ledger.hostile.mean())
    if mind.deceives(view) and mind.own.chance()[about] > 1 - UNSURE:
        return SeatReply((Move(speech.DEFEND, (about,)),))
    if abs(apart) < UNSURE:
        return SeatReply((), (percent_of(ledger, mind, about),))
    return SeatReply((Move(speech.ACCUSE if apart > 0 else speech.DEFEND, (about,)),))


def _leaning(view: View, mind: Mind[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The probabilities by which a seat names others: its own; a seat that deceives goes with the table."""
    return (mind.public if mind.deceives(view) else mind.own).chance()


def _others(view: View) -> list[int]:
    living = getattr(view, "alive", None)
    seats = range(len(view.roles if living is None else living))  # type: ignore[attr-defined]
    return [seat for seat in seats if seat != view.seat and (living is None or living[seat])]


def _own(events: tuple[Event, ...], me: int, *kinds: str) -> Iterator[Move]:
    """The seat's own public moves of some kinds, the latest first, without words."""
    return (
        Move(event.move.kind, event.move.args)
        for event in reversed(events)
        if event.seat == me and event.to is None and event.move.kind in kinds
    )


def _claimed(view: View) -> Move | None:
    """The role that the seat has claimed."""
    return next(_own(view.events, view.seat, speech.CLAIM_ROLE), None)


def _said_before(question: Question, view: View) -> Move | None:
    """The seat's last words about one of the players in the question, if they were of the kind that is asked about."""
    kinds = (speech.ACCUSE,) if question.against else (speech.DEFEND, speech.RECOMMEND)
    said = _own(view.events, view.seat, *kinds)
    return next((move for move in said if move.args[0] in question.about), None)
