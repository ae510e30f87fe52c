"""The options of a table of Avalon, and the roles and rules that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Self

from parlour.envs.avalon.presets import EVIL_COUNT, PLAYERS, PRESETS, QUESTS, ROLE_SETS, AvalonRules, Hunt, Majority
from parlour.envs.avalon.vocabulary import (
    ASSASSIN,
    EVIL,
    EVIL_ROLES,
    MERLIN,
    MINION,
    MORGANA,
    PERCIVAL,
    ROLES,
    SERVANT,
    side_of,
)
from parlour.envs.core import ParlourError, accept
from parlour.envs.hidden_roles.bidding import Speaking, check_speaking
from parlour.envs.hidden_roles.rules import count_roles
from parlour.envs.settings import SPARSE, OneOf
from parlour.envs.spec import GameOptions
from pydantic import Field, model_validator

_REPEATABLE: Final = (SERVANT, MINION)
_Role = Annotated[str, OneOf(ROLES)]
_EvilRole = Annotated[str, OneOf(EVIL_ROLES)]
_RoleSet = Annotated[str, OneOf(tuple(ROLE_SETS))]
_Size = Annotated[int, Field(ge=1, le=PLAYERS[-1])]


class AvalonOptions(GameOptions):
    """What a table of Avalon is made from. Points of the rules are the preset's where they are None."""

    num_players: int = Field(default=6, ge=PLAYERS[0], le=PLAYERS[-1])
    """Players at the table."""
    rules: Annotated[str, OneOf(tuple(PRESETS))] = "paper"
    """Preset of the rules."""
    roles: _RoleSet | tuple[_Role, ...] | None = None
    """One role for each player, or the name of a set; None: the usual ones."""
    talk: bool = True
    """Whether there is a discussion."""
    two_fails: Annotated[bool | None, SPARSE] = None
    """Whether the fourth quest needs two fails from seven players; None: as the preset says."""
    sizes: Annotated[tuple[_Size, ...] | None, SPARSE] = Field(default=None, min_length=QUESTS, max_length=QUESTS)
    """Team sizes of the five quests; None: as in the boxed game."""
    guesser: Annotated[_EvilRole | None, SPARSE] = None
    """The evil role that names Merlin, held by one player; None: the Assassin."""
    majority: Annotated[Majority | None, SPARSE] = None
    """Whether half of the votes approve a team, or only more than half; None: as the preset says."""
    hunt: Annotated[Hunt | None, SPARSE] = None
    """Whether Merlin may be named after each quest, or only after three good ones; None: as the preset says."""
    speaking: Annotated[Speaking, SPARSE] = "order"
    """In a discussion all speak once in an order, or they make bids for the floor."""

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        check_speaking(self.speaking, talk=self.talk)
        if self.sizes is not None and max(self.sizes) > self.num_players:
            raise accept("sizes", self.sizes, f"None, or {QUESTS} whole numbers 1..{self.num_players}")
        check_roles(self.num_players, self.dealt)
        guesser = self.points.guesser
        if self.dealt.count(guesser) != 1:
            fault = f"roles {list(self.dealt)!r} hold {self.dealt.count(guesser)} x {guesser}"
            raise ParlourError(f"{fault}; accepted: exactly one, or another guesser that names Merlin")
        return self

    @property
    def dealt(self) -> tuple[str, ...]:
        """The roles in play, in the order of `ROLES`."""
        if self.roles is None:
            return default_roles(self.num_players)
        return tuple(sorted(ROLE_SETS[self.roles] if isinstance(self.roles, str) else self.roles, key=ROLES.index))

    @property
    def points(self) -> AvalonRules:
        """The preset, with the points that are given instead of its own."""
        points = ("two_fails", "sizes", "guesser", "majority", "hunt")
        given: dict[str, Any] = {name: getattr(self, name) for name in points if getattr(self, name) is not None}
        return replace(PRESETS[self.rules], **given)


def default_roles(num_players: int) -> tuple[str, ...]:
    """Merlin, Percival, Morgana and the Assassin; the other seats are Loyal Servants and plain Minions."""
    evil = EVIL_COUNT[num_players]
    good = num_players - evil
    return (MERLIN, PERCIVAL) + (SERVANT,) * (good - 2) + (MORGANA, ASSASSIN) + (MINION,) * (evil - 2)


def check_roles(num_players: int, roles: Sequence[str]) -> None:
    """Raise `ParlourError` unless the roles make a game of `num_players`."""
    counts, held = count_roles(num_players, roles), f"roles {list(roles)!r} hold"
    if counts[MERLIN] != 1:
        raise ParlourError(f"{held} {counts[MERLIN]} x {MERLIN}; accepted: exactly one")
    for role, count in counts.items():
        if count > 1 and role not in _REPEATABLE:
            raise ParlourError(f"{held} {count} x {role}; accepted: at most one")
    evil, wanted = sum(side_of(role) == EVIL for role in roles), EVIL_COUNT[num_players]
    if evil != wanted:
        raise ParlourError(f"{held} {evil} evil; accepted: {wanted} of {num_players} players")
