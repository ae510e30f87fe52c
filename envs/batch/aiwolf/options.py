"""Who is asked in a game of AIWolf's Werewolf and what it may do: the kernels' side of `parlour.envs.werewolf.aiwolf.state`.

`g` is the record of a game, `r` that of the rules (`layout.py`). The seat to move acts by numbers of its own frame.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.batch.aiwolf.layout import ACCUSE, CLAIM, IS_OVER, RECOMMEND, REPORT, SKIP
from parlour.envs.batch.compiled import kernel
from parlour.envs.batch.streams import advance, below
from parlour.envs.batch.werewolf.options import ONGOING, seat_at
from parlour.envs.werewolf.aiwolf.state import HUNT, TALK, WHISPER


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
def in_party(g: Any, r: Any, j: int) -> bool:
    """Whether a seat talks or votes in this phase."""
    return g.alive[j] == 1 and (g.phase >= TALK or g.roles[j] == r.wolf)


@kernel
def may_aim(g: Any, r: Any, j: int) -> bool:
    """Whether the seat to move may aim at seat j: for the attack at no werewolf, else not at itself."""
    if not g.alive[j]:
        return False
    return g.roles[j] != r.wolf if g.phase == WHISPER or g.phase == HUNT else j != g.actor


@kernel
def talks(g: Any) -> bool:
    """Whether the seat to move says a line."""
    return g.phase == TALK or g.phase == WHISPER


@kernel
def may_skip(g: Any, r: Any) -> bool:
    """Whether the seat to move has not skipped too often running."""
    return g.skips[g.actor] < r.skips


@kernel
def write_mask(g: Any, r: Any, mask: Any) -> None:
    """What the seat to move may do, in its own frame; `mask` is uint8."""
    mask[:] = 0
    if g.phase == TALK:
        for k in range(r.speeches):
            mask[r.speech[k]] = 1
    elif g.phase == WHISPER:
        for k in range(IS_OVER + 1):
            mask[r.said[k]] = 1
    elif r.idle[g.phase] >= 0:
        mask[r.idle[g.phase]] = 1
    if talks(g) and not may_skip(g, r):
        mask[r.said[SKIP]] = 0
    if g.phase != TALK:
        for place in range(r.seats):
            if may_aim(g, r, seat_at(g, r, place)):
                mask[r.aimed[g.phase] + place] = 1


@kernel
def is_legal(g: Any, r: Any, action: int) -> bool:
    """Whether the mask allows it."""
    if action < 0 or action >= r.actions:
        return False
    kind = r.kind[action]
    if talks(g) and kind <= IS_OVER:
        return kind != SKIP or may_skip(g, r)
    if g.phase == TALK:
        return ACCUSE <= kind <= REPORT and (kind == CLAIM or r.aim[action] != 0)
    if g.phase != WHISPER and action == r.idle[g.phase]:
        return True
    place = action - r.aimed[g.phase]
    if 0 <= place < r.seats and kind >= RECOMMEND:
        return may_aim(g, r, seat_at(g, r, place))
    return False


@kernel
def random_action(g: Any, r: Any) -> int:
    """A legal action from the stream of the players, each as likely as the others."""
    g.players = advance(g.players)
    skipped = 0 if may_skip(g, r) else 1  # the first action of the talk is to skip
    if g.phase == TALK:
        return r.speech[skipped + below(g.players, r.speeches - skipped)]
    plain = IS_OVER + 1 - skipped if g.phase == WHISPER else (1 if r.idle[g.phase] >= 0 else 0)
    count = plain
    for j in range(r.seats):
        count += may_aim(g, r, j)
    number = below(g.players, count)
    if number < plain:
        return r.said[skipped + number] if g.phase == WHISPER else r.idle[g.phase]
    number -= plain
    for place in range(r.seats):
        if may_aim(g, r, seat_at(g, r, place)):
            if number == 0:
                return r.aimed[g.phase] + place
            number -= 1
    return r.over
