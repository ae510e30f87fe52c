"""Who the werewolves and the seer are, as kernels: the posterior of `parlour.envs.werewolf.belief`, exact at every size.

A hypothesis there is a set W of werewolves with a seer s among the others. Nothing but what s has said of checks and of
himself tells seers apart, so its weight is a product, and what is kept grows with the sets only (56 for 3 of 8):

    public[W] * seer_weight[s] * product over t in W of seer_match[s, t]          for an onlooker
    times own[i, W]                                                               for seat i of the village

`public` counts what everybody hears, with every speaker outside W taken for a villager; what the seer would have done
instead is in `seer_weight` and `seer_match`, in the record. A report of s makes `seer_match` wherever W contradicts it.
Nobody learns from what he does himself: `own` takes it out again, and holds what seat i alone has learnt. Seat i sums
over hypotheses in which it is no werewolf and, unless it is the seer, not the seer. A werewolf knows W; what it has said
is the same under all seers.

`w` is the array of a game's weights, shape (1 + n - k, H) for k werewolves of n and H sets: row 0 `public`, row
`slot[i]` `own` of seat i. All are scaled at dawn so that the largest of a row is 1.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.batch.streams import kernel
from parlour.envs.batch.werewolf.layout import Array
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import WEREWOLF

ONLOOKER: Final = -1
_PUBLIC: Final = 0


class Hypotheses(NamedTuple):
    """All sets of k werewolves among n seats, in the order of `itertools.combinations`."""

    sets: Array
    """(H,) uint16: as bits."""
    wolves: Array
    """(H, k) int8: their seats."""
    others: Array
    """(H, n - k) int8: the other seats."""
    without: Array
    """(n, H (n - k) / n) int16: for each seat the sets that it is not in."""
    size: Array
    """(2**n,) int8: how many seats a set of bits holds."""


def hypotheses_of(rules: Werewolf) -> Hypotheses:
    """Those of a table."""
    n, k = rules.seats, rules.roles.count(WEREWOLF)
    wolves = list(combinations(range(n), k))
    others = [tuple(j for j in range(n) if j not in chosen) for chosen in wolves]
    return Hypotheses(
        np.array([sum(1 << j for j in chosen) for chosen in wolves], np.uint16),
        np.array(wolves, np.int8),
        np.array(others, np.int8),
        np.array([[i for i, chosen in enumerate(wolves) if j not in chosen] for j in range(n)], np.int16),
        np.array([bits.bit_count() for bits in range(1 << n)], np.int8),
    )


def weights_of(rules: Werewolf, games: int, *, believes: bool) -> Array:
    """The weights of many games, shape (games, 1 + n - k, H); empty for games that do not believe."""
    n, k = rules.seats, rules.roles.count(WEREWOLF)
    shape = (1 + n - k, len(list(combinations(range(n), k)))) if believes else (0, 0)
    return np.ones((games, *shape))


@kernel
def start_belief(g: Any, r: Any, w: Any) -> None:
    """Before the first event."""
    w[:] = 1.0
    n = r.seats
    for j in range(n):
        g.seer_weight[j] = 1.0
        for t in range(n):
            g.seer_match[j, t] = 1.0


@kernel
def _weigh(row: Any, h: Any, seat: int, wolf: float, other: float) -> None:
    """Multiply by how likely something is where a seat is a werewolf, and where it is not."""
    for i in range(len(row)):
        row[i] *= wolf if (h.sets[i] >> seat) & 1 else other


# -- evidence --------------------------------------------------------------------------------------------------------


@kernel
def see_dead(g: Any, r: Any, w: Any, h: Any, first: int, second: int) -> None:
    """Who is found dead in the morning, -1 for nobody; then scale the weights, once a day."""
    if second >= 0:
        both = (1 << first) | (1 << second)
        for i in range(len(h.sets)):
            if h.sets[i] & both == both:
                w[_PUBLIC, i] *= r.both_wolves
    elif first >= 0:
        _weigh(w[_PUBLIC], h, first, r.wolf_dies_at_night, 1.0)
    for row in range(len(w)):
        top = 0.0
        for i in range(len(h.sets)):
            top = max(top, w[row, i])
        for i in range(len(h.sets)):
            w[row, i] /= top


@kernel
def see_attacked(g: Any, r: Any, w: Any, h: Any) -> None:
    """Whom the werewolves would kill, as the witch hears."""
    _weigh(w[g.slot[g.witch]], h, g.attacked, r.attacked_wolf, 1.0)


@kernel
def know_side(g: Any, r: Any, w: Any, h: Any, seat: int, of: int, wolf: bool) -> None:
    """A seat of the village learns of another whether it is a werewolf."""
    _weigh(w[g.slot[seat]], h, of, 1.0 if wolf else r.never, r.never if wolf else 1.0)


@kernel
def know_role(g: Any, r: Any, w: Any, h: Any, seat: int) -> None:
    """The moderator tells everybody a role."""
    wolf = g.roles[seat] == r.wolf
    _weigh(w[_PUBLIC], h, seat, 1.0 if wolf else r.never, r.never if wolf else 1.0)
    for j in range(r.seats):
        if (j == seat) != (g.seer == seat):
            g.seer_weight[j] *= r.never


@kernel
def see_aim(g: Any, r: Any, w: Any, h: Any, actor: int, target: int, by_village: float, by_wolf: float) -> None:
    """Somebody is chosen among the living others: first the side by habit, then anyone of that side."""
    if actor == target:
        return
    village = (g.wolf_set >> actor) & 1 == 0
    row = g.slot[actor] if village else _PUBLIC
    lives = g.alive[actor]
    for i in range(len(h.sets)):
        held = h.sets[i]
        evil = (held >> actor) & 1
        wolves = h.size[held & g.alive_set] - lives * evil
        side = by_wolf if evil else by_village
        hit = (held >> target) & 1
        share = side / max(wolves, 1) if hit else (1.0 - side) / max(g.living - lives - wolves, 1)
        w[_PUBLIC, i] *= share
        if village:
            w[row, i] /= share


@kernel
def see_report(g: Any, r: Any, w: Any, h: Any, speaker: int, target: int, evil: int) -> None:
    """A seat tells of a check."""
    on_wolf = r.wolf_accuses_wolf if evil else r.clears_wolf
    invented = r.wolf_reports * (r.wolf_reports_evil if evil else 1.0 - r.wolf_reports_evil) / r.other_reports
    for i in range(len(h.sets)):
        if (h.sets[i] >> speaker) & 1:
            w[_PUBLIC, i] *= invented * (on_wolf if (h.sets[i] >> target) & 1 else 1.0 - on_wolf)
    contradicted = r.never / r.seer_reports
    g.seer_weight[speaker] *= r.seer_reports / r.other_reports
    g.reporters |= 1 << speaker
    if evil:
        g.seer_weight[speaker] *= contradicted
        g.seer_match[speaker, target] /= contradicted
    else:
        g.seer_match[speaker, target] *= contradicted


@kernel
def see_claim(g: Any, r: Any, w: Any, h: Any, speaker: int, role: int) -> None:
    """A seat says what it is."""
    if role == r.seer:
        _weigh(w[_PUBLIC], h, speaker, r.wolf_claims / r.other_claims, 1.0)
        g.seer_weight[speaker] *= r.seer_claims / r.other_claims
    elif role == r.witch or role == r.guard:
        honest = r.seer_claims / max(1, r.seats - r.all_wolves - 1)
        _weigh(w[_PUBLIC], h, speaker, r.wolf_claims / honest, 1.0)
        g.seer_weight[speaker] *= r.other_claims / honest
    for holder in (g.witch, g.guard, g.seer):  # there is one of each: who holds the role knows a liar
        if holder >= 0 and holder != speaker and g.roles[holder] == role:
            know_side(g, r, w, h, holder, speaker, True)


# -- marginals -------------------------------------------------------------------------------------------------------


@kernel
def marginals(g: Any, r: Any, w: Any, h: Any, seat: int, wolf: Any, seer: Any) -> None:
    """The chance of each seat of being a werewolf, and the seer, as `seat` or an `ONLOOKER` sees it.

    `wolf` and `seer` are (n,) and seats are numbered as at the table.
    """
    wolf[:] = 0.0
    seer[:] = 0.0
    if seat >= 0 and (g.wolf_set >> seat) & 1:
        total = _of_wolf(g, r, wolf, seer)
    elif seat >= 0:
        total = 0.0
        own = w[g.slot[seat]]
        for k in range(h.without.shape[1]):
            i = h.without[seat, k]
            total += _add(g, r, h, i, w[_PUBLIC, i] * own[i], seat, wolf, seer)
    else:
        total = 0.0
        for i in range(len(h.sets)):
            total += _add(g, r, h, i, w[_PUBLIC, i], seat, wolf, seer)
    for j in range(r.seats):
        wolf[j] /= total
        seer[j] /= total


@kernel
def _add(g: Any, r: Any, h: Any, i: int, weight: float, seat: int, wolf: Any, seer: Any) -> float:
    """Add the hypotheses with the werewolves of set i to the chances; returns their weight."""
    total = weight
    if r.seer >= 0 and seat == g.seer and seat >= 0:
        seer[seat] += weight
    elif r.seer >= 0:
        total = 0.0
        for k in range(h.others.shape[1]):
            s = h.others[i, k]
            if s != seat:
                one = weight * g.seer_weight[s]
                if (g.reporters >> s) & 1:
                    for t in range(h.wolves.shape[1]):
                        one *= g.seer_match[s, h.wolves[i, t]]
                seer[s] += one
                total += one
    for k in range(h.wolves.shape[1]):
        wolf[h.wolves[i, k]] += total
    return total


@kernel
def _of_wolf(g: Any, r: Any, wolf: Any, seer: Any) -> float:
    """A werewolf doubts only who the seer is."""
    total = 0.0
    for j in range(r.seats):
        if (g.wolf_set >> j) & 1:
            continue
        one = g.seer_weight[j]
        for t in range(r.seats):
            if (g.wolf_set >> t) & 1:
                one *= g.seer_match[j, t]
        total += one
        seer[j] = one if r.seer >= 0 else 0.0
    for j in range(r.seats):
        wolf[j] = total * ((g.wolf_set >> j) & 1)
    return total
