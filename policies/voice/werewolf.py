"""What a seat of Werewolf may give as reasons: votes, remarks, reports and claims, each with its weight in the exact belief."""

from __future__ import annotations

from copy import copy
from typing import Any, Final, NamedTuple

from parlour.envs.core import NATURE, Event
from parlour.envs.language import speech
from parlour.envs.language.questions import ROLE, WHY_VOTED, Question
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs, WolfBelief
from parlour.envs.werewolf.habits import read_werewolf_habits
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.voice.evidence import (
    NOT_EVIL,
    Ledger,
    Piece,
    SeatFact,
    own_card,
)

_BY, _OF = 0, 1
_REMARKS: Final = {
    speech.ACCUSE: ("spoke_against", "doubted_by"),
    speech.DEFEND: ("spoke_for", "backed_by"),
}


_SLEPT: Final = "slept"
_WOLF_INVENTS: Final = frozenset((_SLEPT, "thought_wolf", NOT_EVIL))


class _Ballot(NamedTuple):
    """The seat's own vote."""

    day: int
    target: int
    chance: tuple[float, float]
    """Probability that the target was a werewolf, before the votes were shown: by its own belief and to an onlooker."""
    usual: tuple[float, float]
    """The mean of the living others."""


class WerewolfMind:
    """Satisfies `parlour.policies.voice.evidence.Mind`.

    Args:
        view: The seat's View.
        habits: A file of habits by which it believes; None: the fixed rates.
    """

    def __init__(self, view: WerewolfView, habits: str | None = None) -> None:
        self._me: int = view.seat
        assumed = None if habits is None else read_werewolf_habits(habits).of(len(view.roles))
        self._beliefs = SeatBeliefs(view, assumed)
        assert self._beliefs.onlooker is not None
        own, public = self._beliefs.own, self._beliefs.onlooker
        self.own, self.public = Ledger(own, own.wolf), Ledger(public, public.wolf)
        self._seen = 0
        self._facts: list[SeatFact] = []
        self._roles: dict[int, str] = {}
        """The roles that the moderator has shown."""
        self._role, self._day = view.role, 0
        self._ballots: list[_Ballot] = []
        self._dead: set[int] = set()

    def see(self, view: WerewolfView) -> None:
        for number, event in enumerate(view.events[self._seen :], self._seen):
            target = self._own_target(event, view)
            if target >= 0:
                self._ballots.append(self._ballot(target))
            self._take(number, event, view)
            self._note(number, event, view)
        self._seen = len(view.events)

    def facts(self, about: int) -> list[SeatFact]:
        facts = [self._revealed(fact) for fact in self._facts if fact.about == about]
        if about != self._me:
            return facts
        night = [] if self._role in game.LEADERS else [self._night]  # those lie about it only if they are asked
        return [*facts, *self._in_good_faith(), *night]

    def shown(self, view: WerewolfView) -> Ledger:
        return self.public if view.knows or view.role == game.WEREWOLF else self.own

    def deceives(self, view: WerewolfView) -> bool:
        return bool(view.side == game.WOLVES)

    def invents(self, view: WerewolfView) -> frozenset[str]:
        """A role with a power hides it, or it is the next victim."""
        return _WOLF_INVENTS if view.side == game.WOLVES else frozenset([_SLEPT] if view.role in game.LEADERS else [])

    def answers(self, view: WerewolfView, question: Question) -> list[SeatFact]:
        if question.topic == WHY_VOTED:
            return self._why_voted(view, question)
        if question.topic == ROLE:
            return [own_card(question, self._me, (game.WEREWOLF,), hostile=view.role == game.WEREWOLF)]
        own = [fact for fact in self.facts(self._me) if fact.kind in ("reported_evil", "reported_good")]
        return [*own[-1:], self._night]

    def _take(self, number: int, event: Event, view: WerewolfView) -> None:
        ledgers = self.own, self.public
        before = [ledger.belief.log_weights for ledger in ledgers]
        self._beliefs.see(event, view)
        for ledger, log_weights in zip(ledgers, before, strict=True):
            ledger.add(Piece(number), ledger.belief.log_weights - log_weights)
            if event.move.kind == game.VOTES and not view.public_votes:
                for voter, target in enumerate(event.move.args[1:]):
                    if target >= 0:
                        ledger.add(Piece(number, voter), _of_voter(ledger.belief, voter, target))

    def _note(self, number: int, event: Event, view: WerewolfView) -> None:
        """Keep the facts in an event."""
        seat, (kind, args, _), to = event
        if seat == NATURE and kind == game.VOTES and not view.public_votes:
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self._facts.append(
                        SeatFact("voted", voter, (Piece(number, voter),), {"other": target, "day": args[0]})
                    )
        elif seat == NATURE and kind == game.DAWN:
            self._day = args[0]
            self._dead.update(args[1:])
        elif seat == NATURE and kind == game.EXECUTED:
            self._dead.update(args)
        elif seat == NATURE and kind == game.REVEALED:
            self._roles[args[0]] = view.role_names[args[1]]
        elif kind == game.HUNTER_SHOWN:
            self._roles[args[0]] = game.HUNTER
        elif kind == game.SHOOTS:
            self._dead.update(args)
        elif seat != NATURE and to is None and kind == game.BALLOT and args:
            self._facts.append(SeatFact("voted", seat, (Piece(number),), {"other": args[0], "day": view.day}))
        elif seat != NATURE and to is None and kind in _REMARKS:
            self._remark(number, seat, args[0], _REMARKS[kind])
        elif seat != NATURE and to is None and kind == speech.REPORT:
            kinds = ("reported_evil", "evil_by_report") if args[1] else ("reported_good", "good_by_report")
            self._remark(number, seat, args[0], kinds)
        elif seat != NATURE and to is None and kind == speech.CLAIM_ROLE:
            role = view.role_names[args[0]]
            self._facts.append(SeatFact("claimed", seat, (Piece(number),), {"role": f"the {role}"}))

    @property
    def _night(self) -> SeatFact:
        """That the seat slept: none of its moves is at night."""
        return SeatFact(_SLEPT, self._me, (), lie=self._role not in (game.VILLAGER, game.HUNTER))

    def _own_target(self, event: Event, view: WerewolfView) -> int:
        """Whom the seat votes for in this event; below 0 for nobody."""
        seat, (kind, args, _), _ = event
        if kind == game.VOTES and not view.public_votes:
            return int(args[1 + self._me])
        return int(args[0]) if kind == game.BALLOT and seat == self._me and view.public_votes and args else game.NO_VOTE

    def _ballot(self, target: int) -> _Ballot:
        chances = [belief.wolf_chance() for belief in (self._beliefs.own, self._beliefs.onlooker) if belief is not None]
        living = [seat for seat in range(len(chances[0])) if seat not in self._dead and seat != self._me]
        chance, usual = zip(*((float(chance[target]), float(chance[living].mean())) for chance in chances), strict=True)
        return _Ballot(self._day, target, chance, usual)

    def _in_good_faith(self) -> list[SeatFact]:
        """That the seat took a player for a werewolf when it voted for it: to others it has to look so, too."""
        return [
            SeatFact(
                "thought_wolf",
                self._me,
                (),
                {"other": ballot.target, "day": ballot.day},
                ballot.chance[0] <= ballot.usual[0],
            )
            for ballot in self._ballots
            if ballot.chance[1] > ballot.usual[1]
        ]

    def _why_voted(self, view: WerewolfView, question: Question) -> list[SeatFact]:
        """The reason for the last vote, or for the one that is named."""
        ballots = [ballot for ballot in self._ballots if question.number in (None, ballot.day)]
        ballots = [ballot for ballot in ballots if ballot.target in question.about] or ballots
        if not ballots:
            return [SeatFact("no_vote_yet", self._me, ())]
        which = int(self.shown(view) is self.public)
        slots = {
            "other": ballots[-1].target,
            "day": ballots[-1].day,
            "percent": 5 * round(20 * ballots[-1].chance[which]),
        }
        return [SeatFact(("suspected_by_count", "suspected_by_record")[which], self._me, (), slots)]

    def _remark(self, number: int, speaker: int, target: int, kinds: tuple[str, str]) -> None:
        piece = (Piece(number),)
        self._facts.append(SeatFact(kinds[_BY], speaker, piece, {"other": target}))
        self._facts.append(SeatFact(kinds[_OF], target, piece, {"other": speaker}))

    def _revealed(self, fact: SeatFact) -> SeatFact:
        """A vote or a remark about somebody whose role is known by now."""
        role = self._roles.get(fact.slots.get("other", NATURE))
        if role is None or fact.kind not in ("voted", "spoke_against", "spoke_for"):
            return fact
        side = "wolf" if role == game.WEREWOLF else "villager"
        return SeatFact(f"{fact.kind}_{side}", fact.about, fact.pieces, fact.slots, fact.lie)


def _of_voter(belief: Any, voter: int, target: int) -> Any:
    """What one vote adds to a belief of those who lived when it was cast."""
    assert isinstance(belief, WolfBelief)
    other = copy(belief)  # its evidence is replaced, never changed
    other.see_vote(voter, target)
    return other.log_weights - belief.log_weights
