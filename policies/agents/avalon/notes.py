"""What an agent notes down of a game of Avalon: one line an event, for itself and for the models it asks.

The lines are all that passes from the table to the agent's modules. A summary may drop lines or shorten them; `read` gets
the facts back from any line that is still in this form and passes over the others, so that heuristics work on
summaries that a language model wrote, as far as they go. A player's words are at the end of a line, in quotation marks, with line
breaks and marks escaped, so that they cannot pass for facts.

A reader that errs (`parlour.policies.llm.noise`) misreads lines that contain an accusation, a defence or a recommendation. In
half of the cases it names another player as the target; in the other half it takes an accusation for a defence, or the reverse.
Facts and the player's own words are never misread or missed. Talk of earlier rounds is forgotten each time a
round is summed up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs import speech
from parlour.envs.avalon.vocabulary import (
    BALLOT,
    CARD,
    CONSULT,
    DRAWN,
    EXPOSED,
    FAILS,
    GATHERS,
    GOES,
    LEADS,
    SCORE,
    TEAM,
    VOTES,
)
from parlour.envs.core import Event
from parlour.envs.english import name, names, seats_named
from parlour.policies.llm.noise import MisreadingModel

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
        return f"{name(seat)} proposes the team {names(args)}." + (f" Why{said}" if said else "")
    if kind == BALLOT:
        return f"{name(seat)} says of its vote{said}"
    if kind == CONSULT:
        opinion = f"thinks that {name(args[0])} is Merlin" if args else "does not know who Merlin is"
        return f"{name(seat)} tells the evil players that it {opinion}{said}"
    if kind == GATHERS:
        return f"The evil players meet: {names(args)}."
    if kind == GOES:
        return "The team goes without a vote."
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
    (GATHERS, re.compile(r"The evil players meet: (.*)\.")),
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
    if kind in (DRAWN, GATHERS):
        return Fact(kind, -1, seats_named(match[1]))
    if kind == FAILS:
        return Fact(kind, -1, (int(match[1]) - 1, int(match[3]), int(match[2] == "succeeds")))
    if kind == EXPOSED:
        return Fact(kind, -1, (int(match[1]), int(match[2]), int(match[3] == "right")))
    if kind == CARD:
        return Fact(kind, int(match[1]), (int(match[2] == "success"),))
    return Fact(kind, int(match[1]), seats_named(match[2]) if kind == TEAM else (int(match[2]),))


_WHY: Final = ' Why: "'
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
    return [line.partition(_WHY)[0] for line in lines if read(line) is not None and is_fact(line)]


def claims_in(lines: Iterable[str]) -> list[str]:
    """The lines with an accusation, a defence or a recommendation, without the words."""
    return [without_words(line) for line in lines if read(line) is not None and not is_fact(line)]


def without_words(line: str) -> str:
    """A line without the words of its speaker.

    >>> without_words('player_1 accuses player_2: "I saw him"')
    'player_1 accuses player_2'
    """
    return line.partition(': "')[0]


_CONTRARY: Final = {speech.ACCUSE: speech.DEFEND, speech.DEFEND: speech.ACCUSE}


def as_heard(lines: Iterable[str], ear: MisreadingModel, players: int) -> list[str]:
    """Lines as a reader takes them; those that are missed are left out."""
    taken = (_line_as_heard(line, ear, players) for line in lines)
    return [line for line in taken if line is not None]


def remembered(lines: Iterable[str], ear: MisreadingModel) -> list[str]:
    """What is still in mind of the talk of earlier rounds, one round later."""
    kept = []
    for line in lines:
        if _talk_of(line, ear) is not None and ear.forgets(line):
            ear.hears(line, "")
        else:
            kept.append(line)
    return kept


def _talk_of(line: str, ear: MisreadingModel) -> Fact | None:
    """What another player says of somebody in a line; None for any other line."""
    fact = read(line)
    return None if fact is None or fact.kind not in _VERBS or fact.seat == ear.seat else fact


def _line_as_heard(line: str, ear: MisreadingModel, players: int) -> str | None:
    fact = _talk_of(line, ear)
    if fact is None:
        return line
    if ear.misses(line):
        ear.hears(line, "")
        return None
    if not ear.misreads(line):
        return line
    kind, target = fact.kind, fact.args[0]
    others = [seat for seat in range(players) if seat not in (fact.seat, target)]
    if others and (kind not in _CONTRARY or ear.pick(line, "whom or how", (True, False))):
        target = ear.pick(line, "other", others)
    else:
        kind = _CONTRARY.get(kind, kind)
    taken = f"{name(fact.seat)} {_VERBS[kind]} {name(target)}"
    ear.hears(line, taken)
    return taken
