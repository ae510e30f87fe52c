"""`logic`: never against what is proven, else at random among what is possible; tables of Avalon without talk.

After the rule player LogicBot of Serrino et al., "Finding Friend and Foe in Multi-Agent Games" (arXiv 1906.02330). The details are
ours. An evil side is possible if each failed quest had at least as many of it on the team as there were fails.

- A good leader draws a possible evil side, and takes himself and others outside of it.
- A good seat approves a team that some possible evil side leaves clean, and any team at the last proposal.
- An evil leader takes himself and others at random. An evil seat approves dirty teams, and always plays fail.
- The Assassin names a seat at random among those that he does not know to be evil.
"""

from __future__ import annotations

from typing import Any

from numba import prange
from parlour.envs.avalon.presets import PROPOSALS
from parlour.envs.batch.avalon.layout import BALLOT, CARD, GUESS, HUNT, PROPOSE, VOTE
from parlour.envs.batch.avalon.play import turned
from parlour.envs.batch.compiled import kernel, loop
from parlour.envs.batch.streams import advance, below


def choose(tables: Any, where: Any, actions: Any) -> None:
    """Write the actions of the seats to move where `where`, (B,), is nonzero."""
    _choose_all(tables.games, tables.rules, *tables.numbers, where, actions)


@loop
def _choose_all(games: Any, rules: Any, first: Any, teams: Any, where: Any, actions: Any) -> None:
    for b in prange(len(games)):
        if where[b] and games[b].actor >= 0:
            actions[b] = decide(games[b], rules[0], first, teams)


@kernel
def decide(g: Any, r: Any, first: Any, teams: Any) -> int:
    """What the seat to move does, a number of its own frame."""
    n, me = len(g.roles), g.actor
    if g.phase == VOTE:
        return first[BALLOT] + (0 if approves(g, r) else 1)
    if g.phase == PROPOSE:
        return teams[turned(team(g, r), (n - me) % n, n)]
    if g.phase == HUNT:
        target = drawn(g, ((1 << n) - 1) & ~fellows(g), 1)
        place = 0
        while not (target >> ((me + place) % n)) & 1:
            place += 1
        return first[GUESS] + 1 + place
    return first[CARD] + (1 if g.side[me] else 0)


@kernel
def fellows(g: Any) -> int:
    """The bits of an evil seat to move and of those that the night showed it."""
    return g.shown[g.actor] | (1 << g.actor)


@kernel
def drawn(g: Any, among: int, count: int) -> int:
    """The bits of so many seats of a set, at random; all of them if there are fewer."""
    n, seats, left = len(g.roles), 0, 0
    for j in range(n):
        left += (among >> j) & 1
    for j in range(n):
        if (among >> j) & 1:
            g.players = advance(g.players)
            if below(g.players, left) < count:
                seats |= 1 << j
                count -= 1
            left -= 1
    return seats


@kernel
def is_possible(g: Any, r: Any, side: int) -> bool:
    """Whether the quests so far, and what a good seat to move knows, leave this evil side possible."""
    me = g.actor
    if (side >> me) & 1:
        return False
    if g.roles[me] == r.merlin and side & g.shown[me] != g.shown[me]:
        return False
    broken = 0
    for slot in range(len(g.result)):
        broken += r.bits[side & g.went[slot]] < r.bits[g.failed[slot]]
    return broken == 0


@kernel
def approves(g: Any, r: Any) -> bool:
    """The vote of the seat to move."""
    if g.side[g.actor]:
        return g.team & fellows(g) != 0
    if g.counted >= PROPOSALS or g.leader == g.actor:
        return True
    clean = 0
    for s in range(len(r.sides)):
        clean += not r.sides[s] & g.team and is_possible(g, r, r.sides[s])
    return clean > 0


@kernel
def team(g: Any, r: Any) -> int:
    """The team of the leader, with himself on it."""
    n, me = len(g.roles), g.actor
    trusted = (1 << n) - 1
    if not g.side[me]:
        possible = 0
        for s in range(len(r.sides)):
            possible += is_possible(g, r, r.sides[s])
        g.players = advance(g.players)
        left = below(g.players, max(1, possible))
        for s in range(len(r.sides)):
            if is_possible(g, r, r.sides[s]):
                if left == 0:
                    trusted &= ~r.sides[s]
                left -= 1
    own = 1 << me
    team = own | drawn(g, trusted & ~own, r.sizes[g.quest] - 1)
    return team | drawn(g, ((1 << n) - 1) & ~team, r.sizes[g.quest] - r.bits[team])
