"""`parlour serve` under load: many clients at once, a few of whose requests meet faults on purpose.

Each client has one connection and asks a question of a game, again and again, with a pause between. Which fault a request
shall meet is known beforehand (`FaultDraw`), so that every reply is held to what was asked for: a status of 500 and more
without its fault, or a broken reply without its fault, is told and ends with exit code 1; so does memory that grows.
Latencies are those of requests without a fault.

python scripts/bench/serve_load.py [--minutes 10] [--clients 500] [--faults 0.05] [--pause 1.0] [--seed 0]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from parlour.policies import ChatPlayer
from parlour.policies.llm.model import OfflineModel
from parlour.policies.llm.server.settings import FAULTS, FaultDraw
from parlour.training.play import rollout
from processes import Watch, server

STATUS = {"429": 429, "500": 500, "503": 503, "filter": 400, "timeout": 504, "reset": 0, "chunks": 0}
"""Kind of fault -> status of the reply, 0 for one that breaks off; of all others 200."""
WAIT = 60.0
"""Seconds after which a client gives up: no reply, and nobody asked for that."""


class Load:
    """The clients, and what they got."""

    def __init__(self, url: str, draw: FaultDraw, pause: float) -> None:
        self._address, self._draw, self._pause = urlsplit(url), draw, pause
        self.got: Counter[tuple[str, int]] = Counter()
        """(fault, status) -> requests."""
        self.seconds: list[float] = []

    async def run(self, clients: int, minutes: float) -> None:
        """Let all clients ask for so many minutes."""
        until = time.monotonic() + 60 * minutes
        await asyncio.gather(*(self.client(number, until) for number in range(clients)))

    async def client(self, number: int, until: float) -> None:
        """One client: asks until the time is up."""
        await asyncio.sleep(self._pause * (number % 100) / 100)
        prompt, sent, streams = asked(number), 0, None
        while time.monotonic() < until:
            body = json.dumps({"model": "m", "user": f"{number}-{sent}", "messages": prompt}).encode()
            sent += 1
            fault, began = self._draw(body), time.monotonic()
            try:
                streams = streams or await asyncio.open_connection(self._address.hostname, self._address.port)
                status = await asyncio.wait_for(self._ask(*streams, body), WAIT)
            except (TimeoutError, OSError, asyncio.IncompleteReadError):
                status = 0
            if status == 0 and streams is not None:
                streams[1].close()
                streams = None
            self.got[fault or "none", status] += 1
            if fault is None:
                self.seconds.append(time.monotonic() - began)
            await asyncio.sleep(self._pause)
        if streams is not None:
            streams[1].close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> int:
        """The status of a reply that came whole."""
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).lower().decode()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
        if "content-length" in fields:
            await reader.readexactly(int(fields["content-length"]))
        else:
            size = 1
            while size:
                size = int(await reader.readuntil(b"\r\n"), 16)
                await reader.readexactly(size + 2)
        return int(head.split()[1])

    def unasked(self) -> dict[str, int]:
        """What nobody asked for: fault and status -> requests."""
        return {
            f"{fault} -> {status or 'no reply'}": n
            for (fault, status), n in self.got.items()
            if status != STATUS.get(fault, 200)
        }


def asked(number: int) -> list[dict[str, str]]:
    """The messages of a client: a question of a player of Avalon."""
    questions: list[Any] = []

    class Listening(OfflineModel):
        def answer(self, question: Any, context: Any) -> Any:
            questions.append(question)
            return super().answer(question, context)

    if not PROMPTS:
        model = Listening()
        rollout.play(rollout.table("avalon_v0", num_players=5), [ChatPlayer(model) for _ in range(5)], 1)
        PROMPTS.extend(question.prompt() for question in questions[:40])
    return [{"role": "user", "content": PROMPTS[number % len(PROMPTS)]}]


PROMPTS: list[str] = []


def main() -> None:
    """Run the server and its clients, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, default in (("minutes", float, 10.0), ("clients", int, 500), ("pause", float, 1.0)):
        parser.add_argument(f"--{name}", type=kind, default=default)
    parser.add_argument("--faults", type=float, default=0.05, help="share of the requests, all kinds together")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rates = {kind: given.faults / len(FAULTS) for kind in FAULTS}
    text = ",".join(f"{kind}={rate}" for kind, rate in rates.items())
    with server("--fault", text, "--seed", str(given.seed), "--hang", "3") as (url, pid):
        load = Load(url, FaultDraw(rates, given.seed), given.pause)
        with Watch("server", pid) as watch:
            asyncio.run(load.run(given.clients, given.minutes))
    show(load, watch, given)


def show(load: Load, watch: Watch, given: argparse.Namespace) -> None:
    """Print, and leave with 1 if anything is not as it should be."""
    total, n = sum(load.got.values()), len(load.seconds)
    statuses = Counter[int]()
    for (_, status), number in load.got.items():
        statuses[status] += number
    faults = sum(number for (fault, _), number in load.got.items() if fault != "none")
    print(
        f"{given.clients} clients, {given.minutes:g} minutes: {total} requests ({total / given.minutes / 60:.0f} a second)"
    )
    print("statuses: " + ", ".join(f"{status or 'broken off'}: {k}" for status, k in sorted(statuses.items())))
    print(f"faults asked for: {faults} ({faults / total:.1%}); not asked for: {load.unasked() or 'none'}")
    p50, p95, p99, most = np.percentile(load.seconds, [50, 95, 99, 100])
    print(f"seconds without a fault: p50 {p50:.3f}, p95 {p95:.3f}, p99 {p99:.3f}, most {most:.3f}, n={n}")
    watch.show()
    sys.exit(1 if load.unasked() or not watch.level else 0)


if __name__ == "__main__":
    main()
