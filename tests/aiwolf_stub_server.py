"""A server of the AIWolf contest for tests, written from the protocol alone: it uses nothing of parlour.

One agent connects; all others play at random here. The server checks each answer against the rules and keeps what does not fit.
"""

from __future__ import annotations

import json
import re
import socket
from collections import Counter
from typing import Any

import numpy as np

DECKS = {
    5: ["WEREWOLF", "POSSESSED", "SEER", "VILLAGER", "VILLAGER"],
    15: ["WEREWOLF"] * 3 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 8,
}
SENTENCE = re.compile(
    r"Over|Skip|(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+|(Agent\[\d\d\] )?(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+"
    r"|(DIVINED|IDENTIFIED) Agent\[\d\d\] (HUMAN|WEREWOLF)|(ATTACK|VOTE|GUARD) Agent\[\d\d\]"
    r"|REQUEST ANY \(VOTE Agent\[\d\d\]\)"
)


class StubServer:
    """Games with one agent from outside."""

    def __init__(self, players: int, seed: int) -> None:
        self.players, self.rng = players, np.random.default_rng(seed)
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.wrong: list[str] = []
        self.games = self.answers = 0
        self.won: list[bool] = []
        self.said: list[str] = []

    def serve(self, games: int) -> None:
        sock, _ = self.server.accept()
        with self.server, sock, sock.makefile("rb") as self.lines:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = sock
            self.name, self.asked_role = self.ask("NAME"), self.ask("ROLE")
            for _ in range(games):
                self.play()
                self.games += 1

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
        seat = int(match[1]) if match else -1
        if seat not in among:
            self.wrong.append(f"{request} answered with {answer}, accepted: {among}")
            return among[0]
        return seat

    def setting(self) -> dict[str, Any]:
        return {"playerNum": self.players, "roleNumMap": {**Counter(DECKS[self.players]), "FOX": 0}, "maxTalk": 10}

    def info(self, over: bool) -> dict[str, Any]:
        role, me = self.roles[self.me], self.me
        shown = {a: r for a, r in self.roles.items() if over or a == me or role == r == "WEREWOLF"}
        before = self.day - 1
        return {
            "agent": me,
            "day": self.day,
            "roleMap": {str(a): r for a, r in shown.items()},
            "statusMap": {str(a): "ALIVE" if a in self.alive else "DEAD" for a in self.roles},
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

    def judged(self, target: int | None) -> dict[str, Any] | None:
        if target is None:
            return None
        result = "WEREWOLF" if self.roles[target] == "WEREWOLF" else "HUMAN"
        return {"day": self.day, "agent": self.me, "target": target, "result": result}

    # -- the game ----------------------------------------------------------------------------------------------

    def play(self) -> None:
        deck = list(DECKS[self.players])
        self.rng.shuffle(deck)
        self.roles = dict(enumerate(deck, 1))
        self.me = int(self.rng.integers(self.players)) + 1
        self.alive = set(self.roles)
        self.day, self.sent = 0, [0, 0]
        self.talks: list[dict[str, Any]] = []
        self.whispers: list[dict[str, Any]] = []
        self.votes: dict[int, list[dict[str, int]]] = {}
        self.attacks: dict[int, list[dict[str, int]]] = {}
        self.executed: dict[int, int] = {}
        self.attacked: dict[int, int] = {}
        self.divined: dict[int, int] = {}
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
        wolves = any(self.roles[a] == "WEREWOLF" for a in self.alive)
        self.won.append((self.roles[self.me] in ("WEREWOLF", "POSSESSED")) == wolves)

    def over(self) -> bool:
        wolves = sum(self.roles[a] == "WEREWOLF" for a in self.alive)
        return wolves == 0 or 2 * wolves >= len(self.alive)

    def wolves(self) -> list[int]:
        return [a for a in sorted(self.alive) if self.roles[a] == "WEREWOLF"]

    def drawn(self, among: list[int]) -> int:
        return among[int(self.rng.integers(len(among)))]

    def talk(self, history: list[dict[str, Any]], party: list[int], request: str) -> None:
        for turn in range(20):
            texts = {agent: self.line(agent, request) for agent in self.rng.permutation(party).tolist()}
            for agent, text in texts.items():
                history.append({"idx": len(history), "day": self.day, "turn": turn, "agent": agent, "text": text})
            if set(texts.values()) == {"Over"}:
                return

    def line(self, agent: int, request: str) -> str:
        if agent != self.me:
            other = f"Agent[{self.drawn(sorted(self.alive)):02}]"
            said = ("Over", "Over", "Skip", f"ESTIMATE {other} WEREWOLF", f"VOTE {other}", f"DIVINED {other} HUMAN")
            return said[int(self.rng.integers(len(said)))]
        known = bool(self.votes.get(self.day))
        text = self.ask(request, info=known, news=not known)
        self.said.append(text)
        if not SENTENCE.fullmatch(text):
            self.wrong.append(f"{request} answered with {text}")
        return text

    def vote(self) -> bool:
        for _ in range(2):
            cast = {}
            for agent in sorted(self.alive):
                others = sorted(self.alive - {agent})
                again = self.day in self.votes
                if agent == self.me:
                    cast[agent] = self.target("VOTE", others, info=again, news=not again)
                else:
                    cast[agent] = self.drawn(others)
            self.votes[self.day] = [{"day": self.day, "agent": a, "target": t} for a, t in cast.items()]
            top = most(list(cast.values()))
            if len(top) == 1:
                break
        self.executed[self.day] = self.drawn(top)
        self.alive.discard(self.executed[self.day])
        return self.over()

    def night(self) -> None:
        living, wolves = sorted(self.alive), self.wolves()
        flags = {"info": self.day > 0, "news": self.day == 0}
        if self.me in living and self.roles[self.me] == "SEER":
            self.divined[self.day] = self.target("DIVINE", [a for a in living if a != self.me], **flags)
        if len(wolves) > 1:
            self.talk(self.whispers, wolves, "WHISPER")
        if self.day == 0:
            return
        if self.me in living and self.roles[self.me] == "BODYGUARD":
            self.target("GUARD", [a for a in living if a != self.me], **flags)
        humans = [a for a in living if a not in wolves]
        cast = {a: self.target("ATTACK", humans, **flags) if a == self.me else self.drawn(humans) for a in wolves}
        self.attacks[self.day] = [{"day": self.day, "agent": a, "target": t} for a, t in cast.items()]
        self.attacked[self.day] = self.drawn(most(list(cast.values())))
        self.alive.discard(self.attacked[self.day])
        self.dead[self.day + 1] = [self.attacked[self.day]]


def most(votes: list[int]) -> list[int]:
    counts = Counter(votes)
    return sorted(a for a, n in counts.items() if n == max(counts.values()))
