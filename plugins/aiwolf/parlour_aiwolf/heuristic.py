"""AIWolf's Werewolf by heuristic, after the descriptions of the contest's sample agents: seers and mediums report, and votes follow them.

A seer and a medium come out when they have found a werewolf, when a rival claims their role, or from day 2 on, and report. The
possessed claims to be the seer and reports villagers as werewolves. The village votes for a player that a lone seer reported as a
werewolf, else for players whose claims contradict each other, else at random; the wolves vote with the table. It uses the View
alone, and is no language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from parlour.envs.core import Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.heuristic.settings import HeuristicSettings
from pydantic import Field

from parlour_aiwolf.vocabulary import BODYGUARD, IDENTIFIED, MEDIUM, POSSESSED, TALK_OVER

CLEARED: Final = -1.0
ACCUSED: Final = 1.0
REPORTED: Final = 4.0
"""Marks of suspicion: a report as no werewolf, times that of a report; an accusation, shared by the seats; a report."""
TIE: Final = 1e-3
"""So little that it only decides ties."""


class AIWolfStyle(HeuristicSettings):
    """How the player talks; `heuristic:open=0.1` on the command line."""

    open: float = Field(default=0.0, ge=0, le=1)
    """How often a villager, a bodyguard or a werewolf that has not come out says with its line that it is a villager."""


class AIWolfPlayer:
    """One seat of one game.

    Args:
        view: Its View before the first move.
        rng: Its own draws.
        style: How it talks; None: the usual way.
    """

    style_class: ClassVar[type[AIWolfStyle]] = AIWolfStyle
    """What settings of the heuristic name."""

    def __init__(self, view: WerewolfView, rng: np.random.Generator, style: AIWolfStyle | None = None) -> None:
        self._rng, self._me, self._seen, self._style = rng, view.seat, 0, style or AIWolfStyle()
        self._wolves = (
            {view.seat, *(j for fact in view.knows for j in fact.seats)} if view.role == game.WEREWOLF else set()
        )
        self._claims: dict[int, str] = {}
        """Seat -> the role that it claimed last."""
        self._reports: dict[tuple[int, int], bool] = {}
        """Who reported, about whom -> whether it was called a werewolf; the last report counts."""
        self._accused: dict[int, int] = {}
        """Who accuses -> whom, last."""
        self._results: dict[int, bool] = {}
        """What the seer or the medium found: seat -> whether it is a werewolf."""
        self._told: set[int] = set()
        self._proposed: list[int] = []

    def act(self, view: WerewolfView) -> Move:
        """The move, one of `view.legal`."""
        self._read(view)
        kinds = {move.kind for move in view.legal}
        if TALK_OVER in kinds:
            return self._line(view)
        if game.KILL in kinds:
            return self._aim(game.KILL, view, self._prey(view))
        if game.BALLOT in kinds:
            return self._aim(game.BALLOT, view, self._suspect(view))
        if game.CHECKS in kinds:
            unknown = [j for j in self._others(view) if j not in self._results]
            return self._aim(game.CHECKS, view, self._worst(unknown or self._others(view), view))
        return self._aim(game.GUARDS, view, self._to_guard(view))

    def suspicions(self, view: WerewolfView) -> list[float]:
        """How suspicious each seat looks, from 0 to 1; a werewolf's own knowledge aside."""
        self._read(view)
        return [float(1 / (1 + np.exp(-mark))) for mark in self._marks(view)]

    # -- reading -----------------------------------------------------------------------------------------------

    def _read(self, view: WerewolfView) -> None:
        for event in view.events[self._seen :]:
            self._hear(event, view)
        self._seen = len(view.events)

    def _hear(self, event: Event, view: WerewolfView) -> None:
        seat, (kind, args, _), to = event
        if kind in (game.CHECKED, IDENTIFIED):
            self._results[args[0]] = bool(args[1])
        elif kind == speech.CLAIM_ROLE:
            self._claims[seat] = view.role_names[args[0]]
        elif kind == speech.REPORT:
            self._claims.setdefault(seat, game.SEER)  # who reports claims to divine, unless it came out as the medium
            self._reports[seat, args[0]] = bool(args[1])
            if seat == self._me:
                self._told.add(args[0])
        elif kind == speech.ACCUSE:
            self._accused[seat] = args[0]
        elif kind == speech.RECOMMEND and to is not None:
            self._proposed.append(args[0])

    # -- talk --------------------------------------------------------------------------------------------------

    def _line(self, view: WerewolfView) -> Move:
        """The best wish that it has not said; over when there is none."""
        line = next((move for move in self._wishes(view) if move in view.legal), Move(TALK_OVER))
        hides = not view.night and self._me not in self._claims and view.role not in (game.SEER, MEDIUM, POSSESSED)
        if hides and self._style.open and self._rng.random() < self._style.open:
            return Move(speech.CLAIM_ROLE, (view.role_names.index(game.VILLAGER),))
        return line

    def _wishes(self, view: WerewolfView) -> list[Move]:
        if view.night:
            return [] if self._proposed else [Move(speech.RECOMMEND, (self._prey(view),))]
        wishes: list[Move] = []
        claimed = self._claims.get(self._me)
        role = game.SEER if view.role == POSSESSED else view.role
        if role in (game.SEER, MEDIUM) and self._comes_out(view, role):
            if claimed != role:
                return [Move(speech.CLAIM_ROLE, (view.role_names.index(role),))]
            wishes += self._to_report(view)
        suspect = self._suspect(view)
        if self._accused.get(self._me) != suspect:
            wishes.append(Move(speech.ACCUSE, (suspect,)))
        return wishes

    def _comes_out(self, view: WerewolfView, role: str) -> bool:
        rival = any(j != self._me and claim == role for j, claim in self._claims.items())
        return view.role == POSSESSED or rival or view.day > 1 or any(self._results.values())

    def _to_report(self, view: WerewolfView) -> list[Move]:
        if view.role != POSSESSED:
            return [Move(speech.REPORT, (j, int(wolf))) for j, wolf in self._results.items() if j not in self._told]
        if len(self._told) >= view.day:
            return []
        targets = [j for j in self._others(view) if j not in self._told]
        among = [j for j in targets if self._claims.get(j) == game.SEER] or targets
        return [Move(speech.REPORT, (among[int(self._rng.integers(len(among)))], 1))] if targets else []

    # -- whom to choose ----------------------------------------------------------------------------------------

    def _others(self, view: WerewolfView) -> list[int]:
        return [j for j, lives in enumerate(view.alive) if lives and j != self._me]

    def _marks(self, view: WerewolfView) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Marks of suspicion by seat: reports of those who claim to be the seer count by how many claim it."""
        marks = np.zeros(len(view.alive))
        claimants = [j for j, role in self._claims.items() if role == game.SEER and not self._lies(j)]
        weight = REPORTED / max(1, len(claimants))
        for (seat, about), wolf in self._reports.items():
            if not self._lies(seat):
                marks[about] += weight * (1 if wolf else CLEARED)
        for seat, about in self._accused.items():
            if seat != self._me and view.alive[seat]:
                marks[about] += ACCUSED / len(view.alive)
        for seat in self._claims:
            if self._lies(seat):
                marks[seat] += REPORTED
        for seat, wolf in self._results.items():
            marks[seat] = 2 * REPORTED if wolf else -2 * REPORTED
        return marks

    def _lies(self, seat: int) -> bool:
        """Whether a seat is known to lie: it reported me, or another result than mine or a lone medium's, or claims my role."""
        if seat == self._me:
            return False
        own = {self._me: bool(self._wolves), **self._identified(), **self._results}
        wrong = any(by == seat and about in own and own[about] != wolf for (by, about), wolf in self._reports.items())
        return wrong or (bool(self._results) and self._claims.get(seat) == self._claims.get(self._me, "-"))

    def _identified(self) -> dict[int, bool]:
        """What a lone medium reported, whom nobody rivals: seat -> whether it was a werewolf."""
        mediums = [j for j, role in self._claims.items() if role == MEDIUM]
        if len(mediums) != 1:
            return {}
        return {about: wolf for (by, about), wolf in self._reports.items() if by == mediums[0]}

    def _worst(self, seats: Sequence[int], view: WerewolfView, sign: int = 1) -> int:
        marks = sign * self._marks(view)
        return max(seats, key=lambda j: marks[j] + TIE * self._rng.random())

    def _suspect(self, view: WerewolfView) -> int:
        """Whom it wants to see executed; wolves and the possessed spare the wolves that they know."""
        others = [j for j in self._others(view) if j not in self._wolves]
        return self._worst(others or self._others(view), view)

    def _prey(self, view: WerewolfView) -> int:
        """Whom a fellow named; else who claims to be the seer or the medium; else who looks least suspicious."""
        victims = [j for j in self._others(view) if j not in self._wolves]
        named = [j for j in reversed(self._proposed) if j in victims]
        if named:
            return named[0]
        powers = [j for j in victims if self._claims.get(j) in (game.SEER, MEDIUM, BODYGUARD)]
        return self._worst(powers or victims, view, -1)

    def _to_guard(self, view: WerewolfView) -> int:
        """A lone seer first, then a medium, else who looks least suspicious."""
        others = self._others(view)
        for role in (game.SEER, MEDIUM):
            claimants = [j for j in others if self._claims.get(j) == role]
            if len(claimants) == 1:
                return claimants[0]
        return self._worst(others, view, -1)

    def _aim(self, kind: str, view: WerewolfView, seat: int) -> Move:
        move = Move(kind, (seat,))
        return move if move in view.legal else view.legal[0]
