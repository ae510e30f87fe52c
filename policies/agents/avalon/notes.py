"""What an agent notes down of a game of Avalon: one line an event, for itself and for the models it asks.

The lines are all that passes from the table to the agent's modules. A summary may drop lines or shorten them; `read` gets
the facts back from any line that is still in this form and passes over the others, so that heuristics work on
summaries that a language model wrote, as far as they go. A player's words are at the end of a line, in quotation marks, with line
breaks and marks escaped, so that they cannot pass for facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.avalon.vocabulary import (
    CARD,
    DRAWN,
    EXPOSED,
    FAILS,
    LEADS,
    SCORE,
    TEAM,
    VOTES,
)
from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.language.english import name, names, seats_named

_CLAIMS: Final = {
    speech.ACCUSE: "accuses",
    speech.DEFEND: "defends",
    speech.RECOMMEND: "recommends",
    speech.CLAIM_ROLE: "claims to be",
    speech.SILENT: "says no more",
}


class Fact(NamedTuple):
    """An event as a line tells it: like `parlour.envs.core.Event`, without its words."""

    kind: str
    seat: int
    """Who did it; -1 for the moderator."""
    args: tuple[int, ...]


def write(event: Event, role_names: Sequence[str], guesser: str = "the Assassin") -> str:
    """The line of an event, where `guesser` names Merlin; empty for events that say nothing new."""
    seat, (kind, args, words), _ = event
    said = f": {speech.quote(words)}" if words else ""
    if kind in _CLAIMS:
        return f"{name(seat)} {_CLAIMS[kind]}{_claimed(kind, args, role_names)}{said}"
    if kind == LEADS:
        return f"Quest {args[0] + 1}, proposal {args[3] + 1}: {name(args[1])} leads. Team size {args[2]}."
    if kind == TEAM:
        return f"{name(seat)} proposes the team {names(args)}."
    if kind == VOTES:
        yes, no = ([j for j, vote in enumerate(args[1:]) if vote == ballot] for ballot in (1, 0))
        result = "accepted" if args[0] else "rejected"
        return f"The team is {result}. Approve: {names(yes)}. Reject: {names(no)}."
    if kind == DRAWN:
        return f"Drawn by lot to go instead: {names(args)}."
    if kind == CARD:
        return f"{name(seat)} (you) played {'success' if args[0] else 'fail'}."
    if kind == FAILS:
        return f"Quest {args[0] + 1} {'succeeds' if args[2] else 'fails'}. Fail cards: {args[1]}."
    if kind == SCORE:
        return f"Score: good {args[0]}, evil {args[1]}."
    if kind == EXPOSED:
        guess = f"{name(args[0])}, {guesser}, guesses that {name(args[1])} is Merlin"
        return f"{guess}. The guess is {'right' if args[2] else 'wrong'}."
    return ""


def _claimed(kind: str, args: tuple[int, ...], role_names: Sequence[str]) -> str:
    if kind == speech.SILENT:
        return ""
    return f" {role_names[args[0]] if kind == speech.CLAIM_ROLE else name(args[0])}"


_P: Final = r"player_(\d{1,4})\b"
_FORMS: Final = (
    (TEAM, re.compile(rf"{_P} proposes the team ((?:player_\d{{1,4}}(?:, )?)+|nobody)\.")),
    (speech.ACCUSE, re.compile(rf"{_P} accuses {_P}(?=:|$)")),
    (speech.DEFEND, re.compile(rf"{_P} defends {_P}(?=:|$)")),
    (speech.RECOMMEND, re.compile(rf"{_P} recommends {_P}(?=:|$)")),
    (VOTES, re.compile(r"The team is (accepted|rejected)\. Approve: (.*)\. Reject: (.*)\.")),
    (DRAWN, re.compile(r"Drawn by lot to go instead: (.*)\.")),
    (CARD, re.compile(rf"{_P} \(you\) played (success|fail)\.")),
    (FAILS, re.compile(r"Quest (\d) (succeeds|fails)\. Fail cards: (\d)\.")),
    (EXPOSED, re.compile(rf"{_P}, (?:the )?[A-Z][a-z]+, guesses that {_P} is Merlin\. The guess is (right|wrong)\.")),
)


@lru_cache(maxsize=8192)
def read(line: str) -> Fact | None:
    """The fact in a line; None if it holds none that can be counted.

    >>> read("Quest 2 fails. Fail cards: 1.")
    Fact(kind='fails', seat=-1, args=(1, 1, 0))
    """
    for kind, form in _FORMS:
        match = form.match(line)
        if match is not None:
            return _fact(kind, match)
    return None


def _fact(kind: str, match: re.Match[str]) -> Fact:
    if kind == VOTES:
        yes, no = set(seats_named(match[2])), set(seats_named(match[3]))
        return Fact(kind, -1, (int(match[1] == "accepted"), *(int(j in yes) for j in sorted(yes | no))))
    if kind == DRAWN:
        return Fact(kind, -1, seats_named(match[1]))
    if kind == FAILS:
        return Fact(kind, -1, (int(match[1]) - 1, int(match[3]), int(match[2] == "succeeds")))
    if kind == EXPOSED:
        return Fact(kind, -1, (int(match[1]), int(match[2]), int(match[3] == "right")))
    if kind == CARD:
        return Fact(kind, int(match[1]), (int(match[2] == "success"),))
    return Fact(kind, int(match[1]), seats_named(match[2]) if kind == TEAM else (int(match[2]),))


_ANNOUNCED: Final = re.compile(r"Quest \d, proposal \d{1,2}: |Score: good \d")
_VERBS: Final = {kind: _CLAIMS[kind] for kind in (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND)}


def is_fact(line: str) -> bool:
    """Whether a line reports an event, not a statement: a leader, a team, votes, a card, a result, an exposure.

    >>> is_fact("player_1 proposes the team player_2."), is_fact('player_1 accuses player_2: "I saw him"')
    (True, False)
    """
    fact = read(line)
    return _ANNOUNCED.match(line) is not None if fact is None else fact.kind not in _VERBS


def facts_in(lines: Iterable[str]) -> list[str]:
    """The lines that are kept as they stand when a round is over; the rest of what happened follows from them."""
    return [line for line in lines if read(line) is not None and is_fact(line)]


def claims_in(lines: Iterable[str]) -> list[str]:
    """The lines with an accusation, a defence or a recommendation, without the words."""
    return [without_words(line) for line in lines if read(line) is not None and not is_fact(line)]


def without_words(line: str) -> str:
    """A line without the words of its speaker.

    >>> without_words('player_1 accuses player_2: "I saw him"')
    'player_1 accuses player_2'
    """
    return line.partition(': "')[0]
