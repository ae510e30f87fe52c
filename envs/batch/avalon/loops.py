"""The loops over all games. Each game writes to its own row of the buffers of `Turns`."""

from __future__ import annotations

from typing import Any, Final

from numba import prange
from parlour.envs.batch.avalon.features import observe
from parlour.envs.batch.avalon.play import ONGOING, begin, end, mask_row, play, start
from parlour.envs.batch.compiled import copy, kernel, loop
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.tables import ILLEGAL

COURSE: Final = 0
DEAL: Final = 1
START: Final = 2


@kernel
def look(g: Any, r: Any, masks: Any, b: int, actor: Any, mask: Any, observation: Any) -> None:
    """Write who moves in game b, what it may do and what it sees."""
    actor[b] = g.actor
    if g.actor < 0:
        mask[b, :] = 0
        observation[b, :] = 0
        return
    copy(mask[b], masks[mask_row(g)])
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
def look_all(
    games: Any, rules: Any, leaders: Any, masks: Any, begins: int, actor: Any, mask: Any, observation: Any
) -> None:
    """Write all turns anew, after a deal (`DEAL`), at the start of dealt games (`START`) or in their course."""
    for b in prange(len(games)):
        if begins == DEAL:
            begin(games[b], rules[0])
        elif begins == START:
            start(games[b], rules[0], leaders[b])
        look(games[b], rules[0], masks, b, actor, mask, observation)


@loop
def play_all(
    games: Any,
    rules: Any,
    acts: Any,
    masks: Any,
    choices: Any,
    counts: Any,
    actions: Any,
    at_random: bool,
    actor: Any,
    mask: Any,
    observation: Any,
    rewards: Any,
    terminated: Any,
    winner: Any,
) -> None:
    """Play `actions`, or legal actions drawn from the streams of the players, where somebody is to move."""
    for b in prange(len(games)):
        g = games[b]
        if g.actor < 0:
            rewards[b, :] = 0
            terminated[b] = 0
            winner[b] = ONGOING
            continue
        row, action = mask_row(g), actions[b]
        if at_random:
            g.players = advance(g.players)
            action = choices[row, below(g.players, counts[row])]
        elif action < 0 or action >= mask.shape[1] or not masks[row, action]:
            winner[b] = ILLEGAL
            continue
        turn(g, rules[0], acts, action, b, rewards, terminated, winner)
        look(g, rules[0], masks, b, actor, mask, observation)
