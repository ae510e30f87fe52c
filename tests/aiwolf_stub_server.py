"""A server of the AIWolf contest for tests, written from the protocol alone: it uses nothing of parlour."""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from typing import Any

from aiwolf_village import DECKS, StubVillage

SENTENCE = re.compile(
    r"Over|Skip|(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+|(Agent\[\d\d\] )?(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+"
    r"|(DIVINED|IDENTIFIED) Agent\[\d\d\] (HUMAN|WEREWOLF)|(ATTACK|VOTE|GUARD) Agent\[\d\d\]"
    r"|REQUEST ANY \(VOTE Agent\[\d\d\]\)"
)
Lines = list[dict[str, Any]]


class StubServer(StubVillage):
    """Games with one agent from outside."""

    def __init__(self, players: int, seed: int) -> None:
        super().__init__(players, seed)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.answers = 0

    def serve(self, games: int) -> None:
        sock, _ = self.server.accept()
        with self.server, sock, sock.makefile("rb") as self.lines:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = sock
            self.name, self.asked_role = self.ask("NAME"), self.ask("ROLE")
            for _ in range(games):
                self.play()

    # -- the protocol ------------------------------------------------------------------------------------------

    def tell(self, request: str, *, info: bool = False, setting: bool = False, news: bool = False) -> None:
        packet: dict[str, Any] = {"request": request, "gameInfo": self.info(request == "FINISH") if info else None}
        packet["gameSetting"] = self.setting() if setting else None
        packet["talkHistory"] = packet["whisperHistory"] = None
        if news:
            wolf = self.roles[self.me] == "WEREWOLF"
            packet["talkHistory"] = self.talks[self.sent[0] :]
            packet["whisperHistory"] = self.whispers[self.sent[1] :] if wolf else []
            self.sent = [len(self.talks), len(self.whispers)]
        self.sock.sendall(json.dumps(packet).encode() + b"\n")

    def ask(self, request: str, **flags: bool) -> str:
        self.tell(request, **flags)
        self.answers += 1
        return self.lines.readline().decode().rstrip("\n")

    def target(self, request: str, among: list[int], **flags: bool) -> int:
        answer = self.ask(request, **flags)
        match = re.fullmatch(r'\{"agentIdx":(\d+)\}', answer)
        return self.checked(request, answer, int(match[1]) if match else -1, among)

    def setting(self) -> dict[str, Any]:
        return {"playerNum": self.players, "roleNumMap": {**Counter(DECKS[self.players]), "FOX": 0}, "maxTalk": 10}

    def info(self, over: bool) -> dict[str, Any]:
        role, before = self.roles[self.me], self.day - 1
        return {
            "agent": self.me,
            "day": self.day,
            "roleMap": self.shown(over),
            "statusMap": self.status(),
            "talkList": self.talks,
            "whisperList": self.whispers if role == "WEREWOLF" else [],
            "voteList": self.votes.get(before, []),
            "latestVoteList": self.votes.get(self.day, []),
            "attackVoteList": self.attacks.get(before, []) if role == "WEREWOLF" else [],
            "latestAttackVoteList": self.attacks.get(self.day, []) if role == "WEREWOLF" else [],
            "executedAgent": self.executed.get(before, -1),
            "latestExecutedAgent": self.executed.get(self.day, -1),
            "attackedAgent": self.attacked.get(before, -1) if role == "WEREWOLF" else -1,
            "guardedAgent": -1,
            "lastDeadAgentList": self.dead.get(self.day, []),
            "divineResult": self.judged(self.divined.get(before)) if role == "SEER" else None,
            "mediumResult": self.judged(self.executed.get(before)) if role == "MEDIUM" else None,
        }

    # -- the game ----------------------------------------------------------------------------------------------

    def play(self) -> None:
        self.deal(list(range(1, self.players + 1)))
        self.sent = [0, 0]
        self.talks, self.whispers = Lines(), Lines()
        self.votes, self.attacks = dict[int, Lines](), dict[int, Lines]()
        self.executed, self.attacked, self.divined = dict[int, int](), dict[int, int](), dict[int, int]()
        self.dead: dict[int, list[int]] = {}
        self.tell("INITIALIZE", info=True, setting=True)
        while True:
            if self.me in self.alive:
                self.tell("DAILY_INITIALIZE", info=True, setting=True)
            if self.day:
                self.talk(self.talks, sorted(self.alive), "TALK")
            if self.me in self.alive:
                self.tell("DAILY_FINISH", news=True)
            if self.day and self.vote():
                break
            self.night()
            if self.over():
                break
            self.day, self.talks, self.whispers, self.sent = self.day + 1, [], [], [0, 0]
        self.tell("FINISH", info=True)
        self.ended()

    def talk(self, history: Lines, party: list[int], request: str) -> None:
        for turn in range(20):
            texts = {agent: self.line(agent, request) for agent in self.rng.permutation(party).tolist()}
            for agent, text in texts.items():
                history.append({"idx": len(history), "day": self.day, "turn": turn, "agent": agent, "text": text})
            if set(texts.values()) == {"Over"}:
                return

    def line(self, agent: int, request: str) -> str:
        if agent != self.me:
            other = f"Agent[{self.drawn(sorted(self.alive)):02}]"
            return self.drawn(
                ("Over", "Over", "Skip", f"ESTIMATE {other} WEREWOLF", f"VOTE {other}", f"DIVINED {other} HUMAN")
            )
        known = bool(self.votes.get(self.day))
        text = self.ask(request, info=known, news=not known)
        self.said.append(text)
        if not SENTENCE.fullmatch(text):
            self.wrong.append(f"{request} answered with {text}")
        return text

    def vote(self) -> bool:
        votes = self.votes[self.day] = Lines()
        self.executed[self.day] = self.ballot(
            votes,
            sorted(self.alive),
            lambda agent: sorted(self.alive - {agent}),
            lambda others: self.target("VOTE", others, info=bool(votes), news=not votes),
        )
        self.alive.discard(self.executed[self.day])
        return self.over()

    def night(self) -> None:
        wolves, others = self.of("WEREWOLF"), sorted(self.alive - {self.me})
        flags = {"info": self.day > 0, "news": self.day == 0}
        if self.me in self.of("SEER"):
            self.divined[self.day] = self.target("DIVINE", others, **flags)
        if len(wolves) > 1:
            self.talk(self.whispers, wolves, "WHISPER")
        if self.day == 0:
            return
        if self.me in self.of("BODYGUARD"):
            self.target("GUARD", others, **flags)
        humans = [agent for agent in sorted(self.alive) if agent not in wolves]
        attacks = self.attacks[self.day] = Lines()
        victim = self.ballot(attacks, wolves, lambda _: humans, lambda among: self.target("ATTACK", among, **flags))
        self.alive.discard(victim)
        self.attacked[self.day], self.dead[self.day + 1] = victim, [victim]
