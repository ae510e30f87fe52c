"""Evidence of Avalon learned from recorded games (`parlour.envs.avalon.evidence`): scores that give the true deal the greatest probability.

The loss of a game is that of its true evil side and Merlin, after each vote on a team and after each quest. It is nearly convex in the
coefficients; kernels compute it with its gradient, one game at a time, under all deals of its roles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numba import prange, set_num_threads
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import Key
from parlour.envs.avalon.evidence import Watched
from parlour.envs.avalon.habits import PublicEvidence
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.batch.compiled import kernel, loop

from parlour_people.habits.avalon import PublicGame
from parlour_people.habits.learner import Loss, Widths, by_table

CARD_STRIDE: Final = 18

COUNTS: Final = ("none", "one", "more")
IMPOSSIBLE: Final = -30.0

EVIDENCE_WIDTHS: Final = Widths(shared=0.2, own=0.1)
"""Widths of the priors of the coefficients, around zero: narrow, because the moments of one game share most events."""
_SHAPES: Final = ((12, 20), (12, 13), (72,))
"""Coefficients of votes, teams and cards, as `PublicEvidence` holds them."""
_SIZES: Final = tuple(int(np.prod(shape)) for shape in _SHAPES)
_ACCURACY: Final = 1e-5
"""The fit ends when a step gains less than this share of the loss."""
_NO_CARDS: Final = -1


@dataclass(frozen=True)
class WatchedGames:
    """Games with the same roles as arrays, proposal by proposal."""

    deals: tuple[Any, ...]
    """Kinds (H, n), known evil seats as bits (4, H), all evil seats as bits (H,)."""
    truth: NDArray[np.float64]
    """1 for the deals with the true evil side and Merlin, shape (G, H)."""
    starts: NDArray[np.intp]
    """Where the proposals of each game begin, shape (G + 1,)."""
    leaders: NDArray[np.intp]
    members: NDArray[np.intp]
    """The team as bits, of each proposal."""
    teams: NDArray[np.float64]
    """Terms of the team, shape (proposals, terms)."""
    votes: NDArray[np.float64]
    """Terms of each vote, shape (proposals, n, terms)."""
    cards: NDArray[np.intp]
    """Cell of the cards without evil members, or -1, of each proposal."""
    fails: NDArray[np.intp]


def watched_games(games: Sequence[PublicGame]) -> list[WatchedGames]:
    """The games as arrays, those with the same roles together; games without a vote are left out."""
    by_key: dict[Key, list[PublicGame]] = {}
    for played in games:
        by_key.setdefault(played.key(), []).append(played)
    return [_together(key, some) for key, some in by_key.items()]


def _together(key: Key, games: Sequence[PublicGame]) -> WatchedGames:
    kinds, known = key.known_evil()
    bits = known @ (1 << np.arange(len(key.roles)))
    evil, merlin, _, _ = key.tables()
    seen = [_proposals(key, played) for played in games]
    truth = [(evil == played.evil).all(axis=1) & (merlin[:, played.roles.index(game.MERLIN)] == 1) for played in games]
    columns = [np.array(column) for column in zip(*(row for rows in seen for row in rows), strict=True)]
    starts = np.cumsum([0, *(len(rows) for rows in seen)])
    return WatchedGames((kinds, bits, bits[-1]), np.array(truth, dtype=np.float64), starts, *columns)


def _proposals(key: Key, record: PublicGame) -> list[tuple[Any, ...]]:
    """Leader, team, terms of the team, terms of the votes, cell of the cards and fails, of each proposal that was voted on."""
    watched, rows = Watched(key), []
    team: tuple[int, ...] = ()
    for seat, (kind, args, _), _ in record.events:
        if kind == game.LEADS:
            watched.public.lead(args[0])
        elif kind == game.TEAM:
            team, leader, terms = args, seat, watched.team(seat, args)
        elif kind == game.VOTES:
            bits = sum(1 << j for j in team)
            rows.append((leader, bits, terms, watched.votes(team, args[1:]), _NO_CARDS, 0))
        elif kind == game.FAILS:
            rows[-1] = (*rows[-1][:4], watched.cards(team, args[1]), args[1])
        elif kind == game.SCORE:
            watched.score(team, *args)
    return rows


# -- the loss ----------------------------------------------------------------------------------------------------


def unpacked(coefficients: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Coefficients of votes, teams and cards out of one array."""
    parts = zip(np.split(coefficients, np.cumsum(_SIZES)[:-1]), _SHAPES, strict=True)
    votes, teams, cards = (np.ascontiguousarray(part.reshape(shape)) for part, shape in parts)
    return votes, teams, cards


def loss_of(groups: Sequence[WatchedGames]) -> Loss:
    """The loss of games, summed over all moments, and its gradient."""

    def loss(coefficients: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        votes, teams, cards = unpacked(coefficients)
        total, slope = 0.0, np.zeros_like(coefficients)
        set_num_threads(1)
        for group in groups:
            count = len(group.starts) - 1
            losses = np.zeros(count)
            slopes = [np.zeros((count, *shape)) for shape in _SHAPES]
            columns = (group.starts, group.leaders, group.members, group.teams, group.votes, group.cards, group.fails)
            _losses(votes, teams, cards, *group.deals, group.truth, *columns, losses, *slopes)
            total += float(losses.sum())
            slope += np.concatenate([part.sum(axis=0).ravel() for part in slopes])
        return total, slope

    return loss


@kernel
def _ones(bits: int) -> int:
    """How many seats are in a set."""
    many = 0
    while bits:
        bits &= bits - 1
        many += 1
    return many


@kernel
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@kernel
def _card_score(w_cards: Any, evil: int, cell: int, fails: int) -> float:
    """The score of the cards with these evil members; 0 if the team did not go."""
    if cell < 0:
        return 0.0
    many = _ones(evil)
    return w_cards[min(many, 3) * CARD_STRIDE + cell] if many >= fails else IMPOSSIBLE


@kernel
def _read(odds: Any, truth: Any, back: Any) -> float:
    """The loss of a posterior; adds its gradient to `back`."""
    top = odds.max()
    total = true = 0.0
    for h in range(len(odds)):
        w = np.exp(odds[h] - top)
        total += w
        true += w * truth[h]
    true = max(true, 1e-300)
    for h in range(len(odds)):
        w = np.exp(odds[h] - top)
        back[h] += w / total - w * truth[h] / true
    return float(np.log(total / true))


@loop
def _losses(
    w_votes: Any,
    w_teams: Any,
    w_cards: Any,
    kinds: Any,
    known: Any,
    evil: Any,
    truth: Any,
    starts: Any,
    leaders: Any,
    members: Any,
    teams: Any,
    votes: Any,
    cards: Any,
    fails: Any,
    losses: Any,
    g_votes: Any,
    g_teams: Any,
    g_cards: Any,
) -> None:
    """Losses and gradients of all games; the gradient goes back from the last proposal to the first."""
    for b in prange(len(losses)):
        first, count = starts[b], starts[b + 1] - starts[b]
        deals, n = kinds.shape
        odds = np.zeros((2 * count + 1, deals))
        classes = np.zeros((count, deals, n), np.int8)
        of_team, of_vote = np.zeros(len(w_votes)), np.zeros((n, len(w_votes)))
        for t in range(count):
            e = first + t
            for c in range(len(w_votes)):
                of_team[c] = _dot(w_teams[c], teams[e])
                for j in range(n):
                    of_vote[j, c] = _dot(w_votes[c], votes[e, j])
            for h in range(deals):
                total = odds[2 * t, h]
                for j in range(n):
                    many = min(_ones(known[kinds[h, j], h] & members[e]), len(COUNTS) - 1)
                    c = kinds[h, j] * len(COUNTS) + many
                    classes[t, h, j] = c
                    total += of_vote[j, c]
                odds[2 * t + 1, h] = total + of_team[classes[t, h, leaders[e]]]
                odds[2 * t + 2, h] = odds[2 * t + 1, h] + _card_score(w_cards, evil[h] & members[e], cards[e], fails[e])
        back = np.zeros(deals)
        for t in range(count - 1, -1, -1):
            e = first + t
            if cards[e] >= 0:
                losses[b] += _read(odds[2 * t + 2], truth[b], back)
                for h in range(deals):
                    many = _ones(evil[h] & members[e])
                    if many >= fails[e]:
                        g_cards[b, min(many, 3) * CARD_STRIDE + cards[e]] += back[h]
            losses[b] += _read(odds[2 * t + 1], truth[b], back)
            by_class = np.zeros((n, w_votes.shape[0]))
            for h in range(deals):
                for j in range(n):
                    by_class[j, classes[t, h, j]] += back[h]
            for c in range(w_votes.shape[0]):
                for j in range(n):
                    for k in range(w_votes.shape[1]):
                        g_votes[b, c, k] += by_class[j, c] * votes[e, j, k]
                for k in range(w_teams.shape[1]):
                    g_teams[b, c, k] += by_class[leaders[e], c] * teams[e, k]


# -- learning ----------------------------------------------------------------------------------------------------


def fit_evidence(games: Sequence[PublicGame]) -> dict[int, PublicEvidence]:
    """Number of players -> evidence, with a part that all share."""
    losses = [loss_of(watched_games([played for played in games if played.players == n])) for n in PLAYERS]
    fitted = by_table(losses, (0.0,) * sum(_SIZES), EVIDENCE_WIDTHS, accuracy=_ACCURACY)
    return {n: _evidence(np.array(terms)) for n, terms in zip(PLAYERS, fitted, strict=True)}


def _evidence(coefficients: NDArray[np.float64]) -> PublicEvidence:
    votes, teams, cards = unpacked(coefficients)
    of_votes, of_teams = (tuple(map(tuple, part.tolist())) for part in (votes, teams))
    return PublicEvidence(of_votes, of_teams, tuple(cards.tolist()))
