"""Numbers behind the heuristics of the Avalon agents: careful ones (Bayes) and superficial ones (counting).

Both read the lines of a record (`notes`). The careful estimate is the exact Bayesian inference of
`parlour.envs.avalon.belief`, with habits that past games taught; the superficial one counts who was on failed
quests and who was accused, and is what remains to an agent that does not analyse.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.avalon.vocabulary import (
    CARD,
    DRAWN,
    EVIL_ROLES,
    EXPOSED,
    FAILS,
    MERLIN,
    SEES_NOTHING,
    TEAM,
    VOTES,
)
from parlour.envs.language import speech
from parlour.policies.agents.avalon import notes
from parlour.policies.agents.avalon.decide import RoleProbabilities
from parlour.policies.agents.avalon.notes import Fact
from parlour.policies.agents.avalon.seat import Seat

_BLOCK: Final = 16
_PRIOR: Final = 20
"""How many cases the supposed habits weigh against those counted."""


class Estimate(NamedTuple):
    """Chances of each seat, in seat order."""

    evil: tuple[float, ...]
    merlin: tuple[float, ...]


def careful(seat: Seat, lines: Sequence[str], habits: AvalonHabits) -> Estimate:
    """The chances by Bayes, from all lines in order."""
    belief = _read_all(seat, habits, tuple(lines))
    return Estimate(*(tuple(chance.clip(0, 1).tolist()) for chance in (belief.evil_chance(), belief.merlin_chance())))


@lru_cache(maxsize=2048)
def _read_all(seat: Seat, habits: AvalonHabits, lines: tuple[str, ...]) -> AvalonBelief:
    """Fold the lines; a record grows at its end, so that its beginning was read before (in blocks)."""
    if not lines:
        return AvalonBelief(seat.roles, seat.seat, seat.role, seat.knows, habits)
    known = (len(lines) - 1) // _BLOCK * _BLOCK
    belief = copy.copy(_read_all(seat, habits, lines[:known]))
    for (kind, who, args), _ in _facts(lines[known:], len(seat.roles)):
        belief.see(who, kind, args)
    return belief


def _facts(lines: Sequence[str], n: int) -> Iterator[tuple[Fact, tuple[int, ...]]]:
    """The facts about a table of n seats, each with the team on the table."""
    team: tuple[int, ...] = ()
    for fact in map(notes.read, lines):
        if fact is not None and _fits(fact, n):
            team = fact.args if fact.kind in (TEAM, DRAWN) else team
            yield fact, team


def _fits(fact: Fact, n: int) -> bool:
    """Whether a fact can be about a table of n seats: a line may come from a summary that a model wrote."""
    kind, seat, args = fact
    if kind == VOTES:
        return len(args) == n + 1
    if kind in (TEAM, DRAWN):
        return 0 < len(args) == len(set(args)) and max(seat, *args) < n
    named = {FAILS: (), CARD: (seat,), EXPOSED: args[:2]}.get(kind, (seat, *args))
    return all(j < n for j in named)


def superficial(seat: Seat, lines: Sequence[str]) -> Estimate:
    """The chances by counting: failed quests make suspicious, and so do accusations; what the night showed is sure."""
    n = len(seat.roles)
    share = sum(role in EVIL_ROLES for role in seat.roles) / (n - 1)
    evil, merlin = [share] * n, [1.0] * n
    for fact, team in _facts(lines, n):
        if fact.kind == FAILS:
            for j in team:
                evil[j] += fact.args[1] / len(team) if fact.args[1] else -0.1
        elif fact.kind == speech.ACCUSE:
            evil[fact.args[0]] += 0.05
            merlin[fact.seat] += 1.0
        elif fact.kind in (speech.DEFEND, speech.RECOMMEND) and fact.args[0] != fact.seat:
            evil[fact.args[0]] -= 0.05
    return _with_night(seat, [min(0.95, max(0.05, chance)) for chance in evil], merlin)


def believed(seat: Seat, lines: Sequence[str]) -> RoleProbabilities:
    """The same, with how evil each seat looks to the others."""
    mine, seen = superficial(seat, lines), superficial(seat.onlooker(), lines)
    return RoleProbabilities(evil=list(mine.evil), merlin=list(mine.merlin), looks=list(seen.evil))


def _with_night(seat: Seat, evil: list[float], merlin: list[float]) -> Estimate:
    shown = {j for fact in seat.knows for j in fact.seats}
    for fact in seat.knows:
        bad = sum(role in EVIL_ROLES for role in fact.roles) / len(fact.roles)
        for j in fact.seats:
            evil[j] = bad
            merlin[j] = float(MERLIN in fact.roles)
    if seat.role == MERLIN or (seat.role in EVIL_ROLES and shown):
        evil = [evil[j] if j in shown else min(evil[j], 0.05) for j in range(len(evil))]
    if seat.seat >= 0:
        evil[seat.seat] = float(seat.role in EVIL_ROLES)
        merlin[seat.seat] = float(seat.role == MERLIN)
    total = sum(merlin) or 1.0
    return Estimate(tuple(evil), tuple(chance / total for chance in merlin))


# -- habits that past games taught -----------------------------------------------------------------------------

_PHRASES: Final = {
    "fail": "Evil players play fail",
    "evil_on_own_team": "lead teams with evil",
    "approve_dirty_evil": "approve teams with evil",
    "approve_clean_evil": "approve clean teams",
    "evil_accuses_evil": "accuse evil",
    "evil_defends_evil": "support evil",
    "clean_team_merlin": "Merlin leads clean teams",
    "approve_dirty_merlin": "Merlin approves teams with evil",
    "approve_clean_merlin": "Merlin approves clean teams",
    "approve_blind": "Players who know nobody approve",
    "accuse_evil": "good players accuse evil",
    "defend_evil": "good players support evil",
}
"""Field of `AvalonHabits` -> how it is put into words, with `k of n` behind it."""

Tally = dict[str, tuple[int, int]]
"""Field of `AvalonHabits` -> how often, in how many cases."""


def tally_in(text: str) -> Tally:
    """The counts that a text of `put_tally` holds.

    >>> tally_in("Evil players play fail 3 of 4 times.")
    {'fail': (3, 4)}
    """
    tally = {}
    for field, phrase in _PHRASES.items():
        counted = re.search(rf"(?:^|[;.] ){phrase} (\d{{1,9}}) of (\d{{1,9}})\b", text)
        if counted is not None:
            tally[field] = (int(counted[1]), int(counted[2]))
    return tally


def put_tally(tally: Tally) -> str:
    """Counts in words."""
    phrases = [f"{phrase} {tally[f][0]} of {tally[f][1]}" for f, phrase in _PHRASES.items() if tally.get(f, (0, 0))[1]]
    return "; ".join(phrases) + " times." if phrases else ""


def habits_in(text: str) -> AvalonHabits:
    """The habits that a text tells, each a mean of what is supposed at first and what was counted."""
    supposed = AvalonHabits()
    learned = {
        field: (_PRIOR * getattr(supposed, field) + k) / (_PRIOR + n)
        for field, (k, n) in tally_in(text).items()
        if k <= n
    }
    return replace(supposed, **learned)


def count_habits(lines: Sequence[str], role_of: Sequence[str]) -> Tally:
    """Count the habits in the record of a game with known roles, one for each seat."""
    counts = _Counts({field.name: [0, 0] for field in fields(AvalonHabits)}, tuple(role_of))
    for (kind, seat, args), team in _facts(lines, len(role_of)):
        if kind == TEAM:
            counts.leads(seat, team)
        elif kind == VOTES:
            counts.votes(team, args[1:])
        elif kind == FAILS:
            counts.cards(team, args[1])
        elif kind == speech.ACCUSE:
            counts.remark(seat, args[0], ("evil_accuses_evil", "accuse_evil"))
        elif kind in (speech.DEFEND, speech.RECOMMEND):
            counts.remark(seat, args[0], ("evil_defends_evil", "defend_evil"))
    return {field: (k, n) for field, (k, n) in counts.of.items() if field in _PHRASES}


def add_tallies(a: Tally, b: Tally) -> Tally:
    """Both together."""
    return {f: tuple(map(sum, zip(a.get(f, (0, 0)), b.get(f, (0, 0)), strict=True))) for f in {**a, **b}}  # type: ignore[misc]


@dataclass(frozen=True)
class _Counts:
    of: dict[str, list[int]]
    roles: tuple[str, ...]

    def evil(self, seat: int) -> bool:
        return self.roles[seat] in EVIL_ROLES

    def add(self, field: str, hit: bool, times: int = 1) -> None:
        self.of[field][0] += times * hit
        self.of[field][1] += times

    def leads(self, seat: int, team: Sequence[int]) -> None:
        dirty = any(map(self.evil, team))
        if self.evil(seat):
            self.add("evil_on_own_team", dirty)
        elif self.roles[seat] == MERLIN:
            self.add("clean_team_merlin", not dirty)

    def votes(self, team: Sequence[int], votes: Sequence[int]) -> None:
        dirty = "dirty" if any(map(self.evil, team)) else "clean"
        for seat, vote in enumerate(votes):
            role = self.roles[seat]
            if role in SEES_NOTHING:
                self.add("approve_blind", bool(vote))
            else:
                self.add(f"approve_{dirty}_{'merlin' if role == MERLIN else 'evil'}", bool(vote))

    def cards(self, team: Sequence[int], fails: int) -> None:
        able = sum(map(self.evil, team))
        self.of["fail"][0] += min(fails, able)
        self.of["fail"][1] += able

    def remark(self, seat: int, target: int, fields_: tuple[str, str]) -> None:
        if seat != target:
            self.add(fields_[0] if self.evil(seat) else fields_[1], self.evil(target))
