"""Who is asked in a game of AIWolf's Werewolf and what it may do: the kernels' side of `parlour_aiwolf.state`.

`g` is the record of a game, `r` that of the rules (`layout.py`). The seat to move acts by numbers of its own frame.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.batch.compiled import copy, kernel, lowest
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.werewolf.options import ONGOING, seat_at

from parlour_aiwolf.batch.layout import HUNT, IS_OVER, TALK, WHISPER


@kernel
def ask_party(g: Any, r: Any, phase: int) -> int:
    """All who live, or by night the living wolves, are asked in the order of seats."""
    g.phase, g.asked, g.waiting = phase, 0, 0
    for j in range(r.seats):
        if in_party(g, r, j):
            g.queue[g.waiting] = j
            g.waiting += 1
    g.actor = g.queue[0]
    return ONGOING


@kernel
def lives(g: Any, j: int) -> bool:
    """Whether seat j lives."""
    return (g.alive_set >> j) & 1 == 1


@kernel
def in_party(g: Any, r: Any, j: int) -> bool:
    """Whether a seat talks or votes in this phase."""
    return lives(g, j) and (g.phase >= TALK or g.roles[j] == r.wolf)


@kernel
def targets(g: Any) -> int:
    """The set of seats that may be aimed at, outside the talk by day: for the attack no werewolf, else not the seat itself."""
    spared = int(g.wolf_set) if hunts(g) else 1 << g.actor
    return int(g.alive_set) & ~spared


@kernel
def hunts(g: Any) -> bool:
    """Whether the aim is at a victim of the wolves."""
    return g.phase == WHISPER or g.phase == HUNT


@kernel
def decision(g: Any, r: Any) -> int:
    """Row of `masks` and `may`: the phase, and whether the seat to move has not skipped too often running."""
    return 2 * g.phase + (g.skips[g.actor] < r.skips)


@kernel
def write_mask(g: Any, r: Any, mask: Any) -> None:
    """What the seat to move may do, in its own frame; `mask` is uint8."""
    copy(mask, r.masks[decision(g, r)][: r.actions])
    if g.phase == TALK:
        return
    aims = targets(g)
    turned = (aims >> g.actor) | (aims << (r.seats - g.actor))
    aimed = mask[r.aimed[g.phase] :]
    for place in range(r.seats):
        aimed[place] = (turned >> place) & 1


@kernel
def is_legal(g: Any, r: Any, action: int) -> bool:
    """Whether the mask allows it."""
    if action < 0 or action >= r.actions:
        return False
    place = action - r.aimed[g.phase]
    if g.phase != TALK and 0 <= place < r.seats:
        return (targets(g) >> seat_at(g, r, place)) & 1 == 1
    return r.masks[decision(g, r), action] == 1


@kernel
def random_action(g: Any, r: Any) -> int:
    """A legal action from the stream of the players, each as likely as the others."""
    g.players = advance(g.players)
    skipped = 0 if g.skips[g.actor] < r.skips else 1  # the first action of the talk is to skip
    if g.phase == TALK:
        return r.speech[skipped + below(g.players, r.speeches - skipped)]
    plain = IS_OVER + 1 - skipped if g.phase == WHISPER else (1 if r.idle[g.phase] >= 0 else 0)
    count = g.living - (g.wolves if hunts(g) else 1)
    number = below(g.players, plain + count)
    if number < plain:
        return r.said[skipped + number] if g.phase == WHISPER else r.idle[g.phase]
    aims = targets(g)
    for _ in range(number - plain):
        aims &= aims - 1
    place = lowest(aims) - g.actor
    return r.aimed[g.phase] + (place + r.seats if place < 0 else place)
