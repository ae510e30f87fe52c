"""Avalon in numbers: what a seat knows as a vector of features in [-1, 1]. A function of a View.

Layout, for n seats, R different roles in play and K = 14 features a seat:

    [0, n)          one-hot: own seat                     then, seat after seat, K features (see `SEAT_FEATURES`)
    [n, n + R)      one-hot: own role                     then the table (see `_table`)

and where the evil side consults before the guess 1 + 2 n numbers more (see `_consultation`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import EVIL, MERLIN, PERCIVAL, AvalonView
from parlour.envs.core import NATURE

Features = np.ndarray[Any, np.dtype[np.float32]]

SEAT_FEATURES: Final = (
    "leads",
    "on the team",
    "shown to me by the night",
    "quests it was on that succeeded / 3",
    "quests it was on that failed / 3",
    "fails shown on its quests, per member, summed / 3",
    "approved teams that failed, less those that succeeded / 5",
    "rejected teams that failed, less those that succeeded / 5",
    "approvals / votes",
    "times accused / 10",
    "times defended or recommended / 10",
    "accusations made / 10",
    "accused by me, less defended by me / 5",
    "exposed as the Assassin",
)
_PHASES: Final = (speech.SILENT, vocabulary.TEAM, vocabulary.BALLOT, vocabulary.CARD, vocabulary.GUESS)
_CONSULTATION: Final = ("told to be evil", "held for Merlin by / 4")
TABLE_SIZE: Final = len(_PHASES) + QUESTS + 9


class AvalonEncoder:
    """Satisfies `parlour.envs.core.Encoder`. Names of the features: `AvalonEncoder.names`."""

    def __init__(self, game: Avalon) -> None:
        self._roles = game.role_names
        self._seats = game.seats
        self._consults = game.rules.consult
        self.names = (
            [f"I am seat {j}" for j in range(game.seats)]
            + [f"I am {role}" for role in self._roles]
            + [f"seat {j}: {feature}" for j in range(game.seats) for feature in SEAT_FEATURES]
            + [f"phase {phase}" for phase in _PHASES]
            + [f"quest {quest + 1}" for quest in range(QUESTS)]
            + ["good / 3", "evil / 3", "proposals / 5", "team size / 5", "two fails needed"]
            + ["I am on the team", "shown ones on the team / 4", "strangers on the team / 4", "night shows evil"]
        )
        self.at_table = len(self.names) - TABLE_SIZE
        """Where the features of the table begin."""
        if self._consults:
            self.names += ["phase consult"]
            self.names += [f"seat {j}: {what}" for what in _CONSULTATION for j in range(game.seats)]
        self.size = len(self.names)

    def __call__(self, view: AvalonView) -> Features:
        n, roles = self._seats, len(self._roles)
        features = np.zeros(self.size, dtype=np.float32)
        features[view.seat] = 1.0
        if view.role:
            features[n + self._roles.index(view.role)] = 1.0
        features[n + roles : self.at_table] = self._per_seat(view).ravel()
        features[self.at_table : self.at_table + TABLE_SIZE] = self._table(view)
        if self._consults:
            features[self.at_table + TABLE_SIZE :] = self._consultation(view)
        return np.clip(features, -1.0, 1.0, out=features)

    def _per_seat(self, view: AvalonView) -> Features:
        """Shape (n, K)."""
        of = [[0.0] * len(SEAT_FEATURES) for _ in range(self._seats)]
        if view.leader >= 0:
            of[view.leader][0] = 1.0
        for j in view.team:
            of[j][1] = 1.0
        for fact in view.knows:
            for j in fact.seats:
                of[j][2] = 1.0
        self._read_events(view, of)
        return np.array(of, dtype=np.float32)

    def _read_events(self, view: AvalonView, of: list[list[float]]) -> None:
        """Go through what the seat has seen and add it up, seat by seat."""
        team: tuple[int, ...] = ()
        votes: tuple[int, ...] = ()
        ballots = 0
        for seat, (kind, args, _), _ in view.events:
            if kind in speech.ACTS:
                _add_speech(of, seat, kind, args, mine=seat == view.seat)
            elif kind == vocabulary.TEAM:
                team, votes = args, ()  # the last team of a quest may go without a vote
            elif kind == vocabulary.DRAWN:
                team = args
            elif kind == vocabulary.VOTES:
                votes = args[1:]
                ballots += 1
                for j, vote in enumerate(votes):
                    of[j][8] += vote
            elif kind == vocabulary.FAILS:
                _add_quest(of, team, votes, fails=args[1], success=args[2])
            elif kind == vocabulary.EXPOSED and seat == NATURE:
                of[args[0]][13] = 1.0
        for row in of:
            row[8] /= max(ballots, 1)

    def _consultation(self, view: AvalonView) -> list[float]:
        """Whether it is the seat's turn to speak there; of each seat, whether it was told to be evil, and who named it."""
        told, held = [0.0] * self._seats, [0.0] * self._seats
        for _, (kind, args, _), _ in view.events:
            if kind == vocabulary.GATHERS:
                for j in args:
                    told[j] = 1.0
            elif kind == vocabulary.CONSULT and args:
                held[args[0]] += 0.25
        asked = bool(view.legal) and view.legal[0].kind == vocabulary.CONSULT
        return [float(asked), *told, *held]

    def _table(self, view: AvalonView) -> list[float]:
        asked = view.legal[0].kind if view.legal else ""
        asked = speech.SILENT if asked in speech.ACTS else asked
        shown = {j for fact in view.knows for j in fact.seats}
        strangers = [j for j in view.team if j not in shown and j != view.seat]
        return [
            *(float(asked == phase) for phase in _PHASES),
            *(float(view.quest == quest) for quest in range(QUESTS)),
            view.good / QUESTS_TO_WIN,
            view.evil / QUESTS_TO_WIN,
            view.counted / PROPOSALS,
            view.sizes[view.quest] / 5,
            float(view.fails_needed[view.quest] == 2),
            float(view.seat in view.team),
            len(shown.intersection(view.team)) / 4,
            len(strangers) / 4,
            float(view.role == MERLIN or (view.side == EVIL and bool(view.knows))) - float(view.role == PERCIVAL),
        ]


def _add_speech(of: list[list[float]], seat: int, kind: str, args: tuple[int, ...], *, mine: bool) -> None:
    if kind == speech.ACCUSE:
        of[args[0]][9] += 0.1
        of[seat][11] += 0.1
        of[args[0]][12] += 0.2 * mine
    elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != seat:
        of[args[0]][10] += 0.1
        of[args[0]][12] -= 0.2 * mine


def _add_quest(
    of: list[list[float]], team: tuple[int, ...], votes: tuple[int, ...], *, fails: int, success: int
) -> None:
    for j in team:
        of[j][3 if success else 4] += 1 / 3
        of[j][5] += fails / len(team) / 3
    for j, vote in enumerate(votes):
        of[j][6 if vote else 7] += -0.2 if success else 0.2
