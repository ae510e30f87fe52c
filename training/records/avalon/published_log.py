"""What was said in published games of Avalon: the logs' discussion statements, with players renumbered.

A log is a JSON object, a list of events a round; an event of the discussion holds the host's invitation, which tells the
order of speech, and one reply under the name `player N(Role)`. Everything else in a log is in the game's record already
(`published_2023`), and is compared with it (`published_log`).

The logs count players from 1, the seats of a table from 0: what a log calls player 3 is player_2 here, also in what is
said about it.

The log of a published game of Avalon, compared event by event with the game's record.

A log (github.com/3DAgentWorld/LLM-Game-Agent, playing_log/avalon) is a JSON object, a list of events a round; an event holds
what the host says and at most one reply, under the name `player N(Role)`. In a round there are, for each proposal, six
statements, the leader's confirmation if the team is whole, and six votes; then a card of each member of the team, the
result, and the question to the Assassin while the guess is unused; behind the last round, who wins.

All that the log tells without doubt is compared: who speaks, votes and plays and in which order, their roles, leaders, sizes,
teams, fail cards, the guess and its target, the winner, and the replies in so far as they say one thing only. Where a reply
leaves a doubt (`I choose wisely`), the record's reading of it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon import GAME
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonState
from parlour.envs.avalon.vocabulary import EVIL, GOOD
from parlour.envs.common.json_values import json_shown
from parlour.envs.core import Move, ParlourError, listed
from parlour.envs.language.english import name, negated
from parlour.envs.language.text import clean
from parlour.training.records.json_objects import JsonObject, parse

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

    def numbered(match: re.Match[str]) -> str:
        if match[1] is None:
            return renumbered(match[0], players)  # a remark in brackets
        number = int(match[1])
        return name(number - 1) if 1 <= number <= players else f"player #{number}"

    return _LIST.sub(lambda match: _NUMBER.sub(numbered, match[0]), text)


def as_heard(text: str, players: int) -> str:
    """The words of a statement as the table hears them: renumbered, and through the one door for words."""
    return clean(renumbered(clean(text), players))


def statements(path: str | Path) -> tuple[tuple[Statement, ...], ...]:
    """The statements of a log: a tuple for each round, in the order of the log.

    Raises:
        ParlourError: The file cannot be read or is no log; the message names the file and the place.
    """
    return tuple(
        tuple(_statement(event) for event in events if event.of(str, "Host", "a text").startswith(_DISCUSSION))
        for events in read_rounds(path)
    )


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
        raise log.error(
            f"its parts are {json_shown(list(log.fields))}", f"{_ROUND.format(1)!r} and the rounds after it"
        )
    return [
        JsonObject(f"{log.where}, {round_.removesuffix(' starts:')}", log.fields).records(round_, "event")
        for round_ in rounds
    ]


def _statement(event: JsonObject) -> Statement:
    order = _ORDER.search(event.fields["Host"])
    if order is None:
        raise event.refused("Host", "an invitation that tells the order of speech")
    numbers = tuple(int(number) for number in re.findall(r"\d+", order[1]))
    return Statement(numbers, *speaker_of(event))


def speaker_of(event: JsonObject) -> tuple[int, str, str]:
    """Who replies in an event, from 1, the role by which he is called, and the reply. Raises `ParlourError` for none or two."""
    spoken = [(_SPEAKER.fullmatch(key), key) for key in event.fields if key.startswith("player ")]
    match, key = spoken[0] if len(spoken) == 1 else (None, "")
    if match is None:
        raise event.error(f"the speakers are {json_shown([key for _, key in spoken])}", "one, as `player N(Role)`")
    return int(match[1]), match[2], event.of(str, key, "a text")


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
            ParlourError: The log has nothing more for this round, or somebody else speaks, or the order differs.
        """
        quest, seats = state.standing.quest, game.seats
        said = self._take(quest)
        speaker = state.actor + 1
        at = JsonObject(f"{self._where}, round {quest + 1}, statement {self._next[quest]}", {})
        if said.player != speaker:
            raise at.error(f"player {said.player} speaks", f"player {speaker}, whose turn it is")
        if said.role != self._roles[speaker]:
            raise at.error(f"player {speaker} is {said.role!r}", f"{self._roles[speaker]}, as dealt")
        order = tuple((state.standing.leader + k) % seats + 1 for k in range(seats))
        if said.order != order:
            raise at.error(f"the order of speech is {listed(said.order)}", order)
        return GAME.text(game).parse(as_heard(said.text, seats), game.view(state, state.actor)), said.text

    def _take(self, quest: int) -> Statement:
        have = self._rounds[quest] if quest < len(self._rounds) else ()
        at = self._next[quest] if have else 0
        if at == len(have):
            many = f"round {quest + 1} has {len(have)} statements"
            raise JsonObject(self._where, {}).error(many, "one by each player for each proposal")
        self._next[quest] += 1
        return have[at]

    def finish(self) -> None:
        """Refuse a log that has more to say than the game has turns."""
        for number, (have, count) in enumerate(zip(self._rounds, self._next, strict=True), 1):
            if count < len(have):
                many = f"round {number} has {len(have)} statements"
                raise JsonObject(self._where, {}).error(many, f"{count}, one by each player for each proposal")


STATEMENT, CONFIRMATION, VOTE, CARD = "a statement", "a confirmation", "a vote", "a quest card"
RESULT, QUESTION, TARGET, GUESS, END = (
    "a result",
    "the Assassin's answer",
    "the Assassin's target",
    "a guess",
    "the end",
)
_PLAYERS: Final = r"((?:player \d{1,9}(?:、player \d{1,9})*)?)"
_HOSTS: Final = {
    STATEMENT: rf"Please start discussing the candidates for the turn (\d+) quest.*?The number of players in this quest is "
    rf"(\d+), and the order of each player's speech is {_PLAYERS}\. player (\d+) has the power.*?player (\d+) start to speak",
    CONFIRMATION: r"Please finally confirm (\d+) players?\b",
    VOTE: rf"The quest leader decides that the {_PLAYERS} will engage in the quest",
    CARD: r"As the players who engage in the quest in this turn",
    RESULT: r"(?:quest successful\.|Among the players who engaged in the quest, there were (\d{1,9}) players? making quest fail)",
    QUESTION: r"You have one chance to identify Merlin",
    TARGET: r"Select the player you want to identify",
    GUESS: r"player (\d+)\(Assassin\) chooses to identify player (\d+) as Merlin, (?:and|but) the identification (is successful|failed)",
    END: r"(Good|Evil) Side wins",
}
_EVENTS: Final = {kind: re.compile(host, re.DOTALL) for kind, host in _HOSTS.items()}
_ANNOUNCED: Final = (RESULT, GUESS, END)
"""Events without a reply."""
_SAYS: Final = {
    VOTE: {
        "agree": re.compile(r"\bagree", re.IGNORECASE),
        "disagree": re.compile(r"\bdisagree|\bobject", re.IGNORECASE),
    },
    CARD: {"success": re.compile(r"\bsucce", re.IGNORECASE), "fail": re.compile(r"\bfail|\bsabotag", re.IGNORECASE)},
    QUESTION: {"yes": re.compile(r"\byes\b", re.IGNORECASE), "no": re.compile(r"\bno\b", re.IGNORECASE)},
}


@dataclass(frozen=True)
class LogEvent:
    """One event of a log."""

    where: str
    kind: str
    told: tuple[str | None, ...]
    """What its host tells, as `_HOSTS` finds it."""
    player: int
    """Who replies, from 1; 0 for an announcement."""
    role: str
    reply: str

    def says(self) -> str | None:
        """The one decision that the reply expresses without doubt; None if there is none."""
        meanings = [meaning for meaning, pattern in _SAYS[self.kind].items() if pattern.search(self.reply)]
        return meanings[0] if len(meanings) == 1 and (self.kind == QUESTION or not negated(self.reply)) else None

    def expect(self, what: str, actual: object, wanted: object) -> None:
        """Refuse the log unless both are the same."""
        if actual != wanted:
            raise ParlourError(f"{self.where}: {what} {_said(actual)}; accepted: {_said(wanted)}, as in the record")


def compare(record: JsonObject, path: str | Path) -> None:
    """Compare the log of a game with its record, which has gone through the rules already.

    Raises:
        ParlourError: The log cannot be read, or tells something else; the message names the record's file, line and game, and
            the log, its round and its event.
    """
    where = f"{record.where}: log {str(path)!r}"
    logged = read_rounds(path, record.where)
    rounds = record.fields["rounds"]
    if len(logged) != len(rounds):
        raise ParlourError(f"{where}: {len(logged)} rounds; accepted: {len(rounds)}, as in the record")
    for number, (events, round_) in enumerate(zip(logged, rounds, strict=True), 1):
        reader = _Reader(f"{where}, round {number}", events, record.fields["roles"])
        _round(reader, round_)
        if number == len(rounds):
            end = reader.next(END)
            end.expect("the winner is", {"Good": GOOD, "Evil": EVIL}[str(end.told[0])], record.fields["winner"])
        reader.finish()


class _Reader:
    """The events of one round, one after the other."""

    def __init__(self, where: str, events: Sequence[JsonObject], roles: dict[str, str]) -> None:
        self._where, self._roles = where, roles
        self._events = _events(where, events)

    def next(self, kind: str, player: int = 0) -> LogEvent:
        """The next event, which is to be of this kind and a reply of this player."""
        event = next(self._events, None)
        by = f" of player {player}" if player else ""
        if event is None:
            raise ParlourError(f"{self._where}: its events end before {kind}{by}; accepted: all of the record's")
        event.expect("it is", event.kind, kind)
        if player:
            event.expect("the reply is of player", event.player, player)
            event.expect(f"player {player} is", event.role, self._roles[str(player)])
        return event

    def finish(self) -> None:
        """Refuse events that are left."""
        event = next(self._events, None)
        if event is not None:
            raise ParlourError(
                f"{event.where}: it is {event.kind}; accepted: nothing more in this round, as in the record"
            )


def _events(where: str, events: Sequence[JsonObject]) -> Iterator[LogEvent]:
    for number, event in enumerate(events, 1):
        at = JsonObject(f"{where}, event {number}", event.fields)
        host = at.of(str, "Host", "a text")
        matches = [(kind, match) for kind, pattern in _EVENTS.items() if (match := pattern.match(host))]
        if not matches:
            raise at.refused("Host", f"what the host says at {listed(_EVENTS)}")
        kind, match = matches[0]
        player, role, reply = (0, "", "") if kind in _ANNOUNCED else speaker_of(at)
        yield LogEvent(at.where, kind, match.groups(), player, role, reply)


def _round(reader: _Reader, round_: dict[str, Any]) -> None:
    for proposal in round_["proposals"]:
        for player in proposal["speech_order"]:
            _compare_statement(reader.next(STATEMENT, player), round_, proposal)
        if proposal["confirm_logged"]:
            confirmed = reader.next(CONFIRMATION, proposal["leader"])
            confirmed.expect("the size of the team is", confirmed.told[0], str(round_["team_size"]))
        for number, vote in proposal["votes"].items():
            _vote(reader.next(VOTE, int(number)), proposal, vote)
    quest = round_["quest"]
    for player in quest["team"]:
        _card(reader.next(CARD, player), quest["cards"][str(player)])
    result = reader.next(RESULT)
    result.expect("the number of fail cards is", int(result.told[0] or 0), quest["fails_reported"])
    if round_["assassin"] is not None:
        _assassin(reader, round_["assassin"])


def _compare_statement(event: LogEvent, round_: dict[str, Any], proposal: dict[str, Any]) -> None:
    number, size, order, leader, speaker = event.told
    event.expect("the round is", number, str(round_["round"]))
    event.expect("the size of the team is", size, str(round_["team_size"]))
    event.expect("the order of speech is", _numbers(order), proposal["speech_order"])
    event.expect("the leader is player", leader, str(proposal["leader"]))
    event.expect("the host asks player", speaker, str(event.player))


def _vote(event: LogEvent, proposal: dict[str, Any], vote: str) -> None:
    event.expect("the team is", sorted(_numbers(event.told[0])), sorted(proposal["proposed_team"]))
    event.expect(f"the vote of player {event.player} is", event.says() or vote, vote)


def _card(event: LogEvent, card: dict[str, Any]) -> None:
    if card["basis"] == "text":
        event.expect(f"the card of player {event.player} is", event.says() or card["card"], card["card"])


def _assassin(reader: _Reader, hunt: dict[str, Any]) -> None:
    answer = reader.next(QUESTION, hunt["player"])
    answer.expect("the Assassin's answer is", answer.says() or hunt["answer"], hunt["answer"])
    if hunt["answer"] == "no":
        return
    reader.next(TARGET, hunt["player"])
    guess = reader.next(GUESS)
    guess.expect("the Assassin is player", guess.told[0], str(hunt["player"]))
    guess.expect("the target is player", guess.told[1], str(hunt["target"]))
    guess.expect("that Merlin is found is", guess.told[2] == "is successful", hunt["correct"])


def _numbers(players: str | None) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", players or "")]


def _said(value: object) -> str:
    return value if isinstance(value, str) else json_shown(value)
