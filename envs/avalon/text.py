"""Avalon in words: what a seat reads, what it may say, and how its words are read. A function of Views and Events.

What happens to words that cannot be read follows appendix A.4 of arXiv 2310.14985: an unclear vote agrees, too many
names are cut, too few are filled up at random; an unclear quest card is a matter of the preset (`presets.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.rule_sheet import guesser_of, rule_sheet
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import (
    APPROVE,
    FAIL,
    GOOD,
    PASS,
    REJECT,
    SUCCESS,
    AvalonView,
    night_sentence,
    titled,
)
from parlour.envs.core import NATURE, Event, IllegalMove, Knowledge, Move, Outcome
from parlour.envs.hidden_roles.bidding import BID, BIDDING_ASK, read_bid, say_bid
from parlour.envs.language import speech
from parlour.envs.language.english import name, names
from parlour.envs.language.text import (
    MODERATOR,
    AmbiguousMove,
    MoveSentences,
    UnreadableMove,
    read_choice,
    read_seats,
    read_speech,
    say_speech,
    speech_line,
)

if TYPE_CHECKING:
    import numpy as np

_SENTENCES: Final = {
    APPROVE: "I approve the team.",
    REJECT: "I reject the team.",
    SUCCESS: "I play success.",
    FAIL: "I play fail.",
    PASS: "I do not guess now.",
}
_VOTES: Final = {
    APPROVE: re.compile(
        r"(?P<word>\b(?:approv\w*|agree\w*|accept\w*|support\w*|yes|in favou?r)\b|同意|赞成)", re.IGNORECASE
    ),
    # "no" decides where it stands alone ("No.", "I vote no"), not in "no objection"
    REJECT: re.compile(
        r"(?P<word>\b(?:reject\w*|disagree\w*|disapprov\w*|object(?:s|ed|ing|ions?)?|oppos\w*|declin\w*)\b|反对|拒绝"
        r"|(?<!\w )\bno\b(?=\s*(?:[\"'.!?,;:]|$))|\b(?:vote|say|answer is)\s+no\b)",
        re.IGNORECASE,
    ),
}
# A card is chosen by a verb of choosing with the result in the same clause ("make the quest fail"), or by one word.
_PLAYS: Final = r"(?:^\W*|\b(?:make|play|choos\w*|chose|vot\w*|submit|put|opt)\b[^\w.!?]+(?:\w+[^\w.!?]+){0,5}?)"
_CARDS: Final = {
    SUCCESS: re.compile(rf"(?:{_PLAYS}(?=succe)|(?=成功))(?P<word>succe(?:ss|ed)\w*|成功)", re.IGNORECASE),
    FAIL: re.compile(rf"(?:{_PLAYS}(?=fail|sabotag)|(?=失败))(?P<word>(?:fail|sabotag)\w*|失败)", re.IGNORECASE),
}
_PASSES: Final = re.compile(r"\b(?:no|not|never|pass|later|too early|decline)\b|n['’]t\b", re.IGNORECASE)
_ASKS: Final = {
    vocabulary.TEAM: "You lead: propose a team.",
    vocabulary.BALLOT: "Vote on the team in secret.",
    vocabulary.CARD: "You are on the quest: play a card in secret.",
    vocabulary.GUESS: "You are {guesser}: guess who Merlin is. You have one guess in the game.",
    BID: BIDDING_ASK,
}
_TALK: Final = "Speak to the table: use a sentence below or your own words."
_ENDS: Final = {
    ("good", "quests"): ("three quests succeeded and Merlin was not found",) * 2,
    ("evil", "quests"): ("three quests failed", "evil failed three quests"),
    ("evil", "rejections"): ("five proposals were rejected",) * 2,
    ("evil", "assassination"): ("{guesser} found Merlin",) * 2,
}
"""Winner and reason -> why the game ended, behind "Evil wins: " and behind "You lost: "."""


class AvalonText(MoveSentences[AvalonView]):
    """Satisfies `parlour.envs.core.GameText`."""

    def __init__(self, game: Avalon) -> None:
        self._role_names = game.role_names
        self._unclear_card = game.rules.unclear_card
        self._titles = tuple(map(titled, game.role_names))
        self._guesser = guesser = guesser_of(game)
        self._asks = {kind: ask.format(guesser=guesser) for kind, ask in _ASKS.items()}
        self.rules = rule_sheet(game)
        # one entry for each seat, role and night: all else in the first section is the rules
        self._who: dict[tuple[int, str, tuple[Knowledge, ...]], str] = {}

    def who(self, view: AvalonView) -> str:
        if not view.role:
            return f"You are {name(view.seat)}. The roles are not dealt yet.\n"
        key = (view.seat, view.role, view.knows)
        if key not in self._who:
            own = f"You are {name(view.seat)}. Your role is {view.role} ({view.side})."
            night = (night_sentence(view.role, view.roles, seats) for _, seats in view.knows)
            self._who[key] = "\n".join([own, *night, self.rules]) + "\n"
        return self._who[key]

    def was(self, view: AvalonView) -> str:
        """Who a seat was, in one sentence."""
        return f"{name(view.seat)} was {titled(view.role)}." if view.role else ""

    def end(self, outcome: Outcome) -> str:
        """How a game ended, in one sentence."""
        return f"{outcome.winner.capitalize()} wins: {self._reason(outcome, 0)}."

    def why(self, outcome: Outcome) -> str:
        """Why a game ended as it did, to a seat."""
        return self._reason(outcome, 1)

    def why_lost(self, outcome: Outcome) -> str:
        """Why a game ended as it did, to a seat that lost."""
        return "your Merlin was named" if outcome.reason == "assassination" else self.why(outcome)

    def _reason(self, outcome: Outcome, audience: int) -> str:
        reasons = _ENDS.get((outcome.winner, outcome.reason), (outcome.reason,) * 2)
        return reasons[audience].replace("{guesser}", self._guesser)

    def line(self, event: Event) -> str:
        seat, move, _ = event
        if seat == NATURE:
            return f"{MODERATOR}{self._announcement(move)}\n"
        kind, sentence = move.kind, self.say(move)
        if kind in speech.ACTS:
            return speech_line(seat, move, sentence)
        if kind == vocabulary.TEAM:
            return f"{name(seat)} proposes the team {names(move.args)}.\n"
        return f"Privately, {name(seat)}: {sentence}\n"

    def _announcement(self, move: Move) -> str:
        """What the moderator says."""
        kind, args, _ = move
        if kind == vocabulary.LEADS:
            quest, leader, size, counted, fails = args
            needs = "" if fails == 1 else " Two fail cards fail this quest."
            return f"Quest {quest + 1}, proposal {counted + 1}: {name(leader)} leads. Team size {size}.{needs}"
        if kind == vocabulary.VOTES:
            goes, *votes = args
            approve = [seat for seat, vote in enumerate(votes) if vote]
            reject = [seat for seat, vote in enumerate(votes) if not vote]
            result = "accepted" if goes else "rejected"
            return f"The team is {result}. Approve: {names(approve)}. Reject: {names(reject)}."
        if kind == vocabulary.FAILS:
            quest, fails, success = args
            return f"Quest {quest + 1} {'succeeds' if success else 'fails'}. Fail cards: {fails}."
        if kind == vocabulary.SCORE:
            return f"Score: good {args[0]}, evil {args[1]}."
        if kind == vocabulary.EXPOSED:
            guess = f"{name(args[0])}, {self._guesser}, guesses that {name(args[1])} is Merlin"
            return f"{guess}. The guess is {'right' if args[2] else 'wrong'}."
        if kind == vocabulary.DRAWN:
            return f"The team was too small. Drawn by lot to go instead: {names(args)}."
        return "The roles are dealt."

    def ask(self, legal: tuple[Move, ...]) -> str:
        return self._asks.get(legal[0].kind, _TALK)

    def say(self, move: Move) -> str:
        if move.kind == vocabulary.TEAM:
            return f"I propose {names(move.args)}."
        if move.kind == vocabulary.GUESS and move.args:
            return f"I guess that {name(move.args[0])} is Merlin."
        if move.kind == BID:
            return say_bid(move)
        plain = Move(move.kind, move.args)
        if plain in _SENTENCES:
            return _SENTENCES[plain]
        return say_speech(move, self._titles)

    def parse(self, text: str, view: AvalonView) -> Move:
        legal = view.legal
        exact = self.exact(text, legal)
        if exact is not None:
            return exact
        kind = legal[0].kind
        if kind in speech.ACTS:
            return read_speech(text, view, self._role_names)
        return read_bid(text) if kind == BID else _decision(text, view)

    def default(self, text: str, view: AvalonView, rng: np.random.Generator) -> Move:
        legal = view.legal
        kind = legal[0].kind
        if kind == vocabulary.BALLOT:
            return APPROVE
        if kind == vocabulary.CARD:
            return SUCCESS if self._unclear_card == "success" or view.side == GOOD else FAIL
        if kind == vocabulary.GUESS:
            return legal[0] if PASS in legal else legal[int(rng.integers(len(legal)))]
        if kind == vocabulary.TEAM:
            return Move(vocabulary.TEAM, _filled(text, view, rng))
        return legal[0]


def _legal(move: Move, text: str, legal: tuple[Move, ...]) -> Move:
    if move in legal:
        return move
    if move.kind == vocabulary.TEAM:
        sizes = sorted({len(m.args) for m in legal})
        wanted = f"{sizes[-1]} different players" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} different players"
        raise IllegalMove(f"{text!r} names {names(move.args)}; accepted: {wanted} of this table")
    raise IllegalMove(f"{text!r} is read as {move.kind} {list(move.args)}, which is not among the options")


def _decision(text: str, view: AvalonView) -> Move:
    """The team, the vote, the card or the guess in free words."""
    legal = view.legal
    kind = legal[0].kind
    if kind == vocabulary.TEAM:
        return _legal(Move(vocabulary.TEAM, tuple(sorted(read_seats(text, view.seat)))), text, legal)
    if kind == vocabulary.GUESS:
        return _legal(_read_guess(text, view), text, legal)
    return _legal(read_choice(text, _VOTES if kind == vocabulary.BALLOT else _CARDS), text, legal)


def _read_guess(text: str, view: AvalonView) -> Move:
    declined = _PASSES.search(text)
    try:
        seats = read_seats(text, view.seat)
    except UnreadableMove:
        if declined:
            return PASS
        raise
    if declined:
        raise AmbiguousMove(f"{text!r} declines and names {names(seats)}; accepted: one of both")
    if len(seats) > 1:
        raise AmbiguousMove(f"{text!r} names {names(seats)}; accepted: one player")
    return Move(vocabulary.GUESS, seats)


def _filled(text: str, view: AvalonView, rng: np.random.Generator) -> tuple[int, ...]:
    """The players that were named, cut to the team's size or filled up at random (appendix A.4)."""
    size = view.sizes[view.quest]
    seats = range(len(view.roles))
    try:
        named = [seat for seat in read_seats(text, view.seat) if seat in seats][:size]
    except (UnreadableMove, AmbiguousMove):
        named = []
    others = [seat for seat in seats if seat not in named]
    extra = rng.choice(others, size=size - len(named), replace=False).tolist()
    return tuple(sorted([*named, *extra]))
