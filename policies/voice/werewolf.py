"""What a seat of Werewolf may give as reasons: votes, remarks, reports and claims, each with its weight in the exact belief."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from parlour.envs import speech
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs, WolfBelief
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.voice.evidence import Ledger, MoveOutlook, Piece, SeatFact, outlook_of_speech, suspicion

_BY, _OF = 0, 1
_REMARKS: Final = {
    speech.ACCUSE: ("spoke_against", "doubted_by"),
    speech.DEFEND: ("spoke_for", "backed_by"),
}


class WerewolfMind:
    """Satisfies `parlour.policies.voice.evidence.Mind`."""

    def __init__(self, view: WerewolfView) -> None:
        self._me: int = view.seat
        self._beliefs = SeatBeliefs(view)
        assert self._beliefs.onlooker is not None
        own, public = self._beliefs.own, self._beliefs.onlooker
        self.own, self.public = Ledger(own, own.wolf), Ledger(public, public.wolf)
        self._seen = 0
        self._facts: list[SeatFact] = []
        self._roles: dict[int, str] = {}
        """The roles that the moderator has shown."""

    def see(self, view: WerewolfView) -> None:
        for number, event in enumerate(view.events[self._seen :], self._seen):
            self._take(number, event, view)
            self._note(number, event, view)
        self._seen = len(view.events)

    def facts(self, about: int) -> list[SeatFact]:
        return [self._revealed(fact) for fact in self._facts if fact.about == about]

    def shown(self, view: WerewolfView) -> Ledger:
        return self.public if view.knows or view.role == game.WEREWOLF else self.own

    def deceives(self, view: WerewolfView) -> bool:
        return bool(view.side == game.WOLVES)

    def outlook(self, view: WerewolfView, move: Move) -> MoveOutlook | None:
        if move.kind == game.KILL and move.args:
            return MoveOutlook("is_seer", move.args[0], float(self._beliefs.own.seer_chance()[move.args[0]]))
        if move.kind in game.TARGETED and move.args:
            return suspicion(self, view, move.args[0])
        return outlook_of_speech(self, view, move)

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
        elif seat == NATURE and kind == game.REVEALED:
            self._roles[args[0]] = view.role_names[args[1]]
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
