"""Avalon by heuristic: believe by Bayes (`belief.py`), then do what a sensible player of that side does.

It uses `info["view"]` alone; for the moves see the card of `avalon_v0`.
"""

from __future__ import annotations

from itertools import takewhile
from typing import ClassVar, Final

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits, read_habits, team_rows, teams
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move
from parlour.envs.hidden_roles.bidding import BID
from parlour.envs.language import speech
from parlour.policies.heuristic.settings import HeuristicSettings
from parlour.policies.heuristic.stated import stated_in_avalon
from pydantic import Field

# A good seat approves a team that is at least this fraction as likely to be clean as those of the leaders to come;
# one entry for each proposal of a quest. At the last one it takes anything.
PICKY: Final = (0.95, 0.9, 0.85, 0.75, 0.0)
COVER: Final = 0.5
"""How often Merlin acts on public knowledge alone, or speaks for himself instead of against somebody."""
SURE_OF_MERLIN: Final = 0.85
SUSPICIOUS: Final = 0.6
APPROVES_DIRTY: Final = 0.8
APPROVES_CLEAN: Final = 0.3
"""How often an evil seat approves teams when nothing hangs on it."""
LESS_SUSPECTED: Final = 0.2
"""An evil leader takes a fellow instead of himself who is less suspected by that much."""
FAILS_FIRST: Final = 0.5
"""How often an evil seat fails the first quest if two are on it."""
ACCUSES_GOOD: Final = 0.4
OR_DEFENDS: Final = 0.6
"""Below the first number an evil seat accuses the most suspected good one, below the second it defends a fellow; else it
recommends itself."""
PRAISES: Final = 0.5
"""How often a good seat without a suspicion recommends the least suspected seat; or else it recommends itself."""


class AvalonStyle(HeuristicSettings):
    """How the player behaves where no belief decides; `heuristic:dirty=1,cover=0.9` on the command line."""

    cover: float = Field(default=COVER, ge=0, le=1)
    """How often Merlin acts on public knowledge alone."""
    dirty: float = Field(default=APPROVES_DIRTY, ge=0, le=1)
    """How often an evil seat approves a team with evil seats, when nothing hangs on it."""
    clean: float = Field(default=APPROVES_CLEAN, ge=0, le=1)
    """The same for a team without any."""
    first: float = Field(default=FAILS_FIRST, ge=0, le=1)
    """How often an evil seat fails the first quest if two are on it."""
    picky: float = Field(default=1.0, ge=0, le=1)
    """Factor of the thresholds at which a good seat approves a team."""


class AvalonPlayer:
    """One seat of one game."""

    read_habits = staticmethod(read_habits)
    """Reads a file of habits, for tables of all sizes."""
    style_class: ClassVar[type[AvalonStyle]] = AvalonStyle
    """What settings of the heuristic name."""

    def __init__(
        self,
        view: AvalonView,
        rng: np.random.Generator,
        habits: AvalonHabits | None = None,
        style: AvalonStyle | None = None,
    ) -> None:
        self._rng, self._style = rng, style or AvalonStyle()
        self._me = view.seat
        self._evil = view.side == game.EVIL
        habits = habits or AvalonHabits()
        self.belief = AvalonBelief(view.roles, view.seat, view.role, view.knows, habits, view.guesser)
        # what an onlooker thinks: the evil side and Merlin mind how they look
        minds = self._evil or view.role == game.MERLIN
        self.onlooker = AvalonBelief(view.roles, -1, "", (), habits, view.guesser) if minds else None
        self._fellows = _fellows(view) if self._evil else frozenset()
        self._beliefs = [self.belief] if self.onlooker is None else [self.belief, self.onlooker]
        self._seen = 0
        self._success = 0
        """Whether the last quest succeeded."""

    def act(self, view: AvalonView) -> Move:
        """The move, one of `view.legal`."""
        self.read(view)
        kind = view.legal[0].kind
        if kind == game.BALLOT:
            return Move(game.BALLOT, (int(self._approves(view)),))
        if kind == game.TEAM:
            return Move(game.TEAM, self._team(view))
        if kind == game.GUESS:
            return self._guess(view)
        if kind == BID:
            return Move(BID, (self._bid(view),))
        if kind == game.CARD:
            wanted = Move(game.CARD, (int(not self._sabotages(view)),))
        else:
            wanted = self._evil_speech() if self._evil else self._good_speech(view)
        return wanted if wanted in view.legal else view.legal[0]

    def _bid(self, view: AvalonView) -> int:
        """3 to answer a charge, 2 as the leader, 1 to speak for the first time in this talk; else it listens."""
        talk = list(takewhile(lambda event: event.move.kind != game.LEADS, reversed(view.events)))
        if talk and talk[0].move.kind == speech.ACCUSE and talk[0].move.args[0] == self._me:
            return 3
        if any(event.seat == self._me for event in talk):
            return 0
        return 2 if view.leader == self._me else 1

    def read(self, view: AvalonView) -> None:
        """Take in what the seat has seen since the last time; `act` does so itself."""
        for seat, (kind, args, words), _ in view.events[self._seen :]:
            for belief in self._beliefs:
                belief.see(seat, kind, args, words)
            if kind == game.FAILS:
                self._success = args[2]
        self._seen = len(view.events)

    def suspicions(self, view: AvalonView) -> list[float]:
        """How likely each seat is to be evil, as it states it."""
        return stated_in_avalon(view, self.belief.habits)

    # -- deciding ----------------------------------------------------------------------------------------------

    def _approves(self, view: AvalonView) -> bool:
        at_limit = view.counted >= view.limit
        if self._evil:
            return self._evil_approves(view, at_limit)
        if at_limit or view.leader == self._me:
            return True
        belief = self._shown_belief(view)
        return belief.clean_chance(view.team) >= PICKY[view.counted - 1] * self._style.picky * self._prospect(
            view, belief
        )

    def _prospect(self, view: AvalonView, belief: AvalonBelief) -> float:
        """How likely the next leaders' teams are to be clean: a good one takes his best team, an evil one none."""
        n, size = len(view.roles), view.sizes[view.quest]
        best = (belief.clean_chances(size)[:, None] * team_rows(n, size)).max(axis=0)
        following = [(view.leader + k) % n for k in range(1, view.limit - view.counted + 1)]
        return float(((1 - belief.evil_chance()) * best)[following].mean())

    def _shown_belief(self, view: AvalonView) -> AvalonBelief:
        """What a good seat acts by. Merlin now and then acts by what everybody knows, while no quest is at stake."""
        if self.onlooker is not None and view.evil < 2 and self._rng.random() < self._style.cover:
            return self.onlooker
        return self.belief

    def _evil_approves(self, view: AvalonView, at_limit: bool) -> bool:
        if at_limit and view.last_rejection_loses:
            return False
        dirty = bool(self._fellows.intersection(view.team))
        if view.leader == self._me or (dirty and view.evil == 2):
            return True
        if not dirty and view.good == 2:
            return False
        return bool(self._rng.random() < (self._style.dirty if dirty else self._style.clean))

    def _team(self, view: AvalonView) -> tuple[int, ...]:
        n, size = len(view.roles), view.sizes[view.quest]
        if not self._evil:
            chance = self._shown_belief(view).clean_chances(size) * team_rows(n, size)[:, self._me]
            best = np.flatnonzero(chance >= chance.max() - 1e-9)
            return teams(n, size)[int(self._rng.choice(best))]
        assert self.onlooker is not None
        suspicion = self.onlooker.evil_chance() + self._rng.random(n) * 1e-6
        needed = view.fails_needed[view.quest]
        fellows = sorted(
            self._fellows,
            key=lambda j: (j != self._me and suspicion[j] > suspicion[self._me] - LESS_SUSPECTED, suspicion[j]),
        )
        saboteurs = fellows[: min(needed, size)]
        innocents = sorted(set(range(n)) - self._fellows, key=lambda j: suspicion[j])
        return tuple(sorted([*saboteurs, *innocents][:size]))

    def _sabotages(self, view: AvalonView) -> bool:
        if not self._evil:
            return False
        on_team = sorted(self._fellows.intersection(view.team))
        needed = view.fails_needed[view.quest]
        if len(on_team) < needed and len(self._fellows) > 1:
            return False
        if view.quest == 0 and len(view.team) == 2 and view.evil == 0:
            return bool(self._rng.random() < self._style.first)
        # of several saboteurs only as many as needed show themselves, unless the game hangs on it
        return 2 in (view.good, view.evil) or on_team.index(self._me) < needed

    def _guess(self, view: AvalonView) -> Move:
        chance, target = self.belief.merlin_chance(), self._likely_merlin()
        if game.PASS not in view.legal:
            return Move(game.GUESS, (target,))
        good, evil = view.good + self._success, view.evil + 1 - self._success
        if evil == 3 or (good < 3 and chance[target] < SURE_OF_MERLIN):
            return game.PASS
        return Move(game.GUESS, (target,))

    def _likely_merlin(self) -> int:
        chance = self.belief.merlin_chance()
        return int(np.argmax(chance + self._rng.random(len(chance)) * 1e-9))

    # -- speaking ----------------------------------------------------------------------------------------------

    def _good_speech(self, view: AvalonView) -> Move:
        chance = self.belief.evil_chance()
        others = [j for j in range(len(chance)) if j != self._me]
        worst = max(others, key=lambda j: chance[j])
        best = min(others, key=lambda j: chance[j])
        if view.role == game.MERLIN and self._rng.random() < self._style.cover:
            return Move(speech.RECOMMEND, (self._me,))
        if chance[worst] > SUSPICIOUS:
            return Move(speech.ACCUSE, (worst,))
        return Move(speech.RECOMMEND, (best if self._rng.random() < PRAISES else self._me,))

    def _evil_speech(self) -> Move:
        assert self.onlooker is not None
        draw = self._rng.random()
        suspicion = self.onlooker.evil_chance()
        victims = [j for j in range(len(suspicion)) if j not in self._fellows]
        friends = sorted(self._fellows - {self._me})
        if draw < ACCUSES_GOOD:
            return Move(speech.ACCUSE, (max(victims, key=lambda j: suspicion[j]),))
        if draw < OR_DEFENDS and friends:
            return Move(speech.DEFEND, (friends[int(self._rng.integers(len(friends)))],))
        return Move(speech.RECOMMEND, (self._me,))


def _fellows(view: AvalonView) -> frozenset[int]:
    """The seat itself and those that the night showed it to be evil."""
    shown = {j for fact in view.knows if all(role in game.EVIL_ROLES for role in fact.roles) for j in fact.seats}
    return frozenset(shown | {view.seat})
