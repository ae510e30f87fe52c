"""A client of the AIWolf contest, written from the protocol alone: it uses nothing of parlour.

The server sends JSON lines with `request`, `gameInfo`, `gameSetting`, `talkHistory` and `whisperHistory`. NAME, ROLE, TALK, WHISPER,
VOTE, DIVINE, GUARD and ATTACK are answered with one line; the others with none. A client checks what it is told against the rules
and keeps what does not fit.
"""

from __future__ import annotations

import json
import socket
from typing import Any

import numpy as np

ROLE_COUNTS = {
    5: {"WEREWOLF": 1, "POSSESSED": 1, "SEER": 1, "VILLAGER": 2},
    15: {"WEREWOLF": 3, "POSSESSED": 1, "SEER": 1, "MEDIUM": 1, "BODYGUARD": 1, "VILLAGER": 8},
}
ANSWERED = {"NAME", "ROLE", "TALK", "WHISPER", "VOTE", "DIVINE", "GUARD", "ATTACK"}
OF_ROLE = {"WHISPER": "WEREWOLF", "ATTACK": "WEREWOLF", "DIVINE": "SEER", "GUARD": "BODYGUARD"}


class Client:
    """One agent that plays at random, and checks all it is told."""

    def __init__(self, port: int, name: str, seed: int = 0, role: str = "none") -> None:
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines, self.out = self.sock.makefile("rb"), self.sock.makefile("wb", buffering=0)
        self.name, self.role, self.rng = name, role, np.random.default_rng(seed)
        self.wrong: list[str] = []
        self.games = 0
        self.won: list[bool] = []
        self.info: dict[str, Any] = {}
        self.talks: list[dict[str, Any]] = []
        self.days: list[str] = []
        self.requests: list[str] = []

    def run(self) -> None:
        """Answer until the server closes the connection."""
        with self.sock, self.lines, self.out:
            for line in self.lines:
                self.reply(json.loads(line))

    def reply(self, packet: dict[str, Any]) -> None:
        answer = self.answer(packet)
        if packet["request"] in ANSWERED:
            self.out.write(answer.encode() + b"\n")

    def expect(self, holds: bool, what: str) -> None:
        if not holds:
            self.wrong.append(f"{self.name}, game {self.games}, day {self.info.get('day')}: {what}")

    # -- what it is told ---------------------------------------------------------------------------------------

    def answer(self, packet: dict[str, Any]) -> str:
        request = packet["request"]
        self.requests.append(request)
        if request == "NAME":
            return self.name
        if request == "ROLE":
            return self.role
        before = self.info
        if packet["gameInfo"] is not None:
            self.info = packet["gameInfo"]
            self.check_info(before, request)
        self.check_history(packet)
        if request == "INITIALIZE":
            self.begin(packet["gameSetting"])
        elif request == "DAILY_INITIALIZE":
            self.expect(self.days == [] or self.days[-1] == "finished", "a day begins before the last one is finished")
            self.days.append("begun")
            self.talks = []
        elif request == "DAILY_FINISH":
            self.expect(self.days[-1:] == ["begun"], "a day finishes that has not begun")
            self.days[-1] = "finished"
        elif request == "FINISH":
            self.finish()
        return self.choose(request)

    def begin(self, setting: dict[str, Any]) -> None:
        self.games += 1
        self.days, self.talks = [], []
        self.setting = setting
        players = setting["playerNum"]
        counts = {role: n for role, n in setting["roleNumMap"].items() if n}
        self.expect(counts == ROLE_COUNTS[players], f"roles {counts}")
        self.expect(self.info["day"] == 0, "the first day is not 0")
        self.expect(set(self.info["statusMap"].values()) == {"ALIVE"}, "somebody is dead at the beginning")

    @property
    def me(self) -> str:
        return str(self.info["agent"])

    @property
    def own_role(self) -> str:
        return self.info["roleMap"][self.me]

    @property
    def living(self) -> list[int]:
        return [int(agent) for agent, status in self.info["statusMap"].items() if status == "ALIVE"]

    def check_info(self, before: dict[str, Any], request: str) -> None:
        """A seat knows its own role, a wolf its fellows, and nobody more before the end."""
        info = self.info
        if request == "FINISH":
            return
        roles, own = info["roleMap"], info["roleMap"][self.me]
        known = {"WEREWOLF"} if own == "WEREWOLF" else {own}
        self.expect(set(roles.values()) == known, f"told of roles {roles}")
        self.expect(
            len(roles) == (ROLE_COUNTS[len(info["statusMap"])]["WEREWOLF"] if own == "WEREWOLF" else 1), "roles"
        )
        self.expect(own == "WEREWOLF" or not info["whisperList"], "whispers of others")
        self.expect(own == "WEREWOLF" or not info["attackVoteList"] + info["latestAttackVoteList"], "attack votes")
        self.expect(own == "SEER" or info["divineResult"] is None, "a seer's result")
        self.expect(own == "MEDIUM" or info["mediumResult"] is None, "a medium's result")
        self.expect(own == "BODYGUARD" or info["guardedAgent"] == -1, "a bodyguard's choice")
        for result in (info["divineResult"], info["mediumResult"]):
            self.expect(result is None or result["day"] == info["day"], "an old result")
        if info["mediumResult"]:
            self.expect(info["mediumResult"]["target"] == info["executedAgent"], "the medium sees who was executed")
        if request == "DAILY_INITIALIZE" and info["day"] > 0:
            dead = set(before["statusMap"]) - {str(agent) for agent in self.living}
            fallen = {str(a) for a in info["lastDeadAgentList"]} | {str(info["executedAgent"])}
            late = {a for a in dead if before["statusMap"][a] == "ALIVE"}
            self.expect(late <= fallen, f"{late} died without a word")
            self.expect(len(info["lastDeadAgentList"]) <= 1, "two died in a night")
            self.expect(info["day"] > 1 or not info["lastDeadAgentList"], "somebody died in night 0")
            self.expect((info["executedAgent"] == -1) == (info["day"] == 1), "an execution every day but on day 0")
            self.expect(bool(info["voteList"]) == (info["day"] > 1), "yesterday's votes")

    def check_history(self, packet: dict[str, Any]) -> None:
        for line in packet["talkHistory"] or ():
            self.expect(line["day"] == self.info["day"], "a talk of another day")
            self.expect(line["idx"] == len(self.talks), "a talk is missing or told twice")
            self.expect(line["agent"] in self.living, "a dead player talks")
            self.talks.append(line)
        self.expect(not packet["whisperHistory"] or self.own_role == "WEREWOLF", "whispers of others")

    def finish(self) -> None:
        roles = self.info["roleMap"]
        counts: dict[str, int] = {}
        for role in roles.values():
            counts[role] = counts.get(role, 0) + 1
        self.expect(counts == ROLE_COUNTS[len(roles)], f"at the end the roles are {counts}")
        wolves = sum(roles[str(agent)] == "WEREWOLF" for agent in self.living)
        self.expect(wolves == 0 or 2 * wolves >= len(self.living), "the game ends before it is decided")
        wolf_side = roles[self.me] in ("WEREWOLF", "POSSESSED")
        self.won.append(wolf_side == (wolves > 0))

    # -- what it says ------------------------------------------------------------------------------------------

    def choose(self, request: str) -> str:
        if request in OF_ROLE:
            self.expect(self.own_role == OF_ROLE[request], f"{request} asked of a {self.own_role}")
        self.expect(request not in ANSWERED or int(self.me) in self.living, f"{request} asked of the dead")
        if request in ("TALK", "WHISPER"):
            return self.line()
        return json.dumps({"agentIdx": self.drawn(self.targets(request))}) if request in ANSWERED else ""

    def targets(self, request: str) -> list[int]:
        """Whom it may choose."""
        fellows = self.info["roleMap"] if request == "ATTACK" else ()
        return [agent for agent in self.living if agent != int(self.me) and str(agent) not in fellows]

    def drawn(self, among: Any) -> Any:
        return among[int(self.rng.integers(len(among)))]

    def line(self) -> str:
        agent = f"Agent[{self.drawn(self.living):02}]"
        me = f"Agent[{int(self.me):02}]"
        return self.drawn(
            (
                "Over",
                "Over",
                "Skip",
                f"ESTIMATE {agent} WEREWOLF",
                f"COMINGOUT {me} SEER",
                f"DIVINED {agent} HUMAN",
                f"VOTE {agent}",
                f"REQUEST ANY (VOTE {agent})",
                f"BECAUSE (DIVINED {agent} WEREWOLF) (VOTE {agent})",
            )
        )
