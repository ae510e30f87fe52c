"""What an onlooker believes who knows how the players behave: the doubt that an evil side leaves to it, with its words and without.

    doubt(belief)  =  loss(belief after the quests) / loss(belief before the game)

The onlooker knows no role. It weighs all deals by `AvalonBelief`, with rates counted from the same two players in the games of other
deals: the evil seats are the player's, and the good seats its opponent's. So it expects lies of a liar and the truth of
a player who says the truth. If the rates supposed that all evil players lie, true words would count as deception: they would mislead
the listener most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import ONLOOKER, AvalonHabits
from parlour.envs.core import Event
from parlour.training.measure.abilities.beliefs import DoubtLosses, doubt_change, doubt_left, loss
from parlour.training.measure.abilities.moments import is_players, opponent_of
from parlour.training.measure.analysis.beliefs import opening_belief, take_in
from parlour.training.measure.analysis.games import AnalysedGame
from parlour.training.measure.statistics import Estimate

PRIOR_CASES: Final = 2.0
"""How many cases the fixed rates count for, beside those that were counted."""
Counts = Counter[tuple[str, bool]]
"""(Name of a rate, whether it was so) -> cases."""


class OnlookerDoubt(NamedTuple):
    """What an informed onlooker is left with."""

    left: Estimate | None
    """Its doubt after the quests: 0 if it knows the evil side, 1 if it learned nothing, above 1 if it was misled."""
    by_words: Estimate | None
    """How much of that is due to the words of the evil seats: the doubt with them minus the doubt if they had been silent."""


@dataclass(frozen=True)
class _Losses:
    """Of the games of one opponent, game by game."""

    heard: list[DoubtLosses]
    unheard: list[DoubtLosses]


def onlooker_doubt(games: Sequence[AnalysedGame], rng: np.random.Generator) -> OnlookerDoubt:
    """The doubt that the player's evil sides leave.

    Args:
        games: Games of a benchmark. Those in which the player is good do not count.
        rng: Draws games for the intervals.
    """
    own = [one for one in games if is_players(one, min(one.evil))]
    heard, unheard = [], []
    for opponent in dict.fromkeys(map(opponent_of, own)):
        found = _against([one for one in own if opponent_of(one) == opponent])
        heard += found.heard
        unheard += found.unheard
    return OnlookerDoubt(doubt_left(heard, rng), doubt_change(heard, unheard, rng))


def _against(games: Sequence[AnalysedGame]) -> _Losses:
    """Each game is seen with rates from the games of the other deals."""
    counted = [rate_counts(one) for one in games]
    found = _Losses([], [])
    for one in games:
        others = [counts for other, counts in zip(games, counted, strict=True) if _deal(other) != _deal(one)]
        habits = counted_habits(others)
        found.heard.append(_losses(one, habits, heard=True))
        found.unheard.append(_losses(one, habits, heard=False))
    return found


def _deal(one: AnalysedGame) -> int:
    return int(one.transcript.header["seed"])


def counted_habits(counts: Sequence[Counts]) -> AvalonHabits:
    """Rates from counts; where little was counted they stay near the fixed ones."""
    total, fixed = sum(counts, Counts()), AvalonHabits()
    rates = {
        name: (total[name, True] + PRIOR_CASES * rate) / (total[name, True] + total[name, False] + PRIOR_CASES)
        for name, rate in asdict(fixed).items()
    }
    return replace(fixed, **rates)


def rate_counts(one: AnalysedGame) -> Counts:
    """The cases of each rate of `AvalonHabits` in a game whose roles are known."""
    counts, team = Counts(), tuple[int, ...]()
    for event in one.log:
        if event.move.kind == game.TEAM:
            team = event.move.args
        counts.update(_cases(one, event, team))
    return counts


def _cases(one: AnalysedGame, event: Event, team: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    seat, (kind, args, _), _ = event
    dirty = bool(one.evil & set(team))
    if kind == game.TEAM and seat in one.evil:
        yield "evil_on_own_team", dirty
    elif kind == game.TEAM and seat == one.merlin:
        yield "clean_team_merlin", not dirty
    elif kind == game.VOTES:
        yield from ((_vote_rate(one, voter, dirty=dirty), bool(vote)) for voter, vote in enumerate(args[1:]))
    elif kind == game.CARD:
        yield ("fail" if seat in one.evil else "good_fails"), args[0] == 0
    elif kind == speech.ACCUSE:
        yield ("evil_accuses_evil" if seat in one.evil else "accuse_evil"), args[0] in one.evil
    elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != seat:
        yield ("evil_defends_evil" if seat in one.evil else "defend_evil"), args[0] in one.evil


def _vote_rate(one: AnalysedGame, voter: int, *, dirty: bool) -> str:
    role = one.roles[voter]
    team = "dirty" if dirty else "clean"
    if role == game.MERLIN:
        return f"approve_{team}_merlin"
    return f"approve_{team}_evil" if voter in one.evil and role != game.OBERON else "approve_blind"


def _losses(one: AnalysedGame, habits: AvalonHabits, *, heard: bool) -> DoubtLosses:
    """Sums over the moments after quests; unless `heard`, no word of an evil seat is evidence."""
    belief, truth = opening_belief(one, ONLOOKER, habits), [seat in one.evil for seat in range(one.seats)]
    before, prior, left = loss(belief.evil_chance().tolist(), truth), 0.0, 0.0
    for event in one.log:
        spoken = event.move.kind in game.ACTS and event.seat in one.evil
        if event.to is not None or (spoken and not heard):
            continue
        take_in(belief, event)
        if event.move.kind == game.FAILS:
            prior += before
            left += loss(belief.evil_chance().tolist(), truth)
    return DoubtLosses(prior, left)
