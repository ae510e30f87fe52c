"""AIWolf's Werewolf in numbers: the features `table`, and `summary`, in which a seat counts from itself. All in [-1, 1].

For each seat: whether it is me, lives, was executed, died by night; what I know about it (a fellow: 1; found a werewolf: 1, found
none: -1); shares of the living that accuse it, defend it, report it as a werewolf and as none, by their last such claim; the last
role that it claimed; and the share of the latest votes it got.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.werewolf.aiwolf.rules import AIWolf
from parlour.envs.werewolf.aiwolf.vocabulary import IDENTIFIED
from parlour.envs.werewolf.vocabulary import CHECKED, DAWN, EXECUTED, VOTES, WerewolfView

_OF_SEAT: Final = (
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
_SAID: Final = {speech.ACCUSE: 5, speech.DEFEND: 6}


class AIWolfEncoder:
    """Satisfies `parlour.envs.core.Encoder` and `SeatEncoder`.

    Args:
        game: The rules.
        own_frame: Whether a seat counts the seats from itself.
    """

    def __init__(self, game: AIWolf, *, own_frame: bool = False) -> None:
        self._seats, self._roles, self._own_frame = game.seats, game.role_names, own_frame
        columns = (*_OF_SEAT, *(f"claims {role}, last" for role in self._roles))
        self._columns = len(columns)
        kinds = tuple(dict.fromkeys(move.kind for move in game.catalogue))
        self._kinds = kinds
        self.names = [
            *(f"I am {role}" for role in self._roles),
            *(f"seat {'+' * own_frame}{j}: {column}" for j in range(game.seats) for column in columns),
            *(f"may {kind}" for kind in kinds),
            "day, in tenths",
            "night",
        ]
        self.size = len(self.names)

    def __call__(self, view: WerewolfView) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Features, shape (size,), float32."""
        out = np.zeros(self.size, np.float32)
        if not view.role:
            return out
        out[self._roles.index(view.role)] = 1.0
        begins = len(self._roles)
        table = out[begins : begins + self._seats * self._columns].reshape(self._seats, self._columns)
        table[view.seat, 0] = 1.0
        table[:, 1] = view.alive
        for fact in view.knows:
            table[list(fact.seats), 4] = 1.0
        self._read(view, table)
        if self._own_frame:
            table[:] = np.roll(table, -view.seat, axis=0)
        rest = out[begins + table.size :]
        legal = {move.kind for move in view.legal}
        rest[: len(self._kinds)] = [kind in legal for kind in self._kinds]
        rest[-2:] = min(1.0, view.day / 10), view.night
        return out

    def _read(self, view: WerewolfView, table: np.ndarray[Any, Any]) -> None:
        """What was announced and said, oldest first; of claims by a seat about another, the last counts."""
        claims: dict[tuple[int, int], int] = {}
        roles: dict[int, int] = {}
        for seat, (kind, args, _), _ in view.events:
            if kind in _SAID:
                claims[seat, args[0]] = _SAID[kind]
            elif kind == speech.REPORT:
                claims[seat, args[0]] = 7 if args[1] else 8
            elif kind == speech.CLAIM_ROLE:
                roles[seat] = args[0]
            elif kind == EXECUTED:
                table[args[0], 2] = 1.0
            elif kind == DAWN and len(args) > 1:
                table[list(args[1:]), 3] = 1.0
            elif kind in (CHECKED, IDENTIFIED):
                table[args[0], 4] = 1.0 if args[1] else -1.0
            elif kind == VOTES:
                table[:, 9] = [args[1:].count(j) / self._seats for j in range(self._seats)]
        for (_, about), column in claims.items():
            table[about, column] += 1 / self._seats
        for seat, role in roles.items():
            table[seat, len(_OF_SEAT) + role] = 1.0
