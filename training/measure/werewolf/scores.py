"""The scores of GRATR's tables as functions of played games (Zhu et al. 2024, section 5).

* Win rates (table 2). TWR: the share of games won by the block's side, among games in which a method held a special block (all
werewolves, or all leaders). WWR and LWR: the share of games in which the method held the side's block, among all games won by the
werewolves (by the village). So the last two are shares of wins, in which two methods add up to 1; how often a method wins in
  a part is `as_wolves` and `as_leaders`.
* Performance score (table 3): for each seat and game 5 points if its side won, and for each of its votes by day the weight
  of its role, added if the target is of the other side, subtracted if it is of its own (itself included); a pass counts
  nothing. The figures published with the paper come out only if wrong votes ADD their weight: `sign=1` (decisions 1.8).
* Reasoning success (figure 4): the share of right judgements, among the judgements that a seat could have made, one for each
other player; an ally is a player of its own side. A player that it is unsure of, or says nothing about, counts as wrong.

A villager of either block scores with the village.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from parlour.envs.werewolf.vocabulary import GUARD, SEER, VILLAGE, VILLAGER, WEREWOLF, WITCH, WOLVES, side_of
from parlour.training.records.werewolf.played import Judgements, WerewolfGame
from parlour.training.statistics import Estimate

WIN: Final = 5
"""Points for winning (table 3, WS)."""
WEIGHTS: Final[Mapping[str, Fraction]] = {
    WEREWOLF: Fraction(1, 2),
    WITCH: Fraction(3, 2),
    GUARD: Fraction(3, 2),
    SEER: Fraction(3, 2),
    VILLAGER: Fraction(1),
}
"""Points for a vote for the other side (table 3, CVS; WVS is the same with a minus)."""
TABLE_3, PUBLISHED = -1, 1
"""Signs of a wrong vote: the table's, and the sign that reproduces the published figures."""


def performance(role: str, won: bool, targets: Iterable[str], sign: int = TABLE_3) -> Fraction:
    """The performance score of a seat in one game.

    Args:
        role: Its role.
        won: Whether its side won.
        targets: The role of each player it voted for.
        sign: Sign of a wrong vote: `TABLE_3` or `PUBLISHED`.

    >>> performance("Witch", True, ["Werewolf", "Guard"])
    Fraction(5, 1)
    >>> performance("Witch", True, ["Werewolf", "Guard"], PUBLISHED)
    Fraction(8, 1)
    """
    weight = WEIGHTS[role]
    voted = (weight if side_of(target) != side_of(role) else sign * weight for target in targets)
    return sum(voted, Fraction(WIN if won else 0))


def reasoning(seat: int, roles: Sequence[str], judged: Judgements) -> int:
    """How many of the others a seat judged rightly.

    >>> from parlour.training.records.werewolf.played import Judgement
    >>> reasoning(0, ["Seer", "Werewolf", "Villager"], (Judgement(1, False), Judgement(2, False)))
    1
    """
    own = side_of(roles[seat])
    return sum((side_of(roles[target]) == own) == ally for target, ally in judged if target != seat)


# -- over games ------------------------------------------------------------------------------------------------


def performances(games: Iterable[WerewolfGame], method: str, role: str, sign: int = TABLE_3) -> list[Fraction]:
    """The score of each seat of a role that a method played, where votes were recorded; in the order of the games."""
    return [
        performance(role, game.won(seat), (game.roles[vote.target] for vote in votes if vote.voter == seat), sign)
        for game, votes in ((game, game.votes) for game in games)
        if votes is not None
        for seat in game.seats(method, role)
    ]


def judged(games: Iterable[WerewolfGame], method: str, role: str | None = None) -> Iterator[tuple[int, int]]:
    """For each seat with recorded judgements: how many were right, and how many it could have made."""
    for game in games:
        for seat in game.seats(method, role):
            judgement = game.judgements[seat]
            if judgement is not None:
                yield reasoning(seat, game.roles, judgement), len(game.roles) - 1


def reasoning_success(games: Iterable[WerewolfGame], method: str, role: str | None = None) -> Estimate | None:
    """The share of right judgements, of all seats of a method or of one role. None if none were recorded.

    Its interval assumes independent judgements; the judgements of one seat are not independent.
    """
    counts = list(judged(games, method, role))
    return Estimate.rate(sum(right for right, _ in counts), sum(of for _, of in counts))


def won_as(games: Iterable[WerewolfGame], method: str, side: str) -> list[bool]:
    """Whether the side won, in each game in which the method held its block."""
    return [game.winner == side for game in games if game.side(method) == side]


def total(games: Sequence[WerewolfGame], method: str) -> Estimate | None:
    """TWR: the wins of the method's blocks."""
    won = [*won_as(games, method, WOLVES), *won_as(games, method, VILLAGE)]
    return Estimate.rate(sum(won), len(won))


def share(games: Sequence[WerewolfGame], method: str, side: str) -> Estimate | None:
    """WWR or LWR: the share of games in which the method held the block, among the games that its side won.

    Games in which no method holds the whole block are left out.
    """
    holders = [{other for other in game.pair if game.side(other) == side} for game in games if game.winner == side]
    holds = [method in holder for holder in holders if holder]
    return Estimate.rate(sum(holds), len(holds))
