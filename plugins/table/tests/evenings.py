"""Evenings at a live table: scripted people play three games, lose their connections, send moves twice; the table restarts.

`python tests/evenings.py [--evenings N] [--game GAME]` plays N evenings, and holds each transcript to what the people chose: no move
is lost, none counts twice.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from live_tables import next_message, opened, socket_of
from parlour.envs import replay
from parlour.envs.language.seat_names import GIVEN, SeatNames
from parlour_table.live.opening import OpenTable

GAMES = 3


class Person(threading.Thread):
    """Plays until a game is over: what it answers depends on the evening, the game and how many turns it had.

    Args:
        opening: The table.
        seat: Where it sits.
        evening: Its seed.
        until: The game after which it leaves.
        begins: Whether it asks for the next game.
    """

    def __init__(self, opening: OpenTable, seat: int, evening: int, until: int, *, begins: bool) -> None:
        super().__init__(daemon=True)
        self.opening, self.seat, self.until, self.begins = opening, seat, until, begins
        self.rng = np.random.default_rng((evening, seat, until))
        self.chosen: dict[int, dict[int, str]] = {}
        """Game -> turn -> the sentence that was chosen, with names."""
        self.reconnects = self.doubled = 0
        self.error: BaseException | None = None
        self._game, self._over = 0, False

    def run(self) -> None:
        try:
            while not self._over:
                with socket_of(self.opening, self.opening.keys.of(self.seat)) as socket:
                    while not self._over and self._goes_on(next_message(socket, 60), socket):
                        pass
                self.reconnects += not self._over
        except BaseException as error:
            self.error = error

    def _goes_on(self, message: dict[str, Any], socket: Any) -> bool:
        """Take a message; False: the connection is lost now."""
        if message["type"] == "table":
            self._game = message["number"]
        elif message["type"] == "asked":
            return self._answer(message, socket)
        elif message["type"] == "over":
            self._over = message["number"] == self.until
            if self.begins and not self._over:
                socket.send(json.dumps({"type": "next", "game": message["number"]}))
        elif message["type"] == "gone":
            raise RuntimeError(message["why"])
        return True

    def _answer(self, asked: dict[str, Any], socket: Any) -> bool:
        turns = self.chosen.setdefault(self._game, {})
        if asked["turn"] not in turns:
            turns[asked["turn"]] = asked["options"][int(self.rng.integers(len(asked["options"])))]
        move = {"type": "move", "turn": asked["turn"], "option": asked["options"].index(turns[asked["turn"]])}
        fate = self.rng.random()
        if fate < 0.1:  # lost before the move
            return False
        socket.send(json.dumps(move))
        if fate < 0.2:  # pressed twice
            self.doubled += 1
            socket.send(json.dumps(move))
        if fate < 0.3:  # lost behind it
            socket.socket.close()
            return False
        return True


def evening(
    folder: Path, number: int, game: str, people: Sequence[int] = (0, 1), **chosen: Any
) -> tuple[dict[str, int], list[str]]:
    """Play an evening, the last game at a table that was opened anew; counts, and what differs."""
    named = {"names": GIVEN[: chosen.get("num_players", 8)], "games": None, "seed": 1000 * number}
    made = {"moves": 0, "reconnects": 0, "doubled": 0}
    wrong: list[str] = []
    expected: dict[tuple[int, int], list[str]] = {}
    for until in (GAMES - 1, GAMES):
        with opened(folder, game, people, **named, **chosen) as opening:
            sitting = [Person(opening, seat, number, until, begins=seat == people[0]) for seat in people]
            for person in sitting:
                person.start()
            for person in sitting:
                person.join(300)
        wrong += [f"seat {person.seat}: {person.error!r}" for person in sitting if person.error or person.is_alive()]
        for person in sitting:
            made["reconnects"] += person.reconnects
            made["doubled"] += person.doubled
            for played, turns in person.chosen.items():
                expected[played, person.seat] = [turns[turn] for turn in sorted(turns)]
    for (played, seat), sentences in sorted(expected.items()):
        spoken = said(folder / f"{game}-{played}.jsonl", seat, SeatNames(named["names"]))
        made["moves"] += len(spoken)
        if spoken != sentences:
            wrong.append(
                f"evening {number}, game {played}, seat {seat}: {len(sentences)} chosen, {len(spoken)} in the record"
            )
    if len({played for played, _ in expected}) != GAMES:
        wrong.append(f"evening {number}: not {GAMES} games were played")
    return made, wrong


def said(path: Path, seat: int, names: SeatNames) -> list[str]:
    """The moves of a seat in a transcript, as sentences with names."""
    transcript = replay.Transcript.read(path)
    text = replay.text_of(transcript)
    return [names.shown(text.say(row.move)) for row in transcript.entries if row.seat == seat and row.move is not None]


def main() -> None:
    """Play as the first lines of this file say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--evenings", type=int, default=50)
    parser.add_argument("--game", default="avalon_v0")
    options = parser.parse_args()
    totals, wrong, began = {"moves": 0, "reconnects": 0, "doubled": 0}, list[str](), time.monotonic()
    for number in range(options.evenings):
        with tempfile.TemporaryDirectory() as folder:
            made, findings = evening(Path(folder), number, options.game)
        totals = {key: totals[key] + made[key] for key in totals}
        wrong += findings
    summary = ", ".join(f"{count} {what}" for what, count in totals.items())
    print(
        f"{options.game}: {options.evenings} evenings of {GAMES} games, {time.monotonic() - began:.0f} s: {summary}; {len(wrong)} differences"
    )
    print(*wrong[:20], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
