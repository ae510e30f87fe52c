"""Amnesia: what a player says, thinks and does against its own role or side, though it knows better.

GRATR's paper (Zhu et al. 2024) says that models forget their role in the course of a game and that trust graphs help; it
gives no definition and no table. Here it is counted, from structured moves and noted judgements only, with no judge:

* Identity amnesia is about itself. Said: a village seat claims to be the Werewolf or to hold a power that it has not (a check
reported by anybody except the seer counts as a claim); a wolf proposes itself as the victim. Judged: it takes itself
  for an adversary. Done: it votes against itself, or chooses itself as a victim or for the poison.
* Objective amnesia is about its side, given its certain knowledge: fellow wolves, the seer's checks, roles that the
  moderator revealed. Said: it accuses a certain ally, or reports it evil, or (a wolf) proposes it as the victim; a village
  seat defends a certain adversary or reports it good; a wolf claims to be the Werewolf. Judged: it takes a certain ally
  for an adversary or the other way round. Done: it votes against a certain ally, or chooses it as a victim or for the
  poison.

What serves the side is no amnesia: wolves lie about everything but their fellows, and a village role with a power may
hide it behind a claim to be a Villager. A wolf that gives up a fellow on purpose is counted: the record does not tell
purposes. Each share is of all that was said (silence without words aside), of all sure judgements, of all choices of a
player.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import LEADERS, SEER, VILLAGE, WEREWOLF, WOLVES, side_of
from parlour.training.records.werewolf.played import Judgements
from parlour.training.statistics import Estimate

IDENTITY, OBJECTIVE = "identity", "objective"
KINDS: Final = (IDENTITY, OBJECTIVE)
SAID, JUDGED, DONE = "said", "judged", "done"
WAYS: Final = (SAID, JUDGED, DONE)
_AGAINST: Final = ("vote", "hunt", "poison")
"""Choices that harm their target."""
_OTHER_CHOICES: Final = ("protect", "check")
_EVIL: Final = 1


class Turn(NamedTuple):
    """A move of a seat, with what it knew and thought then."""

    seat: int
    move: Move
    certain: Mapping[int, str]
    """The side of each other player that it knows for certain."""
    judged: Judgements = ()
    """What it noted of the players, itself among them."""


class Count(NamedTuple):
    """Contradictions among a number of cases."""

    hits: int
    n: int


@dataclass(frozen=True)
class Amnesia:
    """What one seat said, judged and did against its role (`identity`) and its side (`objective`), by `WAYS`."""

    identity: Mapping[str, Count]
    objective: Mapping[str, Count]


def amnesia(roles: Sequence[str], role_names: Sequence[str], turns: Iterable[Turn]) -> tuple[Amnesia, ...]:
    """Count over the turns of one game.

    Args:
        roles: The role of each seat.
        role_names: The roles by the numbers that claims give.
        turns: In any order.

    Returns:
        For each seat.
    """
    n: Counter[tuple[int, str]] = Counter()
    hits: Counter[tuple[int, str, str]] = Counter()
    for turn in turns:
        for way, kinds in _contradictions(turn, roles[turn.seat], role_names):
            n[turn.seat, way] += 1
            hits.update((turn.seat, way, kind) for kind in kinds)
    return tuple(
        Amnesia(*({way: Count(hits[seat, way, kind], n[seat, way]) for way in WAYS} for kind in KINDS))
        for seat in range(len(roles))
    )


def forgot(seats: Iterable[Amnesia], kind: str, ways: Sequence[str] = WAYS) -> Estimate | None:
    """The share of contradictions of one of `KINDS` in what some seats said, judged and did."""
    counts = [getattr(seat, kind)[way] for seat in seats for way in ways]
    return Estimate.rate(sum(count.hits for count in counts), sum(count.n for count in counts))


def _contradictions(turn: Turn, role: str, role_names: Sequence[str]) -> Iterable[tuple[str, list[str]]]:
    """Each thing said, judged and done in a turn, with the kinds of amnesia that it shows."""
    move = turn.move
    if move.kind in speech.ACTS and (move.kind != speech.SILENT or move.words):
        yield SAID, [kind for kind, shown in _said(turn, role, role_names) if shown]
    elif move.kind in (*_AGAINST, *_OTHER_CHOICES) and move.args:
        against = move.kind in _AGAINST
        ally = turn.certain.get(move.args[0]) == side_of(role)
        yield DONE, [kind for kind, shown in _harm(turn, ally) if shown and against]
    for target, ally in turn.judged:
        if target == turn.seat:
            yield JUDGED, [] if ally else [IDENTITY]
        else:
            known = turn.certain.get(target)
            yield JUDGED, [OBJECTIVE] if known is not None and ally != (known == side_of(role)) else []


def _harm(turn: Turn, ally: bool) -> list[tuple[str, bool]]:
    return [(IDENTITY, turn.move.args[0] == turn.seat), (OBJECTIVE, ally)]


def _said(turn: Turn, role: str, role_names: Sequence[str]) -> list[tuple[str, bool]]:
    kind, args, _ = turn.move
    own = side_of(role)
    if kind == speech.CLAIM_ROLE:
        claimed = role_names[args[0]]
        power = claimed in LEADERS and claimed != role
        return [(IDENTITY, own == VILLAGE and (claimed == WEREWOLF or power)), (OBJECTIVE, role == claimed == WEREWOLF)]
    if not args:
        return []
    known = turn.certain.get(args[0])
    if kind == speech.RECOMMEND:
        return _harm(turn, known == own)
    evil = kind == speech.ACCUSE or (kind == speech.REPORT and args[1] == _EVIL)
    adversary_cleared = own == VILLAGE and known == WOLVES and not evil
    return [
        (IDENTITY, kind == speech.REPORT and own == VILLAGE and role != SEER),
        (OBJECTIVE, (evil and known == own) or adversary_cleared),
    ]
