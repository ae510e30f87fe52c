"""Wording that all games share: sections, quoting, the two errors of reading, and how a claim is read from free words.

An observation in prose has three sections, each under a heading that no player's words can imitate, because whatever a
player says stands inside one line, inside quotation marks, with everything unprintable removed (`clean`, `quote`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from parlour.envs.common.terminal import printable
from parlour.envs.core import Game, GameText, Move, Outcome, ParlourError, V_contra, View
from parlour.envs.language import speech
from parlour.envs.language.english import (
    ME,
    PLAYER,
    PLAYERS,
    SEPARATOR,
    last_clause,
    name,
    negated,
    negated_at_end,
    negated_match,
    only_numbers,
    seats_in,
)
from parlour.envs.language.headings import ENGLISH, LANGUAGES, OPTION, Headings, headings_of

WHO, RECORD, CHOICE, NOT_YOUR_TURN = LANGUAGES[ENGLISH][:4]
"""The headings of a table in English, and the text under the last heading while another seat is to move."""
MODERATOR: Final = "Moderator: "

MAX_WORDS: Final = 4000
"""Characters of one utterance that are kept."""


class UnreadableMove(ParlourError):  # noqa: N818
    """Words in which no move can be found."""


class AmbiguousMove(ParlourError):  # noqa: N818
    """Words in which several different moves can be found."""


def agents_of(game: Game[Any]) -> list[str]:
    """The PettingZoo agents of a game, by seat: its `agent_names` where it has any, else `player_0` and so on."""
    return list(game.agent_names or map(name, range(game.seats)))


def clean(words: str) -> str:
    r"""The one door for words from outside: one line of printable characters, at most `MAX_WORDS` of them.

    Line breaks, control and format characters (among them those that turn the direction of writing) become spaces.

    >>> clean("a\n# What you may do now\u202e b")
    'a # What you may do now b'
    """
    return " ".join(printable(words).split())[:MAX_WORDS].rstrip()


def options(ask: str, sentences: Iterable[str], headings: Headings = LANGUAGES[ENGLISH]) -> str:
    """The third section: what is asked, then one option a line."""
    return f"{headings.choice}{ask}\n" + "".join(f"{OPTION}{sentence}\n" for sentence in sentences)


def compose(who: str, lines: Iterable[str], choice: str, headings: Headings = LANGUAGES[ENGLISH]) -> str:
    """The whole observation from its three sections; `lines` end in line breaks."""
    return f"{headings.who}{who}{headings.record}{''.join(lines)}{choice}"


def waiting(headings: Headings) -> str:
    """The third section of a seat that is not to move."""
    return headings.choice + headings.not_your_turn


def render(text: GameText[Any], view: View) -> str:
    """The prose of a View. What environments keep and extend from turn to turn equals this at every step."""
    words = headings_of(text)
    choice = options(text.ask(view.legal), map(text.say, view.legal), words) if view.legal else waiting(words)
    return compose(text.who(view), map(text.line, view.events), choice, words)


def end_of(text: GameText[Any], outcome: Outcome, seat: int | None = None) -> str:
    """How a game ended, in one sentence: that of the game's text, or one of any table; outcomes may be read from files.

    With a seat: how it ended for that seat, such as "You lost: evil failed three quests."
    """
    if seat is not None and outcome.returns[seat] != 0:
        return _end_for(text, outcome, earned=outcome.returns[seat])
    outcome, words = _cleaned(outcome), headings_of(text)
    own = None if _given_up(outcome) else text.end(outcome)
    if own is not None:
        return own
    winner = outcome.winner[:1].upper() + outcome.winner[1:]
    return (words.drawn if outcome.winner == "draw" else words.won).format(winner=winner, reason=_why(text, outcome))


def _end_for(text: GameText[Any], outcome: Outcome, *, earned: float) -> str:
    words = headings_of(text)
    result = words.you_won if earned > 0 else words.you_lost
    cleaned = _cleaned(outcome)
    if text.why(cleaned) is None:
        return f"{result}{words.stop}{end_of(text, outcome)}"
    lost = text.why_lost(cleaned) if earned < 0 and not _given_up(outcome) else None
    return result + words.because.format(reason=_why(text, cleaned) if lost is None else lost)


def game_over(text: GameText[Any], outcome: Outcome, views: Sequence[View], seat: int) -> str:
    """The last line that a seat reads: how the game ended for it, and who everybody was."""
    return " ".join(filter(None, (end_of(text, outcome, seat), *(was(text, view) for view in views))))


def _cleaned(outcome: Outcome) -> Outcome:
    return replace(outcome, winner=clean(outcome.winner), reason=clean(outcome.reason))


def _given_up(outcome: Outcome) -> bool:
    return outcome.winner == "draw" and outcome.reason == "forfeit"


def _why(text: GameText[Any], outcome: Outcome) -> str:
    """Why a game ended as it did, in a clause."""
    if _given_up(outcome):
        return headings_of(text).gave_up
    own = text.why(outcome)
    return outcome.reason if own is None else own


def was(text: GameText[Any], view: View) -> str:
    """Who a seat was, in one sentence; empty in a game without roles."""
    own = text.was(view)
    if own is not None:
        return own
    role = getattr(view, "role", "")
    return f"{name(view.seat)} was {role}." if role else ""


class MoveSentences(GameText[V_contra]):
    """A text that finds the legal move whose own sentence a text is, word by word."""

    def exact(self, text: str, legal: tuple[Move, ...]) -> Move | None:
        """The legal move with this sentence, in upper or lower case; None without a match."""
        return self._by_sentence(legal).get(" ".join(text.split()).lower())

    @lru_cache(maxsize=256)  # noqa: B019 - bounded, and one text lives as long as its environment
    def _by_sentence(self, legal: tuple[Move, ...]) -> dict[str, Move]:
        return {self.say(move).lower(): move for move in legal}


# -- speech ----------------------------------------------------------------------------------------------------


def say_speech(move: Move, roles: Sequence[str]) -> str:
    """The canonical sentence of a speech act; `roles` are the table's roles by number, with their articles."""
    kind, args, _ = move
    if kind == speech.SILENT:
        return "I have nothing to say."
    if kind == speech.ACCUSE:
        return f"I accuse {name(args[0])} of being evil."
    if kind == speech.DEFEND:
        return f"I trust that {name(args[0])} is good."
    if kind == speech.RECOMMEND:
        return f"I recommend {name(args[0])}."
    if kind == speech.CLAIM_ROLE:
        return f"I am {roles[args[0]]}."
    if kind == speech.REPORT:
        return f"I checked {name(args[0])}: {'evil' if args[1] else 'good'}."
    if kind == speech.PROMISE:
        return "I will do it." if args[0] else "I will not do it."
    raise ParlourError(f"speech act {kind!r} is unknown; accepted: {', '.join(speech.ACTS)}")


def speech_line(seat: int, move: Move, sentence: str) -> str:
    """One line of the record: who spoke, the words in quotes and, where the words are free, how they were taken."""
    if move.words:
        return f"{name(seat)} says: {speech.quote(move.words)} (taken as: {sentence})\n"
    return f"{name(seat)} says: {speech.quote(sentence)}\n"


_ROLE = r"(?:(?:an?|the)\s+)?({roles})\b"
_IS = r"\s+(?:is|must be|seems|looks|could be|may be|might be)\s+(?:\w+\s+){0,2}?"
# What the words are searched for, in this order; the first that is found, not negated, and may be said is the claim.
_PATTERNS: Final = (
    (
        speech.REPORT,
        rf"\bI\s+(?:have\s+)?(?:checked|investigated|inspected|verified|looked at)\s+{PLAYER}\W+"
        r"(?:(?!player|not\b|no\b)[\w'’]+\W+){0,8}?(good|evil|innocent)\b",
    ),
    (speech.ACCUSE, rf"\b(?:do not|don['’]?t|cannot|can['’]?t)\s+trust\s+(?:that\s+)?{PLAYER}"),
    (speech.ACCUSE, rf"\b(?:accuse|suspect|distrust)\s+(?:that\s+)?{PLAYER}"),
    (speech.ACCUSE, rf"{PLAYER}{_IS}(?:evil|suspicious)"),
    (speech.CLAIM_ROLE, rf"\bI(?:\s+am|['’]m)\s+{_ROLE}"),
    (speech.RECOMMEND, rf"\b(?:recommend|suggest|propose|nominate|choose|pick)\s+(?:that\s+|we\s+take\s+)?{PLAYER}"),
    (speech.RECOMMEND, rf"{PLAYER}\s+should\s+(?:go|join|be)"),
    (speech.DEFEND, rf"\b(?:trust|defend|vouch for|believe)\s+(?:that\s+|in\s+)?{PLAYER}"),
    (speech.DEFEND, rf"{PLAYER}{_IS}(?:good|loyal|trustworthy|innocent)"),
    (speech.PROMISE, r"\bI\s+(will not|won['’]t|will)\s+do\s+(?:it|that)\b"),
)
_HOLD_NEGATIONS: Final = (1, 9)  # the numbers of the patterns that are themselves about what is not
_SELF: Final = re.compile(
    r"\b(?:recommend|suggest|propose|nominate|choose|pick|volunteer)\s+(?:myself|me)\b|\bI volunteer\b", re.IGNORECASE
)


_OF_SEATS: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND)
_MORE: Final = re.compile(rf"{SEPARATOR}(?:{PLAYERS}|{ME})(?:{SEPARATOR}(?:{PLAYERS}|{ME}))*", re.IGNORECASE)
"""How a list continues after its first player."""
_LIST: Final = rf"((?:{ME}{SEPARATOR})?{PLAYERS})"
_LISTS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, verbs, adjectives in (
        (speech.ACCUSE, "accuse|suspect|distrust", "evil|suspicious"),
        (speech.RECOMMEND, "recommend|suggest|propose|nominate|choose|pick", ""),
        (speech.DEFEND, "trust|defend|vouch for|believe in", "good|loyal|trustworthy|innocent"),
    )
    for pattern in (
        rf"\b(?:{verbs})\s+(?:that\s+|we\s+take\s+|both\s+)?{_LIST}",
        rf"{_LIST}\s+are\s+(?:\w+\s+){{0,2}}?(?:{adjectives})\b"
        if adjectives
        else rf"{_LIST}\s+should\s+(?:go|join|be)\b",
    )
)
"""Lists that begin with the speaker or with `players`, and what is said about a list, which the patterns of one player miss."""


@lru_cache
def _speaking_as(role_names: tuple[str, ...]) -> re.Pattern[str]:
    """The role as which somebody speaks: "As the Merlin, I ..."; not "As Merlin would say"."""
    return re.compile(
        rf"\bas\s+(?:an?\s+|your\s+)?{_with_roles(_ROLE, role_names)}\s*,?\s+(?:I|my|we)\b", re.IGNORECASE
    )


def _with_roles(pattern: str, role_names: tuple[str, ...]) -> str:
    roles = "|".join(re.escape(role) for role in sorted(role_names, key=len, reverse=True)) or "(?!)"
    return pattern.replace("{roles}", roles)


@lru_cache
def _speech_patterns(role_names: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of `_PATTERNS` at a table with these roles; the longest role name wins."""
    return tuple((kind, re.compile(_with_roles(pattern, role_names), re.IGNORECASE)) for kind, pattern in _PATTERNS)


def _arguments(kind: str, match: re.Match[str], role_names: tuple[str, ...]) -> tuple[int, ...]:
    if kind == speech.CLAIM_ROLE:
        return ([role.lower() for role in role_names].index(match[1].lower()),)
    if kind == speech.PROMISE:
        return (int(match[1].lower() == "will"),)
    if kind == speech.REPORT:
        return (int(match[1]), int(match[2].lower() == "evil"))
    return (int(match[1]),)


def read_speech(words: str, view: View, role_names: tuple[str, ...]) -> Move:
    """The speech act in free words: the first of `read_claims`; silence with words if there is none."""
    claims = read_claims(words, view, role_names)
    return claims[0] if claims else Move(speech.SILENT, (), words)


def read_claims(words: str, view: View, role_names: tuple[str, ...]) -> tuple[Move, ...]:
    """All that free words claim, each once, as speech acts that carry the words.

    The order is that of `_PATTERNS`, in which the most telling come first; then offers of oneself; then the role as which
    one speaks ("As the Merlin, I ..."). A list of players is a claim about each: "I recommend myself and player_0" is two.
    A move holds one claim, the first; whoever wants the others reads the words.
    """
    stated = dict.fromkeys(_claimed(words, view.seat, role_names))
    allowed = {(move.kind, move.args) for move in view.legal} if stated else ()
    return tuple(Move(*claim, words) for claim in stated if claim in allowed)


def _claimed(words: str, me: int, role_names: tuple[str, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Kind and arguments of all claims, in the order of `read_claims`, whether they may be made or not."""
    for number, (kind, pattern) in enumerate(_speech_patterns(role_names)):
        for match in pattern.finditer(words):
            if number not in _HOLD_NEGATIONS and negated_match(words, match):
                continue
            args = _arguments(kind, match, role_names)
            yield kind, args
            if kind in _OF_SEATS and match.end(1) == match.end():
                further = _MORE.match(words, match.end())
                yield from ((kind, (seat,)) for seat in (seats_in(further[0], me) if further else ()))
    for kind, lists in _LISTS:
        for match in lists.finditer(words):
            if not negated_match(words, match):
                yield from ((kind, (seat,)) for seat in seats_in(match[1], me))
    for match in _SELF.finditer(words):
        if not negated_match(words, match):
            yield speech.RECOMMEND, (me,)
    for match in _speaking_as(role_names).finditer(words):
        yield speech.CLAIM_ROLE, _arguments(speech.CLAIM_ROLE, match, role_names)


_CHOSEN: Final = re.compile(
    r"(?:propos\w*|choos\w*|chose|select\w*|pick\w*|confirm\w*|nominat\w*|team(?:\s+is)?)\W+"
    rf"(?:that\s+)?(?:the\s+)?(?:team\W+)?((?:(?:myself|me){SEPARATOR})?{PLAYERS})",
    re.IGNORECASE,
)
_MENTIONED: Final = re.compile(rf"{PLAYERS}|\bmyself\b", re.IGNORECASE)


def read_seats(text: str, me: int) -> tuple[int, ...]:
    """The seats that a text names, in order and without repetition.

    A list after a word of choosing ("I propose player_1 and player_3") counts before mere mentions; of several such
    lists all must agree. Numbers alone ("1, 3") are read as seats.

    Raises:
        UnreadableMove: no seat is named.
        AmbiguousMove: two different lists are chosen.
    """
    lists = [(match, negated_at_end(text[: match.start()])) for match in _CHOSEN.finditer(text)]
    chosen = {_once(match[1], me) for match, denied in lists if not denied}
    if len({frozenset(seats) for seats in chosen}) > 1:
        raise AmbiguousMove(f"{text!r} chooses several lists of players; accepted: one list")
    if chosen:
        return chosen.pop()
    if lists:
        raise UnreadableMove(f"{text!r} says whom it does not choose; accepted: whom it chooses")
    mentioned = text if only_numbers(text) else " ".join(match[0] for match in _MENTIONED.finditer(text))
    seats = _once(mentioned, me)
    if not seats:
        raise UnreadableMove(f"{text!r} names no player; accepted: names such as player_0")
    return seats


def _once(phrase: str, me: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(seats_in(phrase, me)))


def read_choice(text: str, meanings: Mapping[Move, re.Pattern[str]]) -> Move:
    """The one of `meanings` that the text expresses.

    A word right behind a negation is denied; of two meanings, to deny one is to express the other. A word behind a
    negation somewhere else in its clause ("I do not think that I agree") counts for nothing.

    Args:
        text: The words.
        meanings: Move -> what expresses it; the group `word` is the decisive word.

    Raises:
        UnreadableMove: none is expressed.
        AmbiguousMove: several are.
    """
    moves: set[Move] = set()
    for move, pattern in meanings.items():
        others = set(meanings) - {move}
        for match in pattern.finditer(text):
            before = text[: match.start("word")]
            if negated_at_end(before):
                moves |= others if len(others) == 1 else set()
            elif not negated(last_clause(before)):
                moves.add(move)
    if not moves:
        raise UnreadableMove(f"{text!r} states no decision; accepted: one of the options in its own words")
    if len(moves) > 1:
        raise AmbiguousMove(f"{text!r} states several decisions; accepted: exactly one")
    return moves.pop()


def describe(config: Mapping[str, Any]) -> str:
    """A configuration in one line, for headings.

    >>> describe({"num_players": 6, "rules": "paper"})
    'num_players=6, rules="paper"'
    """
    return ", ".join(
        f"{key}={speech.quote(value) if isinstance(value, str) else value}" for key, value in config.items()
    )
