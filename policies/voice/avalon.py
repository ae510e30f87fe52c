"""What a seat of Avalon may give as reasons: quests, teams, votes and remarks, each with its weight in the exact belief."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief
from parlour.envs.avalon.habits import AvalonHabits, read_habits
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.language.questions import ROLE, WHY_VOTED, Question
from parlour.policies.voice.evidence import NOT_EVIL, Ledger, Piece, SeatFact, own_card

_OWN, _PUBLIC = 0, 1
_KNOWS_NOTHING: Final = "knows_nothing"
_EVIL_INVENTS: Final = frozenset(
    ("played_success", "fail_from_others", "thought_clean", "chose_clean", _KNOWS_NOTHING, NOT_EVIL)
)


class _Ballot(NamedTuple):
    """The seat's own vote."""

    quest: int
    team: tuple[int, ...]
    vote: int
    led: bool
    """Whether the team was its own."""
    last: bool
    """Whether the quest had no further proposal."""
    clean: tuple[float, float]
    """Probability that the team was clean, before the votes were shown: by its own belief and to an onlooker."""
    usual: tuple[float, float]
    """The mean of all teams of this size."""


class AvalonMind:
    """Satisfies `parlour.policies.voice.evidence.Mind`.

    Args:
        view: The seat's View.
        habits: A file of habits by which it believes; None: the fixed rates.
    """

    def __init__(self, view: AvalonView, habits: str | None = None) -> None:
        self._me = view.seat
        assumed: AvalonHabits | None = None if habits is None else read_habits(habits).of(len(view.roles))
        own = AvalonBelief(view.roles, view.seat, view.role, view.knows, assumed, view.guesser)
        public = AvalonBelief(view.roles, ONLOOKER, "", (), assumed, view.guesser)
        self._beliefs = own, public
        self.own, self.public = Ledger(own, own.evil), Ledger(public, public.evil)
        self._seen = 0
        self._facts: list[SeatFact] = []
        self._leader = -1
        self._team: tuple[int, ...] = ()
        self._proposed = self._voted = -1
        """The events of the last proposal and of its votes."""
        self._votes: tuple[int, ...] = ()
        self._card: int | None = None
        self._quests = self._counted = 0
        self._ballots: list[_Ballot] = []

    def see(self, view: AvalonView) -> None:
        for number, event in enumerate(view.events[self._seen :], self._seen):
            if event.move.kind == game.VOTES:
                self._ballots.append(self._ballot(event.move.args[1:], view))
            for ledger, belief in zip((self.own, self.public), self._beliefs, strict=True):
                _take(ledger, belief, number, event)
            self._note(number, event)
        self._seen = len(view.events)

    def facts(self, about: int) -> list[SeatFact]:
        own = [fact for fact in self._facts if fact.about == about]
        first = [] if self._quests else [SeatFact("nothing_yet", about, ())]
        return [*own, *_together(own, about, self._me), *first]

    def shown(self, view: AvalonView) -> Ledger:
        return self.public if view.knows or view.side == game.EVIL else self.own

    def deceives(self, view: AvalonView) -> bool:
        return bool(view.side == game.EVIL)

    def invents(self, view: AvalonView) -> frozenset[str]:
        return _EVIL_INVENTS if view.side == game.EVIL else frozenset([_KNOWS_NOTHING] if view.knows else [])

    def answers(self, view: AvalonView, question: Question) -> list[SeatFact]:
        if question.topic == WHY_VOTED:
            return self._why_voted(view, question.number)
        if question.topic == ROLE:
            return [own_card(question, view.seat, game.EVIL_ROLES, hostile=view.side == game.EVIL)]
        return [*self._seen_on(question.number), SeatFact(_KNOWS_NOTHING, view.seat, (), lie=bool(view.knows))]

    def _note(self, number: int, event: Event) -> None:
        """Keep the facts in an event."""
        seat, (kind, args, _), _ = event
        if kind == game.LEADS:
            self._counted = args[3]
        elif kind == game.TEAM:
            self._leader, self._team, self._proposed = seat, args, number
            self._votes, self._voted, self._card = (), -1, None
        elif kind == game.DRAWN:
            self._team = args
        elif kind == game.VOTES:
            self._votes, self._voted = args[1:], number
        elif kind == game.CARD and seat == self._me:
            self._card = args[0]
        elif kind == game.FAILS:
            self._quests += 1
            self._facts += self._of_quest(number, args)
        elif kind == speech.ACCUSE:
            self._facts += _of_remark(number, seat, args[0], "spoke_against", "doubted_by")
        elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != seat:
            self._facts += _of_remark(number, seat, args[0], "spoke_for", "backed_by")

    def _of_quest(self, number: int, args: Sequence[int]) -> list[SeatFact]:
        """What a quest says of its members, of who led it there and of who voted for it."""
        quest, fails, _ = args
        slots = {"quest": quest + 1, "team": self._team, "fails": fails}
        facts: list[SeatFact] = []
        piece = Piece(number)
        with_me = self._me in self._team
        for seat in self._team:
            together = "_with_me" if with_me and seat != self._me else ""
            facts.append(SeatFact(("failed" if fails else "clean") + together, seat, (piece,), slots))
        if fails and with_me:
            lie = self._card == 0
            facts.append(SeatFact("played_success", self._me, (), slots, lie=lie))
            others = tuple(seat for seat in self._team if seat != self._me)
            others_slots = {**slots, "team": others}
            facts += [SeatFact("fail_from_others", seat, (piece,), others_slots, lie=lie) for seat in others]
        led = SeatFact("led_failed" if fails else "led_clean", self._leader, (Piece(self._proposed),), slots)
        facts += [led] if self._leader >= 0 else []
        kind = "approved_failed" if fails else "approved_clean"
        facts += [SeatFact(kind, k, (Piece(self._voted, k),), slots) for k, vote in enumerate(self._votes) if vote]
        return [*facts, *self._in_good_faith(slots)] if fails and self._votes else facts

    def _ballot(self, votes: Sequence[int], view: AvalonView) -> _Ballot:
        clean, usual = zip(
            *(
                (belief.clean_chance(self._team), float(belief.clean_chances(len(self._team)).mean()))
                for belief in self._beliefs
            ),
            strict=True,
        )
        led, last = self._leader == self._me, self._counted >= view.limit
        return _Ballot(self._quests, self._team, votes[self._me], led, last, clean, usual)

    def _in_good_faith(self, slots: dict[str, object]) -> list[SeatFact]:
        """That the team of a failed quest looked clean to the seat when it approved it: to others it has to look so, too."""
        ballot = self._ballots[-1]
        if not ballot.vote or ballot.clean[_PUBLIC] <= ballot.usual[_PUBLIC]:
            return []
        kind = "chose_clean" if ballot.led else "thought_clean"
        return [SeatFact(kind, self._me, (), slots, lie=ballot.clean[_OWN] <= ballot.usual[_OWN])]

    def _why_voted(self, view: AvalonView, quest: int | None) -> list[SeatFact]:
        """The reason for the last vote, or for that on the team of a quest."""
        ballots = [ballot for ballot in self._ballots if quest in (None, ballot.quest + 1)]
        if not ballots:
            return [SeatFact("no_vote_yet", self._me, ())]
        ballot = ballots[-1]
        slots = {"quest": ballot.quest + 1, "team": ballot.team}
        if ballot.vote and (ballot.led or ballot.last):
            return [SeatFact("voted_own" if ballot.led else "voted_last", self._me, (), slots)]
        which = _PUBLIC if self.shown(view) is self.public else _OWN
        kind = f"{'approved' if ballot.vote else 'rejected'}_by_{('count', 'record')[which]}"
        return [SeatFact(kind, self._me, (), {**slots, "percent": 5 * round(20 * ballot.clean[which])})]

    def _seen_on(self, quest: int | None) -> list[SeatFact]:
        """What the seat met on its last quest, or on one that is named."""
        own = [fact for fact in self._facts if fact.kind in ("played_success", "failed_with_me", "clean_with_me")]
        number = quest or (own[-1].slots["quest"] if own else None)
        return [fact for fact in own if fact.slots["quest"] == number]


def _take(ledger: Ledger, belief: AvalonBelief, number: int, event: Event) -> None:
    seat, (kind, args, words), _ = event
    before = belief.copied() if kind == game.VOTES else None
    ledger.take(number, lambda: belief.see(seat, kind, args, words))
    if before is not None:
        for voter in range(len(args) - 1):
            if voter != belief.seat:
                ledger.add(Piece(number, voter), _of_voter(before, args, voter))


def _of_voter(before: AvalonBelief, args: tuple[int, ...], voter: int):  # type: ignore[no-untyped-def]
    """What one vote adds: what all votes add, less what all others add."""
    every, others = before.copied(), before.copied()
    every.see_votes(every.team, args[1:])
    others.see_votes(others.team, args[1:], without=(voter,))
    return every.log_weights - others.log_weights


def _of_remark(number: int, speaker: int, target: int, by: str, of: str) -> list[SeatFact]:
    piece = (Piece(number),)
    return [SeatFact(by, speaker, piece, {"other": target}), SeatFact(of, target, piece, {"other": speaker})]


def _together(facts: Sequence[SeatFact], about: int, me: int) -> list[SeatFact]:
    """Several quests of a seat as one fact."""
    made = []
    for kind, kinds in (
        ("clean_often", ("clean", "clean_with_me")),
        ("failed_often", ("failed", "failed_with_me")),
        ("clean_with_me_often", ("clean_with_me",)),
    ):
        several = [fact for fact in facts if fact.kind in kinds]
        if len(several) > 1 and not (about == me and kind == "clean_with_me_often"):
            pieces = tuple(piece for fact in several for piece in fact.pieces)
            made.append(SeatFact(kind, about, pieces, {"count": len(several)}))
    return made
