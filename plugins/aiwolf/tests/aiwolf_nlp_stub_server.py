"""A server of aiwolf-nlp for tests, written from the protocol's description alone: it uses nothing of parlour.

One agent connects over a WebSocket; all others play at random here. Names are not `Agent[01]`. Each answer is checked.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
from websockets.sync.server import ServerConnection, serve

DECKS = {
    5: ["WEREWOLF", "POSSESSED", "SEER", "VILLAGER", "VILLAGER"],
    9: ["WEREWOLF"] * 2 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 3,
    13: ["WEREWOLF"] * 3 + ["POSSESSED", "SEER", "MEDIUM", "BODYGUARD"] + ["VILLAGER"] * 6,
}
NAMES = [
    *("Minato", "Takumi", "Kenji", "Ryuji", "Daisuke", "Shion", "Benjamin", "Toshio"),
    *("Jonathan", "Shunichi", "George", "Servas", "Sakura"),
]
LINES = ("Over", "Skip", "Good morning.", "I think {} is a werewolf.", "@{} I am the Seer.", "{} は人狼だと思います。")


class NlpStubServer:
    """One game for each connection."""

    def __init__(self, players: int, seed: int) -> None:
        self.players, self.rng = players, np.random.default_rng(seed)
        self.wrong, self.said, self.won = list[str](), list[str](), list[bool]()
        self.games = 0
        self.server = serve(self.play, "127.0.0.1", 0)
        self.port = self.server.socket.getsockname()[1]

    # -- the protocol ------------------------------------------------------------------------------------------

    def tell(self, request: str, *history: str, setting: bool = False) -> None:
        packet: dict[str, Any] = {"request": request}
        if request != "NAME":
            packet["info"] = self.info(request)
        if setting:
            packet["setting"] = self.setting()
        for which in history:
            lines = self.lines[which]
            packet[f"{which}_history"] = lines[self.sent[which] :]
            self.sent[which] = len(lines)
        self.socket.send(json.dumps(packet))

    def ask(self, request: str, *history: str) -> str:
        self.tell(request, *history)
        answer = self.socket.recv(timeout=20)
        assert isinstance(answer, str)
        return answer

    def target(self, request: str, among: list[str], *history: str) -> str:
        answer = self.ask(request, *history)
        if answer not in among:
            self.wrong.append(f"{request} answered with {answer}, accepted: {among}")
            return among[0]
        return answer

    def setting(self) -> dict[str, Any]:
        talk = {"max_count": {"per_agent": 4, "per_day": 4 * self.players}, "max_length": {}, "max_skip": 0}
        return {
            "agent_count": self.players,
            "role_num_map": dict(Counter(DECKS[self.players])),
            "vote_visibility": True,
            "talk": talk,
            "whisper": talk,
            "vote": {"max_count": 1, "allow_self_vote": True},
            "attack_vote": {"max_count": 1, "allow_self_vote": True, "allow_no_target": False},
            "timeout": {"action": 60000, "response": 120000},
        }

    def info(self, request: str) -> dict[str, Any]:
        role, before = self.roles[self.me], self.night.get(self.day - 1, {})
        shown = {a: r for a, r in self.roles.items() if a == self.me or role == r == "WEREWOLF" or request == "FINISH"}
        info = {"game_id": "game", "day": self.day, "agent": self.me, "role_map": shown}
        info["status_map"] = {a: "ALIVE" if a in self.alive else "DEAD" for a in sorted(self.roles)}
        known = {"executed_agent", "attacked_agent", "vote_list"}
        known |= {"SEER": {"divine_result"}, "MEDIUM": {"medium_result"}, "WEREWOLF": {"attack_vote_list"}}.get(
            role, set()
        )
        return info | {key: value for key, value in before.items() if key in known}

    def judged(self, target: str) -> dict[str, Any]:
        result = "WEREWOLF" if self.roles[target] == "WEREWOLF" else "HUMAN"
        return {"day": self.day, "agent": self.me, "target": target, "result": result}

    # -- the game ----------------------------------------------------------------------------------------------

    def play(self, socket: ServerConnection) -> None:
        self.socket, names = socket, NAMES[: self.players]
        self.roles = dict(zip(names, self.rng.permutation(DECKS[self.players]).tolist(), strict=True))
        self.me = self.drawn(names)
        self.alive, self.day, self.night = set(names), 0, dict[int, dict[str, Any]]()
        self.name = self.ask("NAME")
        self.begin_day()
        self.tell("INITIALIZE", setting=True)
        while True:
            self.begin_day()
            self.tell("DAILY_INITIALIZE", setting=True)
            if self.day == 0:
                self.talk("whisper")
            self.talk("talk")
            wolf = self.roles[self.me] == "WEREWOLF"
            self.tell("DAILY_FINISH", "talk", *(["whisper"] if wolf else []))
            if self.at_night() or self.over():
                break
            self.day += 1
        self.tell("FINISH")
        self.games += 1
        self.won.append((self.roles[self.me] in ("WEREWOLF", "POSSESSED")) == bool(self.of("WEREWOLF")))

    def begin_day(self) -> None:
        self.lines: dict[str, list[dict[str, Any]]] = {"talk": [], "whisper": []}
        self.sent = {"talk": 0, "whisper": 0}

    def over(self) -> bool:
        wolves = len(self.of("WEREWOLF"))
        return wolves == 0 or 2 * wolves >= len(self.alive)

    def of(self, role: str) -> list[str]:
        return [a for a in sorted(self.alive) if self.roles[a] == role]

    def drawn(self, among: list[str]) -> str:
        return among[int(self.rng.integers(len(among)))]

    def talk(self, which: str) -> None:
        party = sorted(self.alive) if which == "talk" else self.of("WEREWOLF")
        if len(party) < 2:
            return
        order, left = self.rng.permutation(party).tolist(), dict.fromkeys(party, 4)
        for turn in range(4):
            for agent in order:
                if left[agent] == 0:
                    continue
                text = self.line(agent, which)
                over, skip = text == "Over", text == "Skip"
                left[agent] = 0 if over else left[agent] - 1
                line = {"idx": len(self.lines[which]), "day": self.day, "turn": turn, "agent": agent, "text": text}
                self.lines[which].append(line | {"skip": skip, "over": over, "time": 0})

    def line(self, agent: str, which: str) -> str:
        if agent != self.me:
            text = LINES[int(self.rng.integers(len(LINES)))].format(self.drawn(sorted(self.alive)))
            return "Over" if text == "Skip" else text  # no skips are allowed
        text = self.ask(which.upper(), which)
        self.said.append(text)
        if not text or "player_" in text or text == "Skip" or "\n" in text:
            self.wrong.append(f"{which} answered with {text!r}")
        return text

    def vote(self, voters: list[str], among: list[str], request: str) -> tuple[list[dict[str, Any]], str]:
        for _ in range(2):
            cast = {}
            for agent in voters:
                history = ["whisper"] if request == "ATTACK" else []
                cast[agent] = self.target(request, among, *history) if agent == self.me else self.drawn(among)
            counts = Counter(cast.values())
            top = sorted(a for a, n in counts.items() if n == max(counts.values()))
            if len(top) == 1:
                break
        return [{"day": self.day, "agent": a, "target": t} for a, t in cast.items()], self.drawn(top)

    def at_night(self) -> bool:
        """Whether the execution ends the game."""
        night = self.night[self.day] = {}
        if self.day == 0:
            self.talk("whisper")
        else:
            living = sorted(self.alive)
            night["vote_list"], out = self.vote(living, living, "VOTE")
            self.alive.discard(out)
            night["executed_agent"], night["medium_result"] = out, self.judged(out)
            if self.over():
                return True
        others = sorted(self.alive - {self.me})
        if self.me in self.of("SEER"):
            night["divine_result"] = self.judged(self.target("DIVINE", others))
        if self.day == 0:
            return False
        self.talk("whisper")
        guarded = self.target("GUARD", others) if self.me in self.of("BODYGUARD") else ""
        humans = [a for a in sorted(self.alive) if self.roles[a] != "WEREWOLF"]
        night["attack_vote_list"], victim = self.vote(self.of("WEREWOLF"), humans, "ATTACK")
        if victim != guarded:
            self.alive.discard(victim)
            night["attacked_agent"] = victim
        return False
