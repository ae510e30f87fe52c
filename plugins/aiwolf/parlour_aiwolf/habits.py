"""How often seats of AIWolf's Werewolf do what, as the exact belief supposes.

The usual rates are counted from games of the heuristic (`parlour_aiwolf.count_habits`); what those games never show is
set by judgement, so that a player who does it is not taken for impossible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from parlour.envs.werewolf.vocabulary import SEER, WEREWOLF

from parlour_aiwolf.vocabulary import BODYGUARD, MEDIUM, POSSESSED

POWERS: Final = (SEER, MEDIUM, BODYGUARD)
"""Roles that a player may come out with. A claim to be anything else tells nothing."""


@dataclass(frozen=True)
class AIWolfHabits:
    """Rates, as fractions; the usual ones of the table of 15. "One of the village" is anybody but a werewolf and the possessed."""

    accuses_wolf: float = 0.25
    """An accusation by one of the village hits a werewolf."""
    wolf_accuses_wolf: float = 0.02
    possessed_accuses_wolf: float = 0.26
    defends_wolf: float = 0.2
    """A defence by one of the village goes to a werewolf."""
    wolf_defends_wolf: float = 0.3
    possessed_defends_wolf: float = 0.25
    votes_wolf: float = 0.23
    """A vote by one of the village hits a werewolf."""
    wolf_votes_wolf: float = 0.02
    possessed_votes_wolf: float = 0.26
    aims_weight: float = 0.5
    """How much an accusation, a defence or a vote counts, as the power of its likelihood: less than 1 where seats follow each
    other, because one seat then repeats what another has told."""
    seer_claims_first: float = 0.98
    """The seer comes out as the seer on day 1."""
    seer_claims_later: float = 0.9
    """The seer comes out on a later day, if it has not yet; for other roles likewise."""
    medium_claims_first: float = 0.02
    medium_claims_later: float = 0.98
    bodyguard_claims: float = 0.01
    """The bodyguard comes out on a day."""
    possessed_claims_seer_first: float = 0.95
    possessed_claims_seer_later: float = 0.5
    possessed_claims_other: float = 0.01
    """The possessed comes out as the medium on a day, or as the bodyguard."""
    wolf_claims_seer: float = 0.02
    """A werewolf comes out as the seer on a day."""
    wolf_claims_other: float = 0.01
    other_claims: float = 0.002
    """One of the village comes out with a role that it does not have, on a day, for each such role."""
    seer_reports_wolf: float = 0.14
    """A report of the seer is about a werewolf."""
    wolf_reports_evil: float = 0.8
    """Share of a werewolf's reports that call the player a werewolf."""
    wolf_reports_fellow: float = 0.05
    """Share of a werewolf's reports of a werewolf that are about a fellow."""
    wolf_clears_fellow: float = 0.5
    """Share of a werewolf's reports of a human that are about a fellow."""
    possessed_reports_evil: float = 0.95
    """Share of the possessed's reports that call the player a werewolf."""
    guard_saves: float = 0.58
    """The bodyguard, if it lives, protects the player that is attacked."""

    def comes_out(self, role: str, claimed: str, *, first: bool) -> float:
        """How likely a role comes out with one of `POWERS` on a day; `first`: on day 1."""
        if role == WEREWOLF:
            return self.wolf_claims_seer if claimed == SEER else self.wolf_claims_other
        if role == POSSESSED:
            seer = self.possessed_claims_seer_first if first else self.possessed_claims_seer_later
            return seer if claimed == SEER else self.possessed_claims_other
        if role != claimed:
            return self.other_claims
        if role == SEER:
            return self.seer_claims_first if first else self.seer_claims_later
        if role == MEDIUM:
            return self.medium_claims_first if first else self.medium_claims_later
        return self.bodyguard_claims


_USUAL: Final[Mapping[int, AIWolfHabits]] = {
    5: AIWolfHabits(
        accuses_wolf=0.38,
        possessed_accuses_wolf=0.35,
        votes_wolf=0.44,
        possessed_votes_wolf=0.34,
        aims_weight=0.05,
        seer_reports_wolf=0.29,
    )
}


def usual_habits(players: int) -> AIWolfHabits:
    """How seats usually behave at a table of some size: the table of 5 has its own rates, and all others have the rates of 15."""
    return _USUAL.get(players, AIWolfHabits())
