"""Werewolf in numbers: what a seat knows as a vector of features in [-1, 1]. A function of a View.

Layout, for n seats, R different roles in play and K = 20 + R features a seat:

    [0, n)          one-hot: own seat                     then, seat after seat, K features (see `SEAT_FEATURES`)
    [n, n + R)      one-hot: own role                     then the table (see `table_features`)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE
from parlour.envs.werewolf import vocabulary
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import WEREWOLF, WerewolfView

Features = np.ndarray[Any, np.dtype[np.float32]]

SEAT_FEATURES: Final = (
    "is alive",
    "died by night",
    "was executed",
    "known to me: a werewolf (1), none (-1)",
    "times accused / 10",
    "times defended / 10",
    "accusations made / 10",
    "seats defended / 10",
    "accused by me, less defended by me / 5",
    "reported evil, less reported good / 5",
    "reports made / 5",
    "votes against it on the last day / n",
    "votes against it / 3n",
    "its votes for me / 3",
    "its votes for nobody / votes",
    "its votes for seats known to me: werewolves less others / 3",
    "attacked tonight, as the witch hears",
    "protected by me last",
    "proposed tonight as the victim / 5",
    "wanted killed by wolves tonight, as I see / 5",
)
PHASES: Final = (speech.SILENT, speech.RECOMMEND, *vocabulary.TARGETED, vocabulary.HEALS)
TABLE_FEATURES: Final = (
    "night",
    "day / days of the game",
    "living / n",
    "I live",
    "antidote left",
    "poison left",
    "fellow wolves alive / 5",
    "place of my talk / n",
)
_TABLE: Final = len(PHASES) + len(TABLE_FEATURES)


class WerewolfEncoder:
    """Satisfies `parlour.envs.core.Encoder`. Names of the features: `WerewolfEncoder.names`."""

    def __init__(self, game: Werewolf) -> None:
        self._roles = game.role_names
        self._seats = game.seats
        self._columns = len(SEAT_FEATURES) + len(self._roles)
        self.size = game.seats * (1 + self._columns) + len(self._roles) + _TABLE
        columns = [*SEAT_FEATURES, *(f"claims {role}, last" for role in self._roles)]
        self.names = (
            [f"I am seat {j}" for j in range(game.seats)]
            + [f"I am {role}" for role in self._roles]
            + [f"seat {j}: {feature}" for j in range(game.seats) for feature in columns]
            + [f"asked for {phase}" for phase in PHASES]
            + list(TABLE_FEATURES)
        )

    def __call__(self, view: WerewolfView) -> Features:
        n, roles = self._seats, len(self._roles)
        features = np.zeros(self.size, dtype=np.float32)
        features[view.seat] = 1.0
        if view.role:
            features[n + self._roles.index(view.role)] = 1.0
        features[n + roles : -_TABLE] = self._per_seat(view).ravel()
        features[-_TABLE:] = table_features(view)
        return np.clip(features, -1.0, 1.0, out=features)

    def _per_seat(self, view: WerewolfView) -> Features:
        """Shape (n, K)."""
        known = known_sides(view)
        of = [[0.0] * self._columns for _ in range(self._seats)]
        for j, row in enumerate(of):
            row[0], row[3] = float(view.alive[j]), known.get(j, 0.0)
        if view.guarded is not None:
            of[view.guarded][17] = 1.0
        ballots = [0] * self._seats
        for seat, (kind, args, _), _ in view.events:
            if kind in vocabulary.ACTS:
                self._add_speech(of, seat, kind, args, mine=seat == view.seat)
            elif kind == vocabulary.VOTES:
                self._add_votes(of, args[1:], known, ballots, view.seat)
            else:
                self._add_event(of, kind, args, seat)
        for row, cast in zip(of, ballots, strict=True):
            row[14] /= max(cast, 1)
        return np.array(of, dtype=np.float32)

    def _add_speech(self, of: list[list[float]], seat: int, kind: str, args: tuple[int, ...], *, mine: bool) -> None:
        if kind == speech.ACCUSE:
            of[args[0]][4] += 0.1
            of[seat][6] += 0.1
            of[args[0]][8] += 0.2 * mine
        elif kind == speech.DEFEND:
            of[args[0]][5] += 0.1
            of[seat][7] += 0.1
            of[args[0]][8] -= 0.2 * mine
        elif kind == speech.REPORT:
            of[args[0]][9] += 0.2 if args[1] else -0.2
            of[seat][10] += 0.2
        elif kind == speech.CLAIM_ROLE:
            of[seat][len(SEAT_FEATURES) :] = [float(k == args[0]) for k in range(len(self._roles))]

    def _add_votes(
        self, of: list[list[float]], votes: tuple[int, ...], known: dict[int, float], ballots: list[int], me: int
    ) -> None:
        for row in of:
            row[11] = 0.0
        for seat, vote in enumerate(votes):
            if vote == vocabulary.DEAD:
                continue
            ballots[seat] += 1
            if vote == vocabulary.NO_VOTE:
                of[seat][14] += 1.0
                continue
            of[vote][11] += 1 / self._seats
            of[vote][12] += 1 / (3 * self._seats)
            of[seat][13] += (vote == me) / 3
            of[seat][15] += known.get(vote, 0.0) / 3

    def _add_event(self, of: list[list[float]], kind: str, args: tuple[int, ...], seat: int) -> None:
        if kind == vocabulary.NIGHT:
            for row in of:
                row[16] = row[18] = row[19] = 0.0
        elif kind == vocabulary.DAWN:
            for j in args[1:]:
                of[j][1] = 1.0
        elif kind == vocabulary.EXECUTED and args:
            of[args[0]][2] = 1.0
        elif kind == vocabulary.ATTACKED and args:
            of[args[0]][16] = 1.0
        elif kind == speech.RECOMMEND:
            of[args[0]][18] += 0.2
        elif (kind == vocabulary.KILL or (kind == vocabulary.CHOSEN and seat == NATURE)) and args:
            of[args[0]][19] += 0.2


def table_features(view: WerewolfView) -> list[float]:
    """What the seat is asked for, one-hot over `PHASES`, then `TABLE_FEATURES`."""
    n = len(view.alive)
    asked = view.legal[-1].kind if view.legal else ""
    asked = speech.SILENT if asked in vocabulary.ACTS else asked
    fellows = [j for fact in view.knows for j in fact.seats]
    place = view.speakers.index(view.seat) if view.speakers else 0
    return [
        *(float(asked == phase) for phase in PHASES),
        float(view.night),
        view.day / view.max_days,
        sum(view.alive) / n,
        float(view.alive[view.seat]),
        float(view.antidote is True),
        float(view.poison is True),
        sum(view.alive[j] for j in fellows) / 5,
        place / n,
    ]


def known_sides(view: WerewolfView) -> dict[int, float]:
    """Seats of which the View says for certain that they are werewolves (1) or none (-1)."""
    known = {view.seat: 1.0 if view.role == WEREWOLF else -1.0} if view.role else {}
    if view.knows:
        wolves = {j for fact in view.knows for j in fact.seats} | {view.seat}
        return {j: 1.0 if j in wolves else -1.0 for j in range(len(view.alive))}
    known |= {j: 1.0 if wolf else -1.0 for j, wolf in view.checks}
    for _, (kind, args, _), _ in view.events:
        if kind == vocabulary.REVEALED:
            known[args[0]] = 1.0 if view.role_names[args[1]] == WEREWOLF else -1.0
    return known
