"""Werewolf in words: what a seat reads, what it may say, and how its words are read. A function of Views and Events.

A choice is read from words strictly: exactly one target that is not denied. What the published code (the `reference`
of `presets.py`) makes of any words is what `default` does with words that cannot be used: the first player named in the
first sentence, else in the last, else a pass; nothing is given that was not asked for with a yes-word.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from parlour.envs.core import Move, Outcome
from parlour.envs.hidden_roles.bidding import BID, BIDDING_ASK, BIDDING_RULES, read_bid, say_bid
from parlour.envs.language import speech
from parlour.envs.language.english import name, names
from parlour.envs.language.text import say_speech
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.bidding import BiddingWerewolf
from parlour.envs.werewolf.lines import WerewolfLines
from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.reading import first_named, read_talk, read_yes, says_yes
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import GIVE, GUARD, HUNTER, KEEP, SEER, WEREWOLF, WITCH, WerewolfView

if TYPE_CHECKING:
    import numpy as np

_SENTENCES: Final = {
    vocabulary.KILL: ("I vote to kill nobody.", "I vote to kill {}."),
    vocabulary.GUARDS: ("I protect nobody.", "I protect {}."),
    vocabulary.POISONS: ("I poison nobody.", "I poison {}."),
    vocabulary.CHECKS: ("I check nobody.", "I check {}."),
    vocabulary.BALLOT: ("I vote for nobody.", "I vote for {}."),
    vocabulary.SHOOTS: ("I shoot nobody.", "I shoot {}."),
}
_ANTIDOTE: Final = {GIVE: "I give the antidote.", KEEP: "I keep the antidote."}
_ASKS: Final = {
    speech.ACCUSE: "Speak to the table: use a sentence below or your own words.",
    speech.RECOMMEND: "Speak only to the other werewolves: use a sentence below or your own words.",
    vocabulary.KILL: "You are a werewolf: vote for tonight's victim.",
    vocabulary.GUARDS: "You are the guard: choose whom to protect tonight.",
    vocabulary.HEALS: "You are the witch: save tonight's victim? You have one antidote in the game.",
    vocabulary.POISONS: "You are the witch: poison someone? You have one poison in the game.",
    vocabulary.CHECKS: "You are the seer: choose whom to check tonight.",
    vocabulary.BALLOT: "Vote on whom to execute.",
    vocabulary.SHOOTS: "You are the hunter and dying: shoot a living player, who dies with you, or nobody. Everybody sees it.",
    BID: BIDDING_ASK,
}


class WerewolfText(WerewolfLines):
    """Satisfies `parlour.envs.core.GameText`."""

    seldom = frozenset({vocabulary.VOTES})

    def __init__(self, game: Werewolf) -> None:
        super().__init__(game.roles, game.role_names)
        self._yes_words = game.rules.yes_words
        bids = isinstance(game, BiddingWerewolf)
        sheet = _rule_sheet(game, bids=bids)
        self.rules = "\n".join((sheet, *game.added_rules))
        """Those of this table, whole; the first paragraph must do where there is no room for more."""
        self._max_days = game.max_days
        self._order = "talk and vote" if game.talk and not bids else "vote"
        # an order of talk, its line, and that with the rules
        self._in_order: tuple[tuple[int, ...], str, str] = ((), "", "")

    def who(self, view: WerewolfView) -> str:
        self.common(view)
        return f"{self.seat_line(view)}{self._in_order[2] if view.role else ''}"

    def common(self, view: WerewolfView) -> str:
        """The order of talk, the same for all seats of a game."""
        if not view.role:
            return ""
        if self._in_order[0] != view.speakers:
            order = f"By day the living {self._order} in this order: {names(view.speakers)}.\n"
            self._in_order = view.speakers, order, f"{order}{self.rules}\n"
        return self._in_order[1]

    def why(self, outcome: Outcome) -> str:
        """Why a game ended as it did."""
        if outcome.reason == "days":
            return f"day {self._max_days} is over"
        return super().why(outcome)

    def ask(self, legal: tuple[Move, ...]) -> str:
        return _ASKS[legal[-1].kind if legal[-1].kind in _ASKS else speech.ACCUSE]

    def say(self, move: Move) -> str:
        if move.kind == speech.RECOMMEND:
            return f"Let's kill {name(move.args[0])}."
        if move in _ANTIDOTE:
            return _ANTIDOTE[move]
        if move.kind == BID:
            return say_bid(move)
        if move.kind in _SENTENCES:
            nobody, somebody = _SENTENCES[move.kind]
            return somebody.format(name(move.args[0])) if move.args else nobody
        return say_speech(move, self._titles)

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
        if kind == BID:
            return read_bid(text)
        return self.read_aim(text, kind, view)

    def default(self, text: str, view: WerewolfView, rng: np.random.Generator) -> Move:
        legal = view.legal
        if legal[0].kind not in (*vocabulary.TARGETED, vocabulary.SHOOTS):
            return legal[0]  # silence, or the antidote is kept
        named = Move(legal[0].kind, first_named(text, view.seat))
        return named if named in legal else legal[0]

    def _announcement(self, move: Move) -> str:
        kind, args, _ = move
        if kind == vocabulary.ATTACKED:
            return f"To the witch: the werewolves attack {names(args)} tonight."
        if kind == vocabulary.REVEALED:
            return f"{name(args[0])} was {self._titles[args[1]]}."
        if kind == vocabulary.DAY:
            if len(args) == 1:
                return "The living bid for the floor."
            return f"The living {self._order}, starting with {name(args[1])}."
        return super()._announcement(move)


# -- the rules of a table --------------------------------------------------------------------------------------------


def _rule_sheet(game: Werewolf, *, bids: bool) -> str:
    """The rules as they are played, in paragraphs. The first must do where there is no room for more."""
    rules, roles, talk = game.rules, game.roles, game.talk
    return "\n\n".join(
        "\n".join(line for line in part if line)
        for part in (
            _brief(rules, roles, talk=talk),
            _night(rules, roles, talk=talk, character=game.seer_sees_roles),
            _day(rules, roles, talk, game.max_days, bids),
        )
    )


def _brief(rules: WerewolfRules, roles: tuple[str, ...], *, talk: bool) -> list[str]:
    counts = ", ".join(role if k == 1 else f"{k} x {role}" for role, k in Counter(roles).items())
    parity = rules.wolves_win == "parity"
    return [
        f"The game is Werewolf, with {len(roles)} players. Roles: {counts}.",
        "At night the werewolves, who know each other, kill. By day the living "
        f"{'talk and then ' if talk else ''}vote to execute a player.",
        "The village wins when no werewolf is alive. The werewolves win when "
        f"{'they are at least half of the living' if parity else 'nobody else is alive'}.",
        "The moderator never lies; players may.",
    ]


def _night(rules: WerewolfRules, roles: tuple[str, ...], *, talk: bool, character: bool) -> list[str]:
    again = "" if rules.guard_may_repeat else ", but not the same player two nights running"
    learns = "the role of one other player" if character else "whether one other player is a werewolf"
    dying = ", unless she had no antidote left" if rules.dying_witch_poisons else ""
    return [
        "Each night, in this order:",
        _hunt(rules, roles.count(WEREWOLF), talk=talk),
        f"The guard may protect one player from the attack, himself included{again}." if GUARD in roles else "",
        "The witch has one antidote and one poison for the whole game. While she has the antidote, she learns who is "
        "attacked, unless the guard protects that player, and may save the victim, herself included. Then she may poison "
        f"any living player. If she is killed that night, she cannot{dying}."
        if WITCH in roles
        else "",
        f"The seer, unless killed that night, learns {learns}." if SEER in roles else "",
    ]


def _hunt(rules: WerewolfRules, wolves: int, *, talk: bool) -> str:
    if wolves == 1:
        return "The werewolf attacks one player, or nobody."
    votes = "each seeing the votes before" if rules.hunt_shown == "as_cast" else "in secret from each other"
    tie = "one of the tied choices is drawn by lot" if rules.hunt_tie == "random" else "nobody is attacked"
    return (
        f"The werewolves {'talk in private, then ' if talk else ''}vote for a victim or nobody, {votes}; all of them learn "
        f"the result. After a tie, {tie}.{'' if rules.hunt_wolves else ' They may not choose a werewolf.'}"
    )


def _day(rules: WerewolfRules, roles: tuple[str, ...], talk: bool, max_days: int, bids: bool) -> list[str]:
    secret = rules.votes_shown == "together"
    spoken = "Each day there is talk. Then the living" if bids else "Each day all the living speak once. Then they"
    return [
        "In the morning the moderator says who died, but not how.",
        BIDDING_RULES if bids else "",
        f"{spoken if talk else 'Each day the living'} vote for a player or nobody, "
        f"{'in secret until all have voted' if secret else 'each seeing the votes before'}. The player with the most votes is "
        f"executed{', after last words' if talk else ''}. If there is a tie, or most votes are for nobody, nobody is executed.",
        "If the hunter is executed or killed by the werewolves, the moderator shows who he is, and he may shoot a living "
        "player, who dies as well. If he is poisoned, he cannot shoot."
        if HUNTER in roles
        else "",
        f"The moderator shows the roles of {'all the dead' if rules.reveals == 'all' else 'those who die in night 1 only'}.",
        f"After day {max_days} the game is a draw.",
    ]
