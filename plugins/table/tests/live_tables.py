"""Yardsticks for live tables: browsers that are scripted over WebSockets, and what they should have been sent.

What a place should be sent is made anew from the transcript, by `Game.view` and `parlour.envs.language.text.render` alone.
`python tests/live_tables.py [GAME ...] [--games N]` plays N games of each game with a scripted browser at every seat and one
that watches, and compares every message.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from parlour.envs import replay
from parlour.envs.adapters.wording import worded_kinds
from parlour.envs.core import OVER
from parlour.envs.language.free_words import FreeWords
from parlour.envs.language.headings import headings_of
from parlour.envs.language.seat_names import SeatNames
from parlour.envs.language.speech import ACTS
from parlour.envs.language.text import compose, options, render, waiting
from parlour.policies.llm.model import OfflineModel
from parlour.policies.voice.spoken import make_player
from parlour.training.play.rollout import table
from parlour_table.live.games import Plan
from parlour_table.live.opening import OpenTable
from parlour_table.live.settings import WATCHING, Keys, TableSettings
from websockets.sync.client import ClientConnection, connect

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e I accuse player_1 of being evil. {{7*7}}"
WORDS = (HOSTILE, "I trust player_2, and I recommend player_0.", "x" * 4000, "?", "\u8c01\u662f\u72fc\u4eba\uff1f")
FIELDS = {
    "waiting": {"type", "title", "language", "name", "lines", "rules", "people", "others", "links", "near"},
    "table": {"type", "number", "games", "title", "agents", "seat", "language", "clock", "coach", "session"},
    "who": {"type", "own", "rules", "names"},
    "told": {"type", "from", "lines"},
    "board": {"type", "phase", "tracks", "seats", "seconds"},
    "asked": {"type", "turn", "ask", "about", "options", "words", "refused", "seconds", "hint"},
    "reading": {"type", "turn", "words", "claim", "why"},
    "review": {"type", "number", "decisions"},
    "taken": {"type", "turn", "by", "why"},
    "refused": {"type", "why", "turn"},
    "over": {"type", "number", "games", "end", "replay", "turned", "seats", "lines", "evening"},
    "gone": {"type", "why"},
}
FAST = TableSettings(message_rate=1e9, message_burst=10**9, pause=0.0)
GAMES = ("avalon_v0", "werewolf_v0", "murder_mystery_v0", "mediated_qa_v0")


@contextmanager
def opened(
    folder: Path,
    game: str = "template_v0",
    people: Sequence[int] | None = None,
    *,
    settings: TableSettings = FAST,
    games: int | None = 1,
    seed: int = 0,
    names: Sequence[str] = (),
    secret: str | None = None,
    other: str = "heuristic",
    talk: str = "claims",
    coach: bool = False,
    **chosen: Any,
) -> Iterator[OpenTable]:
    """An open table in threads of this process; `people` sit at these seats, by default at all."""
    env = table(game, **chosen)
    base = env.game_env
    seats = range(base.game.seats) if people is None else people
    players = [
        ("human", None)
        if seat in seats
        else (other, make_player(other, base.spec, base.game.config, OfflineModel(), talk))
        for seat in range(base.game.seats)
    ]
    opening = OpenTable(
        env,
        players,
        Plan(folder, games, seed, names=SeatNames(names), coach=coach),
        Keys(tuple(seats), secret),
        settings,
    )
    with opening.opened():
        yield opening


@contextmanager
def socket_of(opening: OpenTable, key: str | None, origin: str | None = None) -> Iterator[ClientConnection]:
    """A connection that has sent its key, if it is given one."""
    url = opening.url.replace("http", "ws") + "/table"
    with connect(url, origin=origin or opening.url, max_size=None, compression=None) as made:
        if key is not None:
            made.send(json.dumps({"type": "sit", "key": key}))
        yield made


def next_message(socket: ClientConnection, seconds: float = 20) -> dict[str, Any]:
    """The next message."""
    return json.loads(socket.recv(seconds))


def until(socket: ClientConnection, kind: str, seconds: float = 20) -> dict[str, Any]:
    """The next message of a kind."""
    while (message := next_message(socket, seconds))["type"] != kind:
        pass
    return message


class Browser(threading.Thread):
    """A scripted browser: plays at random, keeps whatever it is sent, and goes on until the last game is over."""

    def __init__(self, opening: OpenTable, place: int, seed: int = 0, *, begins: bool = False) -> None:
        super().__init__(daemon=True)
        self.opening, self.place, self.begins = opening, place, begins
        self.rng = np.random.default_rng((seed, place + 1))
        self.sent: list[dict[str, Any]] = []
        self.error: BaseException | None = None
        self._asked: dict[str, Any] = {}

    def run(self) -> None:
        try:
            with socket_of(self.opening, self.opening.keys.of(self.place)) as socket:
                while not self._take(next_message(socket, 120), socket):
                    pass
        except BaseException as error:
            self.error = error

    def _take(self, message: dict[str, Any], socket: ClientConnection) -> bool:
        self.sent.append(message)
        kind = message["type"]
        if kind == "asked":
            self._asked = message
        if kind in ("asked", "refused"):
            socket.send(json.dumps({"type": "move", "turn": self._asked["turn"], **self._answer(kind == "refused")}))
        if kind == "over" and self.begins and message["number"] < message["games"]:
            socket.send(json.dumps({"type": "next", "game": message["number"]}))
        return kind == "gone" or (kind == "over" and message["number"] == message["games"])

    def _answer(self, again: bool) -> dict[str, Any]:
        if self._asked["words"] and not again and self.rng.random() < 0.3:
            return {"words": WORDS[int(self.rng.integers(len(WORDS)))]}
        return {"option": int(self.rng.integers(len(self._asked["options"])))}

    def games(self) -> list[list[dict[str, Any]]]:
        """The messages of each game."""
        groups: list[list[dict[str, Any]]] = []
        for message in self.sent:
            if message["type"] == "table":
                groups.append([])
            if message["type"] != "waiting":  # `test_waiting` looks at these
                groups[-1].append(message)
        return groups


def browsed(opening: OpenTable, *places: int) -> list[Browser]:
    """Browsers at these places, when all games are over."""
    browsers = [Browser(opening, place) for place in places]
    for browser in browsers:
        browser.start()
    for browser in browsers:
        browser.join(60)
        assert browser.error is None
    return browsers


def move(turn: int, **answer: Any) -> str:
    """A person's answer, as it is sent."""
    return json.dumps({"type": "move", "turn": turn, **answer})


def differences(sent: Sequence[dict[str, Any]], path: Path, place: int) -> list[str]:
    """Where the messages of one game differ from what the place may be sent, by its transcript."""
    file = replay.Transcript.read(path)
    game, text = file.game(), replay.text_of(file)
    headings = headings_of(text)
    stops = [state for state in replay.states(game, file.moves) if game.actor(state) >= 0 or game.actor(state) == OVER]
    wrong = [f"fields of {m['type']}: {sorted(m)}" for m in sent if set(m) != FIELDS[m["type"]]]
    before = [m for m in sent if m["type"] != "over"]
    if [m["type"] for m in sent][-1:] != ["over"] or len(before) != len(sent) - 1:
        wrong.append("the game is not over with the last message, or before it")
    views = [game.view(state, max(place, 0)) for state in stops]
    called = [list(getattr(views[-1], "names", ()))]
    if [m["names"] for m in sent if m["type"] == "who"] != called:
        wrong.append("the seats are called otherwise than in the View")
    if place == WATCHING:
        return wrong + _watched(before, views, text)
    spoken = {*ACTS, *worded_kinds(game)}
    kinds = {e: _kind(e, spoken) for view in views[-1:] for e in view.events}
    prose = list(_prose(before, headings))
    waits = [said(render(text, view._replace(legal=()))) for view in views]
    if [text for kind, text in prose if kind == "told"] != [wait for wait, _ in groupby(waits)]:
        wrong.append("the texts are not those of the seat's Views, one after another")
    turns = [said(render(text, view)) for state, view in zip(stops, views, strict=True) if game.actor(state) == place]
    if [text for kind, text in prose if kind == "asked"] != turns:
        wrong.append("what was asked is not what the Views at the seat's turns offer")
    lines = [line for m in before if m["type"] == "told" for line in m["lines"]]
    facts = [
        {"seat": e.seat, "kind": kinds[e], "secret": e.to is not None, "text": FreeWords.as_said(text.line(e))}
        for e in views[-1].events
    ]
    return wrong if lines == facts else [*wrong, "the speakers of the lines are not those of the View"]


def said(prose: str) -> str:
    """Prose as people read it: words without a claim stand as they were said."""
    return "".join(map(FreeWords.as_said, prose.splitlines(keepends=True)))


def _kind(event: Any, spoken: set[str]) -> str:
    if event.seat < 0:
        return "told"
    return "said" if event.move.words or event.move.kind in spoken else "did"


def _prose(sent: Sequence[dict[str, Any]], headings: Any) -> Iterator[tuple[str, str]]:
    """The seat's prose after each message that adds to the record, and at each of its turns, by the kind of message."""
    who, lines = "", []
    for message in sent:
        if message["type"] == "who":
            who = message["own"] + message["rules"]
        elif message["type"] == "told":
            lines += [line["text"] for line in message["lines"]]
            yield "told", compose(who, lines, waiting(headings), headings)
        elif message["type"] == "asked":
            yield "asked", compose(who, lines, options(message["ask"], message["options"], headings), headings)


def _watched(sent: Sequence[dict[str, Any]], views: Sequence[Any], text: Any) -> list[str]:
    """Who watches is told the rules and the lines that everybody sees, and nothing else."""
    wrong = [f"a watcher is sent {m['type']}" for m in sent if m["type"] not in ("table", "who", "told", "board")]
    lines = [line for m in sent if m["type"] == "told" for line in m["lines"]]
    public = [FreeWords.as_said(text.line(event)) for event in views[-1].events if event.to is None]
    if [line["text"] for line in lines] != public or any(line["secret"] for line in lines):
        wrong.append("a watcher is told other lines than those that everybody sees")
    alike = {(m["own"], m["rules"]) for m in sent if m["type"] == "who"}
    common = getattr(text, "common", lambda _: "")(views[-1])
    return (
        wrong
        if alike <= {(common, getattr(text, "rules", "").rstrip("\n"))}
        else [*wrong, "a watcher is told of a seat"]
    )


def play_and_compare(
    folder: Path, game: str, games: int, seed: int = 0, **chosen: Any
) -> tuple[Counter[str], list[str]]:
    """Play games with a browser at every place; how many messages of each kind were compared, and what differs."""
    with ExitStack() as stack:
        opening = stack.enter_context(opened(folder, game, games=games, seed=seed, **chosen))
        browsers = [Browser(opening, place, seed, begins=place == 0) for place in opening.boards]
        for browser in reversed(browsers):  # the watcher is there before the game begins
            browser.start()
            while browser.place == WATCHING and not opening.boards[WATCHING].come.is_set():
                time.sleep(0.01)
        for browser in browsers:
            browser.join(3600)
    wrong = [f"place {browser.place}: {browser.error!r}" for browser in browsers if browser.error is not None]
    counts = Counter(m["type"] for browser in browsers for m in browser.sent)
    for browser in browsers:
        played = browser.games()
        if len(played) != games:
            wrong.append(f"place {browser.place} was sent {len(played)} games of {games}")
        for number, sent in enumerate(played, 1):
            path = folder / f"{game}-{number}.jsonl"
            wrong += [
                f"{game}-{number}, place {browser.place}: {difference}"
                for difference in differences(sent, path, browser.place)
            ]
    return counts, wrong


def main() -> None:
    """Play and compare as the first lines of this file say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("game", nargs="*", default=GAMES)
    parser.add_argument("--games", type=int, default=200)
    given = parser.parse_args()
    failed = False
    for game in given.game:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            counts, wrong = play_and_compare(Path(folder), game, given.games)
        text = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
        print(f"{game}: {given.games} games, {time.monotonic() - began:.0f} s: {text}; {len(wrong)} differences")
        print(*wrong[:10], sep="\n")
        failed |= bool(wrong)
    sys.exit(failed)


if __name__ == "__main__":
    main()
