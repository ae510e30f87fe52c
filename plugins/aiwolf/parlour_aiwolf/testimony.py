"""What the claims at a table of AIWolf's Werewolf come to for one seat: a block of features where a medium is in play.

A report is worth what its reporter is: so each report counts only if nothing that the seat knows, or a lone medium reported, refutes
the reporter. For each seat, counted from the own one: what reporters who are not refuted say about it, by how many claim to be the
seer; whether it is refuted; its share of the latest accusations; my own latest accusation and report; whether it alone claims its
role; and for werewolves, how recently it was named as the victim.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import CHECKED, SEER, WEREWOLF, WerewolfView

from parlour_aiwolf.vocabulary import BODYGUARD, IDENTIFIED, MEDIUM

TESTIMONY: Final = (
    "reported, by who is not refuted",
    "refuted",
    "accused now",
    "I accuse it",
    "I reported it",
    "alone claims its role",
    "named as the victim",
)
"""Columns of a seat. Reports as a werewolf count 1, as none -1."""
SINGLE_ROLES: Final = (SEER, MEDIUM, BODYGUARD)
"""Roles that one seat has, so that two who claim one contradict each other."""
Signs = np.ndarray[Any, np.dtype[np.int8]]


class Testimony:
    """Satisfies `parlour.envs.hidden_roles.feature_blocks.Block`.

    Args:
        seats: How many.
        view: A View of the seat; None for the names alone.
    """

    def __init__(self, seats: int, view: WerewolfView | None) -> None:
        self.names = [f"seat +{j}: {column}" for column in TESTIMONY for j in range(seats)]
        self._seats = seats
        self._claimed = [""] * seats
        """The role that each claimed last."""
        self._reports = np.zeros((seats, seats), np.int8)
        """What each last reported about each: 1 a werewolf, -1 none."""
        self._accuses = [-1] * seats
        self._named: list[int] = []
        """Victims that werewolves named, the latest last."""
        self._facts = np.zeros(seats, np.int8)
        """What I know: 1 a werewolf, -1 none."""
        if view is not None:
            self._facts[view.seat] = 1 if view.role == WEREWOLF else -1
            for fact in view.knows:
                self._facts[list(fact.seats)] = 1

    def see(self, view: WerewolfView, event: Event) -> None:
        seat, (kind, args, _), _ = event
        if kind == speech.CLAIM_ROLE:
            self._claimed[seat] = view.role_names[args[0]]
        elif kind == speech.REPORT:
            self._reports[seat, args[0]] = 1 if args[1] else -1
        elif kind == speech.ACCUSE:
            self._accuses[seat] = args[0]
        elif kind == speech.RECOMMEND:
            self._named.append(args[0])
        elif kind in (CHECKED, IDENTIFIED):
            self._facts[args[0]] = 1 if args[1] else -1

    def write(self, view: WerewolfView, features: np.ndarray[Any, np.dtype[np.float32]]) -> None:
        me, table = view.seat, np.zeros((self._seats, len(TESTIMONY)), np.float32)
        claims = [role or SEER * bool(self._reports[j].any()) for j, role in enumerate(self._claimed)]
        refuted = self._refuted(view, claims)
        seers = sum(role == SEER and not refuted[j] for j, role in enumerate(claims))
        table[:, 0] = np.clip(self._reports[~refuted].sum(axis=0) / max(1, seers), -1, 1)
        table[:, 1] = refuted
        table[:, 2] = self._accused(view)
        if self._accuses[me] >= 0:
            table[self._accuses[me], 3] = 1.0
        table[:, 4] = self._reports[me]
        living = [role for role, lives in zip(claims, view.alive, strict=True) if lives]
        table[:, 5] = [
            lives and role in SINGLE_ROLES and living.count(role) == 1
            for role, lives in zip(claims, view.alive, strict=True)
        ]
        for number, victim in enumerate(self._named):
            table[victim, 6] = (number + 1) / len(self._named)
        features[:] = np.roll(table, -me, axis=0).T.ravel()

    def _refuted(self, view: WerewolfView, claims: list[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Who reported another result than I know or a lone medium reported, or claims the role that I have."""
        mediums = [j for j, role in enumerate(claims) if role == MEDIUM]
        identified: Signs = self._reports[mediums[0]] if len(mediums) == 1 else np.zeros_like(self._facts)
        known = np.where(self._facts != 0, self._facts, identified)
        refuted: np.ndarray[Any, np.dtype[np.bool_]] = np.any(self._reports * known < 0, axis=1)
        if view.role in SINGLE_ROLES:
            refuted = refuted | np.array([role == view.role for role in claims])
        refuted[view.seat] = False
        return refuted

    def _accused(self, view: WerewolfView) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Latest accusations of the living others against each, by those against the living seat that has most."""
        counts = np.zeros(self._seats, np.int64)
        for seat, about in enumerate(self._accuses):
            if about >= 0 and seat != view.seat and view.alive[seat]:
                counts[about] += 1
        most = max(1, *(counts * np.array(view.alive)))
        shares: np.ndarray[Any, np.dtype[np.float32]] = np.minimum(counts / most, 1.0).astype(np.float32)
        return shares
