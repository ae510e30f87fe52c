"""Werewolf's roles, its tables and the three sets of rules it is played by.

Sources: Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning" (GRATR), section "Experimental setup"
and Table 3, with the defects of its code repaired, for `paper`; the code published with it, as its game records show
it, for `reference`; the boxed game's rule sheet (The Werewolves of Miller's Hollow, 2001, with the guard of its
expansion) and, for the end by parity, the rules of the party game (Mafia; Davidoff 1986) for the fields in which
`official` differs from `paper` (decisions 1.7). The seer is the paper's everywhere; the boxed game's wakes first and sees the card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from parlour.envs.werewolf.vocabulary import HUNTER, SEER, VILLAGER, WEREWOLF, WITCH

PLAYERS: Final = range(4, 16)

# Paper, experimental setup: three of eight. For other numbers no source says it; about a third, as there. With two of
# five, the first kill by night would win the game by parity.
WOLF_COUNT: Final = {4: 1, 5: 1, 6: 2, 7: 2, 8: 3, 9: 3, 10: 3, 11: 4, 12: 4, 13: 4, 14: 5, 15: 5}

ROLE_SETS: Final = {"hunter": (*(WEREWOLF,) * 3, WITCH, SEER, HUNTER, *(VILLAGER,) * 3)}
"""Usual sets of roles: a hunter and no guard at nine seats."""

MAX_DAYS: Final = 15
"""Default cap. No source has one; the longest published game took 10 days."""
DAYS_ACCEPTED: Final = range(1, 21)


Shown = Literal["as_cast", "together"]


@dataclass(frozen=True, kw_only=True)
class WerewolfRules:
    """The points on which the sources differ."""

    hunt_shown: Shown
    """Whether a wolf sees the votes of the wolves before it; if not, the wolves learn only the victim."""
    hunt_tie: Literal["random", "nobody"]
    """The wolves' victim after a tied vote: one of the tied targets (nobody may be one), or nobody."""
    hunt_wolves: bool
    """Whether a wolf may name a wolf, itself among them, as the victim."""
    guard_may_repeat: bool
    """Whether the guard may protect the same seat in two nights running."""
    dying_witch_poisons: bool
    """Whether a witch who is killed in a night in which she has no antidote any more may still poison."""
    votes_shown: Shown
    """Whether everybody sees each vote by day as it is cast, or all of them at once."""
    reveals: Literal["first_night", "all"]
    """Whose roles are shown: of those who died in the first night, or of all dead."""
    wolves_win: Literal["last", "parity"]
    """When: nobody else lives; or as many wolves live as others."""
    yes_words: bool
    """Whether any yes-word in the witch's answer gives the antidote, whatever else it says ("I will not save")."""


# The published code with its defects repaired: the guard's rule enforced, a dead witch does nothing, votes
# secret until all are in, a "no" that holds the word "save" is a no.
_PAPER: Final = WerewolfRules(
    hunt_shown="together",
    hunt_tie="random",
    hunt_wolves=True,
    guard_may_repeat=False,
    dying_witch_poisons=False,
    votes_shown="together",
    reveals="first_night",
    wolves_win="last",
    yes_words=False,
)
PRESETS: Final = {
    "paper": _PAPER,
    # The published code: votes are public as they are cast, by night among the wolves; the guard's memory is cleared
    # every morning; with the antidote used up, the wolves' kill takes effect only together with the poison.
    "reference": replace(
        _PAPER,
        hunt_shown="as_cast",
        guard_may_repeat=True,
        dying_witch_poisons=True,
        votes_shown="as_cast",
        yes_words=True,
    ),
    # Rule sheet: no kill without agreement, wolves devour others only, the dead show their cards; parity ends it.
    "official": replace(_PAPER, hunt_tie="nobody", hunt_wolves=False, reveals="all", wolves_win="parity"),
}
