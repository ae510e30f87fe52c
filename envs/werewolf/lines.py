"""What all tables of Werewolf put into the same words: lines of the record, who a seat was, how a game ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.envs.core import NATURE, Event, IllegalMove, Move, Outcome
from parlour.envs.language.english import listing, name, names
from parlour.envs.language.speech import quote
from parlour.envs.language.text import MODERATOR, MoveSentences, speech_line
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.reading import read_target
from parlour.envs.werewolf.vocabulary import WerewolfView

_WINNERS: Final = {vocabulary.VILLAGE: "The village wins", vocabulary.WOLVES: "The werewolves win"}
_REASONS: Final = {
    "wolves_dead": "all werewolves are dead",
    "village_dead": "only werewolves are alive",
    "parity": "at least half of the living are werewolves",
}


class WerewolfLines(MoveSentences[WerewolfView]):
    """A base of the texts of Werewolf's tables.

    Args:
        roles: The roles in play, one for each seat.
        role_names: The different ones, by number.
    """

    def __init__(self, roles: Sequence[str], role_names: Sequence[str]) -> None:
        self._titles = tuple(f"{'a' if roles.count(role) > 1 else 'the'} {role}" for role in role_names)
        """The roles by number, each with its article."""
        self._names = tuple(map(name, range(len(roles))))

    def line(self, event: Event) -> str:
        """One line of the record; the same for everybody who saw the event."""
        seat, move, to = event
        if seat == NATURE:
            return f"{MODERATOR}{self._announcement(move)}\n"
        if move.kind == vocabulary.BALLOT:
            return f"{name(seat)} votes for {names(move.args)}.\n"
        if move.kind == vocabulary.SHOOTS:
            return f"{name(seat)} shoots {names(move.args)}.\n"
        if move.kind in vocabulary.TARGETED or move.kind == vocabulary.HEALS:
            return f"Privately, {name(seat)}: {self.say(move)}\n"
        if to is None:
            return speech_line(seat, move, self.say(move))
        taken = f" (taken as: {self.say(move)})" if move.words else ""
        return f"{name(seat)} says to the werewolves: {quote(move.words or self.say(move))}{taken}\n"

    def was(self, view: WerewolfView) -> str:
        """Who a seat was, in one sentence."""
        return f"{name(view.seat)} was {self._titles[view.role_names.index(view.role)]}." if view.role else ""

    def end(self, outcome: Outcome) -> str:
        """How a game ended, in one sentence."""
        return f"{_WINNERS.get(outcome.winner, 'Nobody wins')}: {self.why(outcome)}."

    def why(self, outcome: Outcome) -> str:
        """Why a game ended as it did."""
        return _REASONS.get(outcome.reason, outcome.reason)

    def _announcement(self, move: Move) -> str:
        """What the moderator says, as far as it is the same at all tables."""
        kind, args, _ = move
        if kind == vocabulary.VOTES:
            return f"Votes of day {args[0]}: {self._tally(args[1:])}."
        if kind == vocabulary.NIGHT:
            return f"Night {args[0]} begins."
        if kind == vocabulary.CHOSEN:
            return f"To the werewolves: you attack {names(args)} tonight."
        if kind == vocabulary.CHECKED:
            seen = self._titles[args[2]] if len(args) > 2 else f"{'a' if args[1] else 'not a'} werewolf"
            return f"To the seer: {name(args[0])} is {seen}."
        if kind == vocabulary.HUNTER_SHOWN:
            return f"{name(args[0])} is the Hunter and may shoot."
        if kind == vocabulary.DAWN:
            return f"Day {args[0]} begins. {listing(args[1:]) if len(args) > 1 else 'Nobody'} died in the night."
        if kind == vocabulary.EXECUTED:
            return f"{names(args) if args else 'Nobody'} is executed."
        return "The roles are dealt."

    def _tally(self, votes: tuple[int, ...]) -> str:
        """Who voted for whom, in seat order of the targets; nobody last."""
        voters: dict[int, str] = {}
        for voter, vote in zip(self._names, votes, strict=True):
            voters[vote] = f"{voters[vote]}, {voter}" if vote in voters else voter
        voters.pop(vocabulary.DEAD, "")
        passed = voters.pop(vocabulary.NO_VOTE, "")
        tallies = [f"{self._names[seat]} from {voters[seat]}" for seat in sorted(voters)]
        if passed:
            tallies.append(f"{names(())} from {passed}")
        return "; ".join(tallies)

    @staticmethod
    def read_aim(text: str, kind: str, view: WerewolfView) -> Move:
        """The move of a kind at the one seat that the words choose. Raises `IllegalMove` for another than the options."""
        move = Move(kind, read_target(text, view.seat))
        if move not in view.legal:
            accepted = [name(m.args[0]) if m.args else "nobody" for m in view.legal]
            raise IllegalMove(f"{text!r} names {names(move.args)}; accepted: {', '.join(accepted)}")
        return move

    @staticmethod
    def seat_line(view: WerewolfView) -> str:
        """The role of a seat and its fellows, in lines. Before the deal, that the roles are not dealt yet."""
        if not view.role:
            return f"You are {name(view.seat)}. The roles are not dealt yet.\n"
        fellows = "".join([f"{_fellows(fact.seats)}\n" for fact in view.knows])
        return f"You are {name(view.seat)}. Your role is {view.role} ({view.side} side).\n{fellows}"


def _fellows(seats: tuple[int, ...]) -> str:
    """Who the other werewolves are, to a werewolf."""
    if not seats:
        return "You are the only werewolf."
    return f"Your fellow {'werewolf is' if len(seats) == 1 else 'werewolves are'} {listing(seats)}."
