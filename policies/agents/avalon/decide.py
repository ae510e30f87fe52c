"""What a player does who holds given chances true: the decisions behind the heuristics of both Avalon agents.

An option is known by its code, `kind:arguments` (`"propose:0,2"`, `"vote:1"`, `"accuse:3"`, `"guess"` to pass).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Final

import numpy as np
from parlour.envs.avalon.vocabulary import BALLOT, CARD, EVIL_ROLES, GUESS, TEAM
from parlour.envs.core import accept
from parlour.envs.hidden_roles.bidding import BID, HIGHEST_BID
from parlour.policies.agents.avalon.lines import DISCREET, QUIET, SABOTAGE, SHADOW, SLEEPER
from parlour.policies.agents.avalon.seat import AvalonSelfInfo, AvalonSituation
from parlour.policies.agents.seat import InputPart, code

# How likely a team must be to be clean, as a fraction of what the next leaders will offer; an entry a proposal.
_PICKY: Final = (0.95, 0.9, 0.85, 0.75, 0.0)
_COVER: Final = 0.6
_SUSPICIOUS: Final = 0.6


def by_default(
    unclear: str, me: AvalonSelfInfo, now: AvalonSituation, options: Collection[str], rng: np.random.Generator
) -> str | None:
    """The code of the option taken for a seat whose model gave no clear answer; None where the heuristic decides.

    Appendix A.4 of Lan et al. 2023 (`unclear="paper"`): an unclear vote agrees, an unclear card fails, or succeeds of a good seat,
    which cannot fail; a missing team is drawn. In the published code (`"code"`) the card succeeds.
    """
    if unclear not in ("paper", "code"):
        return None
    if now.does == TEAM:
        largest = max(option.count(",") for option in options)
        return str(rng.choice([option for option in options if option.count(",") == largest]))
    succeeds = me.role not in EVIL_ROLES or unclear == "code"
    return {BALLOT: code(BALLOT, [1]), CARD: code(CARD, [int(succeeds)])}.get(now.does)


class RoleProbabilities(InputPart):
    """What a seat holds for true of each seat, itself included; in seat order."""

    evil: list[float]
    merlin: list[float]
    looks: list[float]
    """How evil each one looks to the others."""


class AvalonDecision:
    """One decision of one seat.

    Args:
        me: Who decides.
        now: What is asked.
        chances: What it holds for true.
        line: The line of play; empty for none.
        rng: For what is left to chance.
    """

    def __init__(
        self, me: AvalonSelfInfo, now: AvalonSituation, chances: RoleProbabilities, line: str, rng: np.random.Generator
    ) -> None:
        self.now, self.chances, self.line, self.rng = now, chances, line, rng
        self.seat, self.fellows = me.seat, frozenset(me.fellows)
        self.is_evil = me.role in EVIL_ROLES
        self.n = len(chances.evil)

    def choose(self, options: Mapping[str, str]) -> str:
        """The code of the option taken. Raises `ParlourError` if these are no options of Avalon in this situation."""
        decide: dict[str, Callable[[], str]] = {
            "speak": self._evil_speech if self.is_evil else self._good_speech,
            TEAM: lambda: code(TEAM, sorted(self._evil_team() if self.is_evil else self._good_team())),
            BALLOT: lambda: code(BALLOT, [int(self._evil_vote() if self.is_evil else self._good_vote())]),
            CARD: lambda: code(CARD, [int(not (self.is_evil and self._fails()))]),
            GUESS: lambda: self._guess(options),
            BID: lambda: code(BID, [self._bid()]),
        }
        wanted = decide[self.now.does]()
        if wanted not in options:
            raise accept("option", wanted, options)
        return wanted

    def _bid(self) -> int:
        """The surer a good player is of an evil one, the higher it bids; the evil side bids half."""
        surest = max(chance for seat, chance in enumerate(self.chances.evil) if seat != self.seat)
        return HIGHEST_BID // 2 if self.is_evil else round(HIGHEST_BID * surest)

    # -- the good side -----------------------------------------------------------------------------------------

    def _shown(self) -> Sequence[float]:
        """The chances a good seat acts by: a quiet one often by what all saw, while no lost quest would be the last."""
        if self.line == QUIET and self.now.evil < 2 and self.rng.random() < _COVER:
            return self.chances.looks
        return self.chances.evil

    def _clean(self, team: Sequence[int], evil: Sequence[float]) -> float:
        return prod(1 - evil[j] for j in team if j != self.seat)

    def _prospect(self, evil: Sequence[float]) -> float:
        """How likely the next leaders' teams are to be clean: an evil leader's never, a good one's as well as may be."""
        after = [(self.now.leader + k) % self.n for k in range(1, self.now.limit - self.now.proposal + 1)]
        if not after:
            return 0.0
        ranked = sorted(range(self.n), key=lambda j: evil[j] if j != self.seat else -1.0)
        total = 0.0
        for leader in after:
            with_leader = [leader, *(j for j in ranked if j != leader)][: self.now.size]
            total += (1 - evil[leader] if leader != self.seat else 1.0) * self._clean(
                [j for j in with_leader if j != leader], evil
            )
        return total / len(after)

    def _good_vote(self) -> bool:
        if self.now.proposal >= self.now.limit or self.now.leader == self.seat:
            return True
        evil = self._shown()
        picky = _PICKY[min(self.now.proposal, len(_PICKY)) - 1]
        return self._clean(self.now.team, evil) >= picky * self._prospect(evil)

    def _good_team(self) -> list[int]:
        evil = self._shown()
        others = sorted((j for j in range(self.n) if j != self.seat), key=lambda j: evil[j] + 1e-6 * self.rng.random())
        return [self.seat, *others][: self.now.size]

    def _good_speech(self) -> str:
        quiet = self.line == QUIET
        evil = self.chances.looks if quiet else self.chances.evil
        others = [j for j in range(self.n) if j != self.seat]
        worst, best = max(others, key=lambda j: evil[j]), min(others, key=lambda j: evil[j])
        if evil[worst] > _SUSPICIOUS and self.line != DISCREET:
            return f"accuse:{worst}"
        return f"recommend:{best if self.rng.random() < 0.5 else self.seat}"

    # -- the evil side -----------------------------------------------------------------------------------------

    def _evil_vote(self) -> bool:
        if self.now.proposal >= self.now.limit and self.now.last_rejection_loses:
            return False
        dirty = bool(self.fellows.intersection(self.now.team))
        if self.now.leader == self.seat or (dirty and self.now.evil == 2):
            return True
        if not dirty and self.now.good == 2:
            return False
        return bool(self.rng.random() < (0.8 if dirty else 0.3))

    def _evil_team(self) -> list[int]:
        looks = [chance + 1e-6 * self.rng.random() for chance in self.chances.looks]
        behind = self.line == SHADOW
        fellows = sorted(self.fellows, key=lambda j: (behind and j == self.seat, looks[j] - 0.2 * (j == self.seat)))
        saboteurs = fellows[: min(self.now.fails_needed, self.now.size)]
        innocents = sorted(set(range(self.n)) - self.fellows, key=lambda j: looks[j])
        return [*saboteurs, *innocents][: self.now.size]

    def _fails(self) -> bool:
        on_team = sorted(self.fellows.intersection(self.now.team))
        if len(on_team) < self.now.fails_needed and len(self.fellows) > 1:
            return False
        if 2 in (self.now.good, self.now.evil):
            return True
        if self.line == SLEEPER and self.now.good == 0 and self.now.quest <= 2:
            return False
        if self.line == SABOTAGE:
            return True
        if not self.line:
            return bool(self.rng.random() < 0.5)
        return on_team.index(self.seat) < self.now.fails_needed

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

    def _guess(self, options: Mapping[str, str]) -> str:
        """Wait for the last chance: the Assassin is asked after the third success too, and knows more by then."""
        target = self._likely_merlin()
        passes = code(GUESS, [])
        return passes if self.now.good < 3 and passes in options else code(GUESS, [target])

    def _likely_merlin(self) -> int:
        merlin = self.chances.merlin
        return max((j for j in range(self.n) if j not in self.fellows), key=lambda j: merlin[j])
