"""The loops over all games. Each game writes to its own row of the buffers of `Turns`."""

from __future__ import annotations

from typing import Any

from numba import prange
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.tables import ILLEGAL
from parlour.envs.batch.werewolf.features import observe
from parlour.envs.batch.werewolf.options import ONGOING, is_legal, random_action, write_mask
from parlour.envs.batch.werewolf.play import DRAW, VILLAGE, begin, end, play, start


@kernel
def look(g: Any, r: Any, w: Any, h: Any, b: int, actor: Any, mask: Any, observation: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    actor[b] = g.actor
    if g.actor < 0:
        mask[b, :] = 0
        observation[b, :] = 0
        return
    write_mask(g, r, mask[b])
    observe(g, r, w, h, observation[b])


@kernel
def turn(g: Any, r: Any, w: Any, h: Any, action: int, b: int, rewards: Any, terminated: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal anew when it is over."""
    won = play(g, r, w, h, action)
    over = won != ONGOING
    winner[b], terminated[b] = won if over else DRAW, over
    for j in range(r.seats):
        wins = (g.roles[j] != r.wolf) == (won == VILLAGE)
        rewards[b, j] = (1 if wins else -1) if over and won != DRAW else 0
    if over:
        if r.reset:
            begin(g, r, w, h)
        else:
            end(g)


@kernel
def rest(b: int, rewards: Any, terminated: Any, winner: Any) -> None:
    """Nothing happens at a table that is over."""
    rewards[b, :] = 0
    terminated[b] = 0
    winner[b] = DRAW


@loop
def deal_all(games: Any, rules: Any, weights: Any, h: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Deal all games."""
    for b in prange(len(games)):
        begin(games[b], rules[0], weights[b], h)
        look(games[b], rules[0], weights[b], h, b, actor, mask, observation)


@loop
def start_all(games: Any, rules: Any, weights: Any, h: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Begin all games from the roles and orders in their records."""
    for b in prange(len(games)):
        start(games[b], rules[0], weights[b], h)
        look(games[b], rules[0], weights[b], h, b, actor, mask, observation)


@loop
def look_all(games: Any, rules: Any, weights: Any, h: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Write again who moves and what they see."""
    for b in prange(len(games)):
        look(games[b], rules[0], weights[b], h, b, actor, mask, observation)


@loop
def play_all(
    games: Any,
    rules: Any,
    weights: Any,
    h: Any,
    actions: Any,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    """Play one action of each game."""
    for b in prange(len(games)):
        g, r, w = games[b], rules[0], weights[b]
        if g.actor < 0:
            rest(b, rewards, terminated, winner)
        elif not is_legal(g, r, actions[b]):
            winner[b] = ILLEGAL
        else:
            turn(g, r, w, h, actions[b], b, rewards, terminated, winner)
            look(g, r, w, h, b, actor, mask, observation)


@loop
def play_random_all(
    games: Any,
    rules: Any,
    weights: Any,
    h: Any,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    """Play one action of each game, drawn from its stream of players."""
    for b in prange(len(games)):
        g, r, w = games[b], rules[0], weights[b]
        if g.actor < 0:
            rest(b, rewards, terminated, winner)
        else:
            turn(g, r, w, h, random_action(g, r), b, rewards, terminated, winner)
            look(g, r, w, h, b, actor, mask, observation)


@loop
def show_roles(games: Any, rules: Any, shown: Any) -> None:
    """The role of each seat, one-hot, in the frame of the seat to move; in that of seat 0 at a table that is over."""
    n, kinds = rules[0].seats, rules[0].kinds
    for b in prange(len(games)):
        me = max(games[b].actor, 0)
        shown[b, :] = 0
        for place in range(n):
            shown[b, place * kinds + games[b].roles[(me + place) % n]] = 1
