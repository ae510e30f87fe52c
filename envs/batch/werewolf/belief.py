"""Who the werewolves and the seer are, as kernels: the posterior of `parlour.envs.werewolf.belief`, exact at every size.

A hypothesis there is a set W of werewolves with a seer s among the others. Only the statements of s about checks and himself
distinguish seers, so its weight is a product, and memory grows only with the number of sets (56 for 3 of 8):

    public[W] * seer_weight[s] * product over t in W of seer_match[s, t]          for an onlooker
    times own[i, W]                                                               for seat i of the village

`public` counts what everybody hears, with every speaker outside W taken for a villager; what the seer would have done
instead is in `seer_weight` and `seer_match`, in the record. A report of s makes `seer_match` wherever W contradicts it.
Nobody learns from what he does himself: `own` takes it out again, and holds what seat i alone has learnt. Seat i sums
over hypotheses in which it is no werewolf and, unless it is the seer, not the seer. A werewolf knows W; what it has said
is the same under all seers.

`w` is the array of a game's weights, shape (1 + n - k, H) for k werewolves of n and H sets: row 0 `public`, row
`slot[i]` `own` of seat i, which is 0 where seat i is in W. All are scaled at dawn so that the largest of a row is 1.
Sums over hypotheses go along rows of length H, which the compiler turns into vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.batch.compiled import copy, kernel
from parlour.envs.batch.werewolf.layout import Array
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import WEREWOLF

ONLOOKER: Final = -1
_PUBLIC: Final = 0

along: Final[Callable[..., Any]] = partial(kernel, fastmath={"reassoc", "contract", "nsz"})
"""How functions that sum along rows are compiled: the order of the terms is left open."""


class Hypotheses(NamedTuple):
    """All sets of k werewolves among n seats, in the order of `itertools.combinations`."""

    sets: Array
    """(H,) uint16: as bits."""
    holds: Array
    """(n, H) float64: 1 where a seat is in a set, else 0."""
    size: Array
    """(2**n,) int8: how many seats a set of bits holds."""


def hypotheses_of(rules: Werewolf) -> Hypotheses:
    """The hypotheses of a table."""
    n, k = rules.seats, rules.roles.count(WEREWOLF)
    sets = [sum(1 << j for j in chosen) for chosen in combinations(range(n), k)]
    return Hypotheses(
        np.array(sets, np.uint16),
        np.array([[float(members >> j & 1) for members in sets] for j in range(n)]),
        np.array([bits.bit_count() for bits in range(1 << n)], np.int8),
    )


def weights_of(rules: Werewolf, games: int, *, believes: bool) -> Array:
    """The weights of many games, shape (games, 1 + n - k, H); empty for games that do not believe."""
    n, k = rules.seats, rules.roles.count(WEREWOLF)
    shape = (1 + n - k, len(list(combinations(range(n), k)))) if believes else (0, 0)
    return np.ones((games, *shape))


@kernel
def start_belief(g: Any, r: Any, w: Any, h: Any) -> None:
    """Before the first event."""
    g.looked = 0
    w[_PUBLIC] = 1.0
    n = r.seats
    for j in range(n):
        g.seer_weight[j] = 1.0
        for t in range(n):
            g.seer_match[j, t] = 1.0
        if (g.wolf_set >> j) & 1 == 0:
            own = w[g.slot[j]]
            for i in range(len(own)):
                own[i] = 1.0 - h.holds[j, i]


@kernel
def _weigh(row: Any, h: Any, seat: int, wolf: float, other: float) -> None:
    """Multiply by how likely something is where a seat is a werewolf, and where it is not."""
    for i in range(len(row)):
        row[i] *= wolf if (h.sets[i] >> seat) & 1 else other


# -- evidence --------------------------------------------------------------------------------------------------------


@kernel
def _see_own_poison(g: Any, r: Any, own: Any, h: Any, first: int, second: int) -> None:
    """The witch knows whom she poisoned: only the other dead are the werewolves' choice to her.

    Of two, `second` is the poisoned one.
    """
    if second >= 0:
        both = (1 << first) | (1 << second)
        for i in range(len(own)):
            if h.sets[i] & both == both:
                own[i] /= r.both_wolves
        _weigh(own, h, first, r.wolf_dies_at_night, 1.0)
    else:
        _weigh(own, h, first, 1.0 / r.wolf_dies_at_night, 1.0)


@kernel
def see_dead(g: Any, r: Any, w: Any, h: Any, first: int, second: int) -> None:
    """Who is found dead in the morning, -1 for nobody; then scale the weights, once a day."""
    g.looked = 0
    if second >= 0:
        both = (1 << first) | (1 << second)
        for i in range(len(h.sets)):
            if h.sets[i] & both == both:
                w[_PUBLIC, i] *= r.both_wolves
    elif first >= 0:
        _weigh(w[_PUBLIC], h, first, r.wolf_dies_at_night, 1.0)
    if g.poisoned >= 0:
        _see_own_poison(g, r, w[g.slot[g.witch]], h, first, second)
    for row in range(len(w)):
        top = 0.0
        for i in range(len(h.sets)):
            top = max(top, w[row, i])
        for i in range(len(h.sets)):
            w[row, i] /= top


@kernel
def see_attacked(g: Any, r: Any, w: Any, h: Any) -> None:
    """The target of the werewolves, as the witch hears it."""
    _weigh(w[g.slot[g.witch]], h, g.attacked, r.attacked_wolf, 1.0)


@kernel
def know_side(g: Any, r: Any, w: Any, h: Any, seat: int, of: int, wolf: bool) -> None:
    """A seat of the village learns of another whether it is a werewolf."""
    _weigh(w[g.slot[seat]], h, of, 1.0 if wolf else r.never, r.never if wolf else 1.0)


@kernel
def know_role(g: Any, r: Any, w: Any, h: Any, seat: int) -> None:
    """The moderator tells everybody a role."""
    g.looked = 0
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
    g.looked = 0
    lives = g.alive[actor]
    public = w[_PUBLIC]
    for i in range(len(public)):
        wolf_set = h.sets[i]
        evil = (wolf_set >> actor) & 1
        wolves = h.size[wolf_set & g.alive_set] - lives * evil
        side = by_wolf if evil else by_village
        hit = (wolf_set >> target) & 1
        public[i] *= side * r.share[wolves] if hit else (1.0 - side) * r.share[g.living - lives - wolves]
    if (g.wolf_set >> actor) & 1:
        return
    own = w[g.slot[actor]]
    for i in range(len(own)):
        wolf_set = h.sets[i]
        wolves = h.size[wolf_set & g.alive_set]
        hit = (wolf_set >> target) & 1
        own[i] *= max(wolves, 1) / by_village if hit else max(g.living - lives - wolves, 1) / (1.0 - by_village)


@kernel
def see_report(g: Any, r: Any, w: Any, h: Any, speaker: int, target: int, evil: int) -> None:
    """A seat reports a check."""
    g.looked = 0
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
    g.looked = 0
    if role == r.seer:
        _weigh(w[_PUBLIC], h, speaker, r.wolf_claims / r.other_claims, 1.0)
        g.seer_weight[speaker] *= r.seer_claims / r.other_claims
    elif role == r.witch or role == r.guard or role == r.hunter:
        honest = r.seer_claims / max(1, r.seats - r.all_wolves - 1)
        _weigh(w[_PUBLIC], h, speaker, r.wolf_claims / honest, 1.0)
        g.seer_weight[speaker] *= r.other_claims / honest
    for holder in (g.witch, g.guard, g.seer, g.hunter):  # there is one of each: who holds the role knows a liar
        if holder >= 0 and holder != speaker and g.roles[holder] == role:
            know_side(g, r, w, h, holder, speaker, True)


# -- marginals -------------------------------------------------------------------------------------------------------


@kernel
def rows_of(r: Any, h: Any) -> Any:
    """Room to work in: n rows of `weigh_seers` and two of `marginals`, shape (n + 2, H)."""
    return np.empty((r.seats + 2, len(h.sets)))


@along
def weigh_seers(g: Any, r: Any, h: Any, rows: Any) -> None:
    """Row s: how much each set counts with seat s as the seer; 0 where s is in it."""
    for s in range(r.seats if r.seer >= 0 else 0):
        row, weight = rows[s], g.seer_weight[s]
        for i in range(len(row)):
            row[i] = weight * (1.0 - h.holds[s, i])
        if (g.reporters >> s) & 1:
            for t in range(r.seats):
                match = g.seer_match[s, t]
                if match != 1.0:
                    for i in range(len(row)):
                        row[i] *= match if h.holds[t, i] == 1.0 else 1.0


@kernel
def look_on(g: Any, r: Any, w: Any, h: Any, rows: Any) -> None:
    """Bring `looks_wolf` and `looks_seer` of the record up to date."""
    if not g.looked:
        marginals(g, r, w, h, rows, ONLOOKER, g.looks_wolf[: r.seats], g.looks_seer[: r.seats])
        g.looked = 1


@along
def marginals(g: Any, r: Any, w: Any, h: Any, rows: Any, seat: int, wolf: Any, seer: Any) -> None:
    """The chance of each seat of being a werewolf, and the seer, as `seat` or an `ONLOOKER` sees it.

    `rows` are rows of `weigh_seers`; `wolf` and `seer` are (n,), and seats are numbered as at the table.
    """
    n = r.seats
    seer[:] = 0.0
    if seat >= 0 and (g.wolf_set >> seat) & 1:
        _of_wolf(g, r, wolf, seer)
        return
    sets, weights = rows[n], rows[n + 1]  # of each set: its own weight, and that of all hypotheses with it
    for i in range(len(sets)):
        sets[i] = w[_PUBLIC, i] * w[g.slot[seat], i] if seat >= 0 else w[_PUBLIC, i]
    if r.seer < 0 or (seat >= 0 and seat == g.seer):
        copy(weights, sets)
        if r.seer >= 0:
            seer[seat] = 1.0
    else:
        weights[:] = 0.0
        for s in range(n):
            if s != seat:
                seer[s] = _add_seer(sets, rows[s], weights)
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
    for j in range(n):
        wolf[j] = _dot(weights, h.holds[j]) / total
        if seat != g.seer or seat < 0:
            seer[j] /= total


@along
def _add_seer(sets: Any, row: Any, weights: Any) -> float:
    """Add the hypotheses with one seer to `weights`; returns their sum."""
    total = 0.0
    for i in range(len(sets)):
        weight = sets[i] * row[i]
        weights[i] += weight
        total += weight
    return total


@along
def _dot(left: Any, right: Any) -> float:
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@kernel
def _of_wolf(g: Any, r: Any, wolf: Any, seer: Any) -> None:
    """A werewolf doubts only who the seer is."""
    total = 0.0
    for j in range(r.seats):
        wolf[j] = (g.wolf_set >> j) & 1
        if wolf[j] == 0.0 and r.seer >= 0:
            seer[j] = g.seer_weight[j]
            for t in range(r.seats):
                if (g.wolf_set >> t) & 1:
                    seer[j] *= g.seer_match[j, t]
            total += seer[j]
    for j in range(r.seats if r.seer >= 0 else 0):
        seer[j] /= total
