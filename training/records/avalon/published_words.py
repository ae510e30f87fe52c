"""What was said in published games of Avalon: the logs' discussion statements, with players renumbered.

A log is a JSON object, a list of events a round; an event of the discussion holds the host's invitation, which tells the
order of speech, and one reply under the name `player N(Role)`. Everything else in a log is in the game's record already
(`published_2023`), and is compared with it (`published_log`).

The logs count players from 1, the seats of a table from 0: what a log calls player 3 is player_2 here, also in what is
said about it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from parlour.envs.avalon import GAME
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonState
from parlour.envs.core import Move, ParlourError, listed
from parlour.envs.english import name
from parlour.envs.text import clean
from parlour.training.records.json_objects import JsonObject, parse, shown

_DISCUSSION: Final = "Please start discussing"
_ROUND: Final = "round {} starts:"
_SPEAKER: Final = re.compile(r"player (\d{1,9})\((.*)\)")
_ORDER: Final = re.compile(r"order of each player's speech is (player \d{1,9}(?:、player \d{1,9})*)")

# A number stands alone if it does not count something: "player 3, 2 quests" names one player.
_COUNTED: Final = r"(?!\w|\s*(?:quests?|rounds?|turns?|votes?|players?|people|times|fails?|of\b))"
_BETWEEN: Final = r"\s*(?:\([^()]*\)\s*)?(?:(?:[,、，&/+]|\b(?:and|or)\b|和|与)\s*)+"
_NAMED: Final = r"players?[\s_]*\d+(?!\w)"
_LIST: Final = re.compile(rf"\b{_NAMED}(?:{_BETWEEN}(?:{_NAMED}|\d+{_COUNTED}))*", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\([^()]*\)|(?:players?[\s_]*)?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One contribution to a discussion, as its log has it: players are numbered from 1."""

    order: tuple[int, ...]
    """The order in which the players speak on this proposal."""
    player: int
    role: str
    text: str


def renumbered(text: str, players: int) -> str:
    """The text with the players' numbers 1 .. `players` as the names `player_0` ..., alone or in lists.

    The number of nobody becomes `player #N`, which names no seat.

    >>> renumbered("Players 1, 2 and 5 trust player 6; player 7 is not here.", 6)
    'player_0, player_1 and player_4 trust player_5; player #7 is not here.'
    """

    def one(found: re.Match[str]) -> str:
        if found[1] is None:
            return renumbered(found[0], players)  # a remark in brackets
        number = int(found[1])
        return name(number - 1) if 1 <= number <= players else f"player #{number}"

    return _LIST.sub(lambda found: _NUMBER.sub(one, found[0]), text)


def as_heard(text: str, players: int) -> str:
    """The words of a statement as the table hears them: renumbered, and through the one door for words."""
    return clean(renumbered(clean(text), players))


def statements(path: str | Path) -> tuple[tuple[Statement, ...], ...]:
    """The statements of a log: a tuple for each round, in the order of the log.

    Raises:
        ParlourError: The file cannot be read or is no log; the message names the file and the place.
    """
    return tuple(tuple(_statement(event) for event in events if _discussed(event)) for events in read_rounds(path))


def read_rounds(path: str | Path, of: str = "") -> list[list[JsonObject]]:
    """The events of each round of a log; `of` is which game's it is, for messages. Raises `ParlourError` as `statements`."""
    where = f"{of}: log {str(path)!r}" if of else f"log {str(path)!r}"
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise ParlourError(f"{where} cannot be read: {error.strerror}") from None
    log = parse(where, text)
    rounds = [_ROUND.format(number) for number in range(1, len(log.fields) + 1)]
    if not rounds or list(log.fields) != rounds:
        raise log.error(f"its parts are {shown(list(log.fields))}", f"{_ROUND.format(1)!r} and the rounds after it")
    return [
        JsonObject(f"{log.where}, {one.removesuffix(' starts:')}", log.fields).records(one, "event") for one in rounds
    ]


def _discussed(event: JsonObject) -> bool:
    return event.of(str, "Host", "a text").startswith(_DISCUSSION)


def _statement(event: JsonObject) -> Statement:
    order = _ORDER.search(event.fields["Host"])
    if order is None:
        raise event.refused("Host", "an invitation that tells the order of speech")
    numbers = tuple(int(number) for number in re.findall(r"\d+", order[1]))
    return Statement(numbers, *speaker_of(event))


def speaker_of(event: JsonObject) -> tuple[int, str, str]:
    """Who replies in an event, from 1, the role by which he is called, and the reply. Raises `ParlourError` for none or two."""
    spoken = [(_SPEAKER.fullmatch(key), key) for key in event.fields if key.startswith("player ")]
    found, key = spoken[0] if len(spoken) == 1 else (None, "")
    if found is None:
        raise event.error(f"the speakers are {shown([key for _, key in spoken])}", "one, as `player N(Role)`")
    return int(found[1]), found[2], event.of(str, key, "a text")


class Words:
    """The statements of one game's log, handed out as the game asks for them.

    Args:
        where: Which game it is; every message begins with it.
        path: The log.
        roles: The role of each player, by the number the log knows it by.

    Raises:
        ParlourError: See `statements`; or the log has other roles.
    """

    def __init__(self, where: str, path: Path, roles: Mapping[int, str]) -> None:
        self._where, self._roles = f"{where}: log {str(path)!r}", roles
        try:
            self._rounds = statements(path)
        except ParlourError as error:
            raise ParlourError(f"{where}: {error}") from None
        self._next = [0] * len(self._rounds)

    def spoken(self, game: Avalon, state: AvalonState) -> tuple[Move, str]:
        """What the seat to move says: the speech as the game's own parser reads it, and the words as they came in.

        Raises:
            ParlourError: The log has nothing more for this round, or somebody else speaks, or another order is told.
        """
        quest, seats = state.standing.quest, game.seats
        said = self._take(quest)
        speaker, where = state.actor + 1, f"{self._where}, round {quest + 1}, statement {self._next[quest]}"
        if said.player != speaker:
            raise _contradicts(where, f"player {said.player} speaks", f"player {speaker}, whose turn it is")
        if said.role != self._roles[speaker]:
            raise _contradicts(where, f"player {speaker} is {said.role!r}", f"{self._roles[speaker]}, as dealt")
        order = tuple((state.standing.leader + k) % seats + 1 for k in range(seats))
        if said.order != order:
            raise _contradicts(where, f"the order of speech is {listed(said.order)}", listed(order))
        return GAME.text(game).parse(as_heard(said.text, seats), game.view(state, state.actor)), said.text

    def _take(self, quest: int) -> Statement:
        have = self._rounds[quest] if quest < len(self._rounds) else ()
        at = self._next[quest] if have else 0
        if at == len(have):
            many = f"round {quest + 1} has {len(have)} statements"
            raise _contradicts(self._where, many, "one by each player for each proposal")
        self._next[quest] += 1
        return have[at]

    def finish(self) -> None:
        """Refuse a log that has more to say than the game has turns."""
        for number, (have, told) in enumerate(zip(self._rounds, self._next, strict=True), 1):
            if told < len(have):
                many = f"round {number} has {len(have)} statements"
                raise _contradicts(self._where, many, f"{told}, one by each player for each proposal")


def _contradicts(where: str, what: str, accepted: str) -> ParlourError:
    return ParlourError(f"{where}: {what}; accepted: {accepted}")
