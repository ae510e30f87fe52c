"""What a legal move looks like to the seat that may make it, in numbers: the features by which a cloned player chooses.

One row for each legal move, the same columns for 5 to 10 players; features depend on what is known about a seat, not on its
number. A row is a function of the seat's View (`record.py`). The moves that are described by zeros alone, whatever was seen
(to reject, to succeed, to pass), have the score 0, and the score of the other move says how much more likely it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.deals import team_rows, teams
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move
from parlour.envs.language import speech

from parlour_people.cloned.record import SeatRecord
from parlour_people.multi_round.rules import CONSULT

SPEECH: Final = "speech"
DECISIONS: Final = (game.BALLOT, game.TEAM, game.CARD, game.GUESS, SPEECH)
"""The kinds of decisions; each has a head of its own."""
GROUPS: Final = ("evil", "merlin", "others")
"""Groups of seats with equal knowledge: evil seats that see each other, Merlin, all others."""

_SURE: Final = 0.999

CONTEXT: Final = (
    *("evil", "merlin", "percival", "servant", "oberon", "hunter"),
    *("players", "quest", "won by good", "won by evil", "good one short", "evil one short"),
    *("proposal", "first proposal", "last proposal", "two fails", "leads", "next leads"),
    *("leader evil, own", "leader evil, onlooker", "me evil, onlooker", "approves", "table approves", "leader agreed"),
)
TEAM: Final = (
    *("me", "leader", "size", "fellows", "no fellow", "candidates"),
    *("clean, own", "clean, own, of best", "evil, own", "most evil, own"),
    *("clean, onlooker", "clean, onlooker, of best", "evil, onlooker", "most evil, onlooker"),
    *("last success within", "shares with last success", "shares with a failed team", "failed team within"),
    *("never on a quest", "failed", "named before", "shares with last named", "voted for", "voted against"),
    *("trust", "insight", "agreed", "near", "low"),
)
HEARD: Final = (
    *("something said", "named", "least named", "most named left out", "named by me", "least named by me"),
    *("praised", "least praised", "most praised left out", "praised by me", "least praised by me"),
)
CARD: Final = ("fail", "fellows", "alone", "before me", "size", "short of fails")
GUESS: Final = (
    "named",
    "fellow",
    "merlin, own",
    "log merlin, own",
    "evil, onlooker",
    "insight",
    "agreed",
    "quests",
    "failed",
    "held",
    "held by me",
)
ACTS: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE)
SAID: Final = (
    *ACTS,
    *(
        "myself",
        "fellow",
        "evil, own",
        "evil, onlooker",
        "most evil, own",
        "least evil, own",
        "failed",
        "on last success",
    ),
    *("praised", "praised by me", "role is mine", "merlin", "percival", "servant"),
)
COLUMNS: Final = {
    game.BALLOT: (*TEAM, *HEARD, *CONTEXT),
    game.TEAM: (*TEAM, *HEARD, *CONTEXT),
    game.CARD: (*CARD, *CONTEXT),
    game.GUESS: GUESS,
    SPEECH: (*SAID, *(f"{act}, {who}" for act in ACTS for who in GROUPS)),
}
"""Decision -> what its numbers are, in order."""


def decision_of(legal: Sequence[Move]) -> str:
    """Which of `DECISIONS` it is to choose among these moves."""
    kind = legal[0].kind
    if kind == CONSULT:
        return game.GUESS
    return kind if kind in COLUMNS else SPEECH


def group_of(view: AvalonView) -> int:
    """The number in `GROUPS` of the seat whose View it is."""
    if view.side == game.EVIL and view.role not in game.SEES_NOTHING:
        return 0
    return 1 if view.role == game.MERLIN else 2


def described(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    """The rows of `view.legal`, shape (moves, columns of its decision); `seen` has read the View."""
    kind = decision_of(view.legal)
    if kind == SPEECH:
        return _speeches(view, seen)
    if kind == game.TEAM:
        return _named_teams(view, seen)
    if kind == game.GUESS:
        return _guesses(view, seen)
    row = _ballot(view, seen) if kind == game.BALLOT else _card(view, seen)
    acts = 1 if kind == game.BALLOT else 0  # approve, and fail
    return np.array([row if move.args == (acts,) else np.zeros(len(row)) for move in view.legal])


# -- the table ---------------------------------------------------------------------------------------------------


def _context(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    n, me = len(view.roles), view.seat
    knowing = view.side == game.EVIL and view.role != game.OBERON
    roles = (view.role == game.PERCIVAL, view.role == game.SERVANT, view.role == game.OBERON)
    own, onlooker = seen.own.evil_chance(), seen.onlooker.evil_chance()
    votes = max(seen.votes, 1)
    proposal = len(seen.proposed) + (view.legal[0].kind == game.TEAM)
    return np.array(
        [
            *(knowing, view.role == game.MERLIN, *roles, view.role == view.guesser),
            *((n - 5) / 5, view.quest / 4, view.good / 2, view.evil / 2, view.good == 2, view.evil == 2),
            *(proposal / 5, proposal == 1, proposal >= view.limit, view.fails_needed[view.quest] > 1),
            *(view.leader == me, (view.leader + 1) % n == me),
            *(own[view.leader], onlooker[view.leader], onlooker[me]),
            *(seen.approved[me] / votes, seen.approved.mean() / votes, seen.agreed[view.leader] / votes),
        ],
        dtype=np.float64,
    )


def _fellows(view: AvalonView) -> NDArray[np.float64]:
    """1 for the other seats that the night showed to be evil, shape (n,)."""
    shown = [j for fact in view.knows if all(role in game.EVIL_ROLES for role in fact.roles) for j in fact.seats]
    return _marked(len(view.roles), shown)


def _marked(n: int, seats: Sequence[int]) -> NDArray[np.float64]:
    row = np.zeros(n)
    row[list(seats)] = 1.0
    return row


# -- teams -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _numbers(n: int, size: int) -> dict[tuple[int, ...], int]:
    """Team -> its number in `teams`."""
    return {team: number for number, team in enumerate(teams(n, size))}


def _ballot(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    n, size = len(view.roles), len(view.team)
    rows = _teams_of_size(view, seen, size, [_numbers(n, size)[view.team]], len(seen.proposed) - 1)
    return np.concatenate([rows[0], _context(view, seen)])


def _named_teams(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    n = len(view.roles)
    by_size = groupby((move.args for move in view.legal), len)  # in the order of the catalogue: by size
    which = {size: [_numbers(n, size)[team] for team in some] for size, some in by_size}
    rows = np.concatenate([_teams_of_size(view, seen, k, some, len(seen.proposed)) for k, some in which.items()])
    return np.hstack([rows, np.tile(_context(view, seen), (len(rows), 1))])


def _teams_of_size(
    view: AvalonView, seen: SeatRecord, size: int, which: Sequence[int], named: int
) -> NDArray[np.float64]:
    """Rows of some teams of a size; `named` teams of this quest were named before them."""
    n, me = len(view.roles), view.seat
    rows = team_rows(n, size)[list(which)]
    others = rows.copy()
    others[:, me] = 0.0
    count, most = np.maximum(others.sum(axis=1), 1.0), max(size, 1)
    fellows = rows @ _fellows(view)
    candidates = [j for fact in view.knows if game.MERLIN in fact.roles for j in fact.seats]  # one of them is Merlin

    def mean(of: NDArray[np.float64]) -> NDArray[np.float64]:
        mean_of: NDArray[np.float64] = others @ of / count
        return mean_of

    def greatest(of: NDArray[np.float64]) -> NDArray[np.float64]:
        greatest_of: NDArray[np.float64] = np.where(others > 0, of, -9.0).max(axis=1, initial=0.0)
        return greatest_of

    columns = [
        *(rows[:, me], rows[:, view.leader], np.full(len(rows), size / 5)),
        *(fellows / most, fellows == 0, rows @ _marked(n, candidates) / most),
    ]
    for belief in (seen.own, seen.onlooker):
        clean, evil = belief.clean_chances(size), belief.evil_chance()
        columns += [clean[list(which)], clean[list(which)] / max(clean.max(), 1e-9), mean(evil), greatest(evil)]
    columns += _history(rows, others, seen, most)
    before = [teams(n, size)[number] for number in which]
    earlier = seen.proposed[:named]
    last = _marked(n, earlier[-1] if earlier else ())
    votes = max(seen.votes, 1)
    voted = np.array([seen.own_votes.get(team, 0) for team in before])
    columns += [
        np.array([team in earlier for team in before]),
        *(rows @ last / most, voted > 0, voted < 0),
        *(mean(seen.trust) / votes, mean(seen.insight) / max(len(seen.gone), 1), mean(seen.agreed) / votes),
        *(mean(((np.arange(n) - me) % n) / n), mean(np.arange(n) / n)),
    ]
    columns += _said(rows, others, seen)
    return np.stack(columns, axis=1).astype(np.float64)


def _said(rows: NDArray[np.float64], others: NDArray[np.float64], seen: SeatRecord) -> list[NDArray[np.float64]]:
    """What was said on the quest at hand of those on the teams; all 0 where nothing was."""
    if not seen.statements and not seen.own_named.any():
        return [np.zeros(len(rows))] * len(HEARD)
    count, on = np.maximum(others.sum(axis=1), 1.0), others > 0
    columns = [np.ones(len(rows))]
    for of, by_others in (
        (seen.named / max(seen.statements, 1), True),
        (seen.own_named, False),
        (seen.praised / max(seen.statements, 1), True),
        (seen.own_praise, False),
    ):
        columns += [others @ of / count, np.where(on.any(axis=1), np.where(on, of, 9.0).min(axis=1), 0.0)]
        if by_others:
            columns.append(np.where(rows > 0, -9.0, of).max(axis=1))
    return columns


def _last_success(seen: SeatRecord) -> NDArray[np.float64]:
    """1 for the members of the last team that succeeded, shape (n,)."""
    return _marked(seen.seats, next((team for team, succeeded in reversed(seen.gone) if succeeded), ()))


def _history(
    rows: NDArray[np.float64], others: NDArray[np.float64], seen: SeatRecord, most: int
) -> list[NDArray[np.float64]]:
    """How the teams overlap with those that went."""
    n, last = seen.seats, _last_success(seen)
    shared = rows @ last
    within = (shared == min(most, int(last.sum()))) & (last.sum() > 0)
    overlaps = [(rows @ _marked(n, team), len(team)) for team, succeeded in seen.gone if not succeeded]
    failed = np.maximum.reduce([np.zeros(len(rows)), *(overlap for overlap, _ in overlaps)])
    whole = np.maximum.reduce([np.zeros(len(rows)), *(overlap == size for overlap, size in overlaps)])
    return [
        *(within, shared / most, failed / most, whole),
        *(others @ (seen.quests == 0) / most, others @ seen.failed / most),
    ]


# -- cards, guesses, speech --------------------------------------------------------------------------------------


def _card(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    fellows = _fellows(view)
    on_team = [j for j in view.team if fellows[j] and j != view.seat]
    missing = view.fails_needed[view.quest] - len(on_team)
    before = any(j < view.seat for j in on_team)
    row = (1.0, len(on_team) / 3, not on_team, before, len(view.team) / 5, missing > 1)
    return np.concatenate([np.array(row, dtype=np.float64), _context(view, seen)])


def _guesses(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    merlin, suspected = seen.own.merlin_chance(), seen.onlooker.evil_chance()
    fellows = seen.own.evil_chance() > _SURE  # those that gathered, besides those of the night
    quests, votes = max(len(seen.gone), 1), max(seen.votes, 1)
    columns = (
        *(np.ones(seen.seats), fellows, merlin, np.log(merlin + 0.01) / 5, suspected),
        *(seen.insight / quests, seen.agreed / votes, seen.quests / quests, seen.failed / quests),
        *(seen.held / 3, seen.own_held),
    )
    rows = np.stack(columns, axis=1)
    return np.array([rows[move.args[0]] if move.args else np.zeros(len(GUESS)) for move in view.legal])


def _speeches(view: AvalonView, seen: SeatRecord) -> NDArray[np.float64]:
    n, me, group = seen.seats, view.seat, group_of(view)
    own, suspected, fellows = seen.own.evil_chance(), seen.onlooker.evil_chance(), _fellows(view)
    others = np.arange(n) != me
    worst, best = own[others].max(), own[others].min()
    of_seat = np.stack(
        [
            *(~others, fellows, own, suspected, others & (own >= worst - 1e-9), others & (own <= best + 1e-9)),
            *(seen.failed / max(len(seen.gone), 1), _last_success(seen), seen.praised / n, seen.own_praise),
        ],
        axis=1,
    )
    roles = tuple(dict.fromkeys(view.roles))
    rows = np.zeros((len(view.legal), len(COLUMNS[SPEECH])))
    for row, (kind, args, _) in zip(rows, view.legal, strict=True):
        if kind == speech.SILENT:
            continue
        act = ACTS.index(kind)
        row[act] = row[len(SAID) + len(GROUPS) * act + group] = 1.0
        if kind == speech.CLAIM_ROLE:
            claimed = roles[args[0]]
            claims = (claimed == view.role, *(claimed == role for role in (game.MERLIN, game.PERCIVAL, game.SERVANT)))
            row[len(SAID) - 4 : len(SAID)] = claims
        else:
            row[len(ACTS) : len(SAID) - 4] = of_seat[args[0]]
    return rows
