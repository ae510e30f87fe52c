"""A murder mystery in numbers: what a seat knows as a vector of features in [-1, 1]. A function of a View.

Layout, for n seats and V victims: one-hot own seat (n); one number for being a murderer, V for the own victims; one-hot phase
(7), topic (6) and victim (V); the whole game (`_TABLE`); then, seat after seat, the features `_SEAT_FEATURES` and for each
victim whether it is the main suspect and its share of the votes.

Only facts told in structured form count as claims; free words are not read.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

import numpy as np
from parlour.envs.core import NATURE
from parlour.envs.murder_mystery import vocabulary
from parlour.envs.murder_mystery.legal_moves import fact_of
from parlour.envs.murder_mystery.rules import MurderMystery
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.envs.murder_mystery.vocabulary.facts import TOPICS, UNKNOWN, Fact
from parlour.envs.spec import Encoders

Features = np.ndarray[Any, np.dtype[np.float32]]

_PHASES: Final = vocabulary.MysteryPhase.DONE + 1
_TABLE: Final = ("round / rounds", "everybody hears", "facts of my own / 50", "lies I planned / 20", "may be silent")
_SEAT_FEATURES: Final = (
    "is me",
    "asks now",
    "is asked now",
    "is asked about now",
    "asked by me / 10",
    "asked by anybody / 20",
    "answers in free words / 10",
    "facts told / 10",
    "said to have a motive, by others / 3",
    "said to have had the means, by others / 3",
    "said to have had no means or motive / 3",
    "seen where and when somebody died / 3",
    "seen elsewhere than it said / 3",
    "I know of a motive",
    "I know it had the means",
    "my feelings for it",
)


class MysteryEncoders(Encoders):
    """The features of a table."""

    def at_table(self) -> MysteryEncoder:
        return MysteryEncoder(self.game)


class MysteryEncoder:
    """Satisfies `parlour.envs.core.Encoder`. Names of the features: `MysteryEncoder.names`."""

    def __init__(self, game: MurderMystery) -> None:
        self._seats, self._victims = n, v = game.seats, game.victims
        of_seat = (
            *_SEAT_FEATURES,
            *(f"I suspect it of victim {k}" for k in range(v)),
            *(f"votes for it on victim {k} / seats" for k in range(v)),
        )
        self.names = (
            [f"I am seat {j}" for j in range(n)]
            + ["I am a murderer", *(f"I murdered victim {k}" for k in range(v))]
            + [f"phase {phase}" for phase in range(_PHASES)]
            + [f"topic {topic}" for topic in TOPICS]
            + [f"about victim {k}" for k in range(v)]
            + list(_TABLE)
            + [f"seat {j}: {feature}" for j in range(n) for feature in of_seat]
        )
        self.size = len(self.names)

    def __call__(self, view: MysteryView) -> Features:
        head = [
            *_one_hot(view.seat, self._seats),
            float(any(view.murders)),
            *map(float, view.murders),
            *_one_hot(view.phase, _PHASES),
            *_one_hot(view.topic, len(TOPICS)),
            *_one_hot(view.victim, self._victims),
            view.round / view.rounds,
            float(view.hearing == "all"),
            len(view.facts) / 50,
            len(view.lies) / 20,
            float(vocabulary.ENOUGH in view.legal),
        ]
        features = np.array([*head, *(x for row in self._rows(view) for x in row)], dtype=np.float32)
        return np.clip(features, -1.0, 1.0, out=features)

    def _rows(self, view: MysteryView) -> list[list[float]]:
        """One row of features for each seat."""
        width = len(_SEAT_FEATURES) + 2 * self._victims
        rows = [[0.0] * width for _ in range(self._seats)]
        rows[view.seat][0] = 1.0
        for seat, place in ((view.asker, 1), (view.target, 2), (view.about, 3)):
            if 0 <= seat < self._seats:
                rows[seat][place] = 1.0
        for kind, args in view.facts:
            self._know(rows, kind, args, view.seat)
        for victim, suspect in enumerate(view.suspects):
            if suspect >= 0:
                rows[suspect][len(_SEAT_FEATURES) + victim] = 1.0
        self._read_events(view, rows)
        return rows

    def _know(self, rows: list[list[float]], kind: str, args: tuple[int, ...], me: int) -> None:
        if args[0] >= self._seats:
            return
        if kind == "motive":
            rows[args[0]][13] = 1.0
        elif kind == "had":
            rows[args[0]][14] = 1.0
        elif kind == "feels" and args[0] == me and args[2] < self._seats:
            rows[args[2]][15] = float(args[1])

    def _read_events(self, view: MysteryView, rows: list[list[float]]) -> None:
        """Count the events that the seat has seen, seat by seat."""
        asker, claims = -1, []
        for seat, move, _ in view.events:
            kind, args, _ = move
            if kind == vocabulary.CHOOSE and args:
                asker = seat
                rows[args[0]][4] += 0.1 * (asker == view.seat)
                rows[args[0]][5] += 0.05
            elif kind == vocabulary.ANSWER:
                rows[seat][6] += 0.1
            elif kind == vocabulary.TELL:
                rows[seat][7] += 0.1
                claims.append((seat, fact_of(move)))
            elif kind == vocabulary.VOTES and seat == NATURE:
                for j, votes in enumerate(args[1:]):
                    rows[j][len(_SEAT_FEATURES) + self._victims + args[0]] = votes / self._seats
        self._weigh(view, claims, rows)

    def _weigh(self, view: MysteryView, claims: list[tuple[int, Fact]], rows: list[list[float]]) -> None:
        """What the claims say of each seat: by others on motives and means, and sightings against whereabouts."""
        scenes = _scenes([*view.public, *view.facts, *(fact for _, fact in claims)])
        claimed: dict[tuple[int, int], set[int]] = defaultdict(set)
        for seat, (kind, args) in claims:
            if kind == "at" and args[0] == seat:
                claimed[seat, args[2]].add(args[1])
        for seat, (kind, args) in claims:
            person = args[0]
            if person == seat or person >= self._seats:
                continue
            if kind in ("motive", "had"):
                rows[person][8 if kind == "motive" else 9] += 1 / 3
            elif kind in ("lacked", "peace"):
                rows[person][10] += 1 / 3
            elif kind == "saw":
                rows[person][11] += (1 / 3) * (args[1:] in scenes)
                places = claimed.get((person, args[2]), set())
                rows[person][12] += (1 / 3) * (bool(places) and args[1] not in places)


def _scenes(known: list[Fact]) -> set[tuple[int, ...]]:
    """Places and times of deaths: for each victim what is said of both, be it in one fact or in several."""
    places, times = defaultdict(set), defaultdict(set)
    for kind, args in known:
        if kind == "died":
            places[args[0]].add(args[1])
            times[args[0]].add(args[2])
    return {(p, t) for victim in places for p in places[victim] for t in times[victim] if UNKNOWN not in (p, t)}


def _one_hot(number: int, count: int) -> list[float]:
    return [float(number == k) for k in range(count)]
