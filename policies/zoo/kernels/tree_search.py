"""`mcts`: single-observer information-set Monte Carlo tree search, for tables of Avalon without talk.

Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (IEEE TCIAIG 4(2), 2012): every iteration draws a deal that
the seat holds possible, here by its exact posterior, descends a tree of moves that all deals share, adds one node, and plays on at
random. What others have done unseen in the present round (votes, cards) is drawn as well.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import prange
from parlour.envs.batch.avalon.belief import look_from
from parlour.envs.batch.avalon.layout import QUEST, VOTE
from parlour.envs.batch.avalon.play import ONGOING, mask_row, play, show_night
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.streams import advance, below, fraction

EXPLORATION: Final = 0.7
"""Factor of the exploration term, as in the paper."""
_TRIES: Final = 256
"""Deals of roles within the two sides that are drawn until one fits what the night showed."""


def choose(tables: Any, where: Any, actions: Any, rollouts: int) -> None:
    """Write the actions of the seats to move where `where`, (B,), is nonzero, after so many iterations each."""
    unbelieving = tables.rules.copy()
    unbelieving.believes = 0
    _choose_all(tables.games, tables.rules, unbelieving, tables.tables, tables.acting(where), actions, rollouts)


@loop
def _choose_all(games: Any, rules: Any, unbelieving: Any, tables: Any, where: Any, actions: Any, rollouts: int) -> None:
    for index in prange(len(games)):
        b = np.uint64(index)  # see `compiled.loop`
        if where[b] and games[b].actor >= 0:
            actions[b] = search(games, b, rules[0], unbelieving[0], tables, rollouts)


@kernel
def search(games: Any, b: int, r: Any, unbelieving: Any, tables: Any, rollouts: int) -> int:
    """The move that most iterations took."""
    g = games[b]
    row = mask_row(g)
    if tables.counts[row] == 1:
        return tables.choices[row, 0]
    width = tables.masks.shape[1]
    child = np.full((rollouts + 1, width), -1, np.int32)
    visits, seen, won = (
        np.zeros((rollouts + 1, width)),
        np.zeros((rollouts + 1, width)),
        np.zeros((rollouts + 1, width)),
    )
    path = np.empty((256, 3), np.int32)
    copied = games[b : b + 1].copy()
    look_from(g, r, g.actor)
    stream, nodes = g.players, 1
    for _ in range(rollouts):
        copied[0] = g
        world = copied[0]
        world.players = stream
        draw_deal(world, r)
        nodes = iterate(world, unbelieving, tables, child, visits, seen, won, path, nodes)
        stream = world.players
    g.players = stream
    best = tables.choices[row, 0]
    for k in range(tables.counts[row]):
        if visits[0, tables.choices[row, k]] > visits[0, best]:
            best = tables.choices[row, k]
    return best


@kernel
def iterate(w: Any, r: Any, tables: Any, child: Any, visits: Any, seen: Any, won: Any, path: Any, nodes: int) -> int:
    """One descent of the tree, one new node, and a game to the end; the number of nodes then."""
    node, depth, winner = 0, 0, ONGOING
    while winner == ONGOING and node >= 0 and depth < len(path):
        row = mask_row(w)
        action = pick(w, tables, row, visits[node], seen[node], won[node])
        for k in range(tables.counts[row]):
            seen[node, tables.choices[row, k]] += 1
        path[depth, 0], path[depth, 1], path[depth, 2] = node, action, w.side[w.actor]
        depth += 1
        after = child[node, action]
        if after < 0 and nodes < len(child):
            child[node, action] = nodes
            nodes += 1
        node = after
        winner = play(w, r, tables.acts[action, 0], tables.acts[action, 1])
    while winner == ONGOING:
        row = mask_row(w)
        w.players = advance(w.players)
        action = tables.choices[row, below(w.players, tables.counts[row])]
        winner = play(w, r, tables.acts[action, 0], tables.acts[action, 1])
    for k in range(depth):
        visits[path[k, 0], path[k, 1]] += 1
        won[path[k, 0], path[k, 1]] += path[k, 2] == winner
    return nodes


@kernel
def pick(w: Any, tables: Any, row: int, visits: Any, seen: Any, won: Any) -> int:
    """A move that was not tried at this node, at random; else the one with the highest upper confidence bound."""
    count, untried = tables.counts[row], 0
    for k in range(count):
        untried += visits[tables.choices[row, k]] == 0
    if untried:
        w.players = advance(w.players)
        left = below(w.players, untried)
        for k in range(count):
            action = tables.choices[row, k]
            if visits[action] == 0:
                if left == 0:
                    return action
                left -= 1
    best, highest = tables.choices[row, 0], -1.0
    for k in range(count):
        action = tables.choices[row, k]
        bound = won[action] / visits[action] + EXPLORATION * np.sqrt(np.log(seen[action]) / visits[action])
        if bound > highest:
            best, highest = action, bound
    return best


# -- deals that a seat holds possible ----------------------------------------------------------------------------


@kernel
def draw_deal(w: Any, r: Any) -> None:
    """Draw roles by the posterior of the seat to move, in `scratch` already, and what others did unseen in this round."""
    me = w.actor
    own, shown = w.roles[me], w.shown[me]
    s = drawn_by(w, w.scratch)
    side, merlin = r.sides[s], -1
    if r.merlin >= 0:
        merlin = me if own == r.merlin else drawn_merlin(w, r, s, me)
    for _ in range(_TRIES):
        if fits(w, r, side, merlin, me, own, shown):
            break
    show_night(w, r)
    if w.phase == VOTE:
        for j in range(me):
            w.votes = (w.votes & ~(1 << j)) | (coin(w) << j)
    elif w.phase == QUEST:
        for j in range(me):
            if (w.team >> j) & 1:
                w.cards = (w.cards & ~(1 << j)) | ((coin(w) & int(w.side[j])) << j)


@kernel
def coin(w: Any) -> int:
    """0 or 1."""
    w.players = advance(w.players)
    return int(below(w.players, 2))


@kernel
def drawn_by(w: Any, weight: Any) -> int:
    """An index, drawn in proportion to weights."""
    total, last = 0.0, 0
    for k in range(len(weight)):
        total += weight[k]
        if weight[k] > 0:
            last = k
    w.players = advance(w.players)
    left = fraction(w.players) * total
    for k in range(last):
        left -= weight[k]
        if left < 0:
            return k
    return last


@kernel
def drawn_merlin(w: Any, r: Any, s: int, me: int) -> int:
    """A seat outside of evil side s, drawn by how likely it is Merlin; never the seat itself; for Percival, one of the seats that the night showed him."""
    weight = np.zeros(len(w.roles))
    for k in range(r.good.shape[1]):
        j = r.good[s, k]
        hidden = w.roles[me] == r.percival and not (w.shown[me] >> j) & 1
        if j != me and not hidden:
            weight[j] = w.special[s, j]
    return drawn_by(w, weight)


@kernel
def fits(w: Any, r: Any, side: int, merlin: int, me: int, own: int, shown: int) -> bool:
    """Deal the roles of both sides at random; whether the seat has its own role, Merlin his seat, and the night showed the same."""
    n = len(w.roles)
    for evil in range(2):
        left = 0
        for k in range(n):
            left += r.evil_role[r.deck[k]] == evil
        used = 0
        for j in range(n):
            if (side >> j) & 1 != evil:
                continue
            w.players = advance(w.players)
            at = below(w.players, left)
            for k in range(n):
                if r.evil_role[r.deck[k]] == evil and not (used >> k) & 1:
                    if at == 0:
                        w.roles[j] = r.deck[k]
                        used |= 1 << k
                        break
                    at -= 1
            left -= 1
    if w.roles[me] != own or (merlin >= 0 and w.roles[merlin] != r.merlin):
        return False
    seen = 0
    for j in range(n):
        seen |= r.sees[own, w.roles[j]] << j
    return seen & ~(1 << me) == shown
