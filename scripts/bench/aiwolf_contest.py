"""How long a contest game of AIWolf takes: the server here, and all agents, which play at random, in one other process.

The agents use the protocol alone. Printed for each game: seconds of clock, and processor time of the server and of the agents.

python scripts/bench/aiwolf_contest.py [--players 15] [--games 20] [--quick]
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
from multiprocessing import get_context
from time import perf_counter, process_time
from typing import Any

import numpy as np
from parlour.training.harnesses.aiwolf.contest import Contest, ContestSettings, close, connected, listening

_NO_INFO = b'"gameInfo":null'
_SKIPPED = 0.5
"""How often an agent says nothing in a turn of talk."""


class RandomAgent:
    """One agent: it knows who is alive, itself, and as a wolf its fellows."""

    def __init__(self, port: int, number: int, quick: bool) -> None:
        self.quick = quick
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.name, self.rng, self.buffer = f"random{number}", np.random.default_rng(number), b""
        self.others: list[int] = []
        self.fellows: set[int] = set()

    def receive(self) -> bool:
        """Answer what has come; False once the server has closed the connection."""
        got = self.sock.recv(1 << 16)
        *lines, self.buffer = (self.buffer + got).split(b"\n")
        for line in lines:
            if (answer := self.answer(self.read(line))) is not None:
                self.sock.sendall(answer.encode() + b"\n")
        return bool(got)

    def read(self, line: bytes) -> dict[str, Any]:
        """The packet; where it has no `gameInfo`, a quick agent reads the request alone."""
        if self.quick and line.find(_NO_INFO, 0, 64) > 0:
            return {"request": line.split(b'"', 4)[3].decode(), "gameInfo": None}
        packet: dict[str, Any] = json.loads(line)
        return packet

    def answer(self, packet: dict[str, Any]) -> str | None:
        """A line, or None for a request without an answer."""
        request, info = packet["request"], packet["gameInfo"]
        if info is not None:
            alive = (int(agent) for agent, status in info["statusMap"].items() if status == "ALIVE")
            self.others = [agent for agent in alive if agent != info["agent"]]
            self.fellows = {int(agent) for agent in info["roleMap"]}
        if request in ("NAME", "ROLE"):
            return self.name if request == "NAME" else "none"
        if request in ("TALK", "WHISPER"):
            silent = self.rng.random() < _SKIPPED
            return "Skip" if silent else f"ESTIMATE Agent[{self.drawn(self.others):02}] WEREWOLF"
        if request in ("VOTE", "DIVINE", "GUARD", "ATTACK"):
            barred = self.fellows if request == "ATTACK" else set()
            return json.dumps({"agentIdx": self.drawn([agent for agent in self.others if agent not in barred])})
        return None

    def drawn(self, among: list[int]) -> int:
        """One of them."""
        return among[int(self.rng.integers(len(among)))]


def agents(port: int, players: int, quick: bool, used: Any) -> None:
    """All agents, until the server has closed; writes the processor time that they used."""
    waiting = selectors.DefaultSelector()
    for number in range(players):
        agent = RandomAgent(port, number, quick)
        waiting.register(agent.sock, selectors.EVENT_READ, agent)
    started = process_time()
    while waiting.get_map():
        for key, _ in waiting.select():
            if not key.data.receive():
                waiting.unregister(key.fileobj)
                key.data.sock.close()
    used.value = process_time() - started


def main(players: int, games: int, quick: bool) -> None:
    """Play and print."""
    chosen = ContestSettings(players=players, agents=players, games=games, time_limit=5.0)
    context = get_context("spawn")
    used = context.Value("d", 0.0)
    with listening("127.0.0.1", 0) as server:
        process = context.Process(target=agents, args=(server.getsockname()[1], players, quick, used))
        process.start()
        entrants = connected(server, chosen)
    clock, processor = perf_counter(), process_time()
    played = Contest(chosen, entrants, None)
    try:
        played.play()
    finally:
        clock, processor = perf_counter() - clock, process_time() - processor
        close(entrants)
        process.join()
    forfeits = sum(entrant.agent.forfeits.total() for entrant in entrants)
    print(
        f"{games} games of {players}: {clock / games:.3f} s of clock a game; processor time: server {processor / games:.3f} s, "
        f"agents {used.value / games:.3f} s; forfeits {forfeits}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--players", type=int, default=15)
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="agents decode only lines with gameInfo")
    given = parser.parse_args()
    main(given.players, given.games, given.quick)
