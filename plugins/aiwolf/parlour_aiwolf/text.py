"""AIWolf's Werewolf in words. By day, and among the wolves, a seat says a sentence of AIWolf's language or its own English words.

A sentence of AIWolf's language is read first (`claims.py` says which of them are claims), then English words as at the other
tables of Werewolf. Words that make no claim which the seat may make are a remark. A choice that cannot be read is drawn among the
legal ones, as the contest's server does with votes; a line that cannot be read is a skip, or over where no skip is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from parlour.envs.core import Event, Move, ParlourError
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.language.text import say_speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.lines import WerewolfLines
from parlour.envs.werewolf.reading import read_talk
from parlour.envs.werewolf.vocabulary import WEREWOLF, WerewolfView

from parlour_aiwolf.claims import claim_of
from parlour_aiwolf.language import AIWOLF_ROLES, RESULT_VERBS, Pause, Sentence, read
from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.vocabulary import (
    ATTACK_VOTES,
    BODYGUARD,
    IDENTIFIED,
    MEDIUM,
    REMARK,
    TALK_OVER,
    claims_medium,
)

if TYPE_CHECKING:
    import numpy as np

_LINES: Final = frozenset({speech.SILENT, REMARK, TALK_OVER, *speech.ACTS})
_SENTENCES: Final = {
    game.KILL: ("I attack nobody.", "I vote to attack {}."),
    game.GUARDS: ("I protect nobody.", "I protect {}."),
    game.CHECKS: ("I divine nobody.", "I divine {}."),
    game.BALLOT: ("", "I vote for {}."),
}
_PLAIN: Final = {speech.SILENT: "Skip.", TALK_OVER: "Over.", REMARK: "I have a remark."}
_ASKS: Final = {
    speech.ACCUSE: "Say a line to the table: a sentence below, a sentence of AIWolf's language, or your own words.",
    speech.RECOMMEND: "Say a line to the other werewolves: a sentence below, a sentence of AIWolf's language, or your own words.",
    game.KILL: "You are a werewolf: vote for tonight's victim.",
    game.GUARDS: "You are the bodyguard: choose whom to protect tonight.",
    game.CHECKS: "You are the seer: choose whom to divine tonight.",
    game.BALLOT: "Vote on whom to execute.",
}


class AIWolfText(WerewolfLines):
    """Satisfies `parlour.envs.core.GameText`."""

    seldom = frozenset({game.VOTES, ATTACK_VOTES})

    def __init__(self, rules: AIWolf) -> None:
        super().__init__(rules.roles, rules.role_names)
        self._role_names = rules.role_names
        self._speeches = frozenset(rules.catalogue)
        self.rules = _rule_sheet(rules)
        """Those of this table, whole; the first paragraph must do where there is no room for more."""

    def who(self, view: WerewolfView) -> str:
        return f"{self.seat_line(view)}{self.rules}\n" if view.role else self.seat_line(view)

    def ask(self, legal: tuple[Move, ...]) -> str:
        kinds = {move.kind for move in legal}
        return next(question for kind, question in _ASKS.items() if kind in kinds)

    def say(self, move: Move) -> str:
        if move.kind == speech.RECOMMEND:
            return f"Let's attack {name(move.args[0])}."
        if move.kind in _PLAIN:
            return _PLAIN[move.kind]
        if move.kind in _SENTENCES:
            nobody, somebody = _SENTENCES[move.kind]
            return somebody.format(name(move.args[0])) if move.args else nobody
        return say_speech(move, self._titles)

    def parse(self, text: str, view: WerewolfView) -> Move:
        legal = view.legal
        exact = self.exact(text, legal)
        if exact is not None:
            return exact
        if legal[0].kind in _LINES:
            return self._line(text, view)
        return self.read_aim(text, legal[0].kind, view)

    def default(self, text: str, view: WerewolfView, rng: np.random.Generator) -> Move:
        legal = view.legal
        if legal[0].kind in _LINES:
            return legal[0] if legal[0].kind == speech.SILENT else Move(TALK_OVER)
        return legal[int(rng.integers(len(legal)))] if legal[0].args else legal[0]

    def heard(self, text: str, seat: int, before: Sequence[Event]) -> Move:
        """A sentence of AIWolf's language, said by a seat, as a move: a pause, a claim of this table, or a remark.

        Args:
            text: The sentence.
            seat: Who says it.
            before: What has happened; it says which role the seat has claimed.

        Raises:
            ParlourError: It is no sentence of the language.
        """
        utterance = read(text)
        if isinstance(utterance, Pause):
            return Move(TALK_OVER if utterance.over else speech.SILENT)
        result = isinstance(utterance, Sentence) and utterance.verb in RESULT_VERBS
        claim = claim_of(utterance, seat, medium=result and claims_medium(before, seat, self._role_names))
        if claim.kind == speech.CLAIM_ROLE:
            claim = self._numbered(claim)
        known = claim.kind != speech.SILENT and claim._replace(words="") in self._speeches
        return claim if known else Move(REMARK, (), claim.words)

    def _line(self, text: str, view: WerewolfView) -> Move:
        """A line of talk: a sentence of AIWolf's language, else what the English words claim, else a remark."""
        try:
            claim = self.heard(text.strip(), view.seat, view.events)
        except ParlourError:
            return self._claim(read_talk(text, view), text, view)
        if claim.kind in (speech.SILENT, TALK_OVER):
            return claim if claim in view.legal else Move(TALK_OVER)
        return self._claim(claim, claim.words, view)

    def _numbered(self, claim: Move) -> Move:
        """A claim of a role by its number at this table; silence for a role that is not in play."""
        role = AIWOLF_ROLES[claim.args[0]].capitalize()
        if role not in self._role_names:
            return Move(speech.SILENT, (), claim.words)
        return claim._replace(args=(self._role_names.index(role),))

    @staticmethod
    def _claim(claim: Move, words: str, view: WerewolfView) -> Move:
        may = claim.kind != speech.SILENT and Move(claim.kind, claim.args) in view.legal
        return claim if may else Move(REMARK, (), words)

    def _announcement(self, move: Move) -> str:
        kind, args, _ = move
        if kind == ATTACK_VOTES:
            return f"To the werewolves: votes for the attack: {self._tally(args)}."
        if kind == IDENTIFIED:
            return f"To the medium: {name(args[0])}, who was executed, was {'a' if args[1] else 'not a'} werewolf."
        if kind == game.DAY:
            return f"The living players talk and vote in the order of their numbers, from {name(args[1])} on."
        return super()._announcement(move)


def _rule_sheet(rules: AIWolf) -> str:
    """The rules as they are played, in paragraphs. The first must do where there is no room for more."""
    roles = rules.roles
    counts = ", ".join(role if k == 1 else f"{k} x {role}" for role, k in Counter(roles).items())
    limits = rules.rules
    brief = [
        f"The game is Werewolf as AIWolf's contest plays it, with {len(roles)} players. Roles: {counts}.",
        f"At night the werewolves kill. By day the living {'talk and then ' if rules.talk else ''}vote to execute a player.",
        "The village wins when no werewolf is alive. The werewolves win when they are at least half of the living.",
        "The possessed is no werewolf and knows none, but wins and loses with them. The moderator never lies; players may.",
    ]
    whispers = rules.talk and roles.count(WEREWOLF) > 1
    night = [
        "Night 0 comes before day 1; nobody is attacked in it. Each night, in this order:",
        "The seer chooses a player, and learns in the morning whether that player is a werewolf.",
        "The werewolves, if there are two or more, whisper with each other." if whispers else "",
        "The bodyguard protects another player from the attack." if BODYGUARD in roles else "",
        "The werewolves vote for a victim. A tied vote is repeated once; then one of the tied is drawn. Without votes any human "
        "may be drawn.",
        "In the morning the medium learns whether the player executed the day before was a werewolf."
        if MEDIUM in roles
        else "",
    ]
    talk = (
        f"A day's talk has at most {limits.talk_turns} turns. In each, every living player says one line, and all lines are heard "
        f"at its end. A player has {limits.talk_lines} lines a day, may skip {limits.skips} times running, and may say that it "
        "is over. The talk ends with a turn in which all are over."
    )
    day = [
        talk if rules.talk else "There is no talk.",
        "Then all living players vote in secret for another player; the votes are shown. The player with most votes is executed. "
        "A tied vote is repeated once; then one of the tied is drawn. Roles of the dead are not shown.",
    ]
    return "\n\n".join("\n".join(line for line in part if line) for part in (brief, night, day))
