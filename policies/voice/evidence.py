"""What a seat may give as a reason: facts of the record, and by how much each moved an exact belief.

Evidence adds up in the logarithms of a belief's weights. So the belief without a piece of evidence is exact, too: the
weights without that piece. A fact counts for or against a seat by the difference of the two in log-odds.

And what a seat says to a question (`reply_to`): a claim about a player, or facts about its vote, about what it saw, about its card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
from parlour.envs.core import Event, Move, V_contra, View
from parlour.envs.language import questions, speech
from parlour.envs.language.english import word_list
from parlour.envs.language.questions import Question

Array = np.ndarray[Any, np.dtype[np.float64]]

WHOLE: Final = -1
"""The part of an event that is the whole event."""
_SURE: Final = 1e-12


_AGAINST: Final = frozenset(
    word_list(
        "failed failed_with_me failed_often led_failed approved_failed spoke_against spoke_against_good spoke_against_villager "
        "spoke_for_bad spoke_for_wolf doubted_by_good backed_by_bad fail_from_others voted voted_good voted_villager evil_by_report"
    )
)
"""Kinds of facts that people hold against the player."""
_FOR: Final = frozenset(
    word_list(
        "clean clean_with_me clean_often clean_with_me_often led_clean approved_clean played_success nothing_yet spoke_for "
        "spoke_for_good spoke_for_villager spoke_against_bad spoke_against_wolf doubted_by_bad backed_by_good voted_bad "
        "voted_wolf good_by_report thought_clean chose_clean thought_wolf slept"
    )
)


class Piece(NamedTuple):
    """A piece of evidence."""

    event: int
    """Its place in `view.events`."""
    part: int = WHOLE
    """The voter, where an event shows all votes; else `WHOLE`."""


@dataclass(frozen=True)
class SeatFact:
    """Something in the record that concerns a seat."""

    kind: str
    """Names its sentences in the language file."""
    about: int
    """The seat."""
    pieces: tuple[Piece, ...]
    """The evidence it cites; none for a fact that is no evidence."""
    slots: Mapping[str, Any] = field(default_factory=dict)
    """What its sentences name besides the seat: seats as tuples, numbers as numbers."""
    lie: bool = False
    """Whether it is not true. A seat says only those untrue facts that its role needs (`Mind.invents`)."""

    @property
    def parts(self) -> frozenset[tuple[Any, ...]]:
        """What it tells: once all its parts have been said, the fact is a repetition."""
        if self.pieces and "other" not in self.slots:
            return frozenset((self.about, piece) for piece in self.pieces)
        return frozenset({(self.kind, self.about, *sorted(self.slots.items()))})

    @property
    def points(self) -> int:
        """Which way people take it: 1 against the seat, -1 for it, 0 either."""
        return 1 if self.kind in _AGAINST else -1 if self.kind in _FOR else 0

    def as_json(self) -> dict[str, Any]:
        """For the transcript."""
        fields = {"kind": self.kind, "about": self.about, "pieces": [list(piece) for piece in self.pieces]}
        return {**fields, "slots": dict(self.slots), **({"lie": True} if self.lie else {})}


class Weighted(Protocol):
    """An exact belief, such as `AvalonBelief` and `WolfBelief`."""

    log_weights: Array
    """Shape (H,), up to a constant."""


@dataclass(eq=False)
class Ledger:
    """A belief, and what each piece of evidence added to its log-weights."""

    belief: Weighted
    """Before its first event, at the beginning."""
    hostile: Array
    """Whether a seat is on the evil side, by hypothesis: 0/1 of shape (H, n)."""
    _added: dict[Piece, Array] = field(default_factory=dict)

    def take(self, event: int, see: Callable[[], None]) -> None:
        """Let the belief see an event, and keep what it added."""
        before = self.belief.log_weights
        see()
        if self.belief.log_weights is not before:
            self.add(Piece(event), self.belief.log_weights - before)

    def add(self, piece: Piece, added: Array) -> None:
        """Keep what a piece added."""
        self._added[piece] = added

    def chance(self, without: Iterable[Piece] = ()) -> Array:
        """Probability that each seat is evil, shape (n,); `without` these pieces of evidence."""
        weights = self.belief.log_weights - sum(self._added.get(piece, 0.0) for piece in without)
        weights = np.exp(weights - weights.max())
        chances: Array = (weights @ self.hostile) / weights.sum()
        return chances

    def lift(self, fact: SeatFact) -> float:
        """By how much a fact raises the log-odds that its seat is evil; below 0, it lowers them."""
        with_it, without = (_log_odds(self.chance(left)[fact.about]) for left in ((), fact.pieces))
        return with_it - without


def _log_odds(chance: float) -> float:
    chance = min(1 - _SURE, max(_SURE, float(chance)))
    return float(np.log(chance / (1 - chance)))


class Mind(Protocol[V_contra]):
    """What one seat of one game believes, exactly, and the facts of the record; what `parlour.policies.voice.VOICES` makes from a View and a file of habits."""

    own: Ledger
    """Its belief."""
    public: Ledger
    """What an onlooker would believe."""

    def see(self, view: V_contra) -> None:
        """Take in what is new in the View."""

    def facts(self, about: int) -> list[SeatFact]:
        """The facts about a seat, oldest first."""

    def shown(self, view: V_contra) -> Ledger:
        """The belief that the seat may speak from: that of an onlooker, if it knows a secret."""

    def deceives(self, view: V_contra) -> bool:
        """Whether it plays against what it says: a seat of the evil side."""

    def invents(self, view: V_contra) -> frozenset[str]:
        """The kinds of facts that its role needs, true or not."""

    def answers(self, view: V_contra, question: Question) -> list[SeatFact]:
        """What it says to a question about its own vote, about what it saw or what it is; the first that fits."""


NOT_EVIL: Final = "not_evil"
KEEPS_CARD: Final = "keeps_card"


def own_card(question: Question, me: int, hostile_roles: Iterable[str], *, hostile: bool) -> SeatFact:
    """The answer to a question about the seat's own card: which side, or nothing where a role is asked for.

    All say the same of roles, so that nobody is known by the answer.
    """
    asks_side = question.against or question.names_one_of((*hostile_roles, "good", "loyal", "innocent", "side"))
    return SeatFact(NOT_EVIL, me, (), lie=hostile) if asks_side else SeatFact(KEEPS_CARD, me, ())


# -- answers to questions ------------------------------------------------------------------------------------------------

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
    if question.topic == questions.ROLE and (claimed := next(_own(view.events, view.seat, speech.CLAIM_ROLE), None)):
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


def _said_before(question: Question, view: View) -> Move | None:
    """The seat's last words about one of the players in the question, if they were of the kind that is asked about."""
    kinds = (speech.ACCUSE,) if question.against else (speech.DEFEND, speech.RECOMMEND)
    said = _own(view.events, view.seat, *kinds)
    return next((move for move in said if move.args[0] in question.about), None)
