"""How likely votes, teams and cards of Avalon are under each deal, by conduct learned from records (`model.Conduct`).

A seat's behaviour depends on its kind (its knowledge about the team) and on public events. Terms of a vote, by `VOTE_TERMS`:

    always          1
    own             the voter leads
    on team         the voter is on the team and does not lead
    doubt           1 - the chance that the team is clean, over that of the best team of its size, as the voter would see it if
                    it were good and went by the quests' cards alone
    dirty           the team has an evil member (for voters who do not know, as by hearsay)
    second quest, later quest
    again           not the first proposal of the quest
    evil two, good two    quests won
    mood            what moves all votes on one team alike, such as what was said: drawn from a standard normal, and nobody sees it

A leader chooses among all teams of the size, by weights that are exponentials of the sum of `TEAM_TERMS`: self (is on the team),
doubt, dirty (the leader knows an evil member; hearsay for good and Oberon), more evil (how many beyond one), kept and again (the
share of members who were on the last quest that succeeded, and on the last team of this quest that was rejected). Merlin does not
know Mordred, an evil leader not Oberon. A quest with evil members fails by `CARD_TERMS`: pair (team of two), several (evil members);
then each further one fails with the same chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, log
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.avalon.public import Public

from parlour_people.habits.model import VOTE_TERMS, Conduct

DIRTY: Final = VOTE_TERMS.index("dirty")
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(9)
MOODS: Final[NDArray[np.float64]] = _NODES
"""Values of the mood over which the likelihood of all votes is summed (Gauss-Hermite)."""
MOOD_SHARES: Final[NDArray[np.float64]] = _SHARES / _SHARES.sum()
SURE: Final = 1e-9
"""No chance is smaller, so that no deal is ruled out by conduct."""


def vote_terms(public: Public, leader: int, team: Sequence[int], doubts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The terms of each voter except for `dirty`, which is 0 here; shape (n, terms).

    Args:
        public: What all have seen.
        leader: Who named the team.
        team: Its members.
        doubts: Doubt of each seat in this team, shape (n,).
    """
    n = len(doubts)
    own, on_team = np.zeros(n), np.zeros(n)
    on_team[list(team)] = 1.0
    own[leader], on_team[leader] = 1.0, 0.0
    stage = np.broadcast_to(public.stage(), (n, 5))
    return np.column_stack([np.ones(n), own, on_team, doubts, np.zeros(n), stage, np.zeros(n)])


def log_votes(
    terms: NDArray[np.float64], votes: NDArray[np.float64], coefficients: Sequence[float]
) -> NDArray[np.float64]:
    """Log likelihood of votes (1/0, shape (n,)) by terms (n, terms), for each of `MOODS`; shape (n, moods)."""
    odds = (terms @ np.array(coefficients))[:, None] + coefficients[-1] * MOODS
    logs: NDArray[np.float64] = -np.logaddexp(0.0, np.where(votes[:, None] == 1, -odds, odds))
    return logs.clip(min=log(SURE))


def over_moods(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log likelihood of all votes on one team, from that in each mood, shape (..., moods)."""
    top = logs.max(axis=-1, keepdims=True)
    total: NDArray[np.float64] = top[..., 0] + np.log(np.exp(logs - top) @ MOOD_SHARES)
    return total


def team_terms(
    public: Public, leader: int, doubts: NDArray[np.float64], members: NDArray[np.float64], known: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The terms of all teams for one leader under some sides, shape (sides, teams, terms).

    Args:
        public: What all have seen.
        leader: The leader.
        doubts: Doubt of the leader in each team, shape (teams,).
        members: Teams as 0/1 rows, shape (teams, n).
        known: Evil seats that influence the leader, 0/1 of shape (sides, n).
    """
    evil = known @ members.T
    shape = evil.shape
    shares = [members[:, list(seats)].sum(axis=1) / members[0].sum() for seats in (public.kept, public.again)]
    own, doubt, kept, again = (np.broadcast_to(share, shape) for share in (members[:, leader], doubts, *shares))
    return np.stack([own, doubt, (evil > 0).astype(np.float64), np.maximum(evil - 1, 0.0), kept, again], axis=2)


def log_team(terms: NDArray[np.float64], chosen: int, coefficients: Sequence[float]) -> NDArray[np.float64]:
    """Log likelihood that a leader chooses a team (by number), shape (sides,)."""
    odds = terms @ np.array(coefficients)
    top = odds.max(axis=1, keepdims=True)
    logs: NDArray[np.float64] = odds[:, chosen] - top[:, 0] - np.log(np.exp(odds - top).sum(axis=1))
    return logs.clip(min=log(SURE))


def card_terms(public: Public, size: int, evil: int) -> tuple[float, ...]:
    """The terms of a quest with so many evil members."""
    quest = public.quest
    stage = float(quest == 0), float(quest == 1), float(size == 2), float(evil > 1)
    return (1.0, *stage, float(public.evil == 2), float(public.good == 2))


def fails_chances(public: Public, size: int, fails: int, conduct: Conduct, habits: AvalonHabits) -> NDArray[np.float64]:
    """Probability of a number of fail cards by the number of evil members, shape (size + 1,)."""
    return np.array([_fails_chance(public, size, evil, fails, conduct, habits.good_fails) for evil in range(size + 1)])


def others_fail(
    public: Public, size: int, fails: int, own: int, conduct: Conduct, habits: AvalonHabits
) -> NDArray[np.float64]:
    """The same for the fails of the others where an evil member knows its own card (1 success): by evil others, shape (size,).

    Given its own card: evil members are alike, so that of k with f fails a given one failed in f / k of the cases.
    """
    chances = []
    for evil in range(1, size + 1):
        chance = [_fails_chance(public, size, evil, f, conduct, habits.good_fails) for f in range(evil + 1)]
        share = [p * (f / evil if own == 0 else 1 - f / evil) for f, p in enumerate(chance)]
        chances.append(share[fails] / max(sum(share), SURE) if fails <= evil else 0.0)
    return np.array(chances).clip(min=1e-12)


def _fails_chance(public: Public, size: int, evil: int, fails: int, conduct: Conduct, good_fails: float) -> float:
    by_evil = _by_evil(public, size, evil, conduct)
    good = size - evil
    total = sum(
        by_evil[k] * comb(good, fails - k) * good_fails ** (fails - k) * (1 - good_fails) ** (good - fails + k)
        for k in range(max(0, fails - good), min(evil, fails) + 1)
    )
    return max(total, 1e-12)


def _by_evil(public: Public, size: int, evil: int, conduct: Conduct) -> list[float]:
    """Probability of 0, 1, ... fails of so many evil members."""
    if evil == 0:
        return [1.0]
    any_fail = _chance(sum(a * b for a, b in zip(card_terms(public, size, evil), conduct.cards, strict=True)))
    joins = _chance(conduct.joins)
    further = [comb(evil - 1, k) * joins**k * (1 - joins) ** (evil - 1 - k) for k in range(evil)]
    return [1 - any_fail, *(any_fail * chance for chance in further)]


def _chance(odds: float) -> float:
    return min(1 - SURE, max(SURE, 1 / (1 + exp(-max(-700.0, min(700.0, odds))))))
