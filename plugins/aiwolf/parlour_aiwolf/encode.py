"""AIWolf's Werewolf in numbers: `table`, and in the frame of a seat `summary`, `record` and `belief`. All in [-1, 1].

`table` and `summary` hold for each seat: whether it is me, lives, was executed, died by night; what I know about it (a fellow: 1;
found a werewolf: 1, found none: -1); shares of the seats that accuse it, defend it, report it as a werewolf and as none, by their
last such claim; the last role that it claimed; and its share of the latest votes. Where a medium is in play, `summary` also has
what the claims come to for the seat (`parlour_aiwolf.testimony`). `record` adds for each pair of seats the last
report of the one about the other, its last word for or against the other, and whether it voted for the other. `belief` adds to
`summary` n chances each, by the exact belief (`parlour_aiwolf.belief`): the seat's own of who is a werewolf, the seer, the
possessed, the medium and the bodyguard, as far as they are in play, then an onlooker's. `record+belief` adds both.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.core import Event, Move
from parlour.envs.hidden_roles.feature_blocks import BlockEncoder, HiddenRoleEncoders
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import CHECKED, DAWN, EXECUTED, SEER, VOTES, WEREWOLF, WerewolfView, turned

from parlour_aiwolf.belief import AIWolfBeliefs
from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.testimony import Testimony
from parlour_aiwolf.vocabulary import BODYGUARD, IDENTIFIED, MEDIUM, POSSESSED

FEATURES: Final = ("summary", "record", "belief", "record+belief")

OF_SEAT: Final = (
    "it is me",
    "lives",
    "was executed",
    "died by night",
    "known as a werewolf or as none",
    "accused",
    "defended",
    "reported as a werewolf",
    "reported as none",
    "got votes",
)
ACCUSED, DEFENDED, REPORTED, CLEARED = 1, 2, 3, 4
"""What a seat last claimed about another; 0 is nothing."""
_CLAIMS_BEGIN, _CLAIMS_END = 5, 9
"""Columns of shares of claims, in the order of the claims."""
_REPORT_SIGN: Final = np.array([0, 0, 0, 1, -1], np.float32)
_STAND_SIGN: Final = np.array([0, -1, 1, 0, 0], np.float32)
"""By claim: a report as a werewolf counts 1, as none -1; a word for a seat 1, against it -1."""
_BELIEVED: Final = (WEREWOLF, SEER, POSSESSED, MEDIUM, BODYGUARD)
Numbers = np.ndarray[Any, np.dtype[np.float32]]


class AIWolfEncoder(BlockEncoder):
    """Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        game: The rules.
        features: One of `parlour.envs.hidden_roles.rules.FEATURES`.
    """

    def __init__(self, game: AIWolf, features: str) -> None:
        super().__init__(partial(_blocks, game, features))

    def __call__(self, view: WerewolfView) -> np.ndarray[Any, np.dtype[np.float32]]:
        return super().__call__(view) if view.role else np.zeros(self.size, dtype=np.float32)


class AIWolfEncoders(HiddenRoleEncoders):
    """The features of a table."""

    def at_table(self) -> AIWolfTableEncoder:
        return AIWolfTableEncoder(self.game)

    def of_seat(self, kind: str) -> AIWolfEncoder:
        if kind not in FEATURES:
            raise self.refused(kind)
        return AIWolfEncoder(self.game, kind)

    def turned(self, move: Move, by: int) -> Move:
        return turned(move, by, self.game.seats)


class AIWolfTableEncoder:
    """The features `table`. Satisfies `parlour.envs.core.Encoder`.

    Args:
        game: The rules.
    """

    def __init__(self, game: AIWolf) -> None:
        self._of = [BlockEncoder(partial(_blocks, game, "")) for _ in range(game.seats)]
        self.names, self.size = self._of[0].names, self._of[0].size

    def __call__(self, view: WerewolfView) -> np.ndarray[Any, np.dtype[np.float32]]:
        return self._of[view.seat](view) if view.role else np.zeros(self.size, dtype=np.float32)


def _blocks(game: AIWolf, features: str, view: WerewolfView | None) -> list[Any]:
    summary = _Summary(game, view, own_frame=bool(features))
    record = [_Record(summary)] if "record" in features else []
    testimony = [Testimony(game.seats, view)] if features and MEDIUM in game.role_names else []
    return [summary, *testimony, *record, *([_Belief(game, view)] if "belief" in features else [])]


class _Summary:
    """Own role, then seat after seat, then the moment."""

    def __init__(self, game: AIWolf, view: WerewolfView | None, *, own_frame: bool) -> None:
        self.seats, self._roles, self._own_frame = game.seats, game.role_names, own_frame
        self._kinds = tuple(dict.fromkeys(move.kind for move in game.catalogue))
        columns = (*OF_SEAT, *(f"claims {role}, last" for role in self._roles))
        self._table = np.zeros((game.seats, len(columns)), np.float32)
        self.claims = np.zeros((game.seats, game.seats), np.int8)
        """What each seat last claimed about each."""
        self._counts = np.zeros((game.seats, _CLAIMS_END - _CLAIMS_BEGIN + 1), np.int16)
        """About each seat, how many claimed what last."""
        self.votes = np.zeros((game.seats, game.seats), np.float32)
        """Who voted for whom in the latest vote."""
        self.frame = (np.arange(game.seats) + (0 if view is None else view.seat)) % game.seats
        """Seats, counted from the own one."""
        if view is not None:
            self._table[view.seat, 0] = 1.0
            for fact in view.knows:
                self._table[list(fact.seats), 4] = 1.0
        self.names = [
            *(f"I am {role}" for role in self._roles),
            *(f"seat {'+' * own_frame}{j}: {column}" for j in range(game.seats) for column in columns),
            *(f"may {kind}" for kind in self._kinds),
            "day, in tenths",
            "night",
        ]

    def see(self, view: WerewolfView, event: Event) -> None:
        seat, (kind, args, _), _ = event
        table = self._table
        if kind == speech.ACCUSE:
            self._claim(seat, args[0], ACCUSED)
        elif kind == speech.DEFEND:
            self._claim(seat, args[0], DEFENDED)
        elif kind == speech.REPORT:
            self._claim(seat, args[0], REPORTED if args[1] else CLEARED)
        elif kind == speech.CLAIM_ROLE:
            table[seat, len(OF_SEAT) :] = 0.0
            table[seat, len(OF_SEAT) + args[0]] = 1.0
        elif kind == EXECUTED:
            table[args[0], 2] = 1.0
        elif kind == DAWN and len(args) > 1:
            table[list(args[1:]), 3] = 1.0
        elif kind in (CHECKED, IDENTIFIED):
            table[args[0], 4] = 1.0 if args[1] else -1.0
        elif kind == VOTES:
            self.votes[:] = 0.0
            for voter, target in enumerate(args[1:]):
                if target >= 0:
                    self.votes[voter, target] = 1.0

    def _claim(self, by: int, about: int, claim: int) -> None:
        self._counts[about, self.claims[by, about]] -= 1
        self._counts[about, claim] += 1
        self.claims[by, about] = claim

    def write(self, view: WerewolfView, features: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        features[self._roles.index(view.role)] = 1.0
        begins, table = len(self._roles), self._table
        table[:, 1] = view.alive
        table[:, _CLAIMS_BEGIN:_CLAIMS_END] = self._counts[:, 1:] / self.seats
        table[:, _CLAIMS_END] = self.votes.sum(axis=0) / self.seats
        rows = table[self.frame] if self._own_frame else table
        features[begins : begins + table.size] = rows.ravel()
        rest = features[begins + table.size :]
        legal = {move.kind for move in view.legal}
        rest[: len(self._kinds)] = [kind in legal for kind in self._kinds]
        rest[-2:] = view.day / 10, view.night


class _Record:
    """Three tables of who did what about whom, in the frame of the seat."""

    def __init__(self, summary: _Summary) -> None:
        self._summary = summary
        pairs = [(by, about) for by in range(summary.seats) for about in range(summary.seats)]
        acts = ("reports", "speaks for", "votes for")
        self.names = [f"seat +{by} {what} seat +{about}" for what in acts for by, about in pairs]

    def see(self, view: WerewolfView, event: Event) -> None:
        """The summary has read it."""

    def write(self, view: WerewolfView, features: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        frame = self._summary.frame
        turned = np.ix_(frame, frame)
        claims, votes = self._summary.claims[turned], self._summary.votes[turned]
        features.reshape(3, *claims.shape)[:] = _REPORT_SIGN[claims], _STAND_SIGN[claims], votes


class _Belief:
    """Posterior chances of the roles, one's own and an onlooker's."""

    def __init__(self, game: AIWolf, view: WerewolfView | None) -> None:
        self._roles = [role for role in _BELIEVED if role in game.role_names]
        thinkers = "I think", "an onlooker thinks"
        self.names = [
            f"seat +{j}: {who}: {role}" for who in thinkers for role in self._roles for j in range(game.seats)
        ]
        self._beliefs = AIWolfBeliefs(view) if view is not None and view.role else None

    def see(self, view: WerewolfView, event: Event) -> None:
        if self._beliefs is not None:
            self._beliefs.see(event, view)

    def write(self, view: WerewolfView, features: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        if self._beliefs is not None and self._beliefs.onlooker is not None:
            both = self._beliefs.own.chances(), self._beliefs.onlooker.chances()
            chances = [by_role[role] for by_role in both for role in self._roles]
            features[:] = np.roll(chances, -view.seat, axis=1).ravel()
