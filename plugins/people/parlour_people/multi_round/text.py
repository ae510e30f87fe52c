"""The wording of the game: Avalon's, with words beside teams and votes, and the consultation of the evil side."""

from __future__ import annotations

import re
from typing import Final

from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import OBERON, AvalonView
from parlour.envs.core import Event, Move
from parlour.envs.language.english import PLAYER, name, names, negated_match
from parlour.envs.language.speech import quote
from parlour.envs.language.text import speech_line

from parlour_people.multi_round.rules import CONSULT, GATHERS, GOES

_RULES: Final = (
    (
        "before each proposal, all players speak once in seat order, starting with the leader",
        "before the first proposal of a quest, all players speak once in seat order, starting with player_0",
    ),
    ("a team of the quest's size.", "a team of the quest's size, and may give reasons to all."),
    ("who voted how.", "who voted how; nobody else reads what a player writes beside its vote."),
    ("The fifth proposal of a quest is always accepted.", "The fifth team of a quest goes without a vote."),
    ("won three quests, ", "won three quests, the evil players speak once among themselves; then "),
)
"""What Avalon's rule sheet says, and what this one says instead."""
_WORDS: Final = {
    vocabulary.TEAM: " You may add reasons: everyone hears them.",
    vocabulary.GUESS: " You may add reasons: nobody hears them.",
    vocabulary.BALLOT: " You may add a comment: nobody else reads it.",
}
"""What is added to a question where words may go with the answer."""
_ASK: Final = "Tell only the evil players who you think Merlin is: use a sentence below or your own words."
_HOLDS: Final = re.compile(
    rf"{PLAYER}(?:(?:\s+\w+){{0,2}}?\s+(?:is|be|seems|looks|feels|pings|as|being|for)|['’]s)\s+(?:\w+\s+){{0,4}}?Merlin\b"
    rf"|\bMerlin\s+(?:=|is|must be|could be|might be|may be)\s+(?:\w+\s+){{0,2}}?{PLAYER}"
    rf"|\b(?:hold|name|guess|kill|target|assassinate|shoot)\s+{PLAYER}",
    re.IGNORECASE,
)


class MultiRoundText(AvalonText):
    """Satisfies `parlour.envs.core.GameText`."""

    def __init__(self, game: Avalon) -> None:
        super().__init__(game)
        for said, instead in _RULES:
            assert said in self.rules, said  # a sentence of Avalon's sheet that has changed is not left as it is
            self.rules = self.rules.replace(said, instead)
        if OBERON in game.roles:
            self.rules = self.rules.replace("the evil players speak", "the evil players (Oberon too) speak")
        self._asks = {kind: ask + _WORDS.get(kind, "") for kind, ask in self._asks.items()} | {CONSULT: _ASK}

    def line(self, event: Event) -> str:
        seat, move, _ = event
        if move.kind == CONSULT:
            return f"To the evil players, {speech_line(seat, move, self.say(move))}"
        if not move.words or move.kind in vocabulary.ACTS:
            return super().line(event)
        words = quote(move.words)
        if move.kind == vocabulary.TEAM:
            return f"{name(seat)} proposes the team {names(move.args)}: {words}\n"
        says = " says of its vote" if move.kind == vocabulary.BALLOT else ""
        return f"Privately, {name(seat)}{says}: {words} (taken as: {self.say(move)})\n"

    def _announcement(self, move: Move) -> str:
        if move.kind == GATHERS:
            return f"To the evil players: you are {names(move.args)}. You now talk among yourselves."
        if move.kind == GOES:
            return "This is the fifth team of the quest: it goes without a vote."
        return super()._announcement(move)

    def say(self, move: Move) -> str:
        if move.kind != CONSULT:
            return super().say(move)
        return f"I think that {name(move.args[0])} is Merlin." if move.args else "I do not know who Merlin is."

    def parse(self, text: str, view: AvalonView) -> Move:
        legal = view.legal
        kind = legal[0].kind
        if self.exact(text, legal) is not None or kind not in (*_WORDS, CONSULT):
            return super().parse(text, view)
        if kind == CONSULT:
            return _read_hold(text, legal)
        head, stop, rest = text.partition(".")
        decided = self.exact(head + stop, legal)  # its own sentence, and then words
        if decided is None:
            return super().parse(text, view)._replace(words=text)
        return decided._replace(words=rest.strip())


def _read_hold(text: str, legal: tuple[Move, ...]) -> Move:
    """The one player whom free words hold for Merlin; nobody, if they hold none or several."""
    seats = {next(filter(None, match.groups())) for match in _HOLDS.finditer(text) if not negated_match(text, match)}
    move = Move(CONSULT, tuple(int(seat) for seat in seats))
    return Move(CONSULT, move.args if move in legal else (), text)
