"""Claims that contradict what the speaker saw, what it said before, or the rules, in Avalon and Werewolf.

    rules  no deal that fits what everybody saw makes the claim true, or nobody has the role that it claims
    saw    no deal that fits what a good seat saw makes it true, or it claims another role than its own, or a check it never made
    said   the claim cannot be true together with the seat's claims since the last fact that all saw, or it claims a second role

Facts that all see are cards of quests, deaths and roles that are revealed. Votes and words are none: who changes its mind without a
new fact contradicts itself. What evil seats say against their knowledge is a lie and counts as deception, so `saw` is of good seats alone.
A claim accuses, defends, recommends, reports a check or names the speaker's role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.common.plain import plain
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.training.statistics import Estimate

from parlour_bench.abilities.doubt import mean_by_game

RULES: Final = "rules"
SAW: Final = "saw"
SAID: Final = "said"
CONTRADICTIONS: Final = (RULES, SAW, SAID)
_ABOUT: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.REPORT)

Mask = NDArray[np.bool_]


class Fact(NamedTuple):
    """Something that seats learn for certain."""

    fits: Mask
    """Which deals it leaves possible, (H,)."""
    to: tuple[int, ...] | None = None
    """Who learns it; None: everybody."""


class Said(NamedTuple):
    """A speech to everybody."""

    seat: int
    move: Move


@dataclass(frozen=True)
class SpokenGame:
    """A game as its claims are judged."""

    players: tuple[str, ...]
    """Who sat in each seat."""
    roles: tuple[str, ...]
    """The role of each seat."""
    role_names: tuple[str, ...]
    """Roles by the numbers that claims give."""
    evil_roles: tuple[str, ...]
    checker: str
    """The role that checks players; empty where none does."""
    deals: Mask
    """(H, n): who is evil in each deal, as `evil_deals` gives them."""
    night: Mapping[int, Mask]
    """Good seat -> the deals that fit its role and its night, (H,)."""
    course: Sequence[Fact | Said]
    """Facts and speeches, in order."""


class JudgedClaim(NamedTuple):
    """A claim, and what it contradicts."""

    seat: int
    good: bool
    """Whether the speaker is good."""
    against: frozenset[str]
    """Of `CONTRADICTIONS`."""


@dataclass(frozen=True)
class Consistency:
    """Shares of a player's claims that contradict something; None without a claim."""

    rules: Estimate | None
    saw: Estimate | None
    """Claims as good."""
    said: Estimate | None
    claims: int


def evil_deals(seats: int, evil: int) -> Mask:
    """All sets of evil seats as rows of True and False, (H, n)."""
    return np.array([[seat in chosen for seat in range(seats)] for chosen in combinations(range(seats), evil)])


def consistency(games: Iterable[SpokenGame], rng: np.random.Generator) -> dict[str, Consistency]:
    """The consistency of everybody who made a claim.

    Args:
        games: Either of Avalon or of Werewolf.
        rng: Draws games for the intervals.

    Returns:
        Name of a player -> its figures.
    """
    by_player: dict[str, list[list[JudgedClaim]]] = {}
    for game in games:
        judged = list(judged_claims(game))
        for player in dict.fromkeys(game.players[claim.seat] for claim in judged):
            by_player.setdefault(player, []).append([claim for claim in judged if game.players[claim.seat] == player])
    return {player: _of(claims, rng) for player, claims in by_player.items()}


def _of(games: Sequence[Sequence[JudgedClaim]], rng: np.random.Generator) -> Consistency:
    def share(kind: str) -> Estimate | None:
        values = [[float(kind in claim.against) for claim in of if claim.good or kind != SAW] for of in games]
        return mean_by_game(values, rng)

    return Consistency(share(RULES), share(SAW), share(SAID), sum(map(len, games)))


def judged_claims(game: SpokenGame) -> Iterator[JudgedClaim]:
    """The claims of a game, in order."""
    known = _Known(game)
    for step in game.course:
        if isinstance(step, Fact):
            known.learn(step)
        elif step.move.kind in _ABOUT or step.move.kind == speech.CLAIM_ROLE:
            yield JudgedClaim(step.seat, step.seat in game.night, frozenset(known.contradictions(step)))
            known.hear(step)


class _Known:
    """Which deals are possible at a moment of a game."""

    def __init__(self, game: SpokenGame) -> None:
        self.game, self.public, self.private = game, np.ones(len(game.deals), bool), dict(game.night)
        self.since: dict[int, Mask] = {}
        """Seat -> deals in which all is true that it said since the last fact."""
        self.roles: dict[int, str] = {}
        """Seat -> the role that it claimed first."""

    def learn(self, fact: Fact) -> None:
        if fact.to is None:
            self.public = self.public & fact.fits
            self.since.clear()
        for seat in self.private:
            if fact.to is None or seat in fact.to:
                self.private[seat] = self.private[seat] & fact.fits

    def hear(self, said: Said) -> None:
        true = self._true(said)
        before = self.since.get(said.seat, self.public)
        self.since[said.seat] = before & true if (before & true).any() else true
        role = self._role(said.move)
        if role is not None:
            self.roles.setdefault(said.seat, role)

    def contradictions(self, said: Said) -> Iterator[str]:
        seat, true, role = said.seat, self._true(said), self._role(said.move)
        possible = bool((self.public & true).any())
        if not possible or (role is not None and role not in self.game.roles):
            yield RULES
        if seat in self.private and self._against_sight(said, true, role):
            yield SAW
        before = self.since.get(seat, self.public)
        against = possible and bool((before & self.public).any()) and not (before & self.public & true).any()
        if against or (role is not None and self.roles.get(seat, role) != role):
            yield SAID

    def _against_sight(self, said: Said, true: Mask, role: str | None) -> bool:
        private, own = self.private[said.seat], self.game.roles[said.seat]
        if role is not None and role != own:
            return True
        if said.move.kind == speech.REPORT:
            return not bool(true[private].all())
        return not (private & true).any()

    def _role(self, move: Move) -> str | None:
        """The role that a speech claims."""
        if move.kind == speech.CLAIM_ROLE:
            return self.game.role_names[move.args[0]]
        return self.game.checker if move.kind == speech.REPORT else None

    def _true(self, said: Said) -> Mask:
        """In which deals a speech is true of the sides."""
        seat, (kind, args, _) = said
        if kind == speech.CLAIM_ROLE:
            true: Mask = self.game.deals[:, seat] == (self.game.role_names[args[0]] in self.game.evil_roles)
            return true
        evil: Mask = self.game.deals[:, args[0]]
        if kind == speech.REPORT:
            right: Mask = (evil == bool(args[1])) & ~self.game.deals[:, seat]
            return right
        return evil if kind == speech.ACCUSE else ~evil


def consistency_as_json(by_player: Mapping[str, Consistency]) -> dict[str, Any]:
    """Plain values."""
    return {
        player: {"claims": measured.claims} | {kind: plain(measured)[kind] for kind in CONTRADICTIONS}
        for player, measured in by_player.items()
    }
