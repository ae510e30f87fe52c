"""The options of a table of Werewolf, and the roles that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal, Self

from parlour.envs.core import ParlourError
from parlour.envs.hidden_roles.bidding import Speaking, check_speaking
from parlour.envs.hidden_roles.rules import count_roles
from parlour.envs.settings import SPARSE, OneOf
from parlour.envs.spec import GameOptions
from parlour.envs.werewolf.presets import (
    DAYS_ACCEPTED,
    MAX_DAYS,
    PLAYERS,
    PRESETS,
    ROLE_SETS,
    WOLF_COUNT,
    Shown,
    WerewolfRules,
)
from parlour.envs.werewolf.vocabulary import LEADERS, REPEATABLE, ROLES, SEER, VILLAGER, WEREWOLF
from pydantic import Field, model_validator

SMALL: Final = 5
"""Up to this number of seats, a table has no witch and no guard unless its roles are named."""


class WerewolfOptions(GameOptions):
    """What a table of Werewolf is made from."""

    num_players: int = Field(default=8, ge=PLAYERS[0], le=PLAYERS[-1])
    """Players at the table."""
    rules: Annotated[str, OneOf(tuple(PRESETS))] = "paper"
    """Preset of the rules."""
    roles: Annotated[str, OneOf(tuple(ROLE_SETS))] | tuple[Annotated[str, OneOf(ROLES)], ...] | None = None
    """One role for each player, or the name of a set; None: the usual ones."""
    talk: bool = True
    """Whether wolves speak by night, everybody by day, and the executed at last."""
    max_days: int = Field(default=MAX_DAYS, ge=DAYS_ACCEPTED[0], le=DAYS_ACCEPTED[-1])
    """Days after which the game is a draw."""
    votes: Annotated[Shown | None, SPARSE] = None
    """Whether everybody sees each vote by day as it is cast, or all of them at once; None: as the preset says."""
    speaking: Annotated[Speaking, SPARSE] = "order"
    """By day all speak once in an order, or they make bids for the floor."""
    seer: Annotated[Literal["side", "character"], SPARSE] = "side"
    """Whether the seer sees only if a player is a werewolf, or the role."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        check_speaking(self.speaking, talk=self.talk)
        counts, held = count_roles(self.num_players, self.dealt), f"roles {list(self.dealt)!r} hold"
        for role, count in counts.items():
            if count > 1 and role not in REPEATABLE:
                raise ParlourError(f"{held} {count} x {role}; accepted: at most one")
        most = (self.num_players - 1) // 2  # else the wolves would have won by parity before the first night
        if not 1 <= counts[WEREWOLF] <= most:
            raise ParlourError(f"{held} {counts[WEREWOLF]} x {WEREWOLF}; accepted: 1 to {most}")
        return self

    @property
    def dealt(self) -> tuple[str, ...]:
        """The roles in play, in the order of `ROLES`."""
        if self.roles is None:
            return default_roles(self.num_players)
        return tuple(sorted(ROLE_SETS[self.roles] if isinstance(self.roles, str) else self.roles, key=ROLES.index))

    @property
    def points(self) -> WerewolfRules:
        """The preset, with the point that is given instead of its own."""
        preset = PRESETS[self.rules]
        return replace(preset, votes_shown=self.votes or preset.votes_shown)


def default_roles(num_players: int) -> tuple[str, ...]:
    """Werewolves by `WOLF_COUNT`, witch, guard and seer; the other seats are villagers.

    No source has a table of four or five: there the seer is the only leader, so that half of the seats or more have no
    power of their own.

    >>> default_roles(8)
    ('Werewolf', 'Werewolf', 'Werewolf', 'Witch', 'Guard', 'Seer', 'Villager', 'Villager')
    >>> default_roles(4)
    ('Werewolf', 'Seer', 'Villager', 'Villager')
    """
    wolves = WOLF_COUNT[num_players]
    leaders = LEADERS if num_players > SMALL else (SEER,)
    return (WEREWOLF,) * wolves + leaders + (VILLAGER,) * (num_players - wolves - len(leaders))
