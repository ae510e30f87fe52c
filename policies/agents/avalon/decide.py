"""What a player does who holds given chances true: the decisions behind the heuristics of both Avalon agents.

An option is known by its code, `kind:arguments` (`"propose:0,2"`, `"vote:1"`, `"accuse:3"`, `"guess:"` to pass).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Final, Literal

import numpy as np
from parlour.envs.avalon.vocabulary import BALLOT, CARD, EVIL_ROLES, GUESS, TEAM
from parlour.envs.core import accept
from parlour.policies.agents.avalon.lines import DISCREET, QUIET, SABOTAGE, SHADOW, SLEEPER
from parlour.policies.agents.seat import code
from pydantic import BaseModel, ConfigDict

# How likely a team must be to be clean, as a fraction of what the next leaders will offer; an entry a proposal.
_PICKY: Final = (0.95, 0.9, 0.85, 0.75, 0.0)
_COVER: Final = 0.6
_SUSPICIOUS: Final = 0.6


class AvalonSituation(BaseModel):
    """What is asked of a seat, and how the game stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    does: Literal["speak", "propose", "vote", "card", "guess"]
    """Speak to the table, name a team, vote on one, play a quest card, name Merlin."""
    quest: int
    """1-5."""
    proposal: int
    """Of this quest, from 1."""
    limit: int
    """Proposals of a quest after which no further one is made."""
    last_rejection_loses: bool
    """Whether a rejection at the limit loses for good; if not, the team goes all the same."""
    guess_at_end: bool
    """Whether the Assassin is asked only after three successes."""
    leader: int
    """Number of the player who leads."""
    team: list[int]
    """Numbers of the players proposed or on the quest."""
    size: int
    """Players on this quest."""
    fails_needed: int
    good: int
    """Quests won by good, the one just played among them."""
    evil: int


class RoleProbabilities(BaseModel):
    """What a seat holds for true of each seat, itself included; in seat order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    evil: list[float]
    merlin: list[float]
    looks: list[float]
    """How evil each one looks to the others."""


class AvalonDecision:
    """One decision of one seat.

    Args:
        seat: Its number.
        role: Its role.
        fellows: The evil seats it knows, itself included, if it is evil.
        chances: What it holds for true.
        line: The line of play; empty for none.
        rng: For what is left to chance.
    """

    def __init__(
        self,
        seat: int,
        role: str,
        fellows: Sequence[int],
        chances: RoleProbabilities,
        line: str,
        rng: np.random.Generator,
    ) -> None:
        self.seat, self.role, self.line, self.rng = seat, role, line, rng
        self.is_evil = role in EVIL_ROLES
        self.fellows = frozenset(fellows)
        self.chances = chances
        self.n = len(chances.evil)

    def choose(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        """The code of the option taken. Raises `ParlourError` if these are no options of Avalon in this situation."""
        decide: dict[str, Callable[[AvalonSituation, Mapping[str, str]], str]] = {
            "speak": self._speak,
            TEAM: self._propose,
            BALLOT: self._vote,
            CARD: self._card,
            GUESS: self._guess,
        }
        wanted = decide[now.does](now, options)
        if wanted not in options:
            raise accept("option", wanted, options)
        return wanted

    # -- the good side -----------------------------------------------------------------------------------------

    def _shown(self, now: AvalonSituation) -> Sequence[float]:
        """The chances a good seat acts by: a quiet one often by what all saw, while no lost quest would be the last."""
        if self.line == QUIET and now.evil < 2 and self.rng.random() < _COVER:
            return self.chances.looks
        return self.chances.evil

    def _clean(self, team: Sequence[int], evil: Sequence[float]) -> float:
        return prod(1 - evil[j] for j in team if j != self.seat)

    def _prospect(self, now: AvalonSituation, evil: Sequence[float]) -> float:
        """How likely the next leaders' teams are to be clean: an evil leader's never, a good one's as well as may be."""
        after = [(now.leader + k) % self.n for k in range(1, now.limit - now.proposal + 1)]
        if not after:
            return 0.0
        ranked = sorted(range(self.n), key=lambda j: evil[j] if j != self.seat else -1.0)
        total = 0.0
        for leader in after:
            with_leader = [leader, *(j for j in ranked if j != leader)][: now.size]
            total += (1 - evil[leader] if leader != self.seat else 1.0) * self._clean(
                [j for j in with_leader if j != leader], evil
            )
        return total / len(after)

    def _good_vote(self, now: AvalonSituation) -> bool:
        if now.proposal >= now.limit or now.leader == self.seat:
            return True
        evil = self._shown(now)
        picky = _PICKY[min(now.proposal, len(_PICKY)) - 1]
        return self._clean(now.team, evil) >= picky * self._prospect(now, evil)

    def _good_speech(self) -> str:
        quiet = self.line == QUIET
        evil = self.chances.looks if quiet else self.chances.evil
        others = [j for j in range(self.n) if j != self.seat]
        worst, best = max(others, key=lambda j: evil[j]), min(others, key=lambda j: evil[j])
        if evil[worst] > _SUSPICIOUS and self.line != DISCREET:
            return f"accuse:{worst}"
        return f"recommend:{best if self.rng.random() < 0.5 else self.seat}"

    # -- the evil side -----------------------------------------------------------------------------------------

    def _evil_vote(self, now: AvalonSituation) -> bool:
        if now.proposal >= now.limit and now.last_rejection_loses:
            return False
        dirty = bool(self.fellows.intersection(now.team))
        if now.leader == self.seat or (dirty and now.evil == 2):
            return True
        if not dirty and now.good == 2:
            return False
        return bool(self.rng.random() < (0.8 if dirty else 0.3))

    def _evil_team(self, now: AvalonSituation) -> list[int]:
        looks = [chance + 1e-6 * self.rng.random() for chance in self.chances.looks]
        behind = self.line == SHADOW
        fellows = sorted(self.fellows, key=lambda j: (behind and j == self.seat, looks[j] - 0.2 * (j == self.seat)))
        saboteurs = fellows[: min(now.fails_needed, now.size)]
        innocents = sorted(set(range(self.n)) - self.fellows, key=lambda j: looks[j])
        return [*saboteurs, *innocents][: now.size]

    def _fails(self, now: AvalonSituation) -> bool:
        on_team = sorted(self.fellows.intersection(now.team))
        if len(on_team) < now.fails_needed and len(self.fellows) > 1:
            return False
        if 2 in (now.good, now.evil):
            return True
        if self.line == SLEEPER and now.good == 0 and now.quest <= 2:
            return False
        if self.line == SABOTAGE:
            return True
        if not self.line:
            return bool(self.rng.random() < 0.5)
        return on_team.index(self.seat) < now.fails_needed

    def _evil_speech(self) -> str:
        draw, looks = self.rng.random(), self.chances.looks
        victims = [j for j in range(self.n) if j not in self.fellows]
        friends = sorted(self.fellows - {self.seat})
        if self.line == SABOTAGE or draw < 0.3:
            return f"recommend:{self.seat}"
        if draw < 0.7:
            return f"accuse:{max(victims, key=lambda j: looks[j])}"
        if friends and self.line == SHADOW:
            return f"recommend:{friends[int(self.rng.integers(len(friends)))]}"
        return f"recommend:{min(victims, key=lambda j: looks[j])}"

    # -- both --------------------------------------------------------------------------------------------------

    def _speak(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        return self._evil_speech() if self.is_evil else self._good_speech()

    def _propose(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        if self.is_evil:
            return code(TEAM, sorted(self._evil_team(now)))
        evil = self._shown(now)
        others = sorted((j for j in range(self.n) if j != self.seat), key=lambda j: evil[j] + 1e-6 * self.rng.random())
        return code(TEAM, sorted([self.seat, *others][: now.size]))

    def _vote(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        return code(BALLOT, [int(self._evil_vote(now) if self.is_evil else self._good_vote(now))])

    def _card(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        return code(CARD, [int(not (self.is_evil and self._fails(now)))])

    def _guess(self, now: AvalonSituation, options: Mapping[str, str]) -> str:
        """Wait for the last chance: the Assassin is asked after the third success too, and knows more by then."""
        merlin = self.chances.merlin
        target = max((j for j in range(self.n) if j not in self.fellows), key=lambda j: merlin[j])
        passes = code(GUESS, [])
        return passes if now.good < 3 and passes in options else code(GUESS, [target])
