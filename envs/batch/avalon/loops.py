"""The loops over all games. Each game writes to its own row of the buffers of `Turns`."""

from __future__ import annotations

from typing import Any

from numba import prange
from parlour.envs.batch.avalon.features import observe
from parlour.envs.batch.avalon.play import ONGOING, begin, end, mask_row, play, start
from parlour.envs.batch.streams import advance, below, kernel, loop
from parlour.envs.batch.tables import ILLEGAL


@kernel
def look(g: Any, r: Any, masks: Any, b: int, actor: Any, mask: Any, observation: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    actor[b] = g.actor
    if g.actor < 0:
        mask[b, :] = 0
        observation[b, :] = 0
        return
    row = mask_row(g)
    for k in range(mask.shape[1]):
        mask[b, k] = masks[row, k]
    observe(g, r, observation[b])


@kernel
def turn(g: Any, r: Any, acts: Any, action: int, b: int, rewards: Any, terminated: Any, winner: Any) -> None:
    """Play an action of game b, pay, and deal anew when it is over."""
    won = play(g, r, acts[action, 0], acts[action, 1])
    over = won != ONGOING
    winner[b], terminated[b] = won, over
    for j in range(rewards.shape[1]):
        rewards[b, j] = (1 if g.side[j] == won else -1) if over else 0
    if over:
        if r.reset:
            begin(g, r)
        else:
            end(g)


@loop
def deal_all(games: Any, rules: Any, masks: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Deal every game from its own stream."""
    for b in prange(len(games)):
        begin(games[b], rules[0])
        look(games[b], rules[0], masks, b, actor, mask, observation)


@loop
def start_all(games: Any, rules: Any, leaders: Any, masks: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Begin every game with the roles that it holds."""
    for b in prange(len(games)):
        start(games[b], rules[0], leaders[b])
        look(games[b], rules[0], masks, b, actor, mask, observation)


@loop
def look_all(games: Any, rules: Any, masks: Any, actor: Any, mask: Any, observation: Any) -> None:
    """Write all turns anew."""
    for b in prange(len(games)):
        look(games[b], rules[0], masks, b, actor, mask, observation)


@loop
def play_all(
    games: Any,
    rules: Any,
    acts: Any,
    masks: Any,
    actions: Any,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    """Play an action at every table where somebody is to move."""
    for b in prange(len(games)):
        g, action = games[b], actions[b]
        if g.actor < 0:
            rewards[b, :] = 0
            terminated[b] = 0
            winner[b] = ONGOING
        elif action < 0 or action >= mask.shape[1] or not masks[mask_row(g), action]:
            winner[b] = ILLEGAL
        else:
            turn(g, rules[0], acts, action, b, rewards, terminated, winner)
            look(g, rules[0], masks, b, actor, mask, observation)


@loop
def play_random_all(
    games: Any,
    rules: Any,
    acts: Any,
    masks: Any,
    choices: Any,
    counts: Any,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    """Play a legal action drawn from the stream of the players at every table."""
    for b in prange(len(games)):
        g = games[b]
        if g.actor < 0:
            rewards[b, :] = 0
            terminated[b] = 0
            winner[b] = ONGOING
        else:
            row = mask_row(g)
            g.players = advance(g.players)
            action = choices[row, below(g.players, counts[row])]
            turn(g, rules[0], acts, action, b, rewards, terminated, winner)
            look(g, rules[0], masks, b, actor, mask, observation)
