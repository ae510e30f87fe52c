"""A seat at a server of aiwolf-nlp, AIWolf's contest of language models: free words over a WebSocket.

A packet is put into the form of the older protocol, which `received` reads. Players have names there; a name is read as
`player_0` and so on, in the order of `status_map`. Source: the protocol's description in `aiwolfdial/aiwolf-nlp-server`
(`doc/en/protocol.md`, `protocol-schema.md`, `logic.md`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import Move, ParlourError, accept
from parlour.envs.language import speech
from parlour.envs.language.english import name as player_name
from parlour.envs.werewolf.vocabulary import SEER, VILLAGER, WEREWOLF, WerewolfView
from parlour.training.play.extras import import_extra

from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.server.received import ReceivedGame, reading
from parlour_aiwolf.server.visitor import LONGEST_PACKET, Visitor
from parlour_aiwolf.vocabulary import BODYGUARD, MEDIUM, POSSESSED, REMARK, TALK_OVER, AIWolfRules

REQUESTS: Final = (
    *("NAME", "INITIALIZE", "DAILY_INITIALIZE", "TALK", "WHISPER", "VOTE"),
    *("DIVINE", "GUARD", "ATTACK", "DAILY_FINISH", "FINISH"),
)
"""Requests of a game in which seats speak in turn. A group chat has more."""
ROLES: Final = (WEREWOLF, POSSESSED, SEER, MEDIUM, BODYGUARD, VILLAGER)
TABLE_SIZES: Final = range(3, 16)
MOST_ROUNDS: Final = 1_000_000
"""The largest limit of a server's settings that is read."""
LONGEST_WORDS: Final = 4000
"""Characters of a line that are read."""
_PROTOCOL: Final = "aiwolf-nlp's protocol"
_PLAYER: Final = re.compile(r"player_([0-9]{1,2})(?![0-9])")


class NlpVisitor(Visitor):
    """A player at a server of aiwolf-nlp."""

    def visit(self, host: str, port: int) -> None:
        """Play until the server closes the connection.

        Raises:
            ParlourError: There is no server, it does not keep to the protocol, or the extra `serve` is not installed.
        """
        connect = import_extra("websockets.sync.client", "serve").connect
        errors = import_extra("websockets.exceptions", "serve")
        address = f"ws://{host}:{port}/ws"
        try:
            socket = connect(address, max_size=LONGEST_PACKET, proxy=None)
        except (OSError, errors.WebSocketException) as error:
            raise ParlourError(f"cannot connect to {address} ({error}); accepted: a server of aiwolf-nlp") from None
        with socket:
            try:
                for message in socket:
                    if (answer := self.answer(_packet(message))) is not None:
                        socket.send(answer)
            except errors.ConnectionClosed as closed:
                if closed.sent is not None and closed.sent.code == 1009:
                    raise ParlourError(f"the server sent over {LONGEST_PACKET:,} bytes; accepted: less") from None

    def answer(self, packet: Mapping[str, Any]) -> str | None:
        request = packet.get("request")
        if request not in REQUESTS:
            raise ParlourError(f"the server asks {str(request)[:40]!r}; accepted: {', '.join(REQUESTS)}")
        if request == "NAME":
            return self._name
        if request == "INITIALIZE":
            self._begin(packet)
            return None
        if self._game is None:
            raise ParlourError(f"the server begins with {request!r}; accepted: INITIALIZE")
        return super().answer(self._classic(str(request), packet))

    def _begin(self, packet: Mapping[str, Any]) -> None:
        with reading("INITIALIZE", _PROTOCOL):
            self._names = NlpNames(packet["info"]["status_map"])
            rules = rules_of(packet["setting"])
            if len(self._names.all) != len(rules.roles):
                raise accept("status_map", self._names.all, f"{len(rules.roles)} names")
        game = AIWolf(rules=rules, talk=True, config={"roles": list(rules.roles)})
        super()._begin(self._classic("INITIALIZE", packet) | {"gameSetting": game})

    def _received(self, info: Any, setting: Any) -> ReceivedGame:
        return NlpGame(info, {}, setting)

    def _classic(self, request: str, packet: Mapping[str, Any]) -> dict[str, Any]:
        with reading(request, _PROTOCOL):
            return self._names.packet(request, packet)

    def _line(self, move: Move, action: Any, view: WerewolfView) -> str:
        if move.kind in (speech.SILENT, TALK_OVER):
            return "Skip" if move.kind == speech.SILENT else "Over"
        game = self._game
        assert game is not None
        words = action if isinstance(action, str) else move.words or game.text.say(move)
        return self._names.said(" ".join(words.split()))

    def _named(self, seat: int) -> str:
        return self._names.all[seat]


class NlpNames:
    """The names of the players of a game.

    Args:
        status_map: From the request INITIALIZE.
    """

    def __init__(self, status_map: Mapping[str, Any]) -> None:
        self.all = list(status_map)
        self._seats = {name: seat for seat, name in enumerate(self.all)}
        longest_first = sorted((name for name in self.all if name), key=len, reverse=True)
        names = "|".join(map(re.escape, longest_first))
        self._mention = re.compile(rf"@?(?<![A-Za-z0-9_])(?:{names})(?![A-Za-z0-9_])") if names else _PLAYER
        self._seen: set[tuple[Any, ...]] = set()
        self._lines = 0

    def said(self, words: str) -> str:
        """Words of parlour's player with the names of this game."""
        count = len(self.all)
        return _PLAYER.sub(lambda m: self.all[int(m[1])] if int(m[1]) < count else m[0], words)

    def read(self, words: str) -> str:
        """Words of this game with parlour's names."""
        return self._mention.sub(lambda m: player_name(self._seats[m[0].removeprefix("@")]), words[:LONGEST_WORDS])

    def packet(self, request: str, packet: Mapping[str, Any]) -> dict[str, Any]:
        """A packet in the form of the older protocol.

        Raises:
            KeyError: It lacks a field, or names a player that is not there.
            TypeError, ValueError, AttributeError: A field is of another kind.
        """
        info = packet.get("info")
        classic: dict[str, Any] = {"request": request, "gameInfo": None if info is None else self._info(info)}
        for history in ("talk", "whisper"):
            lines = packet.get(f"{history}_history") or ()
            classic[f"{history}History"] = [new for line in lines if (new := self._line(history, line)) is not None]
        return classic

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        attacked = self._agent(info.get("attacked_agent"))
        return {
            "agent": self._agent(info["agent"]),
            "day": int(info["day"]),
            "statusMap": {str(self._agent(name)): str(status) for name, status in info["status_map"].items()},
            "roleMap": {str(self._agent(name)): str(role) for name, role in info["role_map"].items()},
            "voteList": self._votes(info.get("vote_list")),
            "attackVoteList": self._votes(info.get("attack_vote_list")),
            "executedAgent": self._agent(info.get("executed_agent")),
            "attackedAgent": attacked,
            "lastDeadAgentList": [attacked] if attacked > 0 else [],
            "divineResult": self._judged(info.get("divine_result")),
            "mediumResult": self._judged(info.get("medium_result")),
        }

    def _agent(self, name: str | None) -> int:
        """The number of a name, from 1; -1 for none."""
        return -1 if name is None else self._seats[name] + 1

    def _votes(self, votes: Sequence[Mapping[str, Any]] | None) -> list[dict[str, int]]:
        """The last vote of each: a list may hold a tied vote and the one after it."""
        last = {self._agent(vote["agent"]): self._agent(vote["target"]) for vote in votes or ()}
        return [{"agent": agent, "target": target} for agent, target in last.items()]

    def _judged(self, judge: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if judge is None else {"target": self._agent(judge["target"]), "result": str(judge["result"])}

    def _line(self, history: str, line: Mapping[str, Any]) -> dict[str, Any] | None:
        """A line that has not been heard; None for another."""
        text = "Over" if line.get("over") else "Skip" if line.get("skip") else self.read(str(line["text"]))
        key = history, int(line["day"]), int(line["idx"]), int(line["turn"]), str(line["agent"]), text
        if key in self._seen:
            return None
        self._seen.add(key)
        self._lines += 1
        return {"idx": self._lines, "day": key[1], "turn": key[3], "agent": self._agent(key[4]), "text": text}


class NlpGame(ReceivedGame):
    """A game of free words: what others say is read as English, and who is executed is dead at once."""

    def _receive(self, request: str, packet: Mapping[str, Any]) -> None:
        super()._receive(request, packet)
        info = packet.get("gameInfo")
        if info is None or request in ("INITIALIZE", "DAILY_INITIALIZE", "FINISH"):
            return
        alive = [info["statusMap"][str(seat + 1)] == "ALIVE" for seat in range(self.game.seats)]
        for seat, lives in enumerate(alive):
            if self._alive[seat] and not lives:
                self._execution(self._day, seat + 1)

    def _move(self, text: str, seat: int) -> Move:
        if text in ("Over", "Skip"):
            return Move(TALK_OVER if text == "Over" else speech.SILENT)
        view = self.view("TALK")._replace(seat=seat, legal=self.game.choices.talk(seat, True).legal)
        try:
            move = self.text.parse(" ".join(text.split()), view)
        except ParlourError:
            return Move(REMARK, (), text)
        return move._replace(words=text) if move.kind != REMARK else Move(REMARK, (), text)


def rules_of(setting: Mapping[str, Any]) -> AIWolfRules:
    """The rules of a server's `setting`.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: It cannot be read.
        ParlourError: Parlour does not have the table.
    """
    counts = {role: int(setting["role_num_map"].get(role.upper(), 0)) for role in ROLES}
    others = set(setting["role_num_map"]) - {role.upper() for role in ROLES}
    if others or sum(counts.values()) not in TABLE_SIZES or not counts[WEREWOLF] >= 1 or min(counts.values()) < 0:
        accepted = f"{TABLE_SIZES[0]} to {TABLE_SIZES[-1]} of {', '.join(ROLES).upper()}, with a werewolf"
        raise accept("the server's table", dict(setting["role_num_map"]), accepted)
    talk = setting["talk"]
    limits = [talk["max_count"]["per_day"], talk["max_count"]["per_agent"], talk["max_skip"]]
    turns, lines, skips = (min(max(int(limit), 0), MOST_ROUNDS) for limit in limits)
    roles = tuple(role for role in ROLES for _ in range(counts[role]))
    return AIWolfRules(roles=roles, talk_turns=turns, talk_lines=lines, skips=skips)


def _packet(message: str | bytes) -> Mapping[str, Any]:
    try:
        packet = json_value(message.encode() if isinstance(message, str) else message)
    except (ValueError, RecursionError):
        packet = None
    if not isinstance(packet, dict):
        raise ParlourError("the server sent what is no JSON object; accepted: aiwolf-nlp's protocol")
    return packet
