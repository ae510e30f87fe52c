"""Habits of Werewolf learned from a folder of transcripts: rates of accusations, defences, votes, reports, claims and deaths.

Each rate of `WerewolfHabits` is counted where the roles are known and fitted in log-odds around today's number, with a part
shared by all numbers of players and a separate part for each number. How well an onlooker then tells the werewolves is asked
after every day of games not learned from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.registry import lookup
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import SeatBeliefs, WerewolfHabits
from parlour.envs.werewolf.habits import WerewolfHabitsFile
from parlour.envs.werewolf.presets import PLAYERS
from parlour.training.learn.reliability.counts import WolfCounts, WolfRecord

from parlour_people.habits.learner import LEARNED, HabitsOfGame, Loss, Widths, by_table, odds
from parlour_people.habits.report import BeliefRead, side_loss

RATES: Final = tuple(WerewolfHabits.__dataclass_fields__)


# -- fitting -----------------------------------------------------------------------------------------------------


def fit_rates(records: Iterable[WolfRecord], widths: Widths) -> WerewolfHabitsFile:
    """Habits for all numbers of players."""
    counts = {n: WolfCounts() for n in PLAYERS}
    for record in records:
        counts[record.players].count(record)
    return fit_counts(counts, widths)


def fit_counts(counts: Mapping[int, WolfCounts], widths: Widths) -> WerewolfHabitsFile:
    """Habits from the tables of each number of players (`PLAYERS`)."""
    usual = WerewolfHabits()
    fitted = {
        rate: by_table([_loss(rate, counted) for counted in counts.values()], (odds(getattr(usual, rate)),), widths)
        for rate in RATES
    }
    return WerewolfHabitsFile(
        {n: WerewolfHabits(*(_share(fitted[rate][k][0]) for rate in RATES)) for k, n in enumerate(PLAYERS)}
    )


def _share(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


def _loss(rate: str, counts: WolfCounts) -> Loss:
    yes, no = counts.yes[rate], counts.no[rate]
    fates = [(wolves, ways, others) for name, wolves, ways, others in counts.fates if name == rate]

    def loss(logit: Any) -> tuple[float, Any]:
        p = _share(logit[0])
        value = yes * np.logaddexp(0, -logit[0]) + no * np.logaddexp(0, logit[0])
        slope = (yes + no) * p - yes
        for wolves, ways, others in fates:  # p is the weight of one way among werewolves against one among others
            total = p * ways + others
            value += np.log(total) - (np.log(p * ways) if wolves else np.log(others))
            slope += (ways / total - (1 / p if wolves else 0)) * p * (1 - p)
        return float(value), np.array([slope])

    return loss


# -- reading -----------------------------------------------------------------------------------------------------


def wolf_reads(record: WolfRecord, habits: WerewolfHabits, number: int = 0) -> list[BeliefRead]:
    """What an onlooker believes after each day; `round` is the day from 0, `evil` who is a werewolf."""
    follower = SeatBeliefs(record.view, habits)
    onlooker = follower.onlooker
    assert onlooker is not None
    wolves = tuple(int(role == game.WEREWOLF) for role in record.roles)
    reads: list[BeliefRead] = []
    for event in record.events:
        if event.to is not None:
            continue
        follower.see(event, record.view)
        if event.move.kind == game.EXECUTED:
            true = float(onlooker.weights[(onlooker.wolf == wolves).all(axis=1)].sum())
            chances = tuple(map(float, onlooker.wolf_chance()))
            reads.append(BeliefRead(number, record.players, len(reads), side_loss(true), chances, wolves))
    return reads


def _groups(games: Sequence[WolfRecord]) -> dict[str, Sequence[int]]:
    numbers = sorted({record.players for record in games})
    return {"all": numbers, **{str(n): (n,) for n in numbers}}


WEREWOLF: Final = HabitsOfGame(
    id=lookup("werewolf_v0").spec.id,
    title="Habits of Werewolf learned from records",
    record=lambda name, roles, rules, state: WolfRecord(name, roles, tuple(state.log), rules.view(state, 0)),
    learn=lambda games, how: fit_rates(games, how.widths),
    read=wolf_reads,
    fixed=WerewolfHabits(),
    variants=lambda _games, how: {LEARNED: how},
    groups=_groups,
    panels=("all",),
)
