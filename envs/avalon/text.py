"""Avalon in words: what a seat reads, what it may say, and how its words are read. A function of Views and Events.

What happens to words that cannot be read follows appendix A.4 of arXiv 2310.14985: an unclear vote agrees, too many
names are cut, too few are filled up at random; an unclear quest card is a matter of the preset (`presets.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.presets import PROPOSALS
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import APPROVE, FAIL, GOOD, PASS, REJECT, SUCCESS, AvalonView, side_of
from parlour.envs.core import NATURE, Event, IllegalMove, Knowledge, Move
from parlour.envs.english import PLAYER, last_clause, name, names, negated
from parlour.envs.text import (
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

_SENTENCES: Final = {
    APPROVE: "I approve the team.",
    REJECT: "I reject the team.",
    SUCCESS: "I play success.",
    FAIL: "I play fail.",
    PASS: "I do not name Merlin now.",
    Move(vocabulary.CONSULT): "I hold nobody for Merlin.",
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
    vocabulary.TEAM: "You lead: name the team.",
    vocabulary.BALLOT: "Vote on the team in secret.",
    vocabulary.CARD: "You are on the quest: play a card in secret.",
    vocabulary.GUESS: "You are {guesser}: you may name Merlin, once in the game.",
    vocabulary.CONSULT: "Speak to the evil players alone, about who Merlin is: one of these, or in your own words.",
}
_WORDS: Final = {
    vocabulary.TEAM: " You may say why: all hear it.",
    vocabulary.GUESS: " You may say why: nobody hears it.",
    f"{vocabulary.BALLOT} private": " You may add a few words: nobody else reads them.",
    f"{vocabulary.BALLOT} public": " You may add a few words: all read them after the vote.",
}
"""What is added to a question where words may go with the answer."""
_HOLDS: Final = re.compile(
    rf"{PLAYER}(?:(?:\s+\w+){{0,2}}?\s+(?:is|be|seems|looks|feels|pings|as|being|for)|['’]s)\s+(?:\w+\s+){{0,4}}?Merlin\b"
    rf"|\bMerlin\s+(?:=|is|must be|could be|might be|may be)\s+(?:\w+\s+){{0,2}}?{PLAYER}"
    rf"|\b(?:hold|name|guess|kill|target|assassinate|shoot)\s+{PLAYER}",
    re.IGNORECASE,
)


class AvalonText(MoveSentences):
    """Satisfies `parlour.envs.core.GameText`."""

    def __init__(self, game: Avalon) -> None:
        self._role_names = game.role_names
        self._unclear_card = game.rules.unclear_card
        self._worded = game.worded
        self._guesser = guesser = _guesser(game)
        self._asks = {kind: ask.format(guesser=guesser) + _words_of(kind, game) for kind, ask in _ASKS.items()}
        self.rules = _rules_in_words(game)
        # one entry for each seat, role and night: all else in the first section is the rules
        self._who: dict[tuple[int, str, tuple[Knowledge, ...]], str] = {}

    def who(self, view: AvalonView) -> str:
        if not view.role:
            return f"You are {name(view.seat)}. The roles are not dealt yet.\n"
        key = (view.seat, view.role, view.knows)
        if key not in self._who:
            self._who[key] = self._who_and_rules(view)
        return self._who[key]

    def _who_and_rules(self, view: AvalonView) -> str:
        lines = [f"You are {name(view.seat)}. Your role is {view.role}. You are on the side of {view.side}."]
        for roles_seen, seats in view.knows:
            lines.append(
                f"The night showed you which other players hold one of the roles {' / '.join(roles_seen)}: {names(seats)}."
            )
        return "\n".join([*lines, self.rules]) + "\n"

    def line(self, event: Event) -> str:
        seat, move, _ = event
        if seat == NATURE:
            return f"{MODERATOR}{_announcement(move, self._guesser)}\n"
        kind, said = move.kind, self.say(move)
        if kind in speech.ACTS:
            return speech_line(seat, move, said)
        if kind == vocabulary.TEAM:
            why = f": {speech.quote(move.words)}" if move.words else "."
            return f"{name(seat)} proposes the team {names(move.args)}{why}\n"
        if kind == vocabulary.CONSULT:
            return f"To the evil players, {speech_line(seat, move, said)}"
        if kind == vocabulary.BALLOT:
            whose = "" if event.to is None else "Privately, "
            return f"{whose}{name(seat)} says of its vote: {speech.quote(move.words)} (taken as: {said})\n"
        if move.words:
            return f"Privately, {name(seat)}: {speech.quote(move.words)} (taken as: {said})\n"
        return f"Privately, {name(seat)}: {said}\n"

    def ask(self, legal: tuple[Move, ...]) -> str:
        return self._asks.get(legal[0].kind, "Speak to the table: one of these, or in your own words.")

    def say(self, move: Move) -> str:
        if move.kind == vocabulary.TEAM:
            return f"I propose {names(move.args)}."
        if move.kind == vocabulary.GUESS and move.args:
            return f"I name {name(move.args[0])} as Merlin."
        if move.kind == vocabulary.CONSULT and move.args:
            return f"I hold {name(move.args[0])} for Merlin."
        plain = Move(move.kind, move.args)
        if plain in _SENTENCES:
            return _SENTENCES[plain]
        return say_speech(move, self._role_names)

    def parse(self, text: str, view: AvalonView) -> Move:
        legal = view.legal
        exact = self.exact(text, legal)
        if exact is not None:
            return exact
        kind = legal[0].kind
        if kind in speech.ACTS:
            return read_speech(text, view, self._role_names)
        if kind == vocabulary.CONSULT:
            return _read_hold(text, legal)
        if kind not in self._worded:
            return _decision(text, view)
        head, stop, rest = text.partition(".")
        decided = self.exact(head + stop, legal)  # its own sentence, and then words
        return _decision(text, view)._replace(words=text) if decided is None else decided._replace(words=rest.strip())

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


def _words_of(kind: str, game: Avalon) -> str:
    """What a question adds where words may go with the answer."""
    if kind not in game.worded:
        return ""
    return _WORDS.get(f"{kind} {game.rules.comments}" if kind == vocabulary.BALLOT else kind, "")


def _announcement(move: Move, guesser: str) -> str:
    kind, args, _ = move
    if kind == vocabulary.LEADS:
        quest, leader, size, counted, fails = args
        needs = "" if fails == 1 else " Two fail cards are needed to make it fail."
        return f"Quest {quest + 1}: a team of {size}. {name(leader)} leads; {counted} proposals were rejected.{needs}"
    if kind == vocabulary.VOTES:
        goes, *votes = args
        approve = [seat for seat, vote in enumerate(votes) if vote]
        reject = [seat for seat, vote in enumerate(votes) if not vote]
        result = "the team goes" if goes else "the team is rejected"
        return f"Approved by {names(approve)}; rejected by {names(reject)}: {result}."
    if kind == vocabulary.FAILS:
        quest, fails, success = args
        return f"Quest {quest + 1}: fail cards {fails}; the quest {'succeeds' if success else 'fails'}."
    if kind == vocabulary.SCORE:
        return f"Score: good {args[0]}, evil {args[1]}."
    if kind == vocabulary.EXPOSED:
        return f"{name(args[0])} is {guesser} and names {name(args[1])} as Merlin: {'right' if args[2] else 'wrong'}."
    if kind == vocabulary.GATHERS:
        return f"The evil players, who alone hear this and now talk among themselves, are {names(args)}."
    if kind == vocabulary.GOES:
        return "It is the last team of this quest: it goes without a vote."
    if kind == vocabulary.DRAWN:
        return f"The team was too small; drawn to go instead: {names(args)}."
    return "The roles are dealt."


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


def _read_hold(text: str, legal: tuple[Move, ...]) -> Move:
    """The one player whom free words hold for Merlin; nobody, if they hold none or several."""
    found = {
        next(filter(None, match.groups()))
        for match in _HOLDS.finditer(text)
        if not negated(last_clause(text[: match.start()]) + match[0])
    }
    move = Move(vocabulary.CONSULT, tuple(int(seat) for seat in found))
    return Move(vocabulary.CONSULT, move.args if move in legal else (), text)


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


# -- the rules of a table: each sentence follows `rules.py` and the points of `presets.py` -----------------------------------


def _rules_in_words(table: Avalon) -> str:
    """The whole rules; the first paragraph is the least that one has to know."""
    return "\n\n".join("\n".join(part(table)) for part in (_aims, _course))


def _aims(table: Avalon) -> Iterable[str]:
    counts = Counter(table.roles)
    good, evil = (_listed(counts, side) for side in (vocabulary.GOOD, vocabulary.EVIL))
    sizes = ", ".join(map(str, table.sizes))
    two = [str(quest + 1) for quest, fails in enumerate(table.fails_needed) if fails == 2]
    yield f"The game is Avalon, with {table.seats} players. Roles in play: {good} are good; {evil} are evil."
    yield (
        "Five quests are on the way. Good wins when three of them succeed and Merlin stays hidden; evil wins when three "
        f"fail, or when {_guesser(table)} names Merlin."
    )
    yield f"Team sizes of the five quests: {sizes}. One fail card makes a quest fail" + (
        f"; quest {', '.join(two)} needs two." if two else "."
    )


def _course(table: Avalon) -> Iterable[str]:
    rules = table.rules
    yield f"The night: {_night(table)}"
    speaking = f"all players speak once, {_order(table)}"
    first = "nobody speaks; the leader"
    if table.talk:
        first = f"{speaking}; then the leader"
    if table.talk and rules.discussion == "mission":
        yield f"A quest: before its first proposal {speaking}."
        first = "the leader"
    short = " or fewer" if rules.short_teams else ""
    why = ", and may tell all why" if rules.reasons else ""
    yield f"A proposal: {first} names a team of the quest's size{short}, in which it may be itself{why}."
    if rules.short_teams:
        yield (
            "A team that is too small is put to the vote all the same and counts as two proposals; if it goes, a whole "
            "team is drawn from all players by lot and goes in its place."
        )
    yield (
        f"All players vote at the same time; then everybody sees who voted how{_comments(table)}. The team goes if at least {table.carries} of "
        f"{table.seats} approve. If not, the next player by number leads and names a team for the same quest."
    )
    yield f"A quest has {PROPOSALS} proposals at most: {_LAST[rules.fifth_rejection]}."
    cards = "Any player" if rules.good_may_fail else "A good player plays success and cannot do otherwise; an evil one"
    yield (
        f"The quest: each player on the team plays a card in secret. {cards} may play success or fail. Everybody learns how "
        "many fail cards there were, and nobody who played them. Then the next player by number leads the next quest."
    )
    yield _hunt(table)
    yield "Roles are secret until the game is over" + (
        "; in what they say, players need not tell the truth." if table.talk else "."
    )


_LAST: Final = {
    "evil_wins": "if the last one has no majority, evil wins the game",
    "team_goes": "if the last one has no majority, the team goes whatever the vote",
    "no_vote": "the team of the last one goes without a vote",
}


def _order(table: Avalon) -> str:
    first = "the leader" if table.rules.speaks_first == "leader" else name(0)
    return f"{first} first and the others after it by number"


def _comments(table: Avalon) -> str:
    """What becomes of the words of votes."""
    return {
        "none": "",
        "private": "; what a player writes beside its vote, nobody else reads",
        "public": " and what players wrote beside their votes",
    }[table.rules.comments]


def _guesser(table: Avalon) -> str:
    return "the Assassin" if table.rules.guesser == vocabulary.ASSASSIN else table.rules.guesser


def _listed(counts: Counter[str], side: str) -> str:
    """The roles of a side, with how many there are of each."""
    return ", ".join(role if k == 1 else f"{k} x {role}" for role, k in counts.items() if side_of(role) == side)


def _night(table: Avalon) -> str:
    """Who was shown what; see `Avalon.night`."""
    roles = set(table.roles)
    merlin = "all evil players but Mordred" if vocabulary.MORDRED in roles else "the evil players"
    told = [f"Merlin was shown {merlin}"]
    if vocabulary.PERCIVAL in roles:
        told.append(
            "Percival was shown Merlin and Morgana, and not which of the two is which"
            if vocabulary.MORGANA in roles
            else "Percival was shown Merlin"
        )
    if vocabulary.OBERON in roles:
        told.append("evil players were shown each other, but for Oberon, who sees and is seen by none of them")
    else:
        told.append("evil players were shown each other")
    return "; ".join(told) + "."


def _hunt(table: Avalon) -> str:
    who = _guesser(table)
    title = who[0].upper() + who[1:]
    if table.rules.hunt == "end":
        oberon = ", Oberon too," if vocabulary.OBERON in table.roles else ""
        consult = (
            f"all evil players{oberon} speak once among themselves, by number; then " if table.rules.consult else ""
        )
        return (
            f"{title}: once good has won three quests, {consult}{who} names the player that it holds for Merlin. If it is "
            "right, evil wins; if not, good wins."
        )
    return (
        f"{title}: after a quest, before it is scored, {who} may name the player that it holds for Merlin, once "
        f"in the game. If it is right, evil wins at once; if not, all know who {who} is, and the game goes on."
    )
