"""A server of aiwolf-nlp for tests, written from the protocol's description alone: it uses nothing of parlour.

One agent connects over a WebSocket. Names are not `Agent[01]`.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from aiwolf_village import DECKS, StubVillage
from websockets.sync.server import ServerConnection, serve

NAMES = [
    *("Minato", "Takumi", "Kenji", "Ryuji", "Daisuke", "Shion", "Benjamin", "Toshio"),
    *("Jonathan", "Shunichi", "George", "Servas", "Sakura"),
]
LINES = ("Over", "Skip", "Good morning.", "I think {} is a werewolf.", "@{} I am the Seer.", "{} は人狼だと思います。")


class NlpStubServer(StubVillage):
    """One game for each connection."""

    def __init__(self, players: int, seed: int) -> None:
        super().__init__(players, seed)
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
        return self.checked(request, answer, answer, among)

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
        info = {"game_id": "game", "day": self.day, "agent": self.me}
        info |= {"role_map": self.shown(request == "FINISH"), "status_map": self.status()}
        known = {"executed_agent", "attacked_agent", "vote_list"}
        known |= {"SEER": {"divine_result"}, "MEDIUM": {"medium_result"}, "WEREWOLF": {"attack_vote_list"}}.get(
            role, set()
        )
        return info | {key: value for key, value in before.items() if key in known}

    # -- the game ----------------------------------------------------------------------------------------------

    def play(self, socket: ServerConnection) -> None:
        self.socket, self.night = socket, dict[int, dict[str, Any]]()
        self.deal(NAMES[: self.players])
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
        self.ended()

    def begin_day(self) -> None:
        self.lines: dict[str, list[dict[str, Any]]] = {"talk": [], "whisper": []}
        self.sent = {"talk": 0, "whisper": 0}

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

    def at_night(self) -> bool:
        """Whether the execution ends the game."""
        night = self.night[self.day] = {}
        if self.day == 0:
            self.talk("whisper")
        else:
            living, night["vote_list"] = sorted(self.alive), []
            out = self.ballot(night["vote_list"], living, lambda _: living, lambda among: self.target("VOTE", among))
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
        attacks = night["attack_vote_list"] = []
        ask = lambda among: self.target("ATTACK", among, "whisper")  # noqa: E731
        victim = self.ballot(attacks, self.of("WEREWOLF"), lambda _: humans, ask)
        if victim != guarded:
            self.alive.discard(victim)
            night["attacked_agent"] = victim
        return False
