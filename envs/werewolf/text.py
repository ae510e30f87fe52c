"""Werewolf in words: what a seat reads, what it may say, and how its words are read. A function of Views and Events.

A choice is read from words strictly: exactly one target that is not denied. What the published code (the `reference`
of `presets.py`) makes of any words is what `default` does with words that cannot be used: the first player named in the
first sentence, else in the last, else a pass; nothing is given that was not asked for with a yes-word.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE, Event, IllegalMove, Move
from parlour.envs.english import name, names
from parlour.envs.speech import quote
from parlour.envs.text import MODERATOR, MoveSentences, say_speech, speech_line
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.reading import first_named, read_talk, read_target, read_yes, says_yes
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import GIVE, KEEP, WerewolfView

_SENTENCES: Final = {
    vocabulary.KILL: ("I want nobody to be killed.", "I want {} to be killed."),
    vocabulary.GUARDS: ("I protect nobody.", "I protect {}."),
    vocabulary.POISONS: ("I poison nobody.", "I poison {}."),
    vocabulary.CHECKS: ("I check nobody.", "I check {}."),
    vocabulary.BALLOT: ("I vote for nobody.", "I vote for {}."),
}
_ANTIDOTE: Final = {GIVE: "I give the antidote.", KEEP: "I keep the antidote."}
_ASKS: Final = {
    speech.ACCUSE: "Speak to the table: one of these, or in your own words.",
    speech.RECOMMEND: "Speak to the other werewolves alone: one of these, or in your own words.",
    vocabulary.KILL: "You are a werewolf: vote for tonight's victim.",
    vocabulary.GUARDS: "You are the guard: choose whom to protect tonight.",
    vocabulary.HEALS: "You are the witch: you may save tonight's victim, once in the game.",
    vocabulary.POISONS: "You are the witch: you may poison somebody, once in the game.",
    vocabulary.CHECKS: "You are the seer: choose whom to check tonight.",
    vocabulary.BALLOT: "Vote for whom to execute.",
}


class WerewolfText(MoveSentences):
    """Satisfies `parlour.envs.core.GameText`."""

    seldom: Final = frozenset({vocabulary.VOTES})

    def __init__(self, game: Werewolf) -> None:
        self._role_names = game.role_names
        self._yes_words = game.rules.yes_words
        self._hunt_shown = game.rules.hunt_shown == "as_cast"
        self._tie_is_drawn = game.rules.hunt_tie == "random"
        self._rules: tuple[str, str] | None = None  # those of the table, before and after the order of talk

    def who(self, view: WerewolfView) -> str:
        if not view.role:
            return f"You are {name(view.seat)}. The roles are not dealt yet.\n"
        if self._rules is None:
            self._rules = self._of_the_table(view)
        before, after = self._rules
        fellows = "".join([f"The other werewolves are: {names(fact.seats)}.\n" for fact in view.knows])
        return (
            f"You are {name(view.seat)}. Your role is {view.role}. You are on the side of {view.side}.\n"
            f"{fellows}{before}{names(view.speakers)}{after}"
        )

    def _of_the_table(self, view: WerewolfView) -> tuple[str, str]:
        """The rules as every seat of every game reads them: what stands before the order of talk, and what after it."""
        counts = Counter(view.roles)
        roles = ", ".join(role if k == 1 else f"{k} x {role}" for role, k in counts.items())
        village = "The village wins when no werewolf lives; the werewolves win when "
        before = [
            f"Roles in play: {roles}.",
            village + ("they are at least half of the living." if view.parity else "nobody else lives."),
            "By night, in this order: the werewolves vote for a victim"
            f"{', each seeing the votes before' if self._hunt_shown else ''} (a tie: "
            f"{'one of the tied at random' if self._tie_is_drawn else 'nobody'}); the guard protects one player from "
            f"them{'' if view.guard_may_repeat else ', not the same player in two nights running'}; the witch may "
            "save the victim once and poison one player once, and hears of the victim while she has the antidote; "
            "the seer learns of one player whether it is a werewolf.",
            "By day all speak in this order: ",
        ]
        after = [
            "; then all vote, "
            f"{'each seeing the votes before' if view.public_votes else 'in secret until all votes are in'}. Most "
            "votes: executed, after last words. A tie, or most votes for nobody: nobody is executed.",
            f"The role is shown of {'everybody who dies' if view.reveals_all else 'those who die in night 1'}.",
            f"After day {view.max_days} the game is a draw.\n",
        ]
        return "\n".join(before), "\n".join(after)

    def line(self, event: Event) -> str:
        seat, move, to = event
        if seat == NATURE:
            return f"{MODERATOR}{self._announcement(move)}\n"
        if move.kind == vocabulary.BALLOT:
            return f"{name(seat)} votes for {names(move.args)}.\n"
        if move.kind in vocabulary.TARGETED or move.kind == vocabulary.HEALS:
            return f"Privately, {name(seat)}: {self.say(move)}\n"
        if to is None:
            return speech_line(seat, move, self.say(move))
        taken = f" (taken as: {self.say(move)})" if move.words else ""
        return f"{name(seat)} says to the werewolves: {quote(move.words or self.say(move))}{taken}\n"

    def ask(self, legal: tuple[Move, ...]) -> str:
        return _ASKS[legal[-1].kind if legal[-1].kind in _ASKS else speech.ACCUSE]

    def say(self, move: Move) -> str:
        if move in _ANTIDOTE:
            return _ANTIDOTE[move]
        if move.kind in _SENTENCES:
            nobody, somebody = _SENTENCES[move.kind]
            return somebody.format(name(move.args[0])) if move.args else nobody
        return say_speech(move, self._role_names)

    def parse(self, text: str, view: WerewolfView) -> Move:
        legal = view.legal
        exact = self.exact(text, legal)
        if exact is not None:
            return exact
        kind = legal[0].kind
        if kind == speech.SILENT:
            return read_talk(text, view)
        if kind == vocabulary.HEALS:
            if self._yes_words:
                return GIVE if says_yes(text) else KEEP
            return read_yes(text)
        move = Move(kind, read_target(text, view.seat))
        if move not in legal:
            accepted = [name(m.args[0]) if m.args else "nobody" for m in legal]
            raise IllegalMove(f"{text!r} names {names(move.args)}; accepted: {', '.join(accepted)}")
        return move

    def default(self, text: str, view: WerewolfView, rng: np.random.Generator) -> Move:
        legal = view.legal
        if legal[0].kind not in vocabulary.TARGETED:
            return legal[0]  # silence, or the antidote is kept
        named = Move(legal[0].kind, first_named(text, view.seat))
        return named if named in legal else legal[0]

    def _announcement(self, move: Move) -> str:
        kind, args, _ = move
        if kind == vocabulary.NIGHT:
            return f"Night {args[0]} falls."
        if kind == vocabulary.CHOSEN:
            return f"To the werewolves: tonight's victim is {names(args)}."
        if kind == vocabulary.ATTACKED:
            return f"To the witch: tonight the werewolves would kill {names(args)}."
        if kind == vocabulary.CHECKED:
            return f"To the seer: {name(args[0])} is {'a' if args[1] else 'not a'} werewolf."
        if kind == vocabulary.DAWN:
            return f"Day {args[0]} breaks. Died in the night: {names(args[1:])}."
        if kind == vocabulary.REVEALED:
            return f"{name(args[0])} was {self._role_names[args[1]]}."
        if kind == vocabulary.DAY:
            return f"The living talk and vote; {name(args[1])} begins."
        if kind == vocabulary.VOTES:
            return f"Votes of day {args[0]}: {_tally(args[1:])}."
        if kind == vocabulary.EXECUTED:
            return f"{names(args)} is executed.".replace("nobody", "Nobody")
        return "The roles are dealt."


def _tally(votes: tuple[int, ...]) -> str:
    """Who voted for whom, in seat order of the targets; nobody last."""
    voters: dict[int, list[int]] = {}
    for seat, vote in enumerate(votes):
        voters.setdefault(vote, []).append(seat)
    targets = sorted([vote for vote in voters if vote >= 0])
    said = [f"for {name(target)} by {names(voters[target])}" for target in targets]
    if vocabulary.NO_VOTE in voters:
        said.append(f"for {names(())} by {names(voters[vocabulary.NO_VOTE])}")
    return "; ".join(said)
